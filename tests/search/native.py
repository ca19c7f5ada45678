"""Searches that run in C, and the same taken step by step."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from anaphora.batch import Batch
from anaphora.kernels.compiled.gemm import has_gemm
from anaphora.kernels.compiled.loop import has_loop
from anaphora.protocols import SearchStart, Stepper
from anaphora.search.bounds import Bounds
from anaphora.search.compiled_search import CompiledStepper, compiled_search
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.request import SearchRequest
from anaphora.search.wrapper import Wrapper

IN_C = pytest.mark.skipif(
    not has_loop() or not has_gemm(), reason="the library was not built, or the processor lacks AVX2"
)


def is_compiled(stepper: Stepper, batch: Batch, **request: Any) -> bool:
    """True where many steps are taken in a call."""
    asked, start = SearchRequest(**request), stepper.start(batch)
    bounds = Bounds.of(batch.constraints.prefixes, asked.max_length, len(start.memory_lengths_B))
    assert isinstance(stepper, CompiledStepper)
    return compiled_search(stepper, batch, start, bounds, asked) is not None


class Stepwise(Wrapper):
    """A Stepper that takes its steps one by one."""

    def lower(self, start: SearchStart) -> None:
        return None


def assert_same(found: Sequence[Hypothesis], expected: Sequence[Hypothesis]) -> None:
    assert found == expected
    for one, other in zip(found, expected, strict=True):
        assert (one.rank, one.weights is None) == (other.rank, other.weights is None)
        assert one.weights is None or other.weights is None or np.array_equal(one.weights, other.weights)
