"""The runtime: one value, entered by few, kept by backward passes; weights prepared once; and its kernels."""

import gc
import re
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar
from unittest.mock import Mock
from weakref import ref

import pytest
import torch
from torch import Tensor
from torch.nn import Parameter
from torch.testing import assert_close

from anaphora.errors import ConfigError
from anaphora.kernels.backends import Backend, backend_for
from anaphora.kernels.cells import Cell, Gru, Lstm, Peephole
from anaphora.kernels.compiled.gemm import has_gemm
from anaphora.kernels.compiled.library import available
from anaphora.kernels.linear import linear
from anaphora.kernels.naive import parts, units
from anaphora.kernels.prepared import packed, with_prepared_weights
from anaphora.kernels.program import Program
from anaphora.kernels.runtime import Kernels, Runtime, current, running
from anaphora.kernels.scan import advance
from anaphora.nn.dropout import AnyDropout
from tests.package import code
from tests.runtimes import updating

from .conftest import UNDROPPED, VARIATIONAL
from .exactness import BACKENDS, CHANGES, EACH_OF_TRAINING, assert_same_bits, drawn, gradients, small_network, stepped
from .network import Network
from .test_single_kernels import KERNELS

Made = TypeVar("Made")
BF16 = Runtime(backend="bf16")
FLOAT = Runtime(backend="torch")


def on_another_thread(do: Callable[[], Made]) -> Made:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(do).result()


def test_blocks_nest_and_end_with_an_error_too() -> None:
    outside = current()
    assert (outside.backend, outside.training) == (backend_for("fp32"), False)
    with running(FLOAT):
        with pytest.raises(KeyError), running(BF16):
            assert current() is BF16
            raise KeyError
        assert current() is FLOAT
    assert current() is outside


def test_another_thread_starts_outside_of_every_block() -> None:
    outside = current()
    with running(BF16):
        assert on_another_thread(current) is outside


def test_threads_are_those_of_before_after_it() -> None:
    before = torch.get_num_threads()
    with running(replace(FLOAT, threads=before + 1)):
        assert torch.get_num_threads() == before + 1
        with running(FLOAT):
            assert torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("training", [False, True])
@EACH_OF_TRAINING
def test_training_and_the_backend_are_independent(training: bool, backend: Backend) -> None:
    weight, a = Parameter(drawn(64, 32)), drawn(8, 32, seed=1)
    with running(Runtime(backend=backend, training=training)):
        y = linear(a, weight)
        with torch.no_grad():
            unrecorded = linear(a, weight)
    rounds = [torch.equal(of, of.to(torch.bfloat16).to(torch.float32)) for of in (y, unrecorded)]
    assert rounds == [training and "bf16" in backend, not training and "bf16" in backend]


@EACH_OF_TRAINING
def test_a_backward_pass_on_another_thread_runs_as_its_forward_pass(backend: Backend) -> None:
    leaves, loss = small_network()
    with updating(backend=backend):
        expected = torch.autograd.grad(loss(), leaves)
        lost = loss()
    with running(FLOAT):
        found = on_another_thread(lambda: torch.autograd.grad(lost, leaves))
    assert_same_bits(found, expected)


@pytest.mark.parametrize("columns", [1, 3, 16, 64])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_row_of_inference_has_the_same_bits_wherever_it_stands(backend: Backend, columns: int) -> None:
    block = drawn(70, 33)
    for weight in (drawn(columns, 33, seed=1), Parameter(drawn(columns, 33, seed=1), requires_grad=False)):
        with running(Runtime(backend=backend)):
            whole = linear(block, weight)
            for begin, end in ((0, 1), (3, 4), (5, 12), (69, 70), (1, 70)):
                assert torch.equal(linear(block[begin:end], weight), whole[begin:end])


@pytest.mark.parametrize("backend", BACKENDS)
@torch.no_grad()
def test_what_is_prepared_once_has_the_bits_of_what_is_prepared_every_time(backend: Backend) -> None:
    weight, other, a = Parameter(drawn(64, 40)), Parameter(drawn(64, 40, seed=2)), drawn(9, 40, seed=1)
    owned, anew = with_prepared_weights(Runtime(backend=backend)), Runtime(backend=backend)
    assert owned.prepared

    def made(runtime: Runtime) -> list[Tensor]:
        with running(runtime):
            return [linear(a, one) for one in (weight, other, weight[:32])]

    found = [made(anew)]
    for change in (*CHANGES, stepped):
        assert_same_bits(made(owned), found[-1])
        change(weight)
        if change is stepped:  # unseen by torch
            owned.prepared.drop([weight])
        found.append(made(anew))
        assert not torch.equal(found[-1][0], found[-2][0])
    assert_same_bits(made(owned), found[-1])


@pytest.mark.skipif(not has_gemm(), reason="nothing is packed")
def test_what_is_made_of_a_weight_is_kept_and_what_is_made_of_what_was_computed_is_not() -> None:
    weight, owned = Parameter(drawn(64, 40)), with_prepared_weights(Runtime(backend="gemm"))
    assert packed(weight, owned) is packed(weight, owned)
    assert packed(weight[:32], owned) is not packed(weight[:32], owned)
    assert packed(weight, Runtime(backend="gemm")) is not packed(weight, Runtime(backend="gemm"))


@torch.no_grad()
def test_nothing_outlives_its_owner() -> None:
    weight = Parameter(drawn(64, 40))
    with running(with_prepared_weights(Runtime.inference())):
        linear(drawn(9, 40), weight)
    gone = ref(weight)
    del weight
    gc.collect()
    assert gone() is None


def test_only_the_loop_and_predictors_enter_it_and_only_kernels_and_draws_read_it() -> None:
    imports, found = re.compile(r"^ *from anaphora\.kernels\.runtime import (.*)$", re.MULTILINE), defaultdict(set)
    for place, text in code().items():
        for name in ", ".join(imports.findall(text)).split(", "):
            found[name].add(place.partition("/")[0])
    assert found["running"] == {"inspection", "prediction", "tasks", "training"}
    assert found["current"] == {"data", "evaluation", "kernels", "nn", "prediction"}


def test_the_package_has_one_context_variable() -> None:
    having = {place for place, text in code().items() if "ContextVar(" in text}
    assert having == {"kernels/runtime.py"}


def computed(kernels: Kernels, network: Network) -> dict[str, Tensor]:
    """Outputs, state and every gradient in double precision, and the first step in search."""
    with running(replace(Runtime.inference(), kernels=kernels, observer=Mock())):
        found = network.fast()
        step = advance(
            network.program,
            {"x": network.leaves["x"][:2]},
            {n: f.expand(2, -1, -1) for n, f in network.first(network.leaves).items()},
            network.weights(network.leaves),
            network.memory(network.leaves),
        )
        derived = {f"d {name}": gradient for name, gradient in network.gradients(found).items()}
    return found | derived | {"step": step["layer0.h"]}


@pytest.mark.parametrize("dropout", [UNDROPPED, VARIATIONAL], ids=["plain", "masked"])
@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("cell", [Lstm(), Gru(update="new"), Gru(recurrent_bias=True), Peephole()], ids=str)
def test_torch_and_reference_steps_agree(cell: Cell, dropout: AnyDropout, normalised: bool, layers: Callable) -> None:
    network = layers(cell, 5, lengths=(4, 6, 2), dropout=dropout, layer_norm=normalised)
    assert_close(computed("naive", network), computed("python", network), rtol=1e-9, atol=1e-9)


def test_units_on_a_condition_agree_with_their_reference_equations() -> None:
    kernel = KERNELS["conditioned-new"]
    leaves, found = kernel.leaves(5), []
    for kernels in ("python", "naive"):
        with running(replace(Runtime.inference(), kernels=kernels)):
            outputs = kernel.fast(*leaves)
            found.append((outputs, *gradients(outputs, leaves)))
    assert_close(*found, rtol=1e-9, atol=1e-9)


def test_naive_kernels_run_the_reference_equations(layers: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def counted(cell: Cell, *rest: object) -> object:
        seen.append(cell)
        return units.lstm_step(cell, *rest)  # type: ignore[arg-type]

    monkeypatch.setitem(units.UNITS, Lstm, counted)
    network = layers(Lstm(), 5, lengths=(4, 6, 2))
    computed("python", network)
    assert not seen
    computed("naive", network)
    assert len(seen) == 6 + 2  # steps of training, hypotheses of search
    assert parts.with_naive_units(Program((), ())) == Program((), ())


@pytest.mark.skipif(not available(), reason="the library was not built: there is no C compiler")
def test_only_native_kernels_run_in_c() -> None:
    block = torch.zeros(1)
    assert Runtime(kernels="native").native(block) and not Runtime(kernels="native").native(block.double())
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


def test_unknown_kernels_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANAPHORA_KERNELS", "fast")
    with pytest.raises(ConfigError, match="ANAPHORA_KERNELS should be native, python or naive, but is 'fast'"):
        Runtime()
