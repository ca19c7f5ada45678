"""``python -m tests.weigh``: count the lines of code of the package; it may only shrink.

Lines of code are those of ``src`` without blanks, comments and docstrings, below a field too. ``pyproject.toml`` says
how many there may be (``[tool.anaphora] code-lines``); this exits with 1 above it, and says by how much it may be
lowered below it.
"""

import ast
import io
import sys
import tokenize
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src"
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


def main() -> int:
    """Print the count; return 1 where it is above the number in ``pyproject.toml``."""
    files = list(SRC.rglob("*.py"))
    count = sum(code_lines(path.read_text(encoding="utf-8")) for path in files)
    allowed = int(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["anaphora"]["code-lines"])
    print(f"{count} lines of code in {len(files)} files; code-lines in pyproject.toml allows {allowed}.")
    if count > allowed:
        print(f"Write {count - allowed} fewer, or raise code-lines with a reason in the commit (CONTRIBUTING.md).")
    elif count < allowed:
        print(f"Lower code-lines to {count}, so that it stays that way.")
    return int(count > allowed)


if __name__ == "__main__":
    sys.exit(main())
