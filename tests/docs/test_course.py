"""The course has every part of a lecture on each page, and names only what there is."""

import ast
import re
from pathlib import Path

import pytest

from anaphora import recipes
from anaphora.experiment.settings import settings_at
from anaphora.inspection.explain.lesson import LESSONS
from anaphora.kernels.cells import CELLS
from tests.docs.pages import items
from tests.site import ROOT, links

COURSE = ROOT / "docs" / "course"
LECTURES = sorted(COURSE.glob("[0-9]*.md"))
PARTS = ["Formula", "Picture", "Lesson", "Kernel", "Train", "Use", "Exercise"]
"""Headings of a lecture in their order."""
OPTIONAL = {"Lesson", "Train", "Use"}
RECIPES = set(recipes.names())
TABLE = COURSE / "formulas.md"


def table_rows() -> list[list[str]]:
    """Return the cells of each row of the table of items."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if re.match(r"\| (?!item|---)", line)]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_every_lecture_is_on_the_first_page_in_order() -> None:
    listed = [path for _, path, _ in links(COURSE / "README.md") if path.parent == COURSE and path.name[0].isdigit()]
    assert listed == LECTURES
    assert len(LECTURES) == 13


@pytest.mark.parametrize("page", LECTURES, ids=lambda page: page.stem)
def test_a_lecture_has_its_parts_in_order_and_its_recipes_and_lessons_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert found == [part for part in PARTS if part in found]
    assert set(PARTS) - set(found) <= OPTIONAL
    assert "```text" in text
    for sentence in re.findall(r"Recipes? ([^.;]+)", text):
        assert set(re.findall(r"`([^`]+)`", sentence)) <= RECIPES
    commands = [item.text for item in items(page.name, text)]
    assert commands
    assert {name for command in commands for name in re.findall("inspect explain ([\\w-]+)", command)} <= set(LESSONS)


@pytest.mark.parametrize("page", sorted(COURSE.glob("*.md")), ids=lambda page: page.stem)
def test_functions_that_are_linked_are_in_their_files(page: Path) -> None:
    text = " ".join(page.read_text(encoding="utf-8").split())
    for label, target in re.findall(r"\[((?:[^\[\]]|\n)*?)\]\(([^)]+\.py)\)", text):
        names = re.findall(r"`([^`]+)`", label)
        known = defined(page.parent / target)
        assert names or "loop" in label, label
        assert {name for name in names if not name.endswith(".py")} <= known, target


def defined(file: Path) -> set[str]:
    """Return the functions, classes and methods of a file, inherited ones of its own classes too."""
    names = set[str]()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
    return names


def test_every_item_has_its_place_or_says_what_is_not_there() -> None:
    rows = table_rows()
    assert len(rows) >= 112
    assert [row for row in rows if len(row) != 3] == []
    assert [item for item, _, here in rows if not here and "not there" not in item] == []


def test_every_option_recipe_unit_and_lesson_of_an_item_is_known() -> None:
    known = RECIPES | set(LESSONS) | set(CELLS)
    for item, _, here in table_rows():
        for code in re.findall(r"(?<!\[)`([^`]+)`(?!\])", here):
            key, equals, value = code.partition("=")
            if code.startswith("anaphora "):
                continue  # run by test_pages
            if not equals:
                assert code in known, item
                continue
            settings = [owned.setting for _, owned in settings_at(key)]
            assert settings, item
            if re.fullmatch(r"[a-z-]+", value) and value not in ("true", "false"):
                assert any(f'"{value}"' in one.takes for one in settings), code
