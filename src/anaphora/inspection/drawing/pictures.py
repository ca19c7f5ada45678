"""Pictures of results: a figure, a finding that is computed from the numbers, and a caption."""

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import mean, median
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

from anaphora.inspection.attention import Alignment
from anaphora.inspection.attribution import Attribution, TokenAttribution
from anaphora.inspection.cell_diagram import CellDiagram
from anaphora.inspection.context import WITHIN, EffectiveContext
from anaphora.inspection.curves import Curves
from anaphora.inspection.drawing import canvas, charts, diagrams, heat, trees
from anaphora.inspection.drawing.canvas import Figure
from anaphora.inspection.embeddings import Embeddings
from anaphora.inspection.gates import HIGH, LOW, WEAK, Followers, Gates, Saturation
from anaphora.inspection.gradients import GradientFlow, ItemisedGradients, Reach
from anaphora.inspection.labels import UNITS, labels, layer_name
from anaphora.inspection.length import ByLength
from anaphora.inspection.neighbours import TrainingNeighbours
from anaphora.inspection.network_diagram import NetworkDiagram
from anaphora.inspection.remedies import Remedies
from anaphora.inspection.span import Spans
from anaphora.inspection.tree import Tree
from anaphora.wording import inflect

_STEPS = 20
"""Steps back after which the rest of a gradient is put into words, where there are so many."""
_SELDOM = 0.1
"""Fraction of values below which a gate is not called closed."""
_MOST = 0.9
"""Fraction of what losses send that is put into words."""
_CAPTIONS: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("captions.toml").read_text(encoding="utf-8")
)
_LETTER = 0.0098
"""Inches that a letter is wide, a point of its size."""
_WIDE = 12.0
"""Inches of a figure beyond which the words around it grow with it."""
_GAP = 0.14
"""Inches between a figure and the words around it."""


class Picture(NamedTuple):
    """Figure of results, and what explains it."""

    name: str
    """Entry among the captions; empty for a figure that has its words inside."""
    draw: Callable[[Any], Figure] | None
    """None where the finding says all that there is."""
    results: Any
    finding: str = ""
    panels: Sequence[Any] = ()
    """The results of each panel, where a narrow page has them one below the other."""

    @property
    def caption(self) -> str:
        """Caption: the content of the picture, and its telling part."""
        return "\n".join(f"{name}: {_CAPTIONS[self.name][key]}" for key, name in _PARTS.items()) if self.name else ""

    def figure(self) -> Figure:
        """Return the figure, with the finding above it and the caption below."""
        assert self.draw
        made = self.draw(self.results)
        if not self.name:
            return made
        box = canvas.bounding_box(made)
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
        return {"-reach": Picture("reach", charts.reach_of_runs_figure, flows, reach_finding(flows))}
    [flow] = flows
    rows: tuple[tuple[str, Any, Any, Any], ...] = (
        ("reach", reach_finding, charts.reach_figure, flow.reach),
        ("terms", terms_finding, charts.terms_figure, [unit for unit in flow.reach if unit.terms]),
        ("items", items_finding, heat.itemised_figure, flow.itemised),
    )
    return {
        f"-{name}": Picture(name, draw, found, finding(flows if name == "reach" else found), [[one] for one in found])
        for name, finding, draw, found in rows
        if found
    }


def attention_finding(alignments: Sequence[Alignment]) -> str:
    """Count the output tokens that look at one source token, and the steps back to the left."""
    found = []
    for one in alignments:
        places, sharp = [row.index(max(row)) for row in one.weights], sum(max(row) > 0.5 for row in one.weights)
        back = inflect(sum(after < before for before, after in pairwise(places)), "time")
        where = f"{one.run}: " if len(alignments) > 1 else ""
        count = f"{sharp} of {inflect(len(places), 'output token')}"
        found.append(f"{where}{count} have over half of their attention on one source token; it moves left {back}")
    return ". ".join(found)


def attribution_finding(found: Attribution) -> str:
    """Name the strongest dependence."""
    values_TI = np.array(found.values)
    row, place = np.unravel_index(np.abs(values_TI).argmax(), values_TI.shape)
    output, read = labels(found.outputs)[row], labels(found.inputs)[place]
    return f"'{output}' depends most on '{read}' ({values_TI[row, place]:+.2g} nats)"


def token_finding(found: TokenAttribution) -> str:
    """Name the inputs that count most for a token and against it."""
    [output], values = labels([found.output]), sorted(zip(found.values, labels(found.inputs), strict=True))
    instead = f", not '{found.instead}'," if found.instead else ""
    (low, against), (high, best) = values[0], values[-1]
    less = f"; '{against}' counts most against it ({low:+.2g})" if low < 0 else ""
    return f"'{output}'{instead} comes most of all from '{best}' ({high:+.2g} nats){less}"


def gates_finding(found: Gates) -> str:
    """Name the gates that are most open and most closed."""
    return _extremes(
        (unit.names[gate], unit.unit, np.mean(np.array(rows) > HIGH), np.mean(np.array(rows) < LOW))
        for unit in found.units
        for gate, rows in unit.values.items()
        if gate not in (*unit.state, unit.candidate)
    )


def saturation_finding(found: Saturation) -> str:
    """Name the gates that are most open and most closed."""
    return _extremes((one.name, one.unit, mean(one.high), mean(one.low)) for one in found.gates if not one.candidate)


def _extremes(gates: Iterable[tuple[str, str, Any, Any]]) -> str:
    """Return words for gates: name, unit, fraction of values above ``HIGH`` and below ``LOW``."""
    every = list(gates)
    (opened, above, high, _), (closed, below, _, low) = (max(every, key=lambda one: one[place]) for place in (2, 3))
    most_open = f"Most open: {opened} of {layer_name(above)}, {high:.0%} of its values above {HIGH}"
    if low < _SELDOM:
        return f"{most_open}. No gate is often closed: at most {low:.0%} below {LOW}"
    return f"{most_open}. Most closed: {closed} of {layer_name(below)}, {low:.0%} below {LOW}"


def followers_finding(found: Followers) -> str:
    """Name the cell that goes best with each property."""
    best = {one.property: one for one in reversed(found.found)}
    named = [f"{name}: cell {one.cell} (r = {one.correlation:+.2f})" for name, one in reversed(best.items())]
    return f"Closest to {'; '.join(named)}" if named else f"No cell goes with a property with |r| of {WEAK} or more"


def reach_finding(flows: Sequence[GradientFlow]) -> str:
    """Say how much of the gradient of each unit is left, and what its bound allows."""
    units = [(flow.run if len(flows) > 1 else layer_name(one.unit), one) for flow in flows for one in flow.reach]
    steps, found = min(_STEPS, *(max(1, len(one.norms) - 1) for _, one in units)), []
    for place, one in units:
        more = {"bound": one.bound.values if one.bound else (), "memory": one.memory}
        beside = "".join(f", {name} {values[steps - 1]:.1g}" for name, values in more.items() if values)
        size = f"{'falls' if one.norms[steps - 1] < 1 else 'grows'} to {one.norms[steps - 1]:.1g}"
        found.append(f"{size} in the {UNITS.get(one.cell, one.cell)} ({place}{beside})")
    before = "Before training, over" if flows[0].fresh else "Over"
    return f"{before} {inflect(steps, 'step')} the gradient {', '.join(found)}"


def terms_finding(units: Sequence[Reach]) -> str:
    """Name the gate through which most of the derivative goes at most steps."""
    largest = Counter(max("ofig", key=term.__getitem__) for unit in units for term in unit.terms)
    gate, times = max(largest.items(), key=lambda one: one[1])
    return f"At {times} of {inflect(largest.total(), 'step')} the largest of the four terms goes through {gate}"


def items_finding(items: Sequence[ItemisedGradients]) -> str:
    """Say how far back most of what losses send goes."""
    found = []
    for one in items:
        norms_NT = np.array(one.norms)
        norms_NT[-2] += norms_NT[-1]
        sent_T = np.cumsum([np.trace(norms_NT[:-1], -back) for back in range(len(one.steps))])
        steps = inflect(int(np.searchsorted(sent_T, _MOST * sent_T[-1])), "step")
        found.append(f"{steps} in {layer_name(one.layer)}")
    return f"{_MOST:.0%} of what losses send goes back at most {', '.join(found)}"


def lengths_finding(systems: Sequence[ByLength]) -> str:
    """Give the metric of each system for the shortest and the longest sentences."""
    found = []
    for system in systems:
        name = "loss" if system.groups[0].bleu is None else "BLEU"
        ends = dict.fromkeys((system.groups[0], system.groups[-1]))
        values = (f"{getattr(one, name.lower()):.3g} for {one.name.removeprefix('source ')}" for one in ends)
        found.append(f"{system.name}: {name} {', '.join(values)}")
    return "; ".join(found)


def embeddings_finding(found: Embeddings) -> str:
    """Name the nearest neighbour of each word, and the variance that the picture has."""
    nearest = {one.word: one.nearest[0] for one in reversed(found.neighbours) if one.nearest}
    named = "".join(f"Nearest to '{word}': '{one}' ({cosine:.2f}). " for word, (one, cosine) in nearest.items())
    shown = found.projection
    return f"{named}The picture has {sum(shown.explained):.0%} of the variance of {len(shown.names)} {shown.what}"


def neighbours_finding(found: TrainingNeighbours) -> str:
    """Name the training data that is nearest most often."""
    [(one, times)] = Counter(
        f"{'pair' if own[0].source else 'line'} {own[0].pair:,}" for own in found.nearest
    ).most_common(1)
    return f"Training {one} is nearest for {times} of {inflect(len(found.nearest), 'output token')}"


def spans_finding(found: Spans) -> str:
    """Name the units that remember longest and shortest on each task."""
    spans, named = found.spans(), []
    for task in dict.fromkeys(task for task, _ in spans):
        own = sorted((median(values), unit) for (other, unit), values in spans.items() if other == task)
        named.append(f"{task}: {own[-1][1]} {own[-1][0]:g}, {own[0][1]} {own[0][0]:g}")
    return f"Steps remembered, most and least (median of {inflect(len(found.plan.seeds), 'seed')}): {'; '.join(named)}"


def remedies_finding(found: Remedies) -> str:
    """Name the network with the most right answers."""
    best = max(found.found, key=lambda one: one.accuracy)
    steps = inflect(found.distance, "step")
    return f"Best of {len(found.found)} over {steps}: {best.name.strip()}, {best.accuracy:.0%} of the symbols right"


def context_finding(found: EffectiveContext) -> str:
    """Say how many tokens of context are enough."""
    enough = inflect(found.effective or found.sizes[-1], "token", "are enough" if found.effective else "are too few")
    return f"{enough} for a loss within {WITHIN:.0%} of that with {inflect(found.longest, 'token')}"


_KINDS: Mapping[type, tuple[str, Callable[[Any], str], Callable[[Any], Figure]]] = {
    Alignment: ("attention", attention_finding, heat.alignment_figure),
    Attribution: ("attribution", attribution_finding, heat.attribution_figure),
    ByLength: ("length", lengths_finding, charts.lengths_figure),
    CellDiagram: ("", lambda diagram: "", diagrams.cell_figure),
    Curves: ("curves", lambda runs: "; ".join(map(str, runs)), charts.curves_figure),
    EffectiveContext: ("context", context_finding, charts.context_figure),
    Embeddings: ("embeddings", embeddings_finding, charts.embeddings_figure),
    Followers: ("cells", followers_finding, charts.followers_figure),
    Gates: ("gates", gates_finding, heat.gates_figure),
    NetworkDiagram: ("", lambda diagram: "", diagrams.network_figure),
    Remedies: ("remedies", remedies_finding, charts.remedies_figure),
    Saturation: ("saturation", saturation_finding, charts.saturation_figure),
    Spans: ("spans", spans_finding, charts.spans_figure),
    TokenAttribution: ("token", token_finding, charts.token_figure),
    TrainingNeighbours: ("neighbours", neighbours_finding, charts.neighbours_figure),
    Tree: ("", lambda tree: "", trees.tree_figure),
}
