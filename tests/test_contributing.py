"""The example cell of CONTRIBUTING.md does what the page says: it trains, in C too, and its gradients are right."""

import re
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
import torch

from anaphora.events import Event, Note
from anaphora.kernels.cells import Cell
from anaphora.kernels.cells.recorded import AutogradCell, Operands, State
from anaphora.kernels.compiled.gemm import has_gemm
from anaphora.kernels.native import loops
from anaphora.kernels.runtime import Runtime, running
from anaphora.nn.stack import Stack, StackConfig
from anaphora.nn.weights import Xavier
from anaphora.training.loop import report_autograd_cells

PAGE = Path(__file__).resolve().parents[1] / "CONTRIBUTING.md"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    text = PAGE.read_text(encoding="utf-8")
    [derived] = re.findall(r"```python\n(\"\"\".*?)```", text, re.DOTALL)
    [sketched] = re.findall(r"```python\n(class Sketch.*?)```", text, re.DOTALL)
    module = ModuleType("contributed")
    monkeypatch.setitem(sys.modules, "contributed", module)
    module.__dict__.update(AutogradCell=AutogradCell, State=State, Operands=Operands, Tensor=torch.Tensor, torch=torch)
    for code in derived, sketched:
        exec(compile(code, PAGE.name, "exec"), module.__dict__)
    return module


def stack_of(cell: Cell, layers: int) -> Stack:
    stack = Stack(StackConfig().model_copy(update={"cell": cell, "layers": layers, "size": 7}), 5, "example")
    stack.initialise(Xavier(), torch.Generator().manual_seed(1))
    return stack


def test_the_example_cell_is_the_one_of_torch(page: ModuleType) -> None:
    stack = stack_of(page.Tanh(), layers=1)
    theirs = torch.nn.RNN(5, 7)
    weights = stack.weights.tensors()
    with torch.no_grad():
        theirs.weight_ih_l0.copy_(weights["input0.weight"])
        theirs.bias_ih_l0.copy_(weights["input0.bias"])
        theirs.weight_hh_l0.copy_(weights["layer0.h"])
        theirs.bias_hh_l0.zero_()
    x_TBD = torch.randn(6, 2, 5, generator=torch.Generator().manual_seed(2))
    torch.testing.assert_close(stack(x_TBD, torch.tensor([6, 6])).outputs["h"], theirs(x_TBD)[0])


def test_the_example_cell_trains_in_c_as_by_torch(page: ModuleType) -> None:
    stack = stack_of(page.Tanh(), layers=2)
    assert [str(loop) for loop in loops(stack.program)] == ["loop of layer0: in C", "loop of layer1: in C"]
    x_TBD = torch.randn(4, 3, 5, generator=torch.Generator().manual_seed(2))

    def gradients(runtime: Runtime) -> tuple[torch.Tensor, ...]:
        with running(runtime):
            loss = stack(x_TBD, torch.tensor([4, 2, 3])).outputs["h"].square().sum()
        return torch.autograd.grad(loss, list(stack.parameters()))

    in_c = Runtime(backend="gemm" if has_gemm() else "torch", training=True)
    torch.testing.assert_close(gradients(in_c), gradients(replace(in_c, kernels="python")), rtol=1e-4, atol=1e-5)


def test_the_sketched_cell_is_the_derived_one_and_is_reported(page: ModuleType) -> None:
    x_TBD = torch.randn(4, 3, 5, generator=torch.Generator().manual_seed(1))
    results, said = {}, list[Event]()
    for made in page.Tanh(), page.Sketch():
        stack = stack_of(made, layers=2)
        h = stack(x_TBD, torch.tensor([4, 2, 3])).outputs["h"]
        h.square().sum().backward()
        results[made.kind] = [h.detach(), *(weight.grad for weight in stack.parameters())]
        report_autograd_cells(stack, said.append)
    torch.testing.assert_close(results["sketch"], results["tanh"])
    sentence = "Unit 'sketch' has no derived gradient, so autograd records each of its steps: it trains slowly."
    assert said == [Note(sentence)]
