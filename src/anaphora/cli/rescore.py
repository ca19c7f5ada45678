"""``anaphora rescore``: an n-best list of another program with the scores of a language model.

Examples:
    anaphora rescore runs/ptb nbest.txt --output rescored.txt
    anaphora rescore runs/ptb nbest.txt --format kaldi
    anaphora rescore runs/ptb-lstm nbest.txt --precision int8
"""

from pathlib import Path
from typing import Annotated, Literal

from anaphora.cli.files import check_writable, given_lines, name_of, writing
from anaphora.cli.options import Machine, RunFolder
from anaphora.cli.progress import listening
from anaphora.cli.talk import say
from anaphora.errors import ConfigError
from anaphora.options import Argument, Option
from anaphora.wording import inflect

_NAME = "LM0"


def run(
    run_folder: RunFolder,
    file: Annotated[str, Argument("N-best list.", metavar="[FILE|-]")] = "-",
    kind: Annotated[
        Literal["moses", "kaldi", "srilm"],
        Option("List format: moses and kaldi use base e, srilm base 10.", name="--format"),
    ] = "moses",
    name: Annotated[str | None, Option(f"Name of the new feature of a moses list. [default: {_NAME}]")] = None,
    output: Annotated[Path | None, Option("Write the list to this file instead of printing it.")] = None,
    *,
    machine: Machine,
) -> None:
    """Add language-model scores to an n-best list."""
    from anaphora.formats.nbest import FORMATS, check_name
    from anaphora.tasks.language_model.predictor import LanguageModelPredictor
    from anaphora.tasks.runs import load

    form = FORMATS[kind]
    if name is not None and not form.names_features:
        raise ConfigError(f"--name calls the new feature of a moses list, but the scores of {kind} have no names.")
    feature = _NAME if name is None else name
    check_name(feature)
    check_writable(output, read=[file, run_folder])
    count = unknowns = 0
    with listening() as report, writing(output) as write:
        model = load(run_folder, kind=LanguageModelPredictor, report=report, **machine.options)
        for line, score in model.rescore_stream(
            given_lines(file), form, feature=feature, where=name_of(file), report=report
        ):
            write(line)
            count, unknowns = count + 1, unknowns + score.unknown
    say(
        f"{inflect(count, 'hypothesis')}, {inflect(unknowns, 'unknown token')} scored as <unk>; the new scores are "
        f"logarithms to base {form.base}."
    )
