"""Pictures of what inspection finds; they need the extra "plot"."""

import hashlib
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from html import escape
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

from anaphora.errors import MissingExtraError
from anaphora.formats.lines import writing_text
from anaphora.inspection import findings
from anaphora.inspection.attention import Alignment
from anaphora.inspection.attribution import Attribution, TokenAttribution
from anaphora.inspection.cell_diagram import CellDiagram
from anaphora.inspection.context import EffectiveContext
from anaphora.inspection.curves import Curves
from anaphora.inspection.drawing import canvas, charts, diagrams, heat, trees
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

_CAPTIONS: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("captions.toml").read_text(encoding="utf-8")
)
_LETTER = 0.0087
"""Inches that a letter is wide, a point of its size."""
_WIDE = 9.0
"""Inches of a figure beyond which the words around it grow with it."""
_GAP = 0.14
"""Inches between a figure and the words around it."""


class Picture(NamedTuple):
    """Figure of results, and what explains it."""

    name: str
    """Its entry among the captions; empty for a figure that has its words inside."""
    draw: Callable[[Any], "Figure"] | None
    """None where the finding says all that there is."""
    results: Any
    finding: str = ""
    panels: Sequence[Any] = ()
    """The results of each panel, where a narrow page has them one below the other."""

    @property
    def caption(self) -> str:
        """What is seen, and what to look for."""
        return "\n".join(f"{name}: {_CAPTIONS[self.name][key]}" for key, name in _PARTS.items()) if self.name else ""

    def figure(self) -> "Figure":
        """Return the figure, with the finding above it and the caption below."""
        assert self.draw
        made = self.draw(self.results)
        if not self.name:
            return made
        if engine := made.get_layout_engine():
            engine.execute(made)
            made.set_layout_engine(None)
        box = made.get_tightbbox()
        for legend in made.legends:  # stays where it is while the page grows
            legend.set_bbox_to_anchor((0, 0, 1, 1), made.transFigure)
        (across, down), width = made.get_size_inches(), max(box.width, 4.5)
        size = max(1.0, width / _WIDE)
        words: tuple[tuple[str, float, Any], ...] = (
            (self.finding, box.y1 + _GAP, {"fontsize": 11 * size, "fontweight": "bold", "va": "bottom"}),
            (self.caption, box.y0 - _GAP, {"fontsize": 8.5 * size, "va": "top"}),
        )
        for text, place, style in words:
            letters = int(width / (_LETTER * style["fontsize"]))
            wrapped = "\n".join(fill(line, letters, break_on_hyphens=False) for line in text.split("\n"))
            made.text(box.x0 / across, place / down, wrapped, linespacing=1.35, **style)
        return made


_PARTS = {"see": "What you see", "look": "What to look for"}


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


def explanations_of(result: Any) -> list[str]:
    """Return what the pictures of a result show, and what to look for in them, for a terminal."""
    pictures = (one for one in pictures_of(result).values() if one.name)
    return [f"{one.finding}.\n{_PARTS['look']}: {_CAPTIONS[one.name]['look']}" for one in pictures]


def pictures_of(result: Any) -> dict[str, Picture]:
    """Return the pictures of a result, not drawn yet, by the ending of the names of their files."""
    several: Sequence[Any] = result if isinstance(result, list | tuple) else [result]
    kind = type(several[0])
    if kind is GradientFlow:
        return _of_gradients(several)
    if kind not in _KINDS:
        return {}
    name, finding, draw = _KINDS[kind]
    results, panels = several if kind in (Alignment, ByLength, Curves) else several[0], list[Any]()
    draws = charts.are_curves(several) if kind is ByLength else bool(getattr(results, "found", True))
    if kind is Curves:
        panels = [[run.only(*one) for run in several] for one in charts.quantities(several)]
        draws = bool(panels)
    if isinstance(results, Gates):
        panels = results.panels()
    return {"": Picture(name, draw if draws else None, results, finding(results), panels)}


def _of_gradients(flows: Sequence[GradientFlow]) -> dict[str, Picture]:
    if len(flows) > 1:
        return {"-reach": Picture("reach", charts.reach_of_runs_figure, flows, findings.of_reach(flows))}
    [flow] = flows
    rows: tuple[tuple[str, Any, Any, Any], ...] = (
        ("reach", findings.of_reach, charts.reach_figure, flow.reach),
        ("terms", findings.of_terms, charts.terms_figure, [unit for unit in flow.reach if unit.terms]),
        ("items", findings.of_items, heat.itemised_figure, flow.itemised),
    )
    return {
        f"-{name}": Picture(name, draw, found, finding(flows if name == "reach" else found), [[one] for one in found])
        for name, finding, draw, found in rows
        if found
    }


_KINDS: Mapping[type, tuple[str, Callable[[Any], str], Callable[[Any], "Figure"]]] = {
    Alignment: ("attention", findings.of_attention, heat.alignment_figure),
    Attribution: ("attribution", findings.of_attribution, heat.attribution_figure),
    ByLength: ("length", findings.of_lengths, charts.lengths_figure),
    CellDiagram: ("", lambda diagram: "", diagrams.cell_figure),
    Curves: ("curves", lambda runs: "; ".join(map(str, runs)), charts.curves_figure),
    EffectiveContext: ("context", findings.of_context, charts.context_figure),
    Embeddings: ("embeddings", findings.of_embeddings, charts.embeddings_figure),
    Followers: ("cells", findings.of_followers, charts.followers_figure),
    Gates: ("gates", findings.of_gates, heat.gates_figure),
    NetworkDiagram: ("", lambda diagram: "", diagrams.network_figure),
    Remedies: ("remedies", findings.of_remedies, charts.remedies_figure),
    Saturation: ("saturation", findings.of_saturation, charts.saturation_figure),
    Spans: ("spans", findings.of_spans, charts.spans_figure),
    TokenAttribution: ("token", findings.of_token, charts.token_figure),
    TrainingNeighbours: ("neighbours", findings.of_neighbours, charts.neighbours_figure),
    Tree: ("", lambda tree: "", trees.tree_figure),
}


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
