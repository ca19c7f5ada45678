"""HTML pages of reports, lessons and data checks: one template and one style, nothing from elsewhere."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template

_PAGE = Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))


def page(title: str, *body: str) -> str:
    """Return a page; ``body`` is HTML, ``title`` plain text."""
    return _PAGE.substitute(title=escape(title), body="\n".join(body))


def table(heading: Sequence[str], rows: Sequence[Sequence[str]], classes: Sequence[str]) -> str:
    """Return a table of cells in HTML, with a class for each column."""
    lines = [
        "".join(f'<{tag} class="{name}">{cell}</{tag}>' for cell, name in zip(row, classes, strict=True))
        for tag, row in [("th", heading), *(("td", row) for row in rows)]
    ]
    return "\n".join(["<table>", *(f"<tr>{line}</tr>" for line in lines), "</table>"])


def picture(svg: str, description: str) -> str:
    """Return a figure of an SVG element, which is scrolled where it is wider than the page."""
    label = escape(description, quote=True)
    return f'<figure><div class="picture" tabindex="0" role="group" aria-label="{label}">\n{svg}\n</div></figure>'
