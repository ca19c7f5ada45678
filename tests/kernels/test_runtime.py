"""The runtime: one value, entered by few, kept by backward passes; and weights that inference prepares once."""

import gc
import re
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar
from weakref import ref

import pytest
import torch
from torch import Tensor
from torch.nn import Parameter

from anaphora.kernels.backends import Backend, backend_for
from anaphora.kernels.compiled.gemm import has_gemm
from anaphora.kernels.linear import linear
from anaphora.kernels.prepared import packed, with_prepared_weights
from anaphora.kernels.runtime import Runtime, current, running
from tests.package import code
from tests.runtimes import updating

from .exactness import CHANGES, assert_same_bits, drawn, small_network, stepped

Made = TypeVar("Made")
BF16 = Runtime(backend="bf16")
FLOAT = Runtime(backend="torch")
BACKENDS: list[Backend] = ["torch", "bf16"]
BACKENDS += ["gemm"] if has_gemm() else []
BACKENDS += ["gemm-bf16"] if has_gemm("bf16") else []
OF_INFERENCE: list[Backend] = [*BACKENDS, "int8"]
OF_INFERENCE += ["gemm-int8"] if has_gemm("int8") else []


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
    with running(FLOAT):
        found = on_another_thread(lambda: torch.autograd.grad(lost, leaves))
    assert_same_bits(found, expected)


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
