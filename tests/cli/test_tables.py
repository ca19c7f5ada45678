"""Options that stand in a dataclass are options like any other."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer
from typer.testing import CliRunner

from anaphora.cli.app import GroupedCommand
from anaphora.cli.tables import changed_options, with_tables
from anaphora.options import Excludes, Needs, Option


def test_options_of_a_dataclass_are_options_and_rows_beside_them_refuse_what_conflicts() -> None:
    found: list[object] = []

    @dataclass(frozen=True)
    class Paint:
        coats: Annotated[int, Option("Number of coats.", min=1)] = 1
        colour: Annotated[str, Option("Colour.", heading="Paint")] = "red"
        plain: Annotated[bool, Option("No paint.", name="--bare")] = False

        conflicts: ClassVar = (Excludes("--bare", "--colour", "There is no paint"),)

    def paint(paint: Paint, quick: Annotated[bool, Option("In a hurry.")] = False) -> None:
        """Paint a box."""
        found.append((paint, quick, changed_options(paint)))

    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command(cls=GroupedCommand)(with_tables(paint, [Needs("--quick", "--coats")]))
    # what is typed counts, though it is the default, unless it turns the option off
    for line, message in {
        "--bare --colour red": "There is no paint: leave out --bare, or --colour.",
        "--quick": "--quick belongs to --coats, which is missing.",
        "--quick --coats 3": "",
        "--quick --coats 1": "",
        "--bare --coats 2": "",
        "": "",
    }.items():
        result = CliRunner().invoke(app, line.split())
        assert str(result.exception or "") == message, line
    assert found[-1] == (Paint(), False, []) and found[-2] == (Paint(2, plain=True), False, ["--coats", "--bare"])
    assert CliRunner().invoke(app, ["--coats", "0"]).exit_code == 2
    shown = CliRunner().invoke(app, ["--help"]).output
    assert shown.index("Options:") < shown.index("--quick") < shown.index("Paint:") < shown.index("--colour")
