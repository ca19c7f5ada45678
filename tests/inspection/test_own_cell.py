"""Names of gates and what is kept are those that a cell declares, in any order."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
import torch
from torch.testing import assert_close

from anaphora.inspection import drawing
from anaphora.inspection.cell_diagram import cell_diagram
from anaphora.inspection.gates import followers, gates, saturation
from anaphora.inspection.gradients import gradients
from anaphora.inspection.subject import Subject, layers_of
from anaphora.kernels.cells import CELLS, Cell
from anaphora.kernels.ops import Ops, V
from anaphora.nn.stack import Stack, StackConfig
from anaphora.nn.weights import Xavier

TEXT = "line 3"


class Filtered(Cell):
    """c_t = k * c_{t-1} + n, and h_t = f * c_t: f filters the output, and k keeps the memory."""

    kind: Literal["filtered"] = "filtered"
    blocks: ClassVar[str] = "fnk"
    candidate: ClassVar[str] = "n"
    state: ClassVar[tuple[str, ...]] = ("h", "c")

    def forward(self, ops: Ops[V], x: V, state: Sequence[V]) -> tuple[tuple[V, ...], tuple[V, ...]]:
        a_f, a_n, a_k = ops.split(ops.add(ops.times("h", state[0]), x), 1, 1, 1)
        f, n, k = ops.sigmoid(a_f), ops.tanh(a_n), ops.sigmoid(a_k)
        c = ops.add(ops.mul(k, state[1]), n)
        return (ops.mul(f, c), c), (f, n, k, state[1], c)

    def backward(self, ops: Ops[V], saved: tuple[V, ...], dstate: Sequence[V]) -> tuple[V, tuple[V, ...]]:
        (f, n, k, c_before, c), (dh, dc) = saved, dstate
        df, dc = ops.mul(dh, c), ops.add(dc, ops.mul(dh, f))
        da_k = ops.sigmoid_back(k, ops.mul(dc, c_before))
        da = ops.join(ops.sigmoid_back(f, df), ops.tanh_back(n, dc), da_k)
        return da, (ops.back("h", da), ops.mul(dc, k))

    def gates_of(self, saved: tuple[Any, ...]) -> dict[str, Any]:
        return dict(zip(self.blocks, saved, strict=False))

    def kept(self, gates: Any) -> Any:
        return gates["k"]


@pytest.fixture
def subject(language_model: Subject) -> Subject:
    model: Any = deepcopy(language_model.trained.model)
    config = StackConfig().model_copy(update={"cell": Filtered(), "size": 5})
    stack = Stack(config, 6, "recurrence")
    stack.initialise(Xavier(), torch.Generator().manual_seed(1))
    model.recurrence = stack
    return replace(language_model, trained=language_model.trained._replace(model=model))


def test_gates_carry_the_names_of_the_cell_and_what_is_kept_is_what_it_declares(subject: Subject) -> None:
    [unit] = gates(subject, TEXT).units
    assert list(unit.values) == ["f", "n", "k", "c", "h"] and (unit.state, unit.candidate) == (("h", "c"), "n")
    f, n, k, c, h = (torch.tensor(rows) for rows in unit.values.values())
    before = torch.cat([torch.zeros(1, 5), c[:-1]])
    assert_close(c, k * before + n, atol=1e-4, rtol=0)
    assert_close(h, f * c, atol=1e-4, rtol=0)
    assert {one.gate: one.candidate for one in saturation(subject, [TEXT]).gates} == {"f": False, "n": True, "k": False}
    best = followers(subject, TEXT, best=1).found[0]  # a cell of the memory
    assert best.values == pytest.approx(c[:, best.cell].tolist(), abs=1e-4)
    [reach] = gradients(subject, TEXT).reach
    [layer] = layers_of(subject, subject.example(TEXT), gradients=True)
    k_TH = layer.gates(*layer.units())["k"]
    assert reach.direct == pytest.approx(k_TH.flip(0).cumprod(0).amax(1).tolist())
    assert reach.memory == () and reach.terms == ()


def test_pictures_carry_the_names_of_the_cell(
    subject: Subject, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setitem(CELLS, "filtered", Filtered)
    shown = cell_diagram("filtered")
    by_label = {node.label: number for number, node in enumerate(shown.nodes)}
    functions = {name: by_label[f"U_{name} h\u209c\u208b\u2081 + W_{name} x\u209c"] for name in "fnk"}
    of = {node.reads: node.label for node in shown.nodes if node.kind == "function"}
    assert [of[functions[name],] for name in "fnk"] == ["f = \u03c3", "n = tanh", "k = \u03c3"]
    files, _ = drawing.save(tmp_path, "gates", gates(subject, TEXT))
    [svg] = [file for file in files if file.suffix == ".svg"]
    written = svg.read_text(encoding="utf-8")
    assert all(f"{name}, " in written for name in ("gate f", "new value n", "gate k", "cell state c", "output h"))
