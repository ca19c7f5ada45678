"""Memory: spans of units, remedies, and the context of a language model."""

from statistics import median
from typing import TYPE_CHECKING, Any

from anaphora.inspection.context import EffectiveContext
from anaphora.inspection.drawing import canvas
from anaphora.inspection.drawing.canvas import COLOURS, DASHES, QUIET
from anaphora.inspection.remedies import Remedies
from anaphora.inspection.span import Spans
from anaphora.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def spans_figure(found: Spans) -> "Figure":
    """A panel for each task: for each unit the longest distance that was learnt, a mark for each seed."""
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
    """The accuracy of each network, and its gradient before and after training."""
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
    """The loss by the size of the context, cut and shuffled beyond."""
    figure = canvas.figure(6.0, 3.8, layout="constrained")
    axes = figure.subplots()
    for number, (name, losses) in enumerate((("cut to k", found.cut), ("shuffled beyond k", found.shuffled))):
        style: dict[str, Any] = {"color": COLOURS[number], "linestyle": DASHES[number], "marker": "os"[number]}
        axes.plot(found.sizes, losses, label=name, linewidth=1.4, markersize=4, **style)
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
