"""Pictures of what inspection finds; they need the extra "plot"."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anaphora.errors import MissingExtraError
from anaphora.formats.lines import writing_text
from anaphora.inspection.attention import Alignment
from anaphora.inspection.attribution import Attribution, TokenAttribution
from anaphora.inspection.cell_diagram import CellDiagram
from anaphora.inspection.context import EffectiveContext
from anaphora.inspection.curves import Curves
from anaphora.inspection.drawing import canvas, charts, diagrams, heat
from anaphora.inspection.embeddings import Embeddings
from anaphora.inspection.gates import Followers, Gates, Saturation
from anaphora.inspection.gradients import GradientFlow
from anaphora.inspection.length import ByLength
from anaphora.inspection.neighbours import TrainingNeighbours
from anaphora.inspection.network_diagram import NetworkDiagram
from anaphora.inspection.page import PICTURES, page, picture
from anaphora.inspection.remedies import Remedies
from anaphora.inspection.report import Report, Section
from anaphora.inspection.span import Spans
from anaphora.inspection.tree import Tree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Figures = dict[str, Callable[[], "Figure"]]
"""Functions that make a figure, by the ending of its file's name."""


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
    for ending, make in figures_of(result).items():
        paths = [folder / f"{stem}{ending}.{form}" for form in ("png", "svg")]
        notes += canvas.draw(paths, make)
        files += paths
    return files, notes


def figures_of(result: Any) -> Figures:
    """Return the figures of a result, not made yet."""
    several: Sequence[Any] = result if isinstance(result, list | tuple) else [result]
    first = several[0]
    if together := _TOGETHER.get(type(first)):
        return {"": lambda: together(several)}
    if isinstance(first, GradientFlow):
        return _of_gradients(several)
    make = _ALONE.get(type(first))
    return {"": lambda: make(first)} if make and getattr(first, "found", True) else {}


_TOGETHER: Mapping[type, Callable[[Sequence[Any]], "Figure"]] = {
    Alignment: heat.alignment_figure,
    Curves: charts.curves_figure,
    ByLength: charts.lengths_figure,
}
"""Figures that show several results side by side."""
_ALONE: Mapping[type, Callable[[Any], "Figure"]] = {
    Attribution: heat.attribution_figure,
    TokenAttribution: charts.token_figure,
    CellDiagram: diagrams.cell_figure,
    NetworkDiagram: diagrams.network_figure,
    Embeddings: charts.embeddings_figure,
    Gates: heat.gates_figure,
    Saturation: charts.saturation_figure,
    Followers: charts.followers_figure,
    TrainingNeighbours: charts.neighbours_figure,
    Remedies: charts.remedies_figure,
    Spans: charts.spans_figure,
    EffectiveContext: charts.context_figure,
    Tree: diagrams.tree_figure,
}


def _of_gradients(flows: Sequence[GradientFlow]) -> Figures:
    if len(flows) > 1:
        return {"-reach": lambda: charts.reach_of_runs_figure(flows)}
    [flow] = flows
    figures: Figures = {"-reach": lambda: charts.reach_figure(flow.reach)}
    if with_terms := [unit for unit in flow.reach if unit.terms]:
        figures["-terms"] = lambda: charts.terms_figure(with_terms)
    if flow.itemised:
        figures["-items"] = lambda: heat.itemised_figure(flow.itemised)
    return figures


def _report_page(report: Report) -> str:
    """Return a report as one page: pictures with real text, their numbers below."""
    names = {one.title.lower().replace(" ", "-"): one for one in report.sections}
    contents = [f'<li><a href="#{name}">{escape(one.title)}</a></li>' for name, one in names.items()]
    return page(
        report.run,
        f'<p dir="auto">{escape(report.text)}</p>',
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
    for ending, make in figures_of(result).items():
        description = f"{title}{ending.replace('-', ', ')}; its numbers are below"
        yield picture(_inline(canvas.svg(make), f"{name}{ending}"), description)
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
