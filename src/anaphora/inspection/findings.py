"""Findings: what a picture shows, as one sentence with the numbers that it has been computed from."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from anaphora.inspection.attention import Alignment
from anaphora.inspection.attribution import Attribution, TokenAttribution
from anaphora.inspection.context import WITHIN, EffectiveContext
from anaphora.inspection.curves import Curves
from anaphora.inspection.embeddings import Embeddings
from anaphora.inspection.gates import HIGH, LOW, WEAK, Followers, Gates, Saturation
from anaphora.inspection.gradients import GradientFlow, ItemisedGradients, Reach
from anaphora.inspection.labels import UNITS, labels, unit_words
from anaphora.inspection.length import ByLength, Group
from anaphora.inspection.neighbours import TrainingNeighbours
from anaphora.inspection.remedies import Remedies
from anaphora.inspection.span import Spans
from anaphora.wording import inflect

_STEPS = 20
"""Steps back for which the reach of a gradient is put into words, where there are so many."""
_MOST = 0.9
"""Fraction of what losses send that is put into words."""


def of_attention(alignments: Sequence[Alignment]) -> str:
    """Count the tokens of each output that look at one source token, and those that go back in the source."""
    found = []
    for one in alignments:
        places = [max(range(len(row)), key=row.__getitem__) for row in one.weights]
        sharp = sum(max(row) > 0.5 for row in one.weights)
        back = sum(after < before for before, after in pairwise(places))
        order = f"{inflect(back, 'time')} back to the left" if back else "from left to right, never back"
        where = f"{one.run}: " if len(alignments) > 1 else ""
        count = f"{sharp} of {inflect(len(places), 'output token')}"
        found.append(f"{where}{count} have over half of their attention on one source token, {order}")
    return ". ".join(found)


def of_attribution(found: Attribution) -> str:
    """Name the strongest dependence, and count the output tokens that depend most on the source."""
    sources = len(found.inputs) - len(found.outputs)
    most = [max(range(len(row)), key=lambda place: abs(row[place])) for row in found.values]
    row = max(range(len(most)), key=lambda number: abs(found.values[number][most[number]]))
    inputs, outputs = labels(found.inputs), labels(found.outputs)
    value = found.values[row][most[row]]
    strongest = f"'{outputs[row]}' depends most on '{inputs[most[row]]}' ({value:+.2g} nats)"
    from_source = sum(place < sources for place in most)
    rest = f"; {from_source} of {inflect(len(most), 'output token')} depend most on the source" if sources else ""
    return f"{strongest}{rest}"


def of_token(found: TokenAttribution) -> str:
    """Name the inputs that count most for a token and against it."""
    [output], inputs = labels([found.output]), labels(found.inputs)
    values = sorted(zip(found.values, inputs, strict=True))
    (low, against), (high, best) = values[0], values[-1]
    instead = f", not '{found.instead}'," if found.instead else ""
    less = f"; '{against}' counts most against it ({low:+.2g})" if low < 0 else ""
    return f"'{output}'{instead} comes most of all from '{best}' ({high:+.2g} nats){less}"


def of_gates(found: Gates) -> str:
    """Name the gate with the largest fraction of values near 1, and the one with most near 0."""
    values = {
        f"the {unit.names[gate]} of {unit_words(unit.unit)}": [value for row in rows for value in row]
        for unit in found.units
        for gate, rows in unit.values.items()
        if gate not in (*unit.state, unit.candidate)
    }
    return _extremes(
        {name: sum(one > HIGH for one in own) / len(own) for name, own in values.items()},
        {name: sum(one < LOW for one in own) / len(own) for name, own in values.items()},
    )


def of_saturation(found: Saturation) -> str:
    """Name the gate with the largest fraction of values near 1, and the one with most near 0."""
    gates = {f"the {one.name} of {unit_words(one.unit)}": one for one in found.gates if not one.candidate}
    return _extremes(
        {name: sum(one.high) / len(one.high) for name, one in gates.items()},
        {name: sum(one.low) / len(one.low) for name, one in gates.items()},
    )


def _extremes(high: dict[str, float], low: dict[str, float]) -> str:
    opened, closed = max(high, key=high.__getitem__), max(low, key=low.__getitem__)
    return (
        f"Most open: {opened}, with {high[opened]:.0%} of its values above {HIGH}. "
        f"Most closed: {closed}, with {low[closed]:.0%} below {LOW}"
    )


def of_followers(found: Followers) -> str:
    """Name the cell that follows each property best."""
    if not found.found:
        return f"No cell has a correlation of {WEAK} or more with a property of this text"
    best = {one.property: one for one in reversed(found.found)}
    named = [f"cell {one.cell} to {name} (r = {one.correlation:+.2f})" for name, one in best.items()]
    return f"Closest: {'; '.join(reversed(named))}"


def of_reach(flows: Sequence[GradientFlow]) -> str:
    """Say how far the gradient of each unit falls, and of a simple unit what its bound allows."""
    units = [(flow, one) for flow in flows for one in flow.reach]
    steps = min(_STEPS, *(max(1, len(one.norms) - 1) for _, one in units))
    kinds = Counter(one.cell for _, one in units)
    found = []
    for flow, one in units:
        name = UNITS.get(one.cell, one.cell)
        name = name if kinds[one.cell] == 1 else f"{name} in {unit_words(one.unit) if len(flows) == 1 else flow.run}"
        found.append(f"of the {name} {_change(one.norms[steps - 1])}")
        if one.bound:
            found[-1] += f" (bound: {one.bound.values[steps - 1]:.0e})"
        if one.memory:
            found.append(f"of its memory {_change(one.memory[steps - 1])}")
    before = "Before training, over" if flows[0].fresh else "Over"
    return f"{before} {inflect(steps, 'step')} the gradient {', '.join(found)}"


def _change(value: float) -> str:
    return f"{'falls' if value < 1 else 'grows'} to {value:.1g}"


def of_terms(units: Sequence[Reach]) -> str:
    """Name the gate through which most of the derivative of each LSTM goes at most steps."""
    found = []
    for unit in units:
        largest = Counter(max("ofig", key=term.__getitem__) for term in unit.terms)
        [(gate, times)] = largest.most_common(1)
        found.append(f"at {times} of {inflect(len(unit.terms), 'step')} the largest goes through {gate}")
    return f"Of the four terms between two steps, {'; '.join(found)}"


def of_items(items: Sequence[ItemisedGradients]) -> str:
    """Say how far back most of what losses send goes."""
    found = []
    for one in items:
        by_distance, size = Counter[int](), len(one.steps)
        for step, row in enumerate(one.norms):
            for place, norm in enumerate(row[: step + 1]):
                by_distance[min(step, size - 1) - place] += norm
        total, least, sent = sum(by_distance.values()) * _MOST, 0, by_distance[0]
        while sent < total:
            least += 1
            sent += by_distance[least]
        found.append(f"at most {inflect(least, 'step')} in {unit_words(one.layer)}")
    return f"{_MOST:.0%} of what the losses send goes back {', '.join(found)}"


def of_curves(runs: Sequence[Curves]) -> str:
    """Name the loss of each run at its best update, the lowest first."""
    found = []
    for run in runs:
        (name, points) = next(iter((run.validation or run.training).items()))
        update, value = next((point for point in points if point[0] == run.best), points[-1])
        found.append(
            (value, f"{run.run} {value:.4g} (update {update:,} of {max(p[0] for p in run.training['loss']):,})")
        )
    split = "Validation" if any(run.validation for run in runs) else "Training"
    return f"{split} {name} where each is best: {', '.join(text for _, text in sorted(found))}"


def of_lengths(runs: Sequence[ByLength]) -> str:
    """Say what the metric of each run is for the shortest and the longest sentences."""
    found = []
    for run in runs:
        ends = list(dict.fromkeys((run.groups[0], run.groups[-1])))
        found.append(f"{run.run}: {' and '.join(_of_group(one) for one in ends)}")
    return "; ".join(found)


def _of_group(group: Group) -> str:
    value, interval = (group.loss, group.loss_interval) if group.bleu is None else (group.bleu, group.bleu_interval)
    low, high = interval or (value, value)
    name = group.name.removeprefix("source ")
    return f"{'loss' if group.bleu is None else 'BLEU'} {value:.3g} ({low:.3g} to {high:.3g}) at {name}"


def of_embeddings(found: Embeddings) -> str:
    """Name the nearest neighbour of each word, or how much of the vectors the picture shows."""
    named = [
        f"'{one.nearest[0][0]}' to '{one.word}' ({one.nearest[0][1]:.2f})" for one in found.neighbours if one.nearest
    ]
    shown = found.projection
    variance = f"{sum(shown.explained):.0%} of the variance of {len(shown.names)} {shown.what}"
    nearest = f"Nearest by cosine: {', '.join(dict.fromkeys(named))}. " if named else ""
    return f"{nearest}The picture has {variance}"


def of_neighbours(found: TrainingNeighbours) -> str:
    """Name the training data that is nearest most often."""
    [(pair, times)] = Counter(own[0].pair for own in found.nearest).most_common(1)
    nearest = min(own[0].distance for own in found.nearest)
    what = "pair" if any(own[0].source for own in found.nearest) else "line"
    return (
        f"Training {what} {pair:,} is nearest for {times} of {inflect(len(found.nearest), 'output token')}; "
        f"the smallest distance of two states is {nearest:.2f}"
    )


def of_spans(found: Spans) -> str:
    """Name the unit that remembers longest on each task, and the one that remembers shortest."""
    spans, named = found.spans(), []
    for task in dict.fromkeys(task for task, _ in spans):
        own = sorted((median(values), unit) for (other, unit), values in spans.items() if other == task)
        named.append(f"{task}: {own[-1][1]} {own[-1][0]:g}, {own[0][1]} {own[0][0]:g}")
    return f"Steps remembered, most and least (median of {inflect(len(found.plan.seeds), 'seed')}): {'; '.join(named)}"


def of_remedies(found: Remedies) -> str:
    """Name the network with the most right answers."""
    best = max(found.found, key=lambda one: one.accuracy)
    above = sum(one.accuracy > 0.5 for one in found.found)
    return (
        f"{above} of {inflect(len(found.found), 'network')} copy more than half of the symbols over "
        f"{inflect(found.distance, 'step')}; best: {best.name.strip()}, {best.accuracy:.0%}"
    )


def of_context(found: EffectiveContext) -> str:
    """Say how many tokens of context are enough."""
    enough = (
        f"{inflect(found.effective, 'token')} are enough"
        if found.effective
        else f"{found.sizes[-1]} tokens are too few"
    )
    return f"{found.run}: {enough} for a loss within {WITHIN:.0%} of that with {inflect(found.longest, 'token')}"
