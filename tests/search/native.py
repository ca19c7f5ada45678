"""Networks whose searches run in C, and the same taken step by step."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from torch import nn

from anaphora.batch import Batch
from anaphora.kernels import search_step
from anaphora.kernels.backends import Backend
from anaphora.kernels.compiled.gemm import has_gemm
from anaphora.kernels.compiled.loop import has_loop
from anaphora.protocols import Searchable, SearchStart, Stepper, VocabularyInfo
from anaphora.search.bounds import Bounds
from anaphora.search.compiled_search import CompiledStepper, compiled_search
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.request import SearchRequest
from tests import networks

IN_C = pytest.mark.skipif(
    not has_loop() or not has_gemm(), reason="the library was not built, or the processor lacks AVX2"
)
BACKENDS: list[Backend] = ["gemm"]
BACKENDS += ["gemm-bf16"] if has_gemm("bf16") else []
BACKENDS += ["gemm-int8"] if has_gemm("int8") else []
SYMBOLS = VocabularyInfo(23, 0, 1, 2, 3)
EOS = SYMBOLS.eos
FED: dict[str, Any] = {"encoder": {"size": 9}, "decoder": {"size": 18}}
TRANSLATORS: dict[str, dict[str, Any]] = {
    name: options | {side: options.get(side, {}) | size for side, size in FED.items()}
    for name, options in networks.TRANSLATORS.items()
    if name in ("luong", "bahdanau", "conditional", "local-m", "local-p")
}
TRANSLATORS |= {"fed": FED, "alone": FED | {"attention": "none"}, "sampled": FED | {"output": "sampled"}}
TEXTS: dict[str, dict[str, Any]] = {
    "lstm": {"recurrence": {"size": 18, "layers": 2, "residual": True}},
    "tied": {"recurrence": {"size": 18}, "embedding": {"size": 18, "scaled": True}, "output": {"tied": True}},
    "elman": {"recurrence": {"size": 18, "cell": "elman", "initial_state": "learned"}},
    "normalised": {"recurrence": {"size": 18, "layers": 2, "layer_norm": True}},
}
KINDS = ("translate", TRANSLATORS), ("language-model", TEXTS)

tokens = st.integers(EOS, SYMBOLS.size - 1)
sources = st.lists(st.lists(tokens, min_size=1, max_size=9), min_size=1, max_size=7)
prefixes = st.lists(st.lists(tokens, max_size=4), min_size=7, max_size=7)


def is_compiled(stepper: Stepper, batch: Batch, **request: Any) -> bool:
    """True where many steps are taken in a call."""
    asked, start = SearchRequest(**request), stepper.start(batch)
    bounds = Bounds.of(batch.constraints.prefixes, asked.max_length, len(start.memory_lengths_B))
    assert isinstance(stepper, CompiledStepper)
    return compiled_search(stepper, batch, start, bounds, asked) is not None


class Stepwise:
    """A Stepper that takes its steps one by one."""

    def __init__(self, stepper: Stepper) -> None:
        self.start, self.advance, self.select, self.keep = stepper.start, stepper.advance, stepper.select, stepper.keep
        self.size, self.bos, self.eos, self.unk = stepper.size, stepper.bos, stepper.eos, stepper.unk

    def lower(self, start: SearchStart) -> None:
        return None


@cache
def made(task: str, name: str) -> Searchable:
    """A network whose probabilities are so uneven that its outputs have many lengths; or all alike if "indifferent"."""
    tables, factor = dict(KINDS)[task].get(name, FED), 0.0 if name == "indifferent" else 1.7
    found = networks.made(nn.Module, task, {"embedding": {"size": 8}, **tables}, SYMBOLS, factor=factor)
    assert isinstance(found, Searchable)
    return found


def stepper_of(task: str, name: str) -> Stepper:
    return made(task, name).stepper()


def assert_same(found: Sequence[Hypothesis], expected: Sequence[Hypothesis]) -> None:
    assert found == expected
    for one, other in zip(found, expected, strict=True):
        assert (one.rank, one.finished) == (other.rank, other.finished)
        assert (one.weights is None) == (other.weights is None)
        assert one.weights is None or other.weights is None or np.array_equal(one.weights, other.weights)


@contextmanager
def scored(rows: int) -> Iterator[None]:
    """The words of so many rows are scored at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_step, "_at_once", lambda weight: rows)
        yield
