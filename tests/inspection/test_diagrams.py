"""Diagrams have every part of every step and every carried signal; that of a unit computes what the unit computes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
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
from anaphora.inspection.cell_diagram import PEEPHOLES, SYMBOLS, CellDiagram, Symbol, cell_diagram, trace
from anaphora.inspection.drawing import canvas
from anaphora.inspection.drawing.diagrams import cell_figure, network_figure
from anaphora.inspection.network_diagram import SOURCE, TARGET, NetworkDiagram
from anaphora.inspection.programs import diagrams, programs_of
from anaphora.kernels.cells import CELLS, Gru
from anaphora.kernels.cells.recorded import AutogradCell
from anaphora.kernels.naive.units import unit_step

matplotlib = pytest.importorskip("matplotlib.style")
FigureCanvasAgg = pytest.importorskip("matplotlib.backends.backend_agg").FigureCanvasAgg

SIZE = 3
CASES = [
    *((name, {}) for name in CELLS),
    ("gru", {"reset": "before", "update": "new"}),
    ("gru", {"reset": "after", "recurrent_bias": True}),
    ("peephole", {"peephole": "full"}),
    ("elman", {"activation": "relu"}),
    ("qrnn", {"width": 1}),
    ("mogrifier", {"rounds": 1}),
]


NETWORKS = ("luong2015", "bahdanau2015", "sutskever2014", "cho2014", "scenes", "sst-bilstm", "kim2016-small")
"""A recipe of each form of network; the others are of the slow tier."""
OPTIONS = (
    *(("sst-bilstm", f"classes.pooling={pooling}") for pooling in ("max", "attention", "last")),
    ("bahdanau2015", "encoder.layers=2"),
    ("cho2014", "encoder.bidirectional=true"),
    ("luong2015", "decoder.layers=3", "encoder.layers=3"),
    ("luong2015", "attention.score=concat"),
    ("ptb-lstm-small", "recurrence.cell=peephole"),
)


def parameters() -> Sequence[Any]:
    others = [(name,) for name in recipes.names() if name not in NETWORKS]
    return [
        *((name,) for name in NETWORKS),
        *(pytest.param(one, marks=pytest.mark.slow) for one in (*others, *OPTIONS)),
    ]


@cache
def pictures(name: str, *settings: str) -> Sequence[tuple[NetworkDiagram, Any]]:
    """The network of a recipe and its picture; none for one without steps."""
    found = diagrams(name, read_experiment(recipes.read(name), name, settings))
    with matplotlib.context(Path(canvas.__file__).with_name("anaphora.mplstyle")):
        return [(one, network_figure(one)) for one in found[:1] if isinstance(one, NetworkDiagram)]


def texts(figure: Any) -> list[tuple[str, Any]]:
    """The texts of a picture and the pixels that they cover, a little less than all."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    found = [(one.get_text(), one.get_window_extent(renderer)) for one in figure.axes[0].texts if one.get_text()]
    return [(text, place.padded(-1.5)) for text, place in found]


def boxes(figure: Any) -> list[Any]:
    """The pixels that the boxes of a picture cover."""
    return [one.get_window_extent() for one in marks(figure, "box")]


def assert_readable(figure: Any) -> None:
    """No text lies on another or beyond the picture, and what touches a box is in it."""
    shown, of_boxes = texts(figure), boxes(figure)
    for number, (text, place) in enumerate(shown):
        assert figure.bbox.contains(*place.min) and figure.bbox.contains(*place.max), text
        assert not [other for other, second in shown[number + 1 :] if place.overlaps(second)], text
        beyond = [
            one for one in of_boxes if one.overlaps(place) and not all(one.contains(*end) for end in place.get_points())
        ]
        assert not beyond, text


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


@pytest.mark.parametrize("named", parameters(), ids="-".join)
def test_every_box_and_arrow_of_a_network_is_drawn_and_nothing_lies_on_another(named: tuple[str, ...]) -> None:
    for shown, figure in pictures(*named):
        places = {(box.column, box.row) for box in shown.boxes}
        assert len(places) == len(shown.boxes)
        assert len(marks(figure, "box")) == sum(box.kind != "word" for box in shown.boxes)
        for kind in ("flow", "carried", "state", "attention", "context"):
            assert len(marks(figure, kind)) == sum(edge.kind == kind for edge in shown.edges)
        assert all(edge.start != edge.end for edge in shown.edges)
        assert_readable(figure)
        of_boxes = [one.padded(-4) for one in boxes(figure)]
        for arrow in (one for one in figure.axes[0].patches if one.get_gid() != "box"):
            path = arrow.get_path().transformed(figure.axes[0].transData)
            path = type(path)(path.vertices[path.codes != path.CLOSEPOLY])
            assert not any(path.intersects_bbox(box, filled=False) for box in of_boxes), arrow.get_gid()


@pytest.mark.parametrize("named", parameters(), ids="-".join)
def test_each_matrix_has_a_colour_that_no_other_has_and_its_symbol_once_on_an_arrow(named: tuple[str, ...]) -> None:
    for shown, figure in pictures(*named):
        assert {symbol for edge in shown.edges for symbol in edge.matrices} == {*shown.matrices}
        assert all(len(edge.matrices) <= 1 for edge in shown.edges)
        colours: dict[tuple[str, ...], set[Any]] = {}
        for kind in ("flow", "carried", "state", "attention", "context"):
            own = [edge for edge in shown.edges if edge.kind == kind]
            for edge, arrow in zip(own, marks(figure, kind), strict=True):
                colours.setdefault(edge.matrices, set()).add(arrow.get_edgecolor()[:3])
        assert all(len(one) == 1 for one in colours.values())
        assert len(set().union(*colours.values())) == len(colours)
        assert len(marks(figure, "matrix")) == len(shown.matrices)
        written = [text for text, _ in texts(figure)]
        twice = [text for text in written if written.count(text) == 2]
        assert len(set(twice)) >= len(shown.matrices)


def test_a_decoder_reads_each_word_that_it_wrote_and_its_losses_are_summed() -> None:
    shown = drawn("bahdanau2015")
    assert row(shown, "word", 1) == ["<s>", *TARGET] and row(shown, "word", 2) == [*TARGET, "</s>"]
    assert {("L" + n, "L") for n in "\u2081\u2082\u2083\u2084"} <= arrows(shown)
    assert {("o\u2081", "p\u2081"), ("p\u2081", "Je"), ("Je", "L\u2081")} <= arrows(shown)


def test_attention_of_bahdanau_is_a_fan_over_both_directions_and_asked_by_the_state_before() -> None:
    shown = drawn("bahdanau2015")
    assert len(arrows(shown, "attention")) == 16 and ("h\u2084", "c\u2081") in arrows(shown, "attention")
    assert {("h\u20d6\u2082", "h\u2082"), ("h\u20d7\u2082", "h\u2082")} <= arrows(shown)
    assert {("h\u20d6\u2082", "h\u20d6\u2081"), ("h\u20d7\u2081", "h\u20d7\u2082"), ("s\u2081", "c\u2082")} <= arrows(
        shown, "carried"
    )
    assert arrows(shown, "state") == {("h\u20d6\u2081", "s\u2081")}
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
    assert {("c", "s\u2081"), ("c", "s\u2082"), ("c", "o\u2082")} <= arrows(every_step, "context")
    assert {edge.matrices for edge in every_step.edges if edge.kind == "context"} == {("C",), ("C_o",)}
    assert ("h\u2084", "c") in arrows(every_step) and arrows(every_step, "state") == {("c", "s\u2081")}
    columns = drawn("kalchbrenner2013-rctm2")
    assert {("c\u2081", "s\u2081"), ("c\u2082", "s\u2082")} <= arrows(columns) and not arrows(columns, "context")


def test_a_decoder_that_reads_one_state_stands_beside_its_encoder() -> None:
    shown = drawn("sutskever2014")
    states = [edge for edge in shown.edges if edge.kind == "state"]
    assert all(shown.boxes[edge.start].row == shown.boxes[edge.end].row for edge in states)
    assert row(shown, "word") == [*reversed(SOURCE), "</s>", "<s>", *TARGET]


def test_a_language_model_of_deep_fusion_is_read_through_its_gate() -> None:
    shown = drawn("gulcehre2015")
    assert {("z\u2082", "l\u2082"), ("l\u2082", "g\u2082"), ("g\u2082", "o\u2082")} <= arrows(shown)
    assert ("l\u2081", "l\u2082") in arrows(shown, "carried") and "v_g" in shown.matrices


def test_a_shared_matrix_has_one_symbol_and_layers_have_their_own() -> None:
    tied, untied = drawn("ptb-lstm-200-tied"), drawn("zaremba2014-small")
    assert "V" not in tied.matrices and tied.matrices["E"] == "word embedding, output layer, 10100 \u00d7 200"
    assert {"E", "V", "W\u00b9", "U\u00b9", "W\u00b2", "U\u00b2"} == set(untied.matrices)


def test_classifiers_pool_and_taggers_answer_each_word() -> None:
    classifier, tagger = drawn("sst-bilstm"), drawn("ud-ewt-upos")
    assert {edge.label for edge in classifier.edges if classifier.boxes[edge.end].label == "v"} == {"1/3"}
    last = drawn("sst-bilstm", 0, "classes.pooling=last")
    assert {one for one in arrows(last) if one[1] == "v"} == {("h\u20d6\u2081", "v"), ("h\u20d7\u2083", "v")}
    attends = drawn("sst-bilstm", 0, "classes.pooling=attention")
    assert len(arrows(attends, "attention")) == 3 and "W_a" in attends.matrices
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
    found = {PEEPHOLES.get(short, short): own[short] for short in cell.vectors}
    found |= {name: torch.diag(vector) for name, vector in found.items() if name.startswith("p_")}
    for base, blocks, whole in [
        ("W", cell.blocks, w),
        *((SYMBOLS.get(short, "U"), blocks, own[short]) for short, blocks in cell.matmuls),
    ]:
        found |= {f"{base}_{letter}": part for letter, part in zip(blocks, whole.split(SIZE), strict=True)}
        found |= {base: whole} if cell.gates == len(blocks) == 1 else {}
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
        case "\u00f7":
            return reads[0] / reads[1]
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
    given = (
        {"x\u209c": x}
        | weights
        | {f"{field}\u209c\u208b\u2081": row for field, row in zip(cell.state, before, strict=True)}
    )
    for one, symbol in zip(expected, trace(cell), strict=True):
        torch.testing.assert_close(value(symbol, given, weights), one)


def test_the_lstm_has_its_gates_two_tanh_three_products_and_a_sum() -> None:
    found = cell_diagram("lstm")
    labels = [node.label for node in found.nodes]
    wanted = ("i = \u03c3", "f = \u03c3", "o = \u03c3", "g = tanh", "tanh", "\u00d7", "+")
    assert [labels.count(label) for label in wanted] == [1, 1, 1, 1, 1, 3, 1]
    assert {f"W_{gate} x\u209c + U_{gate} h\u209c\u208b\u2081" for gate in "ifgo"} <= set(labels)
    assert all(max(node.reads, default=-1) < number for number, node in enumerate(found.nodes))
    assert found.json()["nodes"][-1] == {"label": "c\u209c", "kind": "result", "reads": (found.nodes[-1].reads[0],)}


@pytest.mark.parametrize(
    ("name", "options", "finding"),
    [
        ("lstm", {}, "h = o \u00d7 tanh(c), c = f \u00d7 c' + i \u00d7 g"),
        ("gru", {}, "h = z \u00d7 h' + (1 \u2212 z) \u00d7 g"),
        ("gru", {"update": "new"}, "h = z \u00d7 g + (1 \u2212 z) \u00d7 h'"),
        ("lstm-no-forget", {}, "h = o \u00d7 tanh(c), c = c' + i \u00d7 g"),
        ("elman", {"activation": "relu"}, "h = relu(W x + U h')"),
        ("ssru", {}, "h = relu(c), c = f \u00d7 c' + (1 \u2212 f) \u00d7 W_g x"),
        ("min-lstm", {}, "h = f \u00f7 (f + i) \u00d7 h' + i \u00f7 (f + i) \u00d7 W_g x"),
        ("multiplicative", {}, "h = tanh(W_h x + U_h (W_m x \u00d7 U_m h'))"),
    ],
)
def test_a_unit_is_titled_with_its_equations(name: str, options: dict[str, Any], finding: str) -> None:
    found = cell_diagram(name, parse(CELLS[name], options, name)).finding
    assert found.replace("\u209c\u208b\u2081", "'").replace("\u209c", "") == finding


def test_a_unit_is_drawn_with_its_options() -> None:
    inside = "W_g x\u209c + U_g (r \u00d7 h\u209c\u208b\u2081)"
    assert inside in [node.label for node in cell_diagram("gru", Gru(reset="before")).nodes]
    assert inside not in [node.label for node in cell_diagram("gru").nodes]


@pytest.mark.parametrize(("name", "options"), CASES)
def test_no_two_boxes_or_texts_of_a_unit_lie_on_each_other(name: str, options: dict[str, Any]) -> None:
    shown = cell_diagram(name, parse(CELLS[name], options, name))
    figure = cell_figure(shown)
    found = marks(figure, "box")
    middles = {(box.get_x() + box.get_width() / 2, box.get_y()) for box in found}
    assert len(found) == len(middles) == len(shown.nodes)
    assert_readable(figure)


def test_a_unit_with_an_operation_that_has_no_symbol_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    class Sketch(AutogradCell):
        kind: Literal["sketch"] = "sketch"
        blocks: ClassVar[str] = "h"

        def step(self, x_BG: Any, state: Any, ops: Any) -> Any:
            return (x_BG % state[0],)

    monkeypatch.setitem(CELLS, "sketch", Sketch)
    with pytest.raises(ConfigError, match="sketch has operations that a diagram has no symbols for: draw a run"):
        cell_diagram("sketch")


def test_a_diagram_is_drawn_as_png_and_as_svg_with_real_text(tmp_path: Path) -> None:
    files, _ = drawing.save(tmp_path, "gru", cell_diagram("gru"))
    assert [file.suffix for file in files] == [".png", ".svg"]
    text = files[1].read_text(encoding="utf-8")
    assert ">z = \u03c3</text>" in text and "h\u209c\u208b\u2081</text>" in text
