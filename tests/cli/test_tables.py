"""Options that stand in a dataclass are options like any other."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import pytest
import typer
from typer.testing import CliRunner

from anaphora.cli.app import GroupedCommand
from anaphora.cli.tables import changed_options, with_tables
from anaphora.options import Excludes, Needs, Option


@dataclass(frozen=True)
class Size:
    height: Annotated[int, Option("Height.", min=1, heading="Size")]
    width: Annotated[int | None, Option("Width.", heading="Size")] = None


def made(found: list[object]) -> typer.Typer:
    app = typer.Typer(rich_markup_mode=None, add_completion=False)

    @with_tables
    def draw(name: Annotated[str, typer.Argument(help="Name.")], size: Size, plain: bool = False) -> None:
        """Draw a box."""
        found.extend((name, size, plain))

    app.command(cls=GroupedCommand)(draw)
    return app


def test_a_table_is_given_field_by_field() -> None:
    found: list[object] = []
    assert CliRunner().invoke(made(found), ["box", "--height", "3", "--plain"]).exit_code == 0
    assert found == ["box", Size(3, None), True]


@pytest.mark.parametrize("given", [["box"], ["box", "--height", "0"], ["--height", "2"]])
def test_what_a_field_demands_is_demanded(given: list[str]) -> None:
    found: list[object] = []
    assert CliRunner().invoke(made(found), given).exit_code == 2 and not found


def test_help_lists_the_options_of_a_heading_together() -> None:
    shown = CliRunner().invoke(made([]), ["--help"]).output
    assert "Draw a box." in shown
    assert shown.index("Options:") < shown.index("--plain") < shown.index("Size:") < shown.index("--width")


def test_options_in_conflict_are_refused_by_the_rows_beside_them() -> None:
    found: list[object] = []

    @dataclass(frozen=True)
    class Paint:
        colour: Annotated[str, Option("Colour.")] = "red"
        plain: Annotated[bool, Option("No paint.", name="--bare")] = False
        coats: Annotated[int, Option("Number of coats.")] = 1

        conflicts: ClassVar = (Excludes("--bare", "--colour", "There is no paint"),)

    def paint(paint: Paint, quick: Annotated[bool, Option("In a hurry.")] = False) -> None:
        found.append((paint, quick, changed_options(paint)))

    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command()(with_tables(paint, [Needs("--quick", "--coats")]))
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
    assert found[-1] == (Paint(), False, []) and found[-2] == (Paint("red", True, 2), False, ["--bare", "--coats"])
