"""``anaphora score``: how likely a model finds lines of text, or translations of them.

Examples:
    anaphora score runs/ptb sentences.txt
    echo 'the man walks' | anaphora score runs/ptb --json
    anaphora score runs/en-de pairs.tsv --output scores.txt
    anaphora score runs/ptb-lstm text.txt --dynamic 0
"""

from pathlib import Path
from typing import Annotated

from anaphora.cli.files import check_writable, given_texts, name_of, writing
from anaphora.cli.options import AdaptationOptions, InitialState, Machine, RunFolder, ToOption
from anaphora.cli.progress import listening
from anaphora.cli.talk import say
from anaphora.errors import ConfigError, RunError
from anaphora.options import Argument, Option
from anaphora.wording import inflect


def run(
    run_folder: RunFolder,
    file: Annotated[str, Argument("Lines; for a translator: source, tab, translation.", metavar="[FILE|-]")] = "-",
    output: Annotated[Path | None, Option("Write scores to this file instead of printing them.")] = None,
    as_json: Annotated[bool, Option("Print a JSON object per line instead of a number.", name="--json")] = False,
    initial_state: InitialState = None,
    to: ToOption = "",
    *,
    adapted: AdaptationOptions,
    machine: Machine,
) -> None:
    """Print the log10 probability of each line.

    The end of a line is predicted too.
    """
    adaptation = adapted.value()
    check_writable(output, read=[file, run_folder])

    from anaphora.evaluation.adaptation import Static, is_fitted
    from anaphora.evaluation.perplexity import perplexity_of_log10
    from anaphora.formats.json_text import figures_as_json
    from anaphora.tasks.language_model.predictor import LanguageModelPredictor
    from anaphora.tasks.runs import kind_at, load

    count = tokens = unknown = 0
    total = 0.0
    with listening() as report, writing(output) as write:
        model = load(run_folder, initial_state=initial_state, to=to, report=report, **machine.options)
        if not hasattr(model, "score_lines_of"):
            kind = kind_at(run_folder)
            raise RunError(f"{run_folder} is {kind.noun}, which scores no text: {kind.see}.")
        lines = given_texts(file)
        if isinstance(adaptation, Static):
            found = model.score_lines_of(lines, name_of(file), report)
        elif isinstance(model, LanguageModelPredictor):
            if not is_fitted(adaptation):
                from anaphora.tasks.language_model.task import adapted_to_data

                adaptation = adapted_to_data(model, run_folder, adaptation, report)
            found = model.score_stream(lines, adaptation, report=report)
        else:
            raise ConfigError(f"{run_folder}: a neural cache and dynamic evaluation are for language models.")
        for one in found:
            write(figures_as_json(vars(one) | {"perplexity": one.perplexity}) if as_json else f"{one.log10:.6f}")
            count, tokens, unknown, total = count + 1, tokens + one.tokens, unknown + one.unknown, total + one.log10
    if not tokens:
        say("There is nothing to score: the text is empty.")
    else:
        say(
            f"{inflect(count, 'line')}, log10 p {total:.4f} in all, perplexity "
            f"{perplexity_of_log10(total, tokens):,.3f} of {inflect(tokens, 'prediction')}, {unknown:,} "
            f"unknown{'; ' + str(adaptation) if str(adaptation) else ''}."
        )
