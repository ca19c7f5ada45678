"""Searches of many steps a call find what those of single steps find: tokens, scores and attention, bit for bit."""

from dataclasses import replace
from functools import cache
from typing import Any
from unittest.mock import Mock, patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from anaphora.batch import Batch
from anaphora.kernels import search_step
from anaphora.kernels.backends import Backend
from anaphora.kernels.compiled.beam import MOST
from anaphora.kernels.compiled.gemm import has_gemm
from anaphora.kernels.runtime import Runtime, running
from anaphora.protocols import Searchable, Stepper, VocabularyInfo
from anaphora.search.compiled_search import STEPS
from anaphora.search.ranking import LengthModel, Ranking
from tests import networks
from tests.searches import beam, greedy

from ..batches import pair_batch
from .native import IN_C, Stepwise, assert_same, is_compiled

pytestmark = IN_C
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


@cache
def made(task: str, name: str) -> Searchable:
    """A network whose probabilities are so uneven that its outputs have many lengths; or all alike if "indifferent"."""
    tables, factor = dict(KINDS)[task].get(name, FED), 0.0 if name == "indifferent" else 1.7
    found = networks.made(nn.Module, task, {"embedding": {"size": 8}, **tables}, SYMBOLS, factor=factor)
    assert isinstance(found, Searchable)
    return found


def stepper_of(task: str, name: str) -> Stepper:
    return made(task, name).stepper()


rankings = st.sampled_from([Ranking(), Ranking(length_penalty=1.0), Ranking(length_penalty=0.6), Ranking(0, True)])
rankings |= st.builds(Ranking, st.just(0.6), length_model=st.builds(LengthModel, st.floats(0.2, 3), st.floats(0.1, 3)))


def assert_found_alike(stepper: Stepper, batch: Batch, **asked: Any) -> None:
    asked = {"banned_tokens": SYMBOLS.unwritten, **asked}
    found, expected = beam(stepper, batch, **asked), beam(Stepwise(stepper), batch, **asked)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert_same(one, other)


WAYS = st.builds(
    lambda backend, threads: Runtime(backend=backend, threads=threads), st.sampled_from(BACKENDS), st.integers(1, 2)
)
REQUESTS = st.fixed_dictionaries(
    {
        "max_length": st.lists(st.integers(1, 3 * STEPS), min_size=7, max_size=7),
        "beam": st.just(1) | st.integers(1, 26),
        "n": st.just(1) | st.integers(1, 7),
        "ranking": rankings,
        "attention": st.booleans(),
    }
)


@pytest.mark.parametrize("name", [*TRANSLATORS, "indifferent"])  # of equally likely hypotheses the same are taken
@settings(max_examples=12)
@given(
    runtime=WAYS,
    asked=REQUESTS,
    sources=sources,
    given_rows=st.just({})
    | st.fixed_dictionaries({"prefixes": prefixes})
    | st.fixed_dictionaries({"candidates": st.lists(st.sets(tokens, min_size=1).map(sorted), min_size=7, max_size=7)}),
    rows_at_once=st.sampled_from([1, 12]),
)
def test_a_translation_is_that_of_single_steps(
    name: str,
    runtime: Runtime,
    asked: dict[str, Any],
    sources: list[list[int]],
    given_rows: dict[str, Any],
    rows_at_once: int,
) -> None:
    count = len(sources)
    batch = pair_batch(sources, **{kind: rows[:count] for kind, rows in given_rows.items()})
    with running(runtime), patch.object(search_step, "_at_once", lambda weight: rows_at_once):
        assert_found_alike(stepper_of("translate", name), batch, **asked | {"max_length": asked["max_length"][:count]})


@pytest.mark.parametrize("name", TEXTS)
@settings(max_examples=12)
@given(
    backend=st.sampled_from(BACKENDS),
    prefixes=prefixes,
    length=st.integers(1, 3 * STEPS),
    lines=st.none() | st.integers(1, 3),
)
def test_a_text_is_that_of_single_steps_and_reported_alike(
    name: str, backend: Backend, prefixes: list[list[int]], length: int, lines: int | None
) -> None:
    stepper = stepper_of("language-model", name)
    batch = replace(pair_batch([[EOS]] * 7, prefixes=prefixes), example_ids_B=np.arange(7) + 40)
    reported: list[list[tuple[int, int]]] = [[], []]
    with running(Runtime(backend=backend)):
        found, expected = (
            greedy(
                one,
                batch,
                max_length=length,
                lines=lines,
                on_token=lambda *token, to=to: to.append(token),
                banned_tokens=SYMBOLS.unwritten,
            )
            for one, to in zip((stepper, Stepwise(stepper)), reported, strict=True)
        )
    assert_same(found, expected)
    assert reported[0] == reported[1]


def test_many_sentences_are_searched_in_groups_and_leave_in_any_order() -> None:
    draws = np.random.default_rng(1)
    lengths = draws.integers(1, 2 * STEPS, 400).tolist()
    batch = pair_batch([draws.integers(EOS, SYMBOLS.size, 2).tolist() for _ in lengths])
    stepper = stepper_of("translate", "fed")
    with running(Runtime(backend="gemm", threads=2)):
        one, other = (beam(each, batch, beam=1, max_length=lengths) for each in (stepper, Stepwise(stepper)))
    assert len({len(found.ids) for [found] in one}) > 3
    assert_same([found for [found] in one], [found for [found] in other])


@pytest.mark.parametrize("name", TEXTS)
@settings(max_examples=8)
@given(prefixes=prefixes, length=st.integers(1, 3 * STEPS), size=st.integers(2, 9), n=st.integers(1, 4))
def test_a_text_is_that_of_single_steps(name: str, prefixes: list[list[int]], length: int, size: int, n: int) -> None:
    batch = pair_batch([[EOS]] * 7, prefixes=prefixes)
    with running(Runtime(backend="gemm")):
        assert_found_alike(stepper_of("language-model", name), batch, beam=size, n=n, max_length=length)


@pytest.mark.parametrize(("task", "name"), [(task, name) for task, tables in KINDS for name in tables])
def test_these_searches_take_many_steps_a_call(task: str, name: str) -> None:
    with running(Runtime(backend="gemm")):
        for size, prefixes in (1, None), (5, None), (MOST, [[7]]):
            batch = pair_batch([[5, 9, EOS]], prefixes=prefixes)
            assert is_compiled(stepper_of(task, name), batch, beam=size, max_length=5)


GEMM, TORCH = Runtime(backend="gemm"), Runtime(backend="torch")


@pytest.mark.parametrize(
    ("runtime", "sizes"), [(GEMM, [MOST + 1]), (TORCH, [1, 5]), (Runtime(backend="gemm", kernels="python"), [1, 5])]
)
def test_a_wider_beam_and_one_without_the_products_in_c_take_single_steps(runtime: Runtime, sizes: list[int]) -> None:
    with running(runtime):
        for size in sizes:
            stepper = stepper_of("translate", "fed")
            assert not is_compiled(stepper, pair_batch([[5, 9, EOS]]), beam=size, max_length=5)


@pytest.mark.parametrize(("size", "n"), [(1, 1), (4, 2)])
def test_a_model_that_scores_nothing_possible_ends_as_in_single_steps(size: int, n: int) -> None:
    stepper, banned = stepper_of("translate", "fed"), tuple(range(SYMBOLS.size))
    with running(Runtime(backend="gemm")):
        for own in (None, [[9], [7, 8, EOS]]):
            batch = pair_batch([[5], [7, 8]], prefixes=own)
            assert_found_alike(stepper, batch, beam=size, n=n, max_length=9, banned_tokens=banned)


@pytest.mark.parametrize("size", [1, 3])
def test_a_search_is_stopped_between_two_calls(size: int) -> None:
    check = Mock(side_effect=[None, None, InterruptedError])
    stepper = stepper_of("translate", "fed")
    with running(Runtime(backend="gemm")), pytest.raises(InterruptedError):
        beam(stepper, pair_batch([[5]]), beam=size, max_length=STEPS + 1, banned_tokens=(EOS,), check=check)
    assert check.call_count == 3
