"""Pictures of what inspection finds; they need the extra "plot"."""

import hashlib
import re
from collections.abc import Iterator
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from anaphora.errors import MissingExtraError
from anaphora.formats.lines import writing_text
from anaphora.inspection.drawing import canvas
from anaphora.inspection.drawing.pictures import Picture, explanations_of, pictures_of
from anaphora.inspection.page import PICTURES, page, picture
from anaphora.inspection.report import Report, Section

__all__ = ["Picture", "explanations_of", "html_of", "pictures_of", "save"]


def save(folder: Path, stem: str, result: Any) -> tuple[list[Path], list[str]]:
    """Draw a result, or several of one kind in one picture, as PNG and SVG into a folder, which may be missing.

    A report is one HTML page.

    Returns the files, and one sentence for each font that the PNG lacks. Nothing is drawn of a result that is numbers
    alone. Raises MissingExtraError without matplotlib.
    """
    if isinstance(result, Report):
        folder.mkdir(parents=True, exist_ok=True)
        with writing_text(folder / f"{stem}.html") as write:
            write(_report_page(result))
        return [folder / f"{stem}.html"], []
    files, notes = list[Path](), list[str]()
    for ending, shown in pictures_of(result).items():
        if shown.draw is None:
            continue
        paths = [folder / f"{stem}{ending}.{form}" for form in ("png", "svg")]
        notes += canvas.draw(paths, shown.figure)
        files += paths
    return files, notes


def _report_page(report: Report) -> str:
    """Return a report as one page: pictures with real text, their numbers below."""
    names = {one.title.lower().replace(" ", "-"): one for one in report.sections}
    contents = [f'<li><a href="#{name}">{escape(one.title)}</a></li>' for name, one in names.items()]
    texts = {"Source" if report.output else "Text": report.text, "Translation": report.output}
    return page(
        report.run,
        "<dl>",
        *(f'<dt>{name}</dt><dd dir="auto">{escape(text)}</dd>' for name, text in texts.items() if text),
        "</dl>",
        '<nav aria-label="Sections"><ul>',
        *contents,
        "</ul></nav>",
        *(_section(name, one) for name, one in names.items()),
    )


def _section(name: str, section: Section) -> str:
    lines = [f'<section id="{name}" aria-labelledby="{name}-title">', f'<h2 id="{name}-title">{section.title}</h2>']
    if section.lacks:
        lines.append(f"<p>Not shown: {escape(section.lacks)}</p>")
    for number, result in enumerate(section.results):
        lines += _pictures(result, section.title, f"{name}{number}")
    return "\n".join([*lines, "</section>"])


def html_of(result: Any) -> str:
    """Return a result for a notebook: its pictures, where matplotlib is there, and its numbers."""
    digest = hashlib.sha256(str(result).encode()).hexdigest()
    try:
        return "\n".join(
            (f"<style>\n{PICTURES}\n</style>", *_pictures(result, type(result).__name__, f"n{digest[:12]}"))
        )
    except MissingExtraError:
        return f"<pre>{escape(str(result))}</pre>"


def _pictures(result: Any, title: str, name: str) -> Iterator[str]:
    """Yield the pictures of a result, and its numbers; ``name`` begins their ids."""
    for ending, shown in pictures_of(result).items():
        if shown.finding:
            yield f'<h3 dir="auto">{escape(shown.finding)}</h3>'
        if draw := shown.draw:
            description = f"{title}{ending.replace('-', ', ')}; its numbers are below"
            panels = [canvas.svg(partial(draw, one)) for one in shown.panels or [shown.results]]
            drawn = (_inline(svg, f"{name}{ending}-{number}") for number, svg in enumerate(panels))
            yield picture("\n".join(drawn), description, shown.caption)
    yield f'<details><summary>Numbers</summary><pre dir="auto" tabindex="0">{escape(str(result))}</pre></details>'


def _inline(svg: str, prefix: str) -> str:
    """Return a picture with ids of its own, whose style reaches nothing else."""
    wanted = {"figure_1", *re.findall(r'(?:href="#|url\(#)([^")]*)', svg)}

    def own(found: re.Match[str]) -> str:
        name = found[1]
        if name not in wanted:
            return ""
        wanted.remove(name)  # where one id is there twice, both are the same
        return f' id="{prefix}-{name}"'

    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}-", re.sub(r' id="([^"]*)"', own, svg))
    return re.sub(r"<style[^>]*>\*(\{.*?\})</style>", rf"<style>#{prefix}-figure_1 * \1</style>", svg, flags=re.DOTALL)
