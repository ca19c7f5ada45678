"""The runtime: one value, entered by few, kept by backward passes; and weights that inference prepares once."""

import gc
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from threading import Thread
from weakref import ref

import pytest
import torch
from torch import Tensor
from torch.nn import Parameter

from anaphora.kernels import prepared, tensor_backends
from anaphora.kernels.backends import Backend, backend_for
from anaphora.kernels.compiled.gemm import PackedMatrix, PackedPrecision, has_gemm
from anaphora.kernels.compiled.library import Array
from anaphora.kernels.linear import linear
from anaphora.kernels.prepared import with_prepared_weights
from anaphora.kernels.runtime import Runtime, current, running
from tests.package import code
from tests.runtimes import updating

from .exactness import CHANGES, drawn, small_network, stepped

BF16 = Runtime(backend="bf16")
FLOAT = Runtime(backend="torch")
BACKENDS: list[Backend] = ["torch", "bf16"]
BACKENDS += ["gemm"] if has_gemm() else []
BACKENDS += ["gemm-bf16"] if has_gemm("bf16") else []
OF_INFERENCE: list[Backend] = [*BACKENDS, "int8"]
OF_INFERENCE += ["gemm-int8"] if has_gemm("int8") else []


def on_another_thread(do: Callable[[], None]) -> None:
    raised: list[BaseException] = []

    def run() -> None:
        try:
            do()
        except BaseException as error:
            raised.append(error)

    thread = Thread(target=run)
    thread.start()
    thread.join()
    assert not raised, raised


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
        on_another_thread(lambda: None if current() is outside else pytest.fail("it should not be inherited"))


def test_threads_are_those_of_before_after_it() -> None:
    before = torch.get_num_threads()
    with running(replace(FLOAT, threads=before + 1)):
        assert torch.get_num_threads() == before + 1
        with running(FLOAT):
            assert torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("backend", BACKENDS)
def test_training_and_the_backend_are_independent(training: bool, backend: Backend) -> None:
    weight, a = Parameter(drawn(64, 32)), drawn(8, 32, seed=1)
    with running(Runtime(backend=backend, training=training)):
        y = linear(a, weight)
        with torch.no_grad():
            unrecorded = linear(a, weight)
    rounds = [torch.equal(of, of.to(torch.bfloat16).to(torch.float32)) for of in (y, unrecorded)]
    assert rounds == [training and "bf16" in backend, not training and "bf16" in backend]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_backward_pass_on_another_thread_runs_as_its_forward_pass(backend: Backend) -> None:
    leaves, loss = small_network()
    with updating(backend=backend):
        expected = torch.autograd.grad(loss(), leaves)
        lost = loss()
    found: list[Tensor] = []
    with running(FLOAT):
        on_another_thread(lambda: found.extend(torch.autograd.grad(lost, leaves)))
    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("columns", [1, 3, 16, 64])
@pytest.mark.parametrize("backend", OF_INFERENCE)
def test_a_row_of_inference_has_the_same_bits_wherever_it_stands(backend: Backend, columns: int) -> None:
    block = drawn(70, 33)
    for weight in (drawn(columns, 33, seed=1), Parameter(drawn(columns, 33, seed=1), requires_grad=False)):
        with running(Runtime(backend=backend)):
            whole = linear(block, weight)
            for begin, end in ((0, 1), (3, 4), (5, 12), (69, 70), (1, 70)):
                assert torch.equal(linear(block[begin:end], weight), whole[begin:end])


@pytest.mark.parametrize("backend", OF_INFERENCE)
@torch.no_grad()
def test_what_is_prepared_once_has_the_bits_of_what_is_prepared_every_time(backend: Backend) -> None:
    weight, a = Parameter(drawn(64, 40)), drawn(9, 40, seed=1)
    with running(with_prepared_weights(Runtime(backend=backend))):
        kept = [linear(a, weight) for _ in range(2)]
    with running(Runtime(backend=backend)):
        assert all(torch.equal(one, linear(a, weight)) for one in kept)


@pytest.fixture
def preparations(monkeypatch: pytest.MonkeyPatch) -> list[Backend]:
    """For every weight that inference prepares, by which backend."""
    found: list[Backend] = []
    of_tensors, of_arrays = tensor_backends.for_inference, prepared.pack_rows

    def counted(backend: Backend, weight_NK: Tensor) -> tensor_backends.Multiplication:
        found.append(backend)
        return of_tensors(backend, weight_NK)

    def counted_in_c(weight_NK: Array, precision: PackedPrecision) -> PackedMatrix:
        found.append(backend_for(precision))
        return of_arrays(weight_NK, precision)

    monkeypatch.setattr(tensor_backends, "for_inference", counted)
    monkeypatch.setattr(prepared, "pack_rows", counted_in_c)
    return found


@pytest.mark.parametrize("change", CHANGES)
@torch.no_grad()
def test_a_weight_is_prepared_once_for_each_of_its_values(
    change: Callable[[Parameter], None], preparations: list[Backend]
) -> None:
    weight, a = Parameter(drawn(64, 40)), drawn(9, 40, seed=1)
    with running(with_prepared_weights(Runtime.inference())):
        for _ in range(3):
            before = linear(a, weight)
        assert len(preparations) == 1
        change(weight)
        after = [linear(a, weight) for _ in range(3)]
        assert len(preparations) == 2
        fresh = linear(a, drawn(64, 40) + 1)
    assert all(torch.equal(one, fresh) for one in after)
    assert not torch.equal(before, after[0])


@torch.no_grad()
def test_weights_that_an_optimizer_changed_unseen_are_prepared_anew_once_dropped(preparations: list[Backend]) -> None:
    weight, other, a = Parameter(drawn(64, 40)), Parameter(drawn(64, 40, seed=2)), drawn(9, 40, seed=1)
    owned = with_prepared_weights(Runtime.inference())
    assert owned.prepared
    with running(owned):
        linear(a, weight), linear(a, other)
        stepped(weight)
        owned.prepared.drop([weight])
        after = linear(a, weight)
        linear(a, other)
        assert len(preparations) == 3
        assert torch.equal(after, linear(a, drawn(64, 40) + 1))


@torch.no_grad()
def test_what_is_computed_is_prepared_for_one_use(preparations: list[Backend]) -> None:
    weight, a = Parameter(drawn(64, 40)), drawn(9, 40, seed=1)
    with running(with_prepared_weights(Runtime.inference())):
        for _ in range(2):
            linear(a, weight[:32])
    assert len(preparations) == 2


@torch.no_grad()
def test_nothing_outlives_its_owner() -> None:
    weight = Parameter(drawn(64, 40))
    with running(with_prepared_weights(Runtime.inference())):
        linear(drawn(9, 40), weight)
    gone = ref(weight)
    del weight
    gc.collect()
    assert gone() is None


@torch.no_grad()
def test_nothing_is_kept_outside_of_every_block(preparations: list[Backend]) -> None:
    linear(drawn(9, 40), Parameter(drawn(64, 40)))
    assert len(preparations) == 1


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
