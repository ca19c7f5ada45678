"""The picture of a unit computes what the unit computes."""

import re
from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import Tensor

from anaphora.config import Config
from anaphora.inspection.cell_diagram import _MATRICES, cell_diagram, cells, traced
from anaphora.inspection.symbols import Symbol
from anaphora.kernels.naive.units import unit_step

SIZE = 3
CASES = [
    *((name, {}) for name in cells()),
    ("gru", {"reset": "before", "update": "new"}),
    ("peephole", {"peephole": "full"}),
    ("elman", {"activation": "relu"}),
]


def shapes(cell: Any) -> dict[str, tuple[int, ...]]:
    matrices = {name: (blocks * SIZE, SIZE) for name, blocks in cell.matmuls}
    return matrices | dict.fromkeys(cell.vectors, (SIZE,))


def matrix(weights: Mapping[str, Tensor], name: str) -> Tensor:
    """A weight, or a block of it, by what a symbol calls it."""
    base, number = re.fullmatch(r"(.*?)(\d*)", name).groups()  # type: ignore[union-attr]
    weight = torch.diag(weights[base]) if weights[base].dim() == 1 else weights[base]
    return weight.split(SIZE)[int(number)] if number else weight


def value(symbol: Symbol, given: Mapping[str, Tensor], weights: Mapping[str, Tensor]) -> Tensor:
    reads = [value(one, given, weights) for one in symbol.reads]
    match symbol.done:
        case "given":
            return given[symbol.names[0]]
        case "affine":
            return sum(
                (read @ matrix(weights, name).T for read, name in zip(reads, symbol.names, strict=True)),
                torch.zeros(1),
            )
        case "\u00d7":
            return reads[0] * reads[1]
        case "+":
            return reads[0] + reads[1]
        case "1 \u2212":
            return 1 - reads[0]
    functions = {"tanh": torch.tanh, "\u03c3": torch.sigmoid, "relu": torch.relu}
    return functions[symbol.done](reads[0])


@pytest.mark.parametrize(("name", "options"), CASES)
def test_what_is_drawn_equals_the_unit(name: str, options: dict[str, Any]) -> None:
    cell: Any = cells()[name].parse(options, name)
    torch.manual_seed(5)
    own = {short: torch.randn(shape) for short, shape in shapes(cell).items()}
    before = tuple(torch.randn(2, SIZE) for _ in cell.state)
    x, blocks = torch.randn(2, SIZE), torch.randn(cell.gates * SIZE, SIZE)
    expected = unit_step(cell, x @ blocks.T, before, own)
    weights = {_MATRICES.get(short, short): tensor for short, tensor in own.items()} | {"W": blocks}
    given = {"x": x} | {f"{field} before": row for field, row in zip(cell.state, before, strict=True)}
    for one, symbol in zip(expected, traced(cell)[1], strict=True):
        torch.testing.assert_close(value(symbol, given, weights), one)


def test_the_lstm_has_three_sigmoids_two_tanh_three_products_and_a_sum() -> None:
    found = cell_diagram("lstm")
    labels = [node.label for node in found.nodes]
    assert [labels.count(label) for label in ("\u03c3", "tanh", "\u00d7", "+")] == [3, 2, 3, 1]
    assert {"W_i x + U_i h", "W_f x + U_f h", "W_g x + U_g h", "W_o x + U_o h"} <= set(labels)
    assert all(max(node.reads, default=-1) < number for number, node in enumerate(found.nodes))
    assert found.json()["nodes"][-1] == {"label": "c after", "kind": "result", "reads": [found.nodes[-1].reads[0]]}


@pytest.mark.parametrize("name", list(cells()))
def test_no_two_boxes_lie_on_each_other(name: str) -> None:
    svg = cell_diagram(name).svg()
    boxes = re.findall(r'<(?:rect class="box" x|circle class="box" cx)="(\d+)" (?:y|cy)="(\d+)"', svg)
    assert len(boxes) == len(set(boxes)) == len(cell_diagram(name).nodes)
    assert isinstance(cells()[name], type) and issubclass(cells()[name], Config)
