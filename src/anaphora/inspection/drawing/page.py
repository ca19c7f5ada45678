"""A report as one HTML page: pictures as SVG with real text, their numbers below, nothing from elsewhere."""

import re
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anaphora.formats.lines import writing_text
from anaphora.inspection.drawing import canvas
from anaphora.inspection.report import Report, Section

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem }}
h1, p {{ overflow-wrap: anywhere }}
figure {{ margin: 1rem 0 }}
.picture {{ overflow-x: auto; border: 1px solid #8884; border-radius: 6px; padding: .5rem }}
.picture svg {{ display: block; max-width: 100%; min-width: min(100%, 34rem); height: auto }}
pre {{ overflow-x: auto; font-size: 13px }}
:focus-visible {{ outline: 3px solid #0072b2; outline-offset: 2px }}
@media (prefers-color-scheme: dark) {{ .picture svg {{ filter: invert(1) hue-rotate(180deg) }} }}
</style>
<body>
<h1>{title}</h1>
<p dir="auto">{text}</p>
<nav aria-label="Sections"><ul>
{contents}
</ul></nav>
<main>
{sections}
</main>
</body>
</html>
"""


def write_page(path: Path, report: Report, figures_of: Callable[[Any], "Mapping[str, Callable[[], Figure]]"]) -> Path:
    """Write a report, each result drawn as ``figures_of`` says. Raises MissingExtraError without matplotlib."""
    names = [one.title.lower().replace(" ", "-") for one in report.sections]
    sections = [_section(name, one, figures_of) for name, one in zip(names, report.sections, strict=True)]
    contents = [
        f'<li><a href="#{name}">{escape(one.title)}</a></li>' for name, one in zip(names, report.sections, strict=True)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing_text(path) as write:
        write(
            _PAGE.format(
                title=escape(report.run),
                text=escape(report.text),
                contents="\n".join(contents),
                sections="\n".join(sections),
            )
        )
    return path


def _section(name: str, section: Section, figures_of: Callable[[Any], "Mapping[str, Callable[[], Figure]]"]) -> str:
    lines = [f'<section id="{name}" aria-labelledby="{name}-title">', f'<h2 id="{name}-title">{section.title}</h2>']
    if section.lacks:
        lines.append(f"<p>Not shown: {escape(section.lacks)}</p>")
    for number, result in enumerate(section.results):
        for ending, make in figures_of(result).items():
            described = escape(f"{section.title}{ending.replace('-', ', ')}; its numbers are below", quote=True)
            lines += [
                f'<figure><div class="picture" tabindex="0" role="group" aria-label="{described}">',
                _inlined(canvas.svg(make), f"{name}{number}{ending}"),
                "</div></figure>",
            ]
        lines.append(
            f'<details><summary>Numbers</summary><pre dir="auto" tabindex="0">{escape(str(result))}</pre></details>'
        )
    return "\n".join([*lines, "</section>"])


def _inlined(svg: str, prefix: str) -> str:
    """A picture among others: its ids are its own, and its style reaches nothing else."""
    wanted = {"figure_1", *re.findall(r'(?:href="#|url\(#)([^")]*)', svg)}

    def own(found: re.Match[str]) -> str:
        name = found[1]
        if name not in wanted:
            return ""
        wanted.remove(name)  # where one id is there twice, both are the same
        return f' id="{prefix}-{name}"'

    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}-", re.sub(r' id="([^"]*)"', own, svg))
    return re.sub(r"<style[^>]*>\*(\{.*?\})</style>", rf"<style>#{prefix}-figure_1 * \1</style>", svg, flags=re.DOTALL)
