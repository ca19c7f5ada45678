"""``anaphora evaluate``: how good a run is, or which of two is better, in figures that can be cited.

Examples:
    anaphora evaluate runs/en-de
    anaphora evaluate runs/en-de --source test.en --reference test.de --details --json
    anaphora evaluate runs/en-de runs/en-de-larger --output sentences.jsonl
    anaphora evaluate runs/en-de-1 runs/en-de-2 runs/en-de-3 --ensemble
    anaphora evaluate runs/words --replace-unknown --dictionary en-de.tsv
    anaphora evaluate runs/en-de --beam 10 --length-penalty 1 --coverage-penalty 0.2
    anaphora evaluate runs/en-de --precision int8
    anaphora evaluate runs/words --candidates en-de.tsv --frequent-words 2000 --translations-per-word 10
    anaphora evaluate runs/en-de --language-model runs/german --fusion-weight 0.1
    anaphora evaluate runs/book --text other.txt
    anaphora evaluate runs/reviews --data new.tsv
    anaphora evaluate runs/upos --text gold.conllu
    anaphora evaluate runs/frames --data gold.npz
    zcat other.txt.gz | anaphora evaluate runs/book --text -
    anaphora evaluate runs/ptb-lstm --neural-cache 2000
    anaphora evaluate runs/ptb-lstm --dynamic 0
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from anaphora.cli.files import check_writable, writing
from anaphora.cli.options import AdaptationOptions, ColumnsOption, Combination, GivenTexts, Json, Processor, columns_in
from anaphora.cli.progress import listening
from anaphora.cli.searching import WORDS, SearchTable
from anaphora.cli.tables import declared_option, files_in
from anaphora.cli.talk import heading, print_json, show
from anaphora.errors import ConfigError
from anaphora.options import Argument, Excludes, Needs, Option
from anaphora.prediction.options import SearchOptions

if TYPE_CHECKING:
    from anaphora.tasks.evaluation import Answer


CONFLICTS = (
    Excludes(
        "--text --neural-cache --dynamic",
        "--language-model",
        "{option} is for a language model, {other} for translators",
    ),
    Needs("--mean", "--ensemble"),
)


def run(
    runs: Annotated[list[Path], Argument("Run folder, or two translators to compare.", metavar="RUN...")],
    search: SearchTable,
    models: Combination,
    texts: GivenTexts,
    columns: ColumnsOption = "",
    ensemble: Annotated[bool, Option("Evaluate several translators as an ensemble.")] = False,
    *,
    adaptation: AdaptationOptions,
    known: Annotated[bool, declared_option(SearchOptions, "known", name="--known-words", heading=WORDS)] = False,
    details: Annotated[bool, Option("Also score by source length, and by words unseen in training.")] = False,
    output: Annotated[Path | None, Option("Write sentences and their scores here, as lines of JSON.")] = None,
    keep: Annotated[bool, Option("Store the scores of single runs in their folders and model cards.")] = True,
    as_json: Json = False,
    processor: Processor,
) -> None:
    """Evaluate a run on its test splits or on given text.

    A run without test splits is evaluated on its validation split.
    """
    adapted = adaptation.value()
    _check_number(runs, ensemble, models, of_text=bool(texts.text or adaptation != AdaptationOptions()))
    check_writable(output, read=[*runs, texts.text, *files_in(models, texts, search)])

    from anaphora.tasks.evaluation import Request
    from anaphora.tasks.runs import task_at

    task = task_at(runs[0])
    request = Request(
        texts.pairs,
        *texts.given(task),
        search.options(known=known),
        adapted,
        ensemble,
        models.mean_of(len(runs)) if models.mean else "",
        models.fusion,
        processor.precision,
        details,
        output is not None,
        keep,
        texts.to,
        tuple(columns_in(columns)),
    )
    with listening() as report:
        answer = task.evaluate(runs, request, report)
    if output is not None:
        with writing(output) as write:
            for one in answer.scored:
                for split, result in one.results.items():
                    for line in result.sentence_lines(run=one.name, split=split):
                        write(line)
    _print(answer, as_json, named=ensemble or models.fusion is not None or len(runs) > 1)


def _check_number(runs: list[Path], ensemble: bool, models: Combination, *, of_text: bool) -> None:
    """Refuse more or fewer runs than the options are for."""
    if of_text and len(runs) > 1:
        raise ConfigError("--text, --neural-cache and --dynamic are for one language model: evaluate it alone.")
    if len(runs) > 2 and not ensemble:
        raise ConfigError(f"Two runs can be compared, but {len(runs)} were given: leave some out, or add --ensemble.")
    if models.fusion and len(runs) > 1 and not ensemble:
        raise ConfigError("Runs are compared without a language model: add --ensemble, or leave --language-model out.")
    if ensemble and len(runs) == 1:
        raise ConfigError("--ensemble takes two runs or more, but one was given: name more, or leave it out.")


def _print(answer: "Answer", as_json: bool, *, named: bool) -> None:
    first, *others = answer.scored
    if as_json:
        compared = {part: [one.json() for one in found] for part, found in answer.compared.items()}
        return print_json(first.json() | ({"second": others[0].json(), "comparison": compared} if others else {}))
    for one in answer.scored:
        if named:
            heading(one.name)
        for split, result in one.results.items():
            show(f"{split}\n{result}")
        if one.means:
            show("mean of all\n" + "\n".join(f"{name} {value:.2f}" for name, value in one.means.items()))
    for part, comparisons in answer.compared.items():
        heading(f"{part}: {first.name} against {others[0].name}")
        for comparison in comparisons:
            show(comparison)
