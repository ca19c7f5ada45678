"""``anaphora compare``: any number of runs in one table, with tests of significance.

Examples:
    anaphora compare runs/en-de runs/en-de-larger
    anaphora compare runs/base-1 runs/base-2 runs/deep-1 runs/deep-2 --output table.md
    anaphora compare runs/en-de runs/en-de-larger --source test.en --reference test.de --beam 1
    anaphora compare runs/book runs/book-larger --text other.txt --json
    anaphora compare runs/reviews runs/reviews-words --data new.tsv
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from anaphora.cli.files import check_writable, writing
from anaphora.cli.options import GivenTexts, Json, Threads
from anaphora.cli.progress import listening
from anaphora.cli.tables import declared_option, files_in
from anaphora.options import Argument, Option
from anaphora.prediction.options import SearchOptions

if TYPE_CHECKING:
    from anaphora.tasks.comparison import Row, Table


def run(
    runs: Annotated[list[Path], Argument("Run folders of one task; the first is the baseline.", metavar="RUN RUN...")],
    texts: GivenTexts,
    beam: Annotated[int | None, declared_option(SearchOptions, "beam", heading="Search")] = None,
    length_penalty: Annotated[float | None, declared_option(SearchOptions, "length_penalty", heading="Search")] = None,
    samples: Annotated[int, Option("Draws of each test.", min=10, max=1_000_000)] = 1000,
    seed: Annotated[int, Option("Random seed of the draws.", min=0)] = 12345,
    output: Annotated[Path | None, Option("Write the table to this file.")] = None,
    as_json: Json = False,
    threads: Threads = 0,
) -> None:
    """Compare runs of one task, with significance."""
    check_writable(output, read=[*runs, texts.text, *files_in(texts)])

    from anaphora.formats.json_text import figures_as_json
    from anaphora.tasks.comparison import compare_runs
    from anaphora.tasks.evaluation import Request
    from anaphora.tasks.runs import task_at

    lines, data = texts.given(task_at(runs[0]))
    lines = lines and lines._replace(lines=[*lines.lines])
    request = Request(texts.pairs, lines, data, SearchOptions(beam, length_penalty), keep=False, to=texts.to)
    with listening() as report:
        table = compare_runs(runs, request, report, samples=samples, seed=seed)
    with writing(output) as write:
        for line in [figures_as_json(table.json())] if as_json else markdown(table):
            write(line)


_HEADS = ("text", "metric", "run", "value", "difference", "95% interval", "p (randomisation)", "p (bootstrap)")


def markdown(table: "Table") -> list[str]:
    """Return the table, aligned, and below it what its columns mean."""
    cells, above = [_HEADS], ("", "")
    large = {(row.text, row.metric) for row in table.rows if abs(row.value) >= 10}
    for row in table.rows:
        of = row.text, f"{row.metric}{' (lower is better)' if row.better == 'lower' else ''}"
        decimals = 2 if (row.text, row.metric) in large else 4
        cells.append((*(of if of != above else ("", "")), *_cells(row, decimals)))
        above = of
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in cells]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    metrics = dict.fromkeys((row.metric, row.conditions) for row in table.rows if row.conditions)
    notes = [
        f"Differences are from the first run; * has p < 0.05 by approximate randomisation after Holm's adjustment for "
        f"several systems. Each test draws {table.samples:,} times, seed {table.seed}.",
        *(f"{name}: {conditions}" for name, conditions in metrics),
    ]
    if any(len(row.system.runs) == 1 for row in table.rows):
        notes.append(
            "The tests tell whether other sentences would change a difference, not whether other seeds would: a run "
            "stands for one seed. Train each system with several (training.seed), and name all runs."
        )
    return [lines[0], rule, *lines[1:], "", *notes]


def _cells(row: "Row", decimals: int) -> tuple[str, str, str, str, str, str]:
    def number(value: float, sign: str = "") -> str:
        return f"{value:{sign}.{decimals}f}"

    deviation = f" ± {number(row.deviation)}" if row.deviation is not None else ""
    shown = str(row.system), f"{number(row.value)}{deviation}"
    tested = row.against_first
    if tested is None:
        return (*shown, "", "", "", "")
    low, high = tested.interval
    return (
        *shown,
        f"{number(tested.difference, '+')}{' *' if row.significant else ''}",
        f"{number(low, '+')} to {number(high, '+')}",
        f"{tested.randomisation_p:.4f}",
        f"{tested.bootstrap_p:.4f}",
    )
