"""Diagrams have every part of every step and every carried signal; that of a unit computes what the unit computes."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
import torch
from torch import Tensor

from anaphora import recipes
from anaphora.config import parse
from anaphora.errors import ConfigError
from anaphora.experiment.reading import read_experiment
from anaphora.inspection import drawing
from anaphora.inspection.cell_diagram import PEEPHOLES, Symbol, cell_diagram, cells, trace
from anaphora.inspection.drawing.diagrams import WORDS, cell_figure, network_figure
from anaphora.inspection.programs import Diagram, diagrams, programs_of
from anaphora.kernels.cells.recorded import AutogradCell
from anaphora.kernels.naive.units import unit_step

pytest.importorskip("matplotlib")

SIZE = 3
CASES = [
    *((name, {}) for name in cells()),
    ("gru", {"reset": "before", "update": "new"}),
    ("gru", {"reset": "after", "recurrent_bias": True}),
    ("peephole", {"peephole": "full"}),
    ("elman", {"activation": "relu"}),
]


def drawn(name: str, cut_every: int = 0) -> list[Diagram]:
    return diagrams(name, programs_of(read_experiment(recipes.read(name), name)), cut_every)


def marks(figure: Any, kind: str) -> Sequence[Any]:
    """The boxes, arrows or lines of a kind."""
    return [one for one in (*figure.axes[0].patches, *figure.axes[0].lines) if one.get_gid() == kind]


def ends(arrow: Any) -> tuple[float, float]:
    """Where an arrow begins and ends, across."""
    path = arrow.get_path()
    start, *others = path.vertices[path.codes != path.CLOSEPOLY, 0]
    return start, max(others, key=lambda x: abs(x - start))


def texts(figure: Any) -> Mapping[str, float]:
    return {one.get_text(): one.get_position()[0] for one in figure.axes[0].texts}


@pytest.mark.parametrize("name", ["luong2015", "character-lm"])
def test_each_part_is_a_box_at_each_step_and_each_carried_signal_an_arrow(name: str) -> None:
    whole, *steps = drawn(name)
    figure = network_figure(whole)
    parts = [part for program in whole.programs.values() for part in program]
    carried = [read for part in parts for read in part.reads if read.previous]
    assert len(marks(figure, "box")) == len(parts) * len(WORDS)
    assert len(marks(figure, "carried")) == len(carried) * (len(WORDS) - 1)
    assert len(marks(figure, "first")) == len(carried)
    flows = sum(len([read for read in part.reads if not read.previous]) for part in parts)
    outputs = sum(1 for program in whole.programs.values() if program)
    assert len(marks(figure, "flow")) == (flows + outputs) * len(WORDS)
    assert any(re.fullmatch(r"input0\.weight \d+ x \d+\ninput0\.bias \d+", one) for one in texts(figure))
    assert bool(marks(figure, "memory")) == any(part.memory for part in parts)
    written = [one.get_text() for one in figure.axes[0].texts]
    for part in parts:
        assert written.count(part.name) >= len(WORDS)
    assert str(whole).startswith(f"{name}, 4 steps\n")
    for step in steps:
        [program] = step.programs.values()
        assert str(step).splitlines()[0].endswith(", 1 step")
        assert len(marks(network_figure(step), "box")) == len(program)


def test_a_direction_from_right_to_left_carries_its_state_from_the_last_word_to_the_first() -> None:
    whole = drawn("bahdanau2015")[0]
    [backward] = [one for one in whole.programs if one.startswith("encoder") and one.endswith("right to left")]
    figure = network_figure(Diagram("one", {backward: whole.programs[backward]}))
    places = texts(figure)
    assert places["I"] < places["am"] < places["a"] < places["student"]
    carried = [ends(one) for one in marks(figure, "carried")]
    assert carried and all(start > end for start, end in carried)
    [(start, end)] = map(ends, marks(figure, "first"))
    assert start > end > places["student"]


def test_cuts_stand_between_chunks() -> None:
    assert not marks(network_figure(drawn("character-lm")[0]), "cut")
    figure = network_figure(drawn("character-lm", cut_every=2)[0])
    assert len(marks(figure, "cut")) == 1 and "the gradient stops here" in texts(figure)


def shapes(cell: Any) -> dict[str, tuple[int, ...]]:
    matrices = {name: (len(blocks) * SIZE, SIZE) for name, blocks in cell.matmuls}
    return matrices | dict.fromkeys(cell.vectors, (SIZE,))


def symbols(cell: Any, own: Mapping[str, Tensor], w: Tensor) -> dict[str, Tensor]:
    """Weights, and the blocks of matrices, by what a symbol calls them."""
    found = {PEEPHOLES.get(short, short): torch.diag(own[short]) for short in cell.vectors if short != "bias"}
    found |= {"bias": own["bias"]} if "bias" in own else {}
    for base, blocks, whole in [
        ("W", cell.blocks, w),
        *((PEEPHOLES.get(short, "U"), blocks, own[short]) for short, blocks in cell.matmuls),
    ]:
        found |= {f"{base}_{letter}": part for letter, part in zip(blocks, whole.split(SIZE), strict=True)}
        found |= {base: whole} if cell.gates == 1 else {}
    return found


def value(symbol: Symbol, given: Mapping[str, Tensor], weights: Mapping[str, Tensor]) -> Tensor:
    reads = [value(one, given, weights) for one in symbol.reads]
    match symbol.done:
        case "given":
            return given[symbol.names[0]]
        case "affine":
            terms = zip(reads, symbol.names, strict=True)
            return sum((read @ weights[name].T for read, name in terms), torch.zeros(1))
        case "\u00d7":
            return reads[0] * reads[1]
        case "+":
            return reads[0] + reads[1]
        case "1 \u2212":
            return 1 - reads[0]
    functions = {"tanh": torch.tanh, "\u03c3": torch.sigmoid, "relu": torch.relu}
    return functions[symbol.done](reads[0])


@pytest.mark.parametrize(("name", "options"), CASES)
def test_a_diagram_of_a_unit_equals_the_unit(name: str, options: dict[str, Any]) -> None:
    cell: Any = parse(cells()[name], options, name)
    torch.manual_seed(5)
    own = {short: torch.randn(shape) for short, shape in shapes(cell).items()}
    before = tuple(torch.randn(2, SIZE) for _ in cell.state)
    x, blocks = torch.randn(2, SIZE), torch.randn(cell.gates * SIZE, SIZE)
    expected = unit_step(cell, x @ blocks.T, before, own)
    weights = symbols(cell, own, blocks)
    given = {"x": x} | weights | {f"{field} before": row for field, row in zip(cell.state, before, strict=True)}
    for one, symbol in zip(expected, trace(cell), strict=True):
        torch.testing.assert_close(value(symbol, given, weights), one)


def test_the_lstm_has_three_sigmoids_two_tanh_three_products_and_a_sum() -> None:
    found = cell_diagram("lstm")
    labels = [node.label for node in found.nodes]
    assert [labels.count(label) for label in ("\u03c3", "tanh", "\u00d7", "+")] == [3, 2, 3, 1]
    assert {"W_i x + U_i h", "W_f x + U_f h", "W_g x + U_g h", "W_o x + U_o h"} <= set(labels)
    assert all(max(node.reads, default=-1) < number for number, node in enumerate(found.nodes))
    assert found.json()["nodes"][-1] == {"label": "c after", "kind": "result", "reads": (found.nodes[-1].reads[0],)}


@pytest.mark.parametrize("name", ["lstm", "gru", "peephole", "multiplicative"])
def test_no_two_boxes_of_a_unit_lie_on_each_other(name: str) -> None:
    shown = cell_diagram(name)
    boxes = marks(cell_figure(shown), "box")
    middles = {(box.get_x() + box.get_width() / 2, box.get_y()) for box in boxes}
    assert len(boxes) == len(middles) == len(shown.nodes)


def test_a_unit_with_an_operation_that_has_no_symbol_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    class Sketch(AutogradCell):
        kind: Literal["sketch"] = "sketch"
        blocks: ClassVar[str] = "h"

        def step(self, x_BG: Any, state: Any, ops: Any) -> Any:
            return (x_BG - state[0],)

    monkeypatch.setattr("anaphora.inspection.cell_diagram.cells", lambda: {"sketch": Sketch})
    with pytest.raises(ConfigError, match="sketch has operations that a diagram has no symbols for: draw a run"):
        cell_diagram("sketch")


def test_a_diagram_is_drawn_as_png_and_as_svg_with_real_text(tmp_path: Path) -> None:
    files, _ = drawing.save(tmp_path, "gru", cell_diagram("gru"))
    assert [file.suffix for file in files] == [".png", ".svg"]
    assert "W_z x + U_z h" in files[1].read_text(encoding="utf-8")
