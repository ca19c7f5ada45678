"""Tables in HTML, for pages and notebooks."""

from collections.abc import Sequence


def table(heading: Sequence[str], rows: Sequence[Sequence[str]], classes: Sequence[str]) -> str:
    """Return a table of cells in HTML, with a class for each column."""
    lines = [
        "".join(f'<{tag} class="{name}">{cell}</{tag}>' for cell, name in zip(row, classes, strict=True))
        for tag, row in [("th", heading), *(("td", row) for row in rows)]
    ]
    return "\n".join(["<table>", *(f"<tr>{line}</tr>" for line in lines), "</table>"])
