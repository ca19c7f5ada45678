"""HTML pages of reports, lessons and data checks: one template and one style, nothing from elsewhere."""

import re
from html import escape
from pathlib import Path
from string import Template

PICTURES = """\
.picture { display: flex; flex-wrap: wrap; overflow-x: auto }
.picture { padding: .5rem; border: 1px solid #8884; border-radius: 6px; background: light-dark(#fff, #000) }
.picture svg { max-width: 100%; height: auto }
figcaption { max-width: 46rem; white-space: pre-line }
@media (prefers-color-scheme: dark) { .picture svg { filter: invert(1) hue-rotate(180deg) } }"""
"""Style of pictures, on light and on dark pages."""

_PAGE = Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))


def page(title: str, *body: str) -> str:
    """Return a page; ``body`` is HTML, ``title`` plain text."""
    return _PAGE.substitute(title=escape(title), pictures=PICTURES, body="\n".join(body))


def picture(svg: str, description: str, caption: str = "") -> str:
    """Return a figure of SVG elements beside each other, below each other on a narrow page, and their caption.

    One that would shrink by almost half is scrolled.
    """
    label = escape(description, quote=True)
    svg = re.sub(
        r'<svg [^>]*?width="([\d.]+)pt"',
        lambda found: f'{found[0]} style="min-width: {0.55 * float(found[1]):.0f}pt"',
        svg,
    )
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return (
        f'<figure><div class="picture" tabindex="0" role="group" aria-label="{label}">\n{svg}\n</div>{below}</figure>'
    )
