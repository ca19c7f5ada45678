"""Lines, bars and points: curves, lengths, gradients, saturation, memory, projections."""

from collections.abc import Sequence
from math import sqrt
from statistics import median
from textwrap import shorten
from typing import Any

import numpy as np

from anaphora.datacheck.distribution import Histogram
from anaphora.datacheck.forecast import Forecast
from anaphora.inspection.attribution import TokenAttribution
from anaphora.inspection.context import EffectiveContext
from anaphora.inspection.curves import Curves
from anaphora.inspection.drawing import canvas
from anaphora.inspection.drawing.canvas import COLOURS, DASHES, FRAME, INK, QUIET, Axes, Bbox, Figure
from anaphora.inspection.embeddings import Embeddings
from anaphora.inspection.gates import BINS, Followers, Saturation
from anaphora.inspection.gradients import GradientFlow, Reach
from anaphora.inspection.labels import UNITS, ellipsize, labels, layer_label, layer_name
from anaphora.inspection.learner import SYMBOLS, TESTED
from anaphora.inspection.length import ByLength
from anaphora.inspection.neighbours import TrainingNeighbours
from anaphora.inspection.remedies import Remedies
from anaphora.inspection.span import Spans
from anaphora.kernels.cells.cell import LSTM_GATES
from anaphora.wording import inflect, plural

_MARKERS = "osD^vP*X"
_LEAST = 3
"""Values of a line, at least."""
_STATE, _MEMORY = "last state, by that k steps back", "last memory cell, by that k steps back"
_QUANTITIES = {"rate": "learning rate", "loss": "loss (nats)", "bleu": "BLEU (of 100)"}
_SHORT = 32
"""Letters of a name that a projection has room for."""


def quantities(runs: Sequence[Curves]) -> list[tuple[str, str]]:
    """Return the split and the name of each quantity that has three values or more, and not all the same."""
    names = dict.fromkeys(
        (split, name) for split in ("training", "validation") for run in runs for name in getattr(run, split)
    )
    return [
        (split, name)
        for split, name in names
        if any(len({value for _, value in getattr(run, split).get(name, ())}) >= _LEAST for run in runs)
    ]


def curves_figure(runs: Sequence[Curves]) -> Figure:
    """Draw a panel for each quantity, a line for each run."""
    shown = quantities(runs)
    figure, panels = canvas.panels(len(shown), 4.2, 2.8)
    for axes, (split, name) in zip(panels, shown, strict=True):
        is_validation = split == "validation"
        for number, run in enumerate(runs):
            if points := getattr(run, split).get(name):
                updates, values = zip(*points, strict=True)
                drawn = values if is_validation else _smooth(values)
                if not is_validation:
                    axes.plot(updates, values, color=COLOURS[number % len(COLOURS)], linewidth=0.5, alpha=0.35)
                _line(axes, number, updates, drawn, run.run, "o" if is_validation else "")
            if is_validation and run.best is not None:
                axes.axvline(run.best, color=COLOURS[number % len(COLOURS)], linewidth=0.6, linestyle=":")
        called = _QUANTITIES.get(name, name.replace("_", " "))
        axes.set(ylabel=called if name == "rate" else f"{split} {called}", xlabel="update")
        if name in ("loss", "gradient_norm"):
            canvas.logarithmic(axes)
    _legend(figure, panels[0], len(runs))
    return figure


def are_curves(runs: Sequence[ByLength]) -> bool:
    """True if there are enough groups of lengths for a line."""
    return max(len(run.groups) for run in runs) >= _LEAST


def lengths_figure(systems: Sequence[ByLength]) -> Figure:
    """Draw loss, and of translators BLEU with its intervals and deviations, by the length of the source."""
    sentences = {group.name: group.sentences for system in systems for group in system.groups}
    ticks = [f"{name.removeprefix('source ').removesuffix(' words')}\n{count:,}" for name, count in sentences.items()]
    titles = {"loss": "loss (nats a token)"}
    if any(group.bleu is not None for system in systems for group in system.groups):
        titles["bleu"] = "BLEU (of 100; bands: deviation over seeds)"
    figure, panels = canvas.panels(len(titles), 5.5, 3.4, columns=1)
    for axes, (quantity, title) in zip(panels, titles.items(), strict=True):
        for number, system in enumerate(systems):
            groups = [group for group in system.groups if getattr(group, quantity) is not None]
            aside = 0.06 * (number - (len(systems) - 1) / 2)  # so that bars of several systems can be told apart
            places = [[*sentences].index(one.name) + aside for one in groups]
            values, colour = [getattr(one, quantity) for one in groups], COLOURS[number % len(COLOURS)]
            _line(axes, number, places, values, system.name, _MARKERS[number % len(_MARKERS)])
            _bars(axes, number, places, [getattr(one, f"{quantity}_interval") for one in groups])
            if quantity == "bleu":
                spread = np.array([one.deviation or 0.0 for one in groups])
                axes.fill_between(places, values - spread, values + spread, color=colour, alpha=0.2, linewidth=0)
        axes.set_xticks(range(len(sentences)), ticks)
        axes.set(xlabel="words of the source; below, the number of sentences", ylabel=title)
        axes.set_ylim(bottom=0 if quantity == "bleu" else None)
    _legend(figure, panels[0], len(systems))
    return figure


def token_figure(shown: TokenAttribution) -> Figure:
    """Draw integrated gradients of each input as bars, and the deletion curves."""
    figure, (bars, curves) = canvas.panels(2, 4.8, max(2.8, 0.24 * len(shown.inputs)), columns=1)
    places = range(len(shown.inputs))
    bars.barh(places, shown.values, color=[COLOURS[0] if value >= 0 else COLOURS[1] for value in shown.values])
    bars.set_yticks(places, labels(shown.inputs))
    bars.invert_yaxis()
    bars.axvline(0, color=INK, linewidth=0.6)
    [own] = labels([shown.output])
    bars.set(xlabel="integrated gradients (nats)", ylabel="token read")
    for number, (name, curve) in enumerate((("most", shown.most_first), ("least", shown.least_first))):
        _line(curves, number, range(len(curve)), curve, f"{name} important first", _MARKERS[number])
    less = f" - ln p({shown.instead})" if shown.instead else ""
    curves.set(ylabel=f"ln p({own}){less} (nats)", xlabel="tokens deleted")
    curves.legend()
    return figure


def reach_figure(units: Sequence[Reach]) -> Figure:
    """Draw for each unit how the last state depends on earlier ones, on a logarithmic scale; on h_0 as a point."""
    figure, panels = canvas.panels(len(units), 4.4, 4.0)
    for axes, unit in zip(panels, units, strict=True):
        lines = {_STATE: unit.norms}
        if unit.bound:
            lines[f"bound (gamma lambda)^k = ({unit.bound.gamma:g} x {unit.bound.lambda_1:.2f})^k"] = unit.bound.values
            radius = f"{unit.bound.gamma:g} x {unit.bound.radius:.2f}"
            lines[f"({radius})^k with the spectral radius: no bound"] = unit.bound.radius_values
        lines |= {"direct path: largest product of what gates keep": unit.direct, _MEMORY: unit.memory}
        _reach_lines(axes, [*lines.items()], [unit])
        steep = ";\nnormalization is steepest at the initial state, zero" if unit.steep_start else ""
        axes.set_title(f"{layer_label(unit.unit)} ({UNITS.get(unit.cell, unit.cell)}){steep}", fontsize=9)
        axes.legend(fontsize=7.5, loc="upper left", bbox_to_anchor=(-0.1, -0.18))
    return figure


def reach_of_runs_figure(flows: Sequence[GradientFlow]) -> Figure:
    """Draw how the last states of several runs depend on earlier ones, in one panel; on h_0 as a point."""
    figure, [axes] = canvas.panels(1, 6.0, 4.2)
    lines = list[tuple[str, Sequence[float]]]()
    units = [(flow.run, unit) for flow in flows for unit in flow.reach]
    for run, unit in units:
        place = f"{UNITS.get(unit.cell, unit.cell)} ({run}, {layer_name(unit.unit)})"
        bound = unit.bound.values if unit.bound else ()
        own = {_STATE: unit.norms, _MEMORY: unit.memory, "bound (gamma lambda)^k": bound}
        lines += [(f"{place}: {name}", values) for name, values in own.items()]
    _reach_lines(axes, lines, [unit for _, unit in units])
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower left")
    return figure


def _reach_lines(axes: Axes, lines: Sequence[tuple[str, Sequence[float]]], units: Sequence[Reach]) -> None:
    """Draw values for k = 1 .. T as lines, the last ones as points; shade what no gradient of ``units`` can reach."""
    for number, (name, values) in enumerate(line for line in lines if line[1]):
        *seen, last = np.maximum(values, 1e-30)
        _line(axes, number, range(1, len(values)), seen, name)
        mark, colour = _MARKERS[number % len(_MARKERS)], COLOURS[number % len(COLOURS)]
        axes.plot(len(values), last, marker=mark, color=colour, linestyle="")
    canvas.logarithmic(axes)
    low, high = axes.get_ylim()
    top = min(high, 1e3 * max(1.0, *(max(unit.norms + unit.memory) for unit in units)))
    for bound in (unit.bound.values for unit in units if unit.bound):
        shade: Any = {"color": COLOURS[1], "alpha": 0.15, "linewidth": 0}
        axes.fill_between(range(1, len(bound) + 1), bound, high, label="impossible: above the bound", **shade)
    axes.axhline(1, color=QUIET, linewidth=0.6)
    axes.set(xlabel="k, steps back in time", ylabel="size of the derivative", ylim=(low, top))


def terms_figure(units: Sequence[Reach]) -> Figure:
    """Draw for each LSTM the norms of the terms of dh_t/dh_{t-1}, and of their total."""
    figure, panels = canvas.panels(len(units), 5.0, 3.2)
    for axes, unit in zip(panels, units, strict=True):
        places = range(len(unit.terms))
        for number, name in enumerate(unit.terms[0]):
            called = "their sum" if name == "total" else f"through the {(LSTM_GATES | {'g': 'new value'})[name]} {name}"
            _line(axes, number, places, [term[name] for term in unit.terms], called)
        axes.set_xticks(places, labels(unit.steps), rotation=90, fontsize=7)
        axes.set_title(layer_label(unit.unit), fontsize=9)
        axes.set(xlabel="token read at each step", ylabel="size of the derivative\nby the output one step before")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower left", ncols=2)
    return figure


def saturation_figure(found: Saturation) -> Figure:
    """Draw for each gate its distribution, and beside it how often each cell is saturated at either end."""
    figure, panels = canvas.panels(2 * len(found.gates), 3.2, 2.8, columns=4)
    for gate, left, right in zip(found.gates, panels[::2], panels[1::2], strict=True):
        fractions = np.array(gate.histogram) / max(1, sum(gate.histogram))
        left.bar((np.arange(BINS) + 0.5) / BINS, fractions, 0.9 / BINS, color=COLOURS[0])
        left.set_title(f"{gate.name}\n{layer_label(gate.unit)}", fontsize=8)
        value = "size of the new value" if gate.candidate else "value: 0 closed, 1 open"
        left.set(xticks=(0, 0.5, 1), xlabel=value, ylabel="fraction of values")
        left.locator_params(axis="y", nbins=4)
        right.scatter(gate.high, gate.low, s=6, color=COLOURS[1], alpha=0.6, linewidths=0)
        right.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
        right.plot([0, 1], [1, 0], color=FRAME, linewidth=0.6)
        right.set(xlabel="fraction of steps above 0.9\n(a point for each cell)", ylabel="fraction of steps below 0.1")
    return figure


def followers_figure(found: Followers) -> Figure:
    """Draw for each property its value over the first steps, and the values of the cell that follows it best."""
    best = {one.property: one for one in reversed(found.found)}
    width = max(6.0, 0.13 * max(len(found.properties[name].steps) for name in best))
    figure, panels = canvas.panels(len(best), width, 2.1, columns=1)
    for axes, (name, one) in zip(panels, reversed(best.items()), strict=True):
        excerpt, beside = found.properties[name], axes.twinx()
        places = range(len(excerpt.steps))
        _line(axes, 1, places, excerpt.values, name)
        _line(beside, 0, places, one.values, "cell")
        axes.set_ylabel(name, color=COLOURS[1], fontsize=8)
        beside.set_ylabel(f"value of cell {one.cell}", color=COLOURS[0], fontsize=8)
        axes.set_title(
            f"{name} (dashed): cell {one.cell} of {layer_label(one.unit)}, r = {one.correlation:+.2f}", fontsize=8
        )
        axes.set_xticks(places, labels(excerpt.steps), rotation=90, fontsize=6)
        axes.set_xlabel(f"token read, from step {excerpt.start + 1:,} on", fontsize=7)
        axes.tick_params(axis="x", length=0)
    return figure


def embeddings_figure(found: Embeddings) -> Figure:
    """Draw words or sentences in two dimensions, with the names that there is room for."""
    figure, [axes] = canvas.panels(1, 7.5, 6.0)
    shown = found.projection
    groups = shown.groups or ("",) * len(shown.names)
    for number, group in enumerate(dict.fromkeys(groups)):
        points = [point for point, own in zip(shown.points, groups, strict=True) if own == group]
        colour, marker = COLOURS[number % len(COLOURS)], _MARKERS[number % len(_MARKERS)]
        xs, ys = zip(*points, strict=True)
        axes.scatter(xs, ys, s=18, color=colour, marker=marker, label=group)
    if len(set(groups)) > 1:
        axes.legend()
    axes.margins(0.12)
    first, second = shown.explained
    axes.set(xlabel=f"first direction, {first:.0%} of the variance", ylabel=f"second direction, {second:.0%}")
    canvas.bounding_box(figure)  # from here on, points stay where they are
    taken = list[Bbox]()
    paper = {"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.5}  # names read over other points
    for name, point in zip(shown.names, shown.points, strict=True):
        place: Any = {"xytext": (4, 3), "textcoords": "offset points"}
        label = axes.annotate(ellipsize(name, _SHORT), point, fontsize=7, bbox=paper, **place)
        if label.get_window_extent().count_overlaps(taken):
            label.remove()
        else:
            taken.append(label.get_window_extent())
    return figure


def neighbours_figure(found: TrainingNeighbours) -> Figure:
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
            axes.text(0.115, number + 0.7, ellipsize(one.context, 80), fontsize=7)
            source = shorten(one.source, 75, placeholder=" \u2026")
            read = f"{one.pair:,}: {source}" if source else f"line {one.pair:,}"
            axes.text(0.55, number + 0.7, read, fontsize=7, color=QUIET)
        row += len(own) + 1
    return figure


def spans_figure(found: Spans) -> Figure:
    """Draw a panel for each task: for each unit the longest distance that was learnt, a mark for each seed."""
    spans, least, longest = found.spans(), found.plan.shortest / 2, found.plan.longest
    tasks, units = (list(dict.fromkeys(names)) for names in zip(*spans, strict=True))
    figure, panels = canvas.panels(len(tasks), 4.0, 0.32 * len(units) + 1.4, sharey=True)
    for axes, task in zip(panels, tasks, strict=True):
        for place, unit in enumerate(units):
            if own := [max(least, span) for span in spans.get((task, unit), [])]:
                axes.barh(place, median(own) - least, 0.6, least, color=COLOURS[4])
                axes.plot(own, [place] * len(own), "o", color=COLOURS[0])
        axes.set_xscale("log", base=2)
        axes.set(xlim=(least, 2 * longest), xlabel="longest distance learnt (steps)", title=task)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.axvline(longest, color=QUIET, linewidth=0.7, linestyle=":")
    panels[0].set_yticks(range(len(units)), units)
    panels[0].invert_yaxis()
    return figure


def remedies_figure(found: Remedies) -> Figure:
    """Draw the accuracy of each network, and its gradient before and after training."""
    figure, (above, below) = canvas.panels(2, 6.0, 0.34 * len(found.found) + 1.2, columns=1)
    places = range(len(found.found))
    # the largest deviation that the mean of as many fractions can have
    errors = [1.96 * sqrt(one.accuracy * (1 - one.accuracy) / TESTED) for one in found.found]
    above.barh(places, [one.accuracy for one in found.found], 0.6, color=COLOURS[4], xerr=errors, ecolor=INK)
    above.axvline(1 / SYMBOLS, color=QUIET, linewidth=0.7, linestyle=":")
    above.set(xlim=(0, 1.05), xlabel=f"fraction of symbols right, copied over {inflect(found.distance, 'step')}")
    for number, (name, mark) in enumerate((("before", "o"), ("after", "s"))):
        values = [max(getattr(one, name), 1e-30) for one in found.found]
        below.plot(values, places, mark, color=COLOURS[number], label=f"{name} training", markersize=5)
    below.set(xscale="log", xlabel="size of the gradient of the last loss by the first input")
    below.xaxis.set_major_formatter("{x:g}")
    for axes in (above, below):
        axes.set_yticks(places, [one.name for one in found.found])
        axes.invert_yaxis()
    figure.legend(*below.get_legend_handles_labels(), loc="outside lower left", ncols=2)
    return figure


def context_figure(found: EffectiveContext) -> Figure:
    """Draw the loss by the size of the context, cut and shuffled beyond."""
    figure, [axes] = canvas.panels(1, 6.0, 3.8)
    for number, (name, losses) in enumerate((("cut to k", found.cut), ("shuffled beyond k", found.shuffled))):
        _line(axes, number, found.sizes, losses, name, _MARKERS[number])
        _bars(axes, number, found.sizes, found.intervals[number])
    every = f"all of {inflect(found.longest, 'token')}"
    axes.axhline(found.whole, color=QUIET, linewidth=0.8, linestyle=":", label=every)
    if found.effective is not None:
        axes.axvline(found.effective, color=QUIET, linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set(xlabel="k, tokens of context", ylabel="loss (nats a token)")
    axes.legend()
    return figure


def histograms_figure(histograms: Sequence[Histogram]) -> Figure:
    """Draw the histograms of a corpus side by side."""
    figure, panels = canvas.panels(len(histograms), 5.5, 3.6, columns=len(histograms))
    for axes, histogram in zip(panels, histograms, strict=True):
        width = 0.85 / len(histogram.series)
        for number, (name, counts) in enumerate(histogram.series):
            places = np.arange(len(counts)) + width * number
            axes.bar(places, counts, width, align="edge", color=COLOURS[number % len(COLOURS)], label=name)
        middles = np.arange(len(histogram.labels)) + 0.425
        axes.set_xticks(middles, histogram.labels, rotation=45, ha="right", fontsize=8)
        axes.tick_params(axis="y", labelsize=8)
        axes.set_title(f"{histogram.title} ({histogram.unit})")
        if len(histogram.series) > 1:
            axes.legend(fontsize=9)
    return figure


def forecast_figure(found: Forecast) -> Figure:
    """Draw scores by the number of examples: those of trainings, and the expected ones with their intervals."""
    names = list(found.trainings[0].metrics)
    figure, panels = canvas.panels(len(names), 4.2, 3.0)
    for axes, name in zip(panels, names, strict=True):
        sizes, values = zip(*((one.examples, one.metrics[name].value) for one in found.trainings), strict=True)
        expected = {count: of[name] for count, of in found.expected.items()}
        _line(axes, 0, [*expected], [one.value for one in expected.values()], "expected", _MARKERS[0])
        _bars(axes, 0, [*expected], [(one.low, one.high) for one in expected.values()])
        axes.scatter(sizes, values, color=COLOURS[1], marker=_MARKERS[1], label="measured", zorder=3)
        axes.set_xscale("log")
        axes.set_xticks(ticks := sorted({*sizes, *expected}), [f"{n:,}" for n in ticks], rotation=45, ha="right")
        axes.minorticks_off()
        axes.set(xlabel=f"{plural(found.unit)} to train on", ylabel=name)
    panels[0].legend(loc="upper left")
    return figure


def _line(axes: Axes, number: int, xs: Sequence[Any], ys: Sequence[float], name: str, marker: str = "") -> None:
    colour, dashes = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
    axes.plot(xs, ys, label=name, marker=marker, color=colour, linestyle=dashes)


def _bars(axes: Axes, number: int, xs: Sequence[float], intervals: Sequence[tuple[float, float]]) -> None:
    axes.vlines(xs, *zip(*intervals, strict=True), color=COLOURS[number % len(COLOURS)], linewidth=1)


def _legend(figure: Figure, axes: Axes, count: int) -> None:
    """Write a legend of ``count`` lines below all panels, where there are several."""
    if count > 1:
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=min(5, count))


def _smooth(values: Sequence[float]) -> Any:
    """Return moving averages over a twentieth of the values, so that single batches do not hide the course."""
    width = max(1, round(len(values) / 20))
    sums = np.cumsum(values)
    sums[width:] -= sums[:-width].copy()
    return sums / np.arange(1, len(values) + 1).clip(max=width)
