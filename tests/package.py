"""The code of the package, read and parsed once for all tests that look at it."""

import ast
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "anaphora"


@cache
def code() -> dict[str, str]:
    """The text of every file, by its path in the package."""
    return {
        path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))
    }


@cache
def tree_of(place: str) -> ast.Module:
    """The syntax tree of one file; not to be changed."""
    return ast.parse(code()[place])


@cache
def _nodes(place: str) -> dict[type, list[Any]]:
    found: dict[type, list[Any]] = {}
    for node in ast.walk(tree_of(place)):
        found.setdefault(type(node), []).append(node)
    return found


def nodes_of(place: str, *kinds: type[ast.AST]) -> list[Any]:
    """The nodes of these kinds in the syntax tree of one file."""
    return [node for kind in kinds for node in _nodes(place).get(kind, ())]


def docstrings_of(place: str) -> list[str]:
    """The docstrings of a file, and the sentences under its names."""
    return [text for node in nodes_of(place, ast.Expr) if isinstance(text := getattr(node.value, "value", 0), str)]


def strings_of(place: str) -> list[str]:
    """All other strings of a file: messages are raised, assigned, returned, and put into tables."""
    docstrings = {id(node.value) for node in nodes_of(place, ast.Expr)}
    constants = [node for node in nodes_of(place, ast.Constant) if id(node) not in docstrings]
    return [node.value for node in constants if isinstance(node.value, str)]
