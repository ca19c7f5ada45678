"""The one place that draws what inspection finds; it needs the extra "plot"."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anaphora.inspection.attention import Alignment
from anaphora.inspection.attribution import Attribution, TokenAttribution
from anaphora.inspection.cell_diagram import CellDiagram
from anaphora.inspection.curves import Curves
from anaphora.inspection.drawing import canvas, charts, diagrams, heat, spans_charts
from anaphora.inspection.drawing.page import write_page
from anaphora.inspection.embeddings import Embeddings
from anaphora.inspection.gates import Followers, Gates, Saturation
from anaphora.inspection.gradients import GradientFlow
from anaphora.inspection.length import ByLength
from anaphora.inspection.neighbours import TrainingNeighbours
from anaphora.inspection.programs import Diagram
from anaphora.inspection.remedies import Remedies
from anaphora.inspection.report import Report
from anaphora.inspection.span import EffectiveContext, Spans
from anaphora.inspection.tree import Tree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Figures = dict[str, Callable[[], "Figure"]]
"""What makes each figure, by what its file's name ends in."""


def save(folder: Path, stem: str, result: Any) -> tuple[list[Path], list[str]]:
    """Draw a result, or several of one kind in one picture, as PNG and SVG into a folder, which may be missing.

    A report is one HTML page.

    Returns the files, and one sentence for each font that the PNG lacks. Nothing is drawn of a result that is numbers
    alone. Raises MissingExtraError without matplotlib.
    """
    if isinstance(result, Report):
        return [write_page(folder / f"{stem}.html", result, figures_of)], []
    files, notes = list[Path](), list[str]()
    for ending, make in figures_of(result).items():
        paths = [folder / f"{stem}{ending}.{form}" for form in ("png", "svg")]
        notes += canvas.draw(paths, make)
        files += paths
    return files, notes


def figures_of(result: Any) -> Figures:
    """The figures of a result, not made yet."""
    several: Sequence[Any] = result if isinstance(result, list | tuple) else [result]
    match several[0]:
        case Alignment():
            return {"": lambda: heat.alignment_figure(several)}
        case Attribution():
            return {"": lambda: heat.attribution_figure(several[0])}
        case TokenAttribution():
            return {"": lambda: charts.token_figure(several[0])}
        case CellDiagram():
            return {"": lambda: diagrams.cell_figure(several[0])}
        case Curves():
            return {"": lambda: charts.curves_figure(several)}
        case ByLength():
            return {"": lambda: charts.lengths_figure(several)}
        case Diagram():
            return {"": lambda: diagrams.network_figure(several[0])}
        case Embeddings():
            return {"": lambda: charts.embeddings_figure(several[0])}
        case Gates():
            return {"": lambda: heat.gates_figure(several[0])}
        case Saturation():
            return {"": lambda: charts.saturation_figure(several[0])}
        case Followers(found=[_, *_]):
            return {"": lambda: charts.followers_figure(several[0])}
        case GradientFlow():
            return _of_gradients(several[0])
        case TrainingNeighbours():
            return {"": lambda: charts.neighbours_figure(several[0])}
        case Remedies():
            return {"": lambda: spans_charts.remedies_figure(several[0])}
        case Spans():
            return {"": lambda: spans_charts.spans_figure(several[0])}
        case EffectiveContext():
            return {"": lambda: spans_charts.context_figure(several[0])}
        case Tree():
            return {"": lambda: diagrams.tree_figure(several[0])}
    return {}


def _of_gradients(flow: GradientFlow) -> Figures:
    figures: Figures = {"-reach": lambda: charts.reach_figure(flow.reach)}
    if with_terms := [unit for unit in flow.reach if unit.terms]:
        figures["-terms"] = lambda: charts.terms_figure(with_terms)
    if flow.itemised:
        figures["-items"] = lambda: heat.itemised_figure(flow.itemised)
    return figures
