"""The code of the package, read and parsed once for all tests that look at it."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "anaphora"


@cache
def code() -> dict[str, str]:
    """The text of every file, by its path in the package."""
    return {
        path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))
    }


@cache
def trees() -> dict[str, ast.Module]:
    """The syntax tree of every file, by its path in the package; not to be changed."""
    return {place: ast.parse(text) for place, text in code().items()}
