"""Lines, bars and points: curves, lengths, gradients, saturation, memory, projections."""

from collections.abc import Sequence
from itertools import accumulate
from statistics import median
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from anaphora.inspection.attribution import TokenAttribution
from anaphora.inspection.context import EffectiveContext
from anaphora.inspection.curves import Curves
from anaphora.inspection.drawing import canvas
from anaphora.inspection.drawing.canvas import COLOURS, DASHES, FRAME, INK, QUIET
from anaphora.inspection.embeddings import Embeddings
from anaphora.inspection.gates import BINS, Followers, Saturation
from anaphora.inspection.gradients import Reach
from anaphora.inspection.labels import ellipsize, labels
from anaphora.inspection.length import ByLength
from anaphora.inspection.neighbours import TrainingNeighbours
from anaphora.inspection.remedies import Remedies
from anaphora.inspection.span import Spans
from anaphora.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = "osD^vP*X"
_BESIDE, _ABOVE = 0.7, 0.4
"""Inches for the numbers beside a panel, and for its heading."""
_SHORT = 32
"""Letters of a name that a projection has room for."""


def curves_figure(runs: Sequence[Curves]) -> "Figure":
    """Draw a panel for each quantity, a line for each run."""
    quantities = [("training", name) for name in _names([run.training for run in runs])]
    quantities += [("validation", name) for name in _names([run.validation for run in runs])]
    figure, panels = _panels(len(quantities), 4.2, 2.8)
    for axes, (split, name) in zip(panels, quantities, strict=True):
        for number, run in enumerate(runs):
            points = getattr(run, split).get(name, ())
            if points:
                updates, logged = zip(*points, strict=True)
                values = _smoothed(logged) if split == "training" else logged
                _line(axes, number, updates, values, run.run, marker="o" if split == "validation" else "")
        if split == "validation":
            for number, run in enumerate(runs):
                if run.best is not None:
                    axes.axvline(run.best, color=COLOURS[number % len(COLOURS)], linewidth=0.6, linestyle=":")
        called = {"rate": "learning rate", "bleu": "BLEU"}.get(name, name.replace("_", " "))
        canvas.title(axes, called if name == "rate" else f"{split} {called}")
        axes.set_xlabel("update")
        if name in ("loss", "gradient_norm"):
            canvas.logarithmic(axes)
    _legend(figure, panels, len(runs))
    return figure


def lengths_figure(runs: Sequence[ByLength]) -> "Figure":
    """Draw loss, and of translators BLEU, by the length of the source."""
    names = list(dict.fromkeys(group.name for run in runs for group in run.groups))
    translated = any(group.bleu is not None for run in runs for group in run.groups)
    figure, panels = _panels(1 + translated, 5.5, 3.4)
    for axes, quantity in zip(panels, ("loss", "bleu"), strict=False):
        for number, run in enumerate(runs):
            found = [
                (names.index(g.name), getattr(g, quantity)) for g in run.groups if getattr(g, quantity) is not None
            ]
            if found:
                places, values = zip(*found, strict=True)
                _line(axes, number, places, values, run.run, marker=_MARKERS[number % len(_MARKERS)])
        short = [name.removeprefix("source ").removesuffix(" words") for name in names]
        axes.set_xticks(range(len(names)), short)
        axes.set_xlabel("words of the source")
        canvas.title(axes, "BLEU" if quantity == "bleu" else "loss (nats a token)")
    _legend(figure, panels, len(runs))
    return figure


def token_figure(shown: TokenAttribution) -> "Figure":
    """Draw integrated gradients of each input as bars, and the deletion curves."""
    figure, panels = _panels(2, 4.8, max(2.8, 0.28 * len(shown.inputs)))
    places = range(len(shown.inputs))
    colours = [COLOURS[0] if value >= 0 else COLOURS[1] for value in shown.values]
    panels[0].barh(places, shown.values, color=colours)
    panels[0].set_yticks(places, labels(shown.inputs))
    panels[0].invert_yaxis()
    panels[0].axvline(0, color=INK, linewidth=0.6)
    against = f", not {shown.instead}" if shown.instead else ""
    [own] = labels([shown.output])
    canvas.title(panels[0], f"why {own}{against}")
    for number, (name, curve) in enumerate((("most", shown.most_first), ("least", shown.least_first))):
        _line(panels[1], number, range(len(curve)), curve, f"{name} important first", marker=_MARKERS[number])
    panels[1].set_xlabel("inputs deleted")
    panels[0].set_xlabel("integrated gradients, nats")
    canvas.title(panels[1], f"ln p({own}) - ln p({shown.instead})" if shown.instead else f"ln p({own})")
    panels[1].legend(frameon=False, fontsize=8)
    return figure


def reach_figure(units: Sequence[Reach]) -> "Figure":
    """Draw for each unit how the last state depends on earlier ones, on a logarithmic scale; on h_0 as a point."""
    figure, panels = _panels(len(units), 5.0, 3.4)
    for axes, unit in zip(panels, units, strict=True):
        first = len(unit.norms)
        lines = {"|dh_T / dh_T-k|": unit.norms}
        if unit.bound:
            lines[f"bound ({unit.bound.gamma:g} x {unit.bound.lambda_1:.2f})^k"] = unit.bound.values
            lines[f"({unit.bound.gamma:g} x spectral radius {unit.bound.radius:.2f})^k"] = unit.bound.radius_values
        lines |= {"direct path, largest product": unit.direct} if unit.direct else {}
        lines |= {"|dc_T / dc_T-k|": unit.memory} if unit.memory else {}
        for number, (name, values) in enumerate(lines.items()):
            *seen, last = (max(value, 1e-30) for value in values)
            _line(axes, number, range(1, first), seen, name)
            axes.plot(first, last, marker=_MARKERS[number], markersize=4, color=COLOURS[number], linestyle="")
        canvas.logarithmic(axes)
        steep = "\n(zero, where layer normalization is steepest)" if unit.steep_start else ""
        axes.set_xlabel(
            f"k, steps before the last; the points at {first} are of the initial state h_0{steep}", fontsize=8
        )
        canvas.title(axes, f"{unit.unit} ({unit.cell})", 9)
        axes.legend(frameon=False, fontsize=7)
    return figure


def terms_figure(units: Sequence[Reach]) -> "Figure":
    """Draw for each LSTM the norms of the terms of dh_t/dh_{t-1}, and of their total."""
    figure, panels = _panels(len(units), 5.0, 3.2, 0.9)
    for axes, unit in zip(panels, units, strict=True):
        places = range(len(unit.terms))
        for number, name in enumerate(unit.terms[0]):
            called = name if name == "total" else f"through {name}"
            _line(axes, number, places, [term[name] for term in unit.terms], called)
        axes.set_xticks(places, labels(unit.steps), rotation=90, fontsize=7)
        canvas.title(axes, f"|terms of dh_t / dh_t-1|, {unit.unit}", 9)
    _legend(figure, panels, len(units[0].terms[0]))
    return figure


def saturation_figure(found: Saturation) -> "Figure":
    """Draw for each gate its distribution, and below it how often each cell is saturated at either end."""
    count = len(found.gates)
    columns = min(4, count)
    rows = -(-count // columns)
    figure = canvas.figure(3.0 * columns, 4.4 * rows)
    figure.subplots_adjust(hspace=0.55, wspace=0.35)  # a layout engine would measure every label
    for number, gate in enumerate(found.gates):
        row, column = divmod(number, columns)
        places = (2 * row * columns + column + 1, (2 * row + 1) * columns + column + 1)
        top, below = (figure.add_subplot(2 * rows, columns, place) for place in places)
        total = max(1, sum(gate.histogram))
        middles = [(place + 0.5) / BINS for place in range(BINS)]
        top.bar(middles, [n / total for n in gate.histogram], 0.9 / BINS, color=COLOURS[0])
        canvas.title(top, f"{gate.gate}, {gate.unit}", 7)
        top.set_xlabel("|value|" if gate.gate == "g" else "value", fontsize=7)
        top.set_xticks((0, 0.5, 1))
        top.locator_params(axis="y", nbins=4)
        below.scatter(gate.high, gate.low, s=6, color=COLOURS[1], alpha=0.6, linewidths=0)
        below.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
        below.plot([0, 1], [1, 0], color=FRAME, linewidth=0.6)
        below.set_xlabel("fraction of steps above 0.9 (a point for each cell)", fontsize=7)
        if not column:
            top.set_ylabel("fraction of values", fontsize=7)
            below.set_ylabel("below 0.1", fontsize=7)
        for axes in (top, below):
            axes.tick_params(labelsize=6)
    return figure


def followers_figure(found: Followers) -> "Figure":
    """Draw for each property its value over the first steps, and the values of the cell that follows it best."""
    best = {one.property: one for one in reversed(found.found)}
    names = [name for name in found.properties if name in best]
    figure = canvas.figure(max(6.0, 0.13 * len(found.steps)), 1.9 * max(1, len(names)), layout="constrained")
    panels = figure.subplots(max(1, len(names)), 1, squeeze=False)[:, 0]
    for axes, name in zip(panels, names, strict=False):
        one, values = best[name], found.properties[name]
        places = range(len(values))
        _line(axes, 1, places, values, name)
        beside = axes.twinx()
        _line(beside, 0, places, one.values, "cell")
        axes.set_ylabel(name, color=COLOURS[1], fontsize=8)
        beside.set_ylabel(f"cell {one.cell}", color=COLOURS[0], fontsize=8)
        canvas.title(axes, f"{name} (dashed): {one.unit} cell {one.cell}, r = {one.correlation:+.2f}", 8)
        axes.set_xticks(places, labels(found.steps), fontsize=6)
        axes.tick_params(axis="x", length=0)
    return figure


def embeddings_figure(found: Embeddings) -> "Figure":
    """Draw words or sentences in two dimensions, with the names that there is room for."""
    figure = canvas.figure(7.5, 6.0, layout="constrained")
    axes = figure.subplots()
    shown = found.projection
    groups = list(dict.fromkeys(shown.groups)) or [""]
    for number, group in enumerate(groups):
        own = [n for n in range(len(shown.names)) if not shown.groups or shown.groups[n] == group]
        xs, ys = zip(*(shown.points[n] for n in own), strict=True)
        axes.scatter(
            xs, ys, s=18, color=COLOURS[number % len(COLOURS)], marker=_MARKERS[number % len(_MARKERS)], label=group
        )
    for number in _apart(shown.names, shown.points):
        axes.annotate(
            ellipsize(shown.names[number], _SHORT),
            shown.points[number],
            xytext=(4, 3),
            textcoords="offset points",
            fontsize=7,
            bbox={"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.5},  # the name reads over other points
        )
    if len(groups) > 1:
        axes.legend(frameon=False, fontsize=8)
    axes.margins(0.12)
    axes.set_xlabel(f"first component, {shown.explained[0]:.0%} of the variance")
    axes.set_ylabel(f"second component, {shown.explained[1]:.0%}")
    canvas.title(axes, f"{shown.what} of {found.run}")
    return figure


def neighbours_figure(found: TrainingNeighbours) -> "Figure":
    """Draw a line for each neighbour: its distance as a bar, the token within its pair, and the source of the pair."""
    rows = sum(len(own) + 1 for own in found.nearest)
    figure, axes = canvas.sheet(11.0, 0.19 * (rows + 3), (0, 1), (rows + 2, -1))
    axes.text(0, -0.5, found.text, fontsize=9, fontweight="bold")
    axes.text(0.02, 0.5, "distance of states", fontsize=7, color=QUIET)
    axes.text(0.115, 0.5, "training data, the token of the state in brackets", fontsize=7, color=QUIET)
    axes.text(0.55, 0.5, "number: source", fontsize=7, color=QUIET)
    row = 1
    for token, own in zip(labels(found.outputs), found.nearest, strict=True):
        axes.text(0, row + 0.7, token, fontsize=9, color=COLOURS[0], fontweight="bold")
        for number, one in enumerate(own, row + 1):
            far = min(1.0, one.distance / max(own[-1].distance, 1e-9))
            axes.barh(number + 0.5, 0.05 * far, 0.8, 0.02, color=COLOURS[4])
            # apart, since within one text a number goes to the right end of words that run from right to left
            axes.text(0.075, number + 0.7, f"{one.distance:.2f}", fontsize=7)
            axes.text(0.115, number + 0.7, one.context, fontsize=7)
            source = shorten(one.source, 75, placeholder=" \u2026")
            read = f"{one.pair:,}: {source}" if source else f"line {one.pair:,}"
            axes.text(0.55, number + 0.7, read, fontsize=7, color=QUIET)
        row += len(own) + 1
    return figure


def spans_figure(found: Spans) -> "Figure":
    """Draw a panel for each task: for each unit the longest distance that was learnt, a mark for each seed."""
    spans, plan = found.spans(), found.plan
    tasks = list(dict.fromkeys(task for task, _ in spans))
    units = list(dict.fromkeys(unit for _, unit in spans))
    figure = canvas.figure(3.6 * len(tasks) + 1.4, 0.32 * len(units) + 1.4, layout="constrained")
    panels = figure.subplots(1, len(tasks), squeeze=False, sharey=True)[0]
    least = plan.shortest / 2
    for axes, task in zip(panels, tasks, strict=True):
        for place, unit in enumerate(units):
            own = [max(least, span) for span in spans.get((task, unit), [])]
            if own:
                axes.barh(place, median(own) - least, 0.6, least, color=COLOURS[4])
                axes.plot(own, [place] * len(own), "o", color=COLOURS[0], markersize=4)
        axes.set_xscale("log", base=2)
        axes.set_xlim(least, 2 * plan.longest)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.axvline(plan.longest, color=QUIET, linewidth=0.7, linestyle=":")
        axes.set_xlabel("steps")
        canvas.title(axes, task)
    panels[0].set_yticks(range(len(units)), units)
    panels[0].invert_yaxis()
    return figure


def remedies_figure(found: Remedies) -> "Figure":
    """Draw the accuracy of each network, and its gradient before and after training."""
    figure = canvas.figure(9.5, 0.34 * len(found.found) + 1.2, layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    places = range(len(found.found))
    left.barh(places, [one.accuracy for one in found.found], 0.6, color=COLOURS[0])
    left.axvline(1 / 8, color=QUIET, linewidth=0.7, linestyle=":")
    left.set_xlim(0, 1)
    left.set_yticks(places, [one.name for one in found.found])
    left.invert_yaxis()
    canvas.title(left, f"accuracy, copy at distance {found.distance}; dotted: chance")
    for number, (name, mark) in enumerate((("before", "o"), ("after", "s"))):
        values = [max(getattr(one, name), 1e-30) for one in found.found]
        right.plot(values, places, mark, color=COLOURS[number], label=f"{name} training", markersize=5)
    right.set_xscale("log")
    right.legend(frameon=False, fontsize=8)
    canvas.title(right, "|dL_T/dx_1|")
    return figure


def context_figure(found: EffectiveContext) -> "Figure":
    """Draw the loss by the size of the context, cut and shuffled beyond."""
    figure = canvas.figure(6.0, 3.8, layout="constrained")
    axes = figure.subplots()
    for number, (name, losses) in enumerate((("cut to k", found.cut), ("shuffled beyond k", found.shuffled))):
        _line(axes, number, found.sizes, losses, name, _MARKERS[number])
    axes.axhline(
        found.whole, color=QUIET, linewidth=0.8, linestyle=":", label=f"all of {counted(found.longest, 'token')}"
    )
    if found.effective is not None:
        axes.axvline(found.effective, color=QUIET, linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("k, tokens of context")
    axes.set_ylabel("loss (nats a token)")
    axes.legend(frameon=False, fontsize=8)
    canvas.title(axes, found.run)
    return figure


def _apart(names: Sequence[str], points: Sequence[tuple[float, float]]) -> list[int]:
    """Return the names that have room beside their point, in order: none on top of one before it."""
    spans = [max(axis) - min(axis) or 1.0 for axis in zip(*points, strict=True)]
    chosen = list[int]()
    for number, (x, y) in enumerate(points):
        free = True
        for other in chosen:
            right, up = ((a - b) / span for a, b, span in zip((x, y), points[other], spans, strict=True))
            width = 0.014 * min(_SHORT, len(names[other] if right > 0 else names[number]))
            free = free and (abs(right) > width or abs(up) > 0.026)
        if free:
            chosen.append(number)
    return chosen


def _panels(count: int, width: float, height: float, below: float = 0.5) -> tuple["Figure", list["Axes"]]:
    """Return panels, at most three in a row, each of so many inches with ``below`` for the labels under it."""
    columns = min(3, count)
    rows = -(-count // columns)
    figure = canvas.figure(width * columns, height * rows)
    grid = list(figure.subplots(rows, columns, squeeze=False).flat)
    # placed by hand: measuring every label, as a layout engine does, takes longer than drawing them
    beside = _BESIDE / (width - _BESIDE), (below + _ABOVE) / (height - below - _ABOVE)
    figure.subplots_adjust(
        left=0,
        right=1 - _BESIDE / figure.get_figwidth(),
        bottom=(below + _ABOVE) / figure.get_figheight(),
        top=1,
        wspace=beside[0],
        hspace=beside[1],
    )
    for axes in grid[count:]:
        axes.set_visible(False)
    return figure, grid[:count]


def _line(axes: "Axes", number: int, xs: Sequence[Any], ys: Sequence[float], name: str, marker: str = "") -> None:
    style: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)]}
    axes.plot(xs, ys, label=name, linewidth=1.4, marker=marker, markersize=4, **style)


def _legend(figure: "Figure", panels: Sequence["Axes"], count: int) -> None:
    handles, names = panels[0].get_legend_handles_labels()
    if count > 1:
        place: Any = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "ncols": min(5, count)}
        figure.legend(handles, names, frameon=False, labelcolor=INK, **place)


def _names(tables: Sequence[Any]) -> list[str]:
    return list(dict.fromkeys(name for table in tables for name in table))


def _smoothed(values: Sequence[float]) -> list[float]:
    """Return moving averages over a twentieth of the values, so that single batches do not hide the course."""
    width = max(1, round(len(values) / 20))
    sums = [0.0, *accumulate(values)]
    return [(sums[place + 1] - sums[max(0, place + 1 - width)]) / min(width, place + 1) for place in range(len(values))]
