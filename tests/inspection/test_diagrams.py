"""Steps and diagrams have every part and every carried signal; that of a unit computes what the unit computes."""

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
from anaphora.kernels.cells import CELLS
from anaphora.kernels.cells.recorded import AutogradCell
from anaphora.kernels.naive.units import unit_step
from anaphora.models.language_model import LanguageModel
from anaphora.protocols import VocabularyInfo

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


OTHERS = [*((name,) for name in recipes.names() if name not in NETWORKS), *OPTIONS]
DRAWN = [*((name,) for name in NETWORKS), *(pytest.param(one, marks=pytest.mark.slow) for one in OTHERS)]


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


def assert_readable(figure: Any) -> None:
    """No text lies on another or beyond the picture, and what touches a box is in it."""
    shown, boxes = texts(figure), [one.get_window_extent() for one in marks(figure, "box")]
    for number, (text, place) in enumerate(shown):
        assert figure.bbox.contains(*place.min) and figure.bbox.contains(*place.max), text
        assert not [other for other, second in shown[number + 1 :] if place.overlaps(second)], text
        touched = [one for one in boxes if one.overlaps(place)]
        assert all(one.contains(*end) for one in touched for end in place.get_points()), text


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


@pytest.mark.parametrize("named", DRAWN, ids="-".join)
def test_every_box_and_arrow_of_a_network_is_drawn_and_nothing_lies_on_another(named: tuple[str, ...]) -> None:
    for shown, figure in pictures(*named):
        places = {(box.column, box.row) for box in shown.boxes}
        assert len(places) == len(shown.boxes)
        assert len(marks(figure, "box")) == sum(box.kind != "word" for box in shown.boxes)
        for kind in ("flow", "carried", "state", "attention", "context"):
            assert len(marks(figure, kind)) == sum(edge.kind == kind for edge in shown.edges)
        assert all(edge.start != edge.end for edge in shown.edges)
        assert_readable(figure)
        of_boxes = [one.get_window_extent().padded(-4) for one in marks(figure, "box")]
        for arrow in (one for one in figure.axes[0].patches if one.get_gid() != "box"):
            path = arrow.get_path().transformed(figure.axes[0].transData)
            path = type(path)(path.vertices[path.codes != path.CLOSEPOLY])
            assert not any(path.intersects_bbox(box, filled=False) for box in of_boxes), arrow.get_gid()


@pytest.mark.parametrize("named", DRAWN, ids="-".join)
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


BAHDANAU = {
    "flow": "L₁ L, L₄ L, o₁ p₁, p₁ Je, Je L₁, h⃖₂ h₂, h⃗₂ h₂",
    "attention": "h₁ c₄, h₄ c₁",
    "carried": "h⃖₂ h⃖₁, h⃗₁ h⃗₂, s₁ c₂, s₁ o₂",
    "state": "h⃖₁ s₁",
}
LUONG = {"flow": "s²₁ c₁", "carried": "o₁ s¹₂", "state": "h¹₄ s¹₁, h²₄ s²₁"}
EVERY_STEP = {"flow": "h₄ c", "context": "c s₁, c s₂, c o₂", "state": "c s₁"}


@pytest.mark.parametrize(
    ("named", "wanted"),
    [
        (("bahdanau2015",), BAHDANAU),  # asked by the state before
        (("luong2015",), LUONG),  # asked by the new state, and fed to the next step
        (("sutskever2014",), {"attention": "", "context": "", "state": "h¹₄ s¹₁, h²₄ s²₁"}),
        (("cho2014",), EVERY_STEP),
        (("kalchbrenner2013-rctm2",), {"flow": "c₁ s₁, c₂ s₂", "context": ""}),
        (("gulcehre2015",), {"flow": "z₂ l₂, l₂ g₂, g₂ o₂", "carried": "l₁ l₂"}),
        (("sst-bilstm",), {"flow": "h₁ v, h₂ v, h₃ v, v p, p class"}),
        (("sst-bilstm", "classes.pooling=last"), {"flow": "h⃖₁ v, h⃗₃ v"}),
        (("sst-bilstm", "classes.pooling=attention"), {"attention": "h₁ v, h₂ v, h₃ v"}),
        (("ud-ewt-upos",), {"flow": "h₂ p₂, p₂ tag₂, L₂ L"}),
    ],
)
def test_arrows_are_those_of_the_equations(named: tuple[str, ...], wanted: dict[str, str]) -> None:
    shown = drawn(named[0], 0, *named[1:])
    for kind, pairs in wanted.items():
        expected, found = {tuple(pair.split()) for pair in pairs.split(", ") if pair}, arrows(shown, kind)
        assert found == expected if kind == "state" or not pairs else found >= expected


def test_words_and_matrices_of_networks_are_those_of_their_recipes() -> None:
    bahdanau, luong, sutskever, cho, classifier = map(
        drawn, ("bahdanau2015", "luong2015", "sutskever2014", "cho2014", "sst-bilstm")
    )
    assert row(bahdanau, "word", 1) == ["<s>", *TARGET] and row(bahdanau, "word", 2) == [*TARGET, "</s>"]
    assert len(arrows(bahdanau, "attention")) == 16
    asked = [edge for edge in bahdanau.edges if bahdanau.boxes[edge.end].label == "o₂" and edge.kind == "carried"]
    assert [edge.matrices for edge in asked] == [("U_o",)]
    assert row(luong, "word") == [*reversed(SOURCE), "</s>"]
    assert "backwards" in luong.finding and "U²′" in luong.matrices
    assert row(sutskever, "word") == [*reversed(SOURCE), "</s>", "<s>", *TARGET] and "one vector" in sutskever.finding
    states = [edge for edge in sutskever.edges if edge.kind == "state"]  # one beside the other
    assert all(sutskever.boxes[edge.start].row == sutskever.boxes[edge.end].row for edge in states)
    assert {edge.matrices for edge in cho.edges if edge.kind == "context"} == {("C",), ("C_o",)}
    assert {edge.label for edge in classifier.edges if classifier.boxes[edge.end].label == "v"} == {"1/3"}
    assert "v_g" in drawn("gulcehre2015").matrices


def test_a_shared_matrix_has_one_symbol_and_layers_have_their_own() -> None:
    tied, untied = drawn("ptb-lstm-200-tied"), drawn("zaremba2014-small")
    assert "V" not in tied.matrices and tied.matrices["E"] == "word embedding, output layer, 10100 \u00d7 200"
    assert {"E", "V", "W\u00b9", "U\u00b9", "W\u00b2", "U\u00b2"} == set(untied.matrices)


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


def symbols(cell: Any, own: Mapping[str, Tensor], w: Tensor) -> dict[str, Tensor]:
    """Weights, and the blocks of matrices, by what a symbol calls them."""
    found = {PEEPHOLES.get(short, short): own[short] for short in cell.vectors}
    found |= {name: torch.diag(vector) for name, vector in found.items() if name.startswith("p_")}
    recurrent = ((SYMBOLS.get(short, "U"), blocks, own[short]) for short, blocks in cell.matmuls)
    for base, blocks, whole in (("W", cell.blocks, w), *recurrent):
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
    return DONE[symbol.done](*reads)


DONE: dict[str, Any] = {"tanh": torch.tanh, "\u03c3": torch.sigmoid, "relu": torch.relu}
DONE |= {"\u00d7": torch.mul, "+": torch.add, "\u00f7": torch.div, "1 \u2212": lambda a: 1 - a}


@pytest.mark.parametrize(("name", "options"), CASES)
def test_a_diagram_of_a_unit_equals_the_unit(name: str, options: dict[str, Any]) -> None:
    cell: Any = parse(CELLS[name], options, name)
    torch.manual_seed(5)
    shapes = {short: (len(blocks) * SIZE, SIZE) for short, blocks in cell.matmuls} | dict.fromkeys(
        cell.vectors, (SIZE,)
    )
    own = {short: torch.randn(shape) for short, shape in shapes.items()}
    before = tuple(torch.randn(2, SIZE) for _ in cell.state)
    x, blocks = torch.randn(2, SIZE), torch.randn(cell.gates * SIZE, SIZE)
    weights = symbols(cell, own, blocks)
    given = {f"{field}\u209c\u208b\u2081": row for field, row in zip(cell.state, before, strict=True)} | weights
    for one, symbol in zip(unit_step(cell, x @ blocks.T, before, own), trace(cell), strict=True):
        torch.testing.assert_close(value(symbol, given | {"x\u209c": x}, weights), one)


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
        ("gru", {"update": "new", "reset": "before"}, "h = z \u00d7 g + (1 \u2212 z) \u00d7 h'"),
        ("lstm-no-forget", {}, "h = o \u00d7 tanh(c), c = c' + i \u00d7 g"),
        ("elman", {"activation": "relu"}, "h = relu(W x + U h')"),
        ("ssru", {}, "h = relu(c), c = f \u00d7 c' + (1 \u2212 f) \u00d7 W_g x"),
        ("min-lstm", {}, "h = f \u00f7 (f + i) \u00d7 h' + i \u00f7 (f + i) \u00d7 W_g x"),
        ("multiplicative", {}, "h = tanh(W_h x + U_h (W_m x \u00d7 U_m h'))"),
    ],
)
def test_a_unit_is_titled_with_its_equations(name: str, options: dict[str, Any], finding: str) -> None:
    found = cell_diagram(name, parse(CELLS[name], options, name))
    assert found.finding.replace("\u209c\u208b\u2081", "'").replace("\u209c", "") == finding
    inside = "W_g x\u209c + U_g (r \u00d7 h\u209c\u208b\u2081)" in [node.label for node in found.nodes]
    assert inside == (options.get("reset") == "before")


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
    (png, svg), _ = drawing.save(tmp_path, "gru", cell_diagram("gru"))
    text = svg.read_text(encoding="utf-8")
    assert png.suffix == ".png" and ">z = \u03c3</text>" in text and "h\u209c\u208b\u2081</text>" in text


WITHOUT_STEPS = {"aligner", "ptb-ngram", "ptb-feedforward", "ptb-log-bilinear", "ptb-convolution"}


def test_layers_of_a_language_model_use_all_of_their_weights() -> None:
    for recipe in ("ptb-elman", "zaremba2014-small", "ptb-awd"):
        experiment = read_experiment(recipes.read(recipe), recipe)
        model = LanguageModel(experiment, VocabularyInfo(experiment.text.size, 0, 1, 2, 3))  # type: ignore[attr-defined, arg-type]
        [parts] = model.programs().values()
        shown = {name: shape for part in parts for name, shape in part.weights.items()}
        assert shown == {name: tuple(weight.shape) for name, weight in model.recurrence.weights.tensors().items()}


def test_every_loop_of_a_recipe_runs_in_c_and_networks_without_steps_have_none() -> None:
    programs = {name: programs_of(read_experiment(recipes.read(name), name)) for name in recipes.names()}
    loops = {(name, part.loop) for name, steps in programs.items() for parts in steps.values() for part in parts}
    assert [(name, loop) for name, loop in loops if "in Python" in loop] == []
    assert {name for name, loop in loops if loop.endswith("in C")} > {"bahdanau2015", "character-lm", "cmudict"}
    assert not any(programs[name] for name in WITHOUT_STEPS)
