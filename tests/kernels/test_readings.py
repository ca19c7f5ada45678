"""The switch between implementations of the steps: C, the torch operations of each part, the reference equations."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.kernels import compiled
from anaphora.kernels.cells import Cell, Gru, Lstm, Peephole
from anaphora.kernels.naive import parts, units
from anaphora.kernels.normalisation import Normalise
from anaphora.kernels.parts import Part, Project, Unit
from anaphora.kernels.program import Program
from anaphora.kernels.runtime import Kernels, Runtime, current, running
from anaphora.kernels.scan import advance, scan

from .exactness import doubles

SIZE, WIDTH, LENGTHS = 5, 3, torch.tensor([4, 6, 2])


def computed(kernels: Kernels, cell: Cell, masked: bool, normalised: bool, conditioned: bool) -> dict[str, Tensor]:
    """Outputs, state and every gradient of a layer in double precision, and its first step in search."""
    read, middle = "a", tuple[Part, ...]()
    if normalised:
        middle, read = (Normalise("norm", ("a",), "n", False),), "n"
    unit = Unit("unit", cell, (read,), masked, normalised, conditioned=conditioned)
    program = Program((Project("in", "x", "a", True), *middle, unit), ("unit.h",))
    shapes = {"in.weight": (cell.gates * SIZE, WIDTH), "in.bias": (cell.gates * SIZE,)}
    shapes |= {"norm.gain": (cell.gates * SIZE,)} if normalised else {}
    for name, blocks in cell.matmuls:
        shapes[f"unit.{name}"] = (blocks * SIZE, SIZE)
        shapes |= {f"unit.{name}_gain": (blocks * SIZE,)} if normalised else {}
    shapes |= {f"unit.{name}": (SIZE,) for name in cell.vectors}
    weights = {name: doubles(*shape, seed=n) for n, (name, shape) in enumerate(shapes.items())}
    memory = {"unit.mask": doubles(3, SIZE, seed=20)} if masked else {}
    memory |= {"unit.condition": doubles(3, cell.matmuls[0][1] * SIZE, seed=21)} if conditioned else {}
    first = {name: doubles(3, SIZE, seed=30 + n) for n, name in enumerate(program.carried)}
    inputs = {"x": doubles(6, 3, WIDTH, seed=40)}
    leaves = {name: leaf for group in (inputs, first, weights) for name, leaf in group.items()}
    leaves |= {name: leaf for name, leaf in memory.items() if name == "unit.condition"}
    for leaf in leaves.values():
        leaf.requires_grad_()
    with running(replace(Runtime.inference(), kernels=kernels)):
        found = scan(program, inputs, first, weights, memory, LENGTHS)
        wanted = found.outputs["unit.h"].square().sum() + sum(end.sum() for end in found.state.values())
        gradients = torch.autograd.grad(wanted, [*leaves.values()])
        step = advance(
            program, {"x": inputs["x"][:2]}, {n: f.expand(2, -1, -1) for n, f in first.items()}, weights, memory
        )
    return {
        "h": found.outputs["unit.h"],
        **found.state,
        **dict(zip(leaves, gradients, strict=True)),
        "step": step["unit.h"],
    }


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(
    ("cell", "normalised", "conditioned"),
    [
        (Lstm(), False, False),
        (Lstm(), True, False),
        (Gru(update="new"), False, True),
        (Gru(recurrent_bias=True), True, False),
        (Peephole(), False, False),
        (Peephole(), True, False),
    ],
    ids=str,
)
def test_torch_operations_and_reference_equations_agree(
    cell: Cell, masked: bool, normalised: bool, conditioned: bool
) -> None:
    python, naive = (computed(kernels, cell, masked, normalised, conditioned) for kernels in ("python", "naive"))
    assert python.keys() == naive.keys()
    for name, expected in python.items():
        assert_close(naive[name], expected, rtol=1e-9, atol=1e-9, msg=lambda text, name=name: f"{name}: {text}")


def test_naive_kernels_run_the_reference_equations(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def counted(cell: Cell, *rest: object) -> object:
        seen.append(cell)
        return units.lstm_step(cell, *rest)  # type: ignore[arg-type]

    monkeypatch.setitem(units.UNITS, Lstm, counted)
    computed("python", Lstm(), False, False, False)
    assert not seen
    computed("naive", Lstm(), False, False, False)
    assert len(seen) == 6 + 2  # steps of training, hypotheses of search
    assert parts.with_naive_units(Program((), ())) == Program((), ())


@pytest.mark.skipif(not compiled.available(), reason="the library was not built: there is no C compiler")
def test_only_native_kernels_run_in_c() -> None:
    block = torch.zeros(1)
    assert Runtime(kernels="native").native(block)
    assert not Runtime(kernels="python").native(block) and not Runtime(kernels="naive").native(block)
    assert Runtime(kernels="python", backend="gemm").training_backend == "torch"


@pytest.mark.parametrize(("value", "kernels"), [(None, "native"), ("python", "python"), ("naive", "naive")])
def test_the_environment_chooses(value: str | None, kernels: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANAPHORA_KERNELS", raising=False)
    if value:
        monkeypatch.setenv("ANAPHORA_KERNELS", value)
    assert Runtime().kernels == kernels
    with running(Runtime()):
        assert current().kernels == kernels


def test_unknown_kernels_are_refused_by_name() -> None:
    environment = os.environ | {"ANAPHORA_KERNELS": "fast"}
    command = [sys.executable, "-m", "anaphora", "recipes", "quickstart", "--program"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert "ANAPHORA_KERNELS should be native, python or naive, but is 'fast'" in done.stderr
