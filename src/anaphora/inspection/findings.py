"""Findings: what a picture shows, in one sentence that is computed from its numbers."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import mean, median
from typing import Any

import numpy as np

from anaphora.inspection.attention import Alignment
from anaphora.inspection.attribution import Attribution, TokenAttribution
from anaphora.inspection.context import WITHIN, EffectiveContext
from anaphora.inspection.embeddings import Embeddings
from anaphora.inspection.gates import HIGH, LOW, WEAK, Followers, Gates, Saturation
from anaphora.inspection.gradients import GradientFlow, ItemisedGradients, Reach
from anaphora.inspection.labels import UNITS, labels, layer_name
from anaphora.inspection.length import ByLength
from anaphora.inspection.neighbours import TrainingNeighbours
from anaphora.inspection.remedies import Remedies
from anaphora.inspection.span import Spans
from anaphora.wording import inflect

_STEPS = 20
"""Steps back after which the rest of a gradient is put into words, where there are so many."""
_MOST = 0.9
"""Fraction of what losses send that is put into words."""


def of_attention(alignments: Sequence[Alignment]) -> str:
    """Count the output tokens that look at one source token, and the steps back to the left."""
    found = []
    for one in alignments:
        places, sharp = [row.index(max(row)) for row in one.weights], sum(max(row) > 0.5 for row in one.weights)
        back = inflect(sum(after < before for before, after in pairwise(places)), "time")
        where = f"{one.run}: " if len(alignments) > 1 else ""
        count = f"{sharp} of {inflect(len(places), 'output token')}"
        found.append(f"{where}{count} have over half of their attention on one source token; it moves left {back}")
    return ". ".join(found)


def of_attribution(found: Attribution) -> str:
    """Name the strongest dependence."""
    values_TI = np.array(found.values)
    row, place = np.unravel_index(np.abs(values_TI).argmax(), values_TI.shape)
    output, read = labels(found.outputs)[row], labels(found.inputs)[place]
    return f"'{output}' depends most on '{read}' ({values_TI[row, place]:+.2g} nats)"


def of_token(found: TokenAttribution) -> str:
    """Name the inputs that count most for a token and against it."""
    [output], values = labels([found.output]), sorted(zip(found.values, labels(found.inputs), strict=True))
    instead = f", not '{found.instead}'," if found.instead else ""
    (low, against), (high, best) = values[0], values[-1]
    less = f"; '{against}' counts most against it ({low:+.2g})" if low < 0 else ""
    return f"'{output}'{instead} comes most of all from '{best}' ({high:+.2g} nats){less}"


def of_gates(found: Gates) -> str:
    """Name the gates that are most open and most closed."""
    return _extremes(
        (unit.names[gate], unit.unit, np.mean(np.array(rows) > HIGH), np.mean(np.array(rows) < LOW))
        for unit in found.units
        for gate, rows in unit.values.items()
        if gate not in (*unit.state, unit.candidate)
    )


def of_saturation(found: Saturation) -> str:
    """Name the gates that are most open and most closed."""
    return _extremes((one.name, one.unit, mean(one.high), mean(one.low)) for one in found.gates if not one.candidate)


def _extremes(gates: Iterable[tuple[str, str, Any, Any]]) -> str:
    """Return words for gates: name, unit, fraction of values above ``HIGH`` and below ``LOW``."""
    every = list(gates)
    (opened, above, high, _), (closed, below, _, low) = (max(every, key=lambda one: one[place]) for place in (2, 3))
    most_open = f"Most open: {opened} of {layer_name(above)}, {high:.0%} of its values above {HIGH}"
    return f"{most_open}. Most closed: {closed} of {layer_name(below)}, {low:.0%} below {LOW}"


def of_followers(found: Followers) -> str:
    """Name the cell that goes best with each property."""
    best = {one.property: one for one in reversed(found.found)}
    named = [f"{name}: cell {one.cell} (r = {one.correlation:+.2f})" for name, one in reversed(best.items())]
    return f"Closest to {'; '.join(named)}" if named else f"No cell goes with a property with |r| of {WEAK} or more"


def of_reach(flows: Sequence[GradientFlow]) -> str:
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


def of_terms(units: Sequence[Reach]) -> str:
    """Name the gate through which most of the derivative goes at most steps."""
    largest = Counter(max("ofig", key=term.__getitem__) for unit in units for term in unit.terms)
    gate, times = max(largest.items(), key=lambda one: one[1])
    return f"At {times} of {inflect(largest.total(), 'step')} the largest of the four terms goes through {gate}"


def of_items(items: Sequence[ItemisedGradients]) -> str:
    """Say how far back most of what losses send goes."""
    found = []
    for one in items:
        norms_NT = np.array(one.norms)
        norms_NT[-2] += norms_NT[-1]
        sent_T = np.cumsum([np.trace(norms_NT[:-1], -back) for back in range(len(one.steps))])
        steps = inflect(int(np.searchsorted(sent_T, _MOST * sent_T[-1])), "step")
        found.append(f"{steps} in {layer_name(one.layer)}")
    return f"{_MOST:.0%} of what losses send goes back at most {', '.join(found)}"


def of_lengths(systems: Sequence[ByLength]) -> str:
    """Give the metric of each system for the shortest and the longest sentences."""
    found = []
    for system in systems:
        name = "loss" if system.groups[0].bleu is None else "BLEU"
        ends = dict.fromkeys((system.groups[0], system.groups[-1]))
        values = (f"{getattr(one, name.lower()):.3g} for {one.name.removeprefix('source ')}" for one in ends)
        found.append(f"{system.name}: {name} {', '.join(values)}")
    return "; ".join(found)


def of_embeddings(found: Embeddings) -> str:
    """Name the nearest neighbour of each word, and the variance that the picture has."""
    nearest = {one.word: one.nearest[0] for one in reversed(found.neighbours) if one.nearest}
    named = "".join(f"Nearest to '{word}': '{one}' ({cosine:.2f}). " for word, (one, cosine) in nearest.items())
    shown = found.projection
    return f"{named}The picture has {sum(shown.explained):.0%} of the variance of {len(shown.names)} {shown.what}"


def of_neighbours(found: TrainingNeighbours) -> str:
    """Name the training data that is nearest most often."""
    [(one, times)] = Counter(
        f"{'pair' if own[0].source else 'line'} {own[0].pair:,}" for own in found.nearest
    ).most_common(1)
    return f"Training {one} is nearest for {times} of {inflect(len(found.nearest), 'output token')}"


def of_spans(found: Spans) -> str:
    """Name the units that remember longest and shortest on each task."""
    spans, named = found.spans(), []
    for task in dict.fromkeys(task for task, _ in spans):
        own = sorted((median(values), unit) for (other, unit), values in spans.items() if other == task)
        named.append(f"{task}: {own[-1][1]} {own[-1][0]:g}, {own[0][1]} {own[0][0]:g}")
    return f"Steps remembered, most and least (median of {inflect(len(found.plan.seeds), 'seed')}): {'; '.join(named)}"


def of_remedies(found: Remedies) -> str:
    """Name the network with the most right answers."""
    best = max(found.found, key=lambda one: one.accuracy)
    steps = inflect(found.distance, "step")
    return f"Best of {len(found.found)} over {steps}: {best.name.strip()}, {best.accuracy:.0%} of the symbols right"


def of_context(found: EffectiveContext) -> str:
    """Say how many tokens of context are enough."""
    enough = f"{found.effective} tokens are enough" if found.effective else f"{found.sizes[-1]} tokens are too few"
    return f"{enough} for a loss within {WITHIN:.0%} of that with {inflect(found.longest, 'token')}"
