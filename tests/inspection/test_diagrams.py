"""Diagrams have every part of every step and every carried signal; that of a unit computes what the unit computes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
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
from anaphora.inspection.cell_diagram import PEEPHOLES, CellDiagram, Symbol, cell_diagram, trace
from anaphora.inspection.drawing.diagrams import cell_figure, network_figure
from anaphora.inspection.network_diagram import SOURCE, TARGET, NetworkDiagram
from anaphora.inspection.programs import diagrams, programs_of
from anaphora.kernels.cells import CELLS, Gru
from anaphora.kernels.cells.recorded import AutogradCell
from anaphora.kernels.naive.units import unit_step

pytest.importorskip("matplotlib")

SIZE = 3
CASES = [
    *((name, {}) for name in CELLS),
    ("gru", {"reset": "before", "update": "new"}),
    ("gru", {"reset": "after", "recurrent_bias": True}),
    ("peephole", {"peephole": "full"}),
    ("elman", {"activation": "relu"}),
]


NETWORKS = (
    *("luong2015", "bahdanau2015", "graves2013-window", "kalchbrenner2013", "gulcehre2015", "scenes"),
    *("strokes", "sst-bilstm", "ud-ewt-upos", "ptb-awd"),
)
"""A recipe of each form of network."""


def drawn(name: str, cut_every: int = 0, *settings: str) -> NetworkDiagram:
    network, *steps = diagrams(name, read_experiment(recipes.read(name), name, settings), cut_every)
    assert isinstance(network, NetworkDiagram) and all(isinstance(one, CellDiagram) for one in steps)
    return network


def marks(figure: Any, kind: str) -> Sequence[Any]:
    """The boxes, arrows or lines of a kind."""
    return [one for one in (*figure.axes[0].patches, *figure.axes[0].lines) if one.get_gid() == kind]


def arrows(shown: NetworkDiagram, kind: str = "flow") -> set[tuple[str, str]]:
    """Labels at both ends of the arrows of a kind."""
    return {(shown.boxes[one.start].label, shown.boxes[one.end].label) for one in shown.edges if one.kind == kind}


def row(shown: NetworkDiagram, kind: str, number: int = 0) -> list[str]:
    """Labels of a row of a kind, from left to right."""
    rows = sorted({box.row for box in shown.boxes if box.kind == kind})
    boxes = [box for box in shown.boxes if (box.kind, box.row) == (kind, rows[number])]
    return [box.label for box in sorted(boxes, key=lambda box: box.column)]


@pytest.mark.parametrize("name", NETWORKS)
def test_every_box_and_arrow_of_a_network_is_drawn_and_no_two_boxes_lie_on_each_other(name: str) -> None:
    found = diagrams(name, read_experiment(recipes.read(name), name))
    for shown in found[:1]:
        assert isinstance(shown, NetworkDiagram)
        places = {(box.column, box.row) for box in shown.boxes}
        assert len(places) == len(shown.boxes)
        figure = network_figure(shown)
        assert len(marks(figure, "box")) == sum(box.kind != "word" for box in shown.boxes)
        for kind in ("flow", "carried", "state", "attention"):
            assert len(marks(figure, kind)) == sum(edge.kind == kind for edge in shown.edges)
        assert {symbol for edge in shown.edges for symbol in edge.matrices} <= {*shown.matrices}
        assert len(marks(figure, "matrix")) == len(shown.matrices)
        assert all(edge.start != edge.end for edge in shown.edges)


def test_a_decoder_reads_each_word_that_it_wrote_and_its_losses_are_summed() -> None:
    shown = drawn("bahdanau2015")
    assert row(shown, "word", 1) == ["<s>", *TARGET] and row(shown, "word", 2) == [*TARGET, "</s>"]
    assert {("L" + n, "L") for n in "\u2081\u2082\u2083\u2084"} <= arrows(shown)
    assert {("o\u2081", "p\u2081"), ("p\u2081", "Je"), ("Je", "L\u2081")} <= arrows(shown)


def test_attention_of_bahdanau_is_a_fan_over_both_directions_and_asked_by_the_state_before() -> None:
    shown = drawn("bahdanau2015")
    assert len(arrows(shown, "attention")) == 16 and ("h\u2084", "c\u2081") in arrows(shown, "attention")
    assert {("h\u2190\u2082", "h\u2082"), ("h\u2192\u2082", "h\u2082")} <= arrows(shown)
    assert {("h\u2190\u2082", "h\u2190\u2081"), ("h\u2192\u2081", "h\u2192\u2082"), ("s\u2081", "c\u2082")} <= arrows(
        shown, "carried"
    )
    assert arrows(shown, "state") == {("h\u2190\u2081", "s\u2081")}
    [unit] = [edge for edge in shown.edges if shown.boxes[edge.end].label == "o\u2082" and edge.kind == "carried"]
    assert shown.boxes[unit.start].label == "s\u2081" and unit.matrices == ("U_o",)


def test_attention_of_luong_is_asked_by_the_new_state_and_fed_to_the_next_step() -> None:
    shown = drawn("luong2015")
    assert row(shown, "word") == [*reversed(SOURCE), "</s>"]
    assert ("s\u00b2\u2081", "c\u2081") in arrows(shown) and ("o\u2081", "s\u00b9\u2082") in arrows(shown, "carried")
    assert arrows(shown, "state") == {("h\u00b9\u2084", "s\u00b9\u2081"), ("h\u00b2\u2084", "s\u00b2\u2081")}
    assert "backwards" in shown.finding and "U\u00b2\u2032" in shown.matrices


def test_without_attention_the_state_alone_enters_the_decoder() -> None:
    shown = drawn("sutskever2014")
    assert not arrows(shown, "attention") and len(arrows(shown, "state")) == 2
    assert "one vector" in shown.finding
    every_step = drawn("cho2014")
    assert {("h\u2084", "s\u2081"), ("h\u2084", "s\u2082"), ("h\u2084", "o\u2082")} <= arrows(every_step)
    assert arrows(every_step, "state") == {("h\u2084", "s\u2081")}


def test_a_shared_matrix_has_one_symbol_and_layers_have_their_own() -> None:
    tied, untied = drawn("ptb-lstm-200-tied"), drawn("zaremba2014-small")
    assert "V" not in tied.matrices and tied.matrices["E"].count("\u00d7") == 2
    assert {"E", "V", "W\u00b9", "U\u00b9", "W\u00b2", "U\u00b2"} == set(untied.matrices)


def test_classifiers_pool_and_taggers_answer_each_word() -> None:
    classifier, tagger = drawn("sst-bilstm"), drawn("ud-ewt-upos")
    assert {(f"h{n}", "v") for n in "\u2081\u2082\u2083"} | {("v", "p"), ("p", "class")} <= arrows(classifier)
    assert {("h\u2082", "p\u2082"), ("p\u2082", "tag\u2082"), ("L\u2082", "L")} <= arrows(tagger)


def test_cuts_stand_between_chunks_and_before_the_window_of_the_last_loss() -> None:
    assert not drawn("character-lm").cuts
    chunks = drawn("character-lm", 2)
    assert chunks.cuts == ((1.5, "the gradient stops here"),) and len(marks(network_figure(chunks), "cut")) == 1
    window = drawn("character-lm", 1, "recurrence.truncation.kind=window", "recurrence.truncation.steps=1")
    assert window.cuts == ((1.5, "the gradient of L\u2084 stops here"),)


def test_a_step_has_a_node_for_each_part() -> None:
    experiment = read_experiment(recipes.read("bahdanau2015"), "bahdanau2015")
    *_, shown = diagrams("bahdanau2015", experiment)
    assert isinstance(shown, CellDiagram)
    labels = [node.label.partition("\n")[0] for node in shown.nodes]
    assert {part.name for part in programs_of(experiment)["decoder"]} <= {*labels}
    attention = shown.nodes[labels.index("attention")]
    assert [labels[one] for one in attention.reads] == ["layer0.h before", "memory"]
    assert shown.nodes[labels.index("combine_word")].label.endswith("\n192 × 128")
    assert shown.nodes[-1] == replace(shown.nodes[-1], label="o", kind="result")


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
    cell: Any = parse(CELLS[name], options, name)
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


def test_a_unit_is_drawn_with_its_options() -> None:
    labels = [node.label for node in cell_diagram("gru", Gru(reset="before")).nodes]
    assert "W_g x + U_g (..)" in labels and "W_g x + U_g (..)" not in [one.label for one in cell_diagram("gru").nodes]


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
            return (x_BG / state[0],)

    monkeypatch.setitem(CELLS, "sketch", Sketch)
    with pytest.raises(ConfigError, match="sketch has operations that a diagram has no symbols for: draw a run"):
        cell_diagram("sketch")


def test_a_diagram_is_drawn_as_png_and_as_svg_with_real_text(tmp_path: Path) -> None:
    files, _ = drawing.save(tmp_path, "gru", cell_diagram("gru"))
    assert [file.suffix for file in files] == [".png", ".svg"]
    assert "W_z x + U_z h" in files[1].read_text(encoding="utf-8")
