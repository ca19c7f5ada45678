"""``anaphora check``: a corpus looked at before hours are spent on it.

Examples:
    anaphora check quickstart --data my-folder --source en --target fr
    anaphora check quickstart --data pairs.tsv --source en --target cs --output report
    anaphora check character-lm --data book.txt --trial 0 --json
    anaphora check --data book.txt
    anaphora check --data my-folder --source en --target cs --trial 10m
"""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anaphora.cli.experiments import AUTO, ExperimentRequest, requested_experiment, with_languages
from anaphora.cli.options import Json, seconds
from anaphora.cli.progress import listening
from anaphora.cli.talk import console, print_json, say
from anaphora.errors import AnaphoraError, DataError
from anaphora.options import Option
from anaphora.wording import inflect

if TYPE_CHECKING:
    from anaphora.datacheck.tables import Table
    from anaphora.experiment.check import CheckResult


_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}


def run(
    asked: ExperimentRequest,
    trial: Annotated[str, Option("Time of the trial, as 5 or 10m; forecasts take 1m or more.", metavar="TIME")] = "5",
    output: Annotated[Path | None, Option("Write a report page, plots and JSON here.", metavar="FOLDER")] = None,
    exact: Annotated[bool, Option("Survey every line, however many; a million or more are sampled otherwise.")] = False,
    strict: Annotated[bool, Option("Treat warnings as errors.")] = False,
    as_json: Json = False,
) -> None:
    """Check data before training.

    It finds faults, duplicates and unknown words, estimates time and memory, and in a trial of a minute or more
    forecasts scores. The exit code is 0 if the data can be trained on, and 2 if not.
    """
    if output is not None and output.is_file():
        raise DataError(f"{output} should be a folder for the report, but is a file: name another.")

    from anaphora.experiment.check import check

    duration = 0.0 if trial == "0" else seconds(f"{trial}s" if trial[-1:].isdecimal() else trial, "--trial")
    with listening() as report:
        experiment = requested_experiment(with_languages(asked, report), report)
        checked = check(experiment, trial=duration, exact=exact, report=report)
    if as_json:
        print_json(checked.json())
    else:
        _print(checked)
    if output is not None:
        from anaphora.inspection.corpus import write_report

        looked_at = [str(path) for path in asked.data or experiment.data.files] or [experiment.data.corpus]
        title, survey = f"{asked.recipe or AUTO}: {', '.join(looked_at)}", checked.survey
        page = write_report(
            output, title, checked.tables(), checked.findings, survey.histograms, checked.forecasts, checked.json()
        )
        say(f"The report is {page}")
    failing = ("error", "warning") if strict else ("error",)
    if any(finding.severity in failing for finding in checked.findings):
        raise typer.Exit(AnaphoraError.exit_code)


def _print(checked: "CheckResult") -> None:
    """Tables, then findings, then the upshot."""
    screen = console(sys.stdout, soft_wrap=True)
    for table in checked.tables():
        screen.print(_draw(table, screen.width))
    for finding in checked.findings:
        screen.print(f"[{_COLOURS[finding.severity]}]{finding.severity}[/] ", end="")
        screen.print(str(finding), markup=False)
    count = Counter[str](finding.severity for finding in checked.findings)
    said = ", ".join(inflect(count[word], word) for word in _COLOURS if count[word])
    able = "This data can be trained on" if checked.trainable else "This data cannot be trained on"
    screen.print(f"{able}: {said or 'nothing was found'}.", markup=False)


def _draw(table: "Table", width: int) -> object:
    """Return a table to print; one that is wider than the screen is turned where that makes it narrower."""
    from rich import box
    from rich.table import Table as Drawn
    from rich.text import Text

    grid = [table.columns, *table.rows]
    turned = list(zip(*grid, strict=True))
    if _width(grid) > max(width, _width(turned)):
        grid = turned
    columns, *rows = grid
    drawn = Drawn(title=Text(table.title), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for number, heading in enumerate(columns):
        figures = number > 0 and number not in table.bars and len(columns) > 2
        drawn.add_column(
            Text(heading), justify="right" if figures else "left", overflow="crop" if number in table.bars else "fold"
        )
    for row in rows:
        drawn.add_row(*map(Text, row))
    return drawn


def _width(grid: Sequence[Sequence[str]]) -> int:
    """Return the characters a line of a table takes: cells, and three between them."""
    return sum(max(map(len, cells)) + 3 for cells in zip(*grid, strict=True))
