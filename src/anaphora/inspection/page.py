"""HTML pages of reports, lessons and data checks: one template and one style, nothing from elsewhere."""

from html import escape
from pathlib import Path
from string import Template

PICTURES = """\
.picture { overflow-x: auto; border: 1px solid #8884; border-radius: 6px; padding: .5rem }
.picture svg { display: block; max-width: 100%; min-width: min(100%, 34rem); height: auto }
@media (prefers-color-scheme: dark) { .picture svg { filter: invert(1) hue-rotate(180deg) } }"""
"""Style of pictures, on light and on dark pages."""

_PAGE = Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))


def page(title: str, *body: str) -> str:
    """Return a page; ``body`` is HTML, ``title`` plain text."""
    return _PAGE.substitute(title=escape(title), pictures=PICTURES, body="\n".join(body))


def picture(svg: str, description: str) -> str:
    """Return a figure of an SVG element, which is scrolled where it is wider than the page."""
    label = escape(description, quote=True)
    return f'<figure><div class="picture" tabindex="0" role="group" aria-label="{label}">\n{svg}\n</div></figure>'
