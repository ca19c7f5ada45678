"""``python -m tests.weigh``: count the lines of code of the package; it may only shrink.

Lines of code are those of ``src`` without blanks, comments and docstrings, below a field too. ``pyproject.toml`` says
how many there may be (``[tool.anaphora] code-lines``); this exits with 1 above it, and says by how much it may be
lowered below it. With ``--rooms`` it also lists small files that a single file imports, which may be part of it, and
long files.
"""

import ast
import io
import sys
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src"
SMALL, LONG = 60, 500
"""Lines of a file below which it may be part of another, and above which it should be several."""
_LAYOUT = frozenset(
    (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
)


def code_lines(text: str) -> int:
    """Return the number of lines of a file with code on them."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def importers(files: dict[str, str]) -> dict[str, set[str]]:
    """Return the files that import each file, by dotted names; names that are looked up while running are not seen."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, text in files.items():
        for imported in _imported(ast.parse(text)):
            found[imported].add(name)
    return {name: found[name] - {name} for name in files}


def _imported(tree: ast.Module) -> Iterator[str]:
    """Yield the modules that are imported, and what may be modules among the names that are imported from them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def rooms(files: dict[str, str]) -> Iterator[str]:
    """Yield a line for each small file with one importer, and for each long file."""
    lines = {name: text.count("\n") for name, text in files.items()}
    small = {name: by for name, by in importers(files).items() if lines[name] < SMALL and len(by) == 1}
    yield f"{len(small)} files under {SMALL} lines that one file imports:"
    yield from (f"  {name} ({lines[name]}), imported by {one}" for name, (one,) in sorted(small.items()))
    long = [name for name in files if lines[name] > LONG]
    yield f"{len(long)} files over {LONG} lines:"
    yield from (f"  {name} ({lines[name]})" for name in long)


def modules() -> dict[str, str]:
    """Return the text of every file of the package by its dotted name."""
    found = {}
    for path in sorted(SRC.rglob("*.py")):
        parts = path.relative_to(SRC).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text(encoding="utf-8")
    return found


def main(arguments: list[str]) -> int:
    """Print the count; return 1 where it is above the number in ``pyproject.toml``."""
    files = modules()
    count = sum(map(code_lines, files.values()))
    allowed = int(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["anaphora"]["code-lines"])
    if "--rooms" in arguments:
        print("\n".join(rooms(files)))
    print(f"{count} lines of code in {len(files)} files; code-lines in pyproject.toml allows {allowed}.")
    if count > allowed:
        print(f"Write {count - allowed} fewer, or raise code-lines with a reason in the commit (CONTRIBUTING.md).")
    elif count < allowed:
        print(f"Lower code-lines to {count}, so that it stays that way.")
    return int(count > allowed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
