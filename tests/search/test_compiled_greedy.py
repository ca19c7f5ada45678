"""Greedy search of many steps a call writes what single steps write: tokens, scores and attention, bit for bit."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.kernels.backends import Backend
from anaphora.kernels.runtime import Runtime, running
from anaphora.search.compiled_search import STEPS, CompiledStepper
from anaphora.search.ranking import Ranking
from tests.searches import beam, greedy

from ..batches import pair_batch
from .native import (
    BACKENDS,
    EOS,
    IN_C,
    KINDS,
    SYMBOLS,
    TEXTS,
    TRANSLATORS,
    Stepwise,
    assert_same,
    is_compiled,
    made,
    prefixes,
    scored,
    sources,
    stepper_of,
    tokens,
)

pytestmark = IN_C


@pytest.mark.matrix
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", TRANSLATORS)
@settings(max_examples=12, deadline=None)
@given(
    sources=sources,
    lengths=st.lists(st.integers(1, 3 * STEPS), min_size=7, max_size=7),
    prefixes=st.none() | prefixes,
    candidates=st.none() | st.lists(st.sets(tokens, min_size=1), min_size=7, max_size=7),
    attention=st.booleans(),
    threads=st.integers(1, 2),
    rows_at_once=st.sampled_from([1, 12]),
)
def test_a_translation_is_that_of_single_steps(
    name: str,
    backend: Backend,
    sources: list[list[int]],
    lengths: list[int],
    prefixes: list[list[int]] | None,
    candidates: list[set[int]] | None,
    attention: bool,
    threads: int,
    rows_at_once: int,
) -> None:
    stepper, count = stepper_of("translate", name), len(sources)
    own = [sorted(of_one) for of_one in candidates[:count]] if candidates else None
    batch = pair_batch(sources, candidates=own, prefixes=prefixes[:count] if prefixes and not candidates else None)
    asked = {
        "beam": 1,
        "banned_tokens": SYMBOLS.unwritten,
        "max_length": lengths[:count],
        "attention": attention,
        "ranking": Ranking(length_penalty=0.6),
    }
    with running(Runtime(backend=backend, threads=threads)), scored(rows_at_once):
        found = beam(stepper, batch, **asked)
        assert_same([one for [one] in found], [one for [one] in beam(Stepwise(stepper), batch, **asked)])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", TEXTS)
@settings(max_examples=12, deadline=None)
@given(prefixes=prefixes, length=st.integers(1, 3 * STEPS), lines=st.none() | st.integers(1, 3))
def test_a_text_is_that_of_single_steps_and_reported_alike(
    name: str, backend: Backend, prefixes: list[list[int]], length: int, lines: int | None
) -> None:
    stepper = stepper_of("language-model", name)
    batch = replace(pair_batch([[EOS]] * 7, prefixes=prefixes), example_ids_B=torch.arange(7) + 40)
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


@pytest.mark.parametrize("threads", [1, 2])
def test_many_sentences_are_searched_in_groups_and_leave_in_any_order(threads: int) -> None:
    draws = torch.Generator().manual_seed(1)
    lengths = torch.randint(1, 2 * STEPS, (400,), generator=draws).tolist()
    batch = pair_batch([torch.randint(EOS, SYMBOLS.size, (2,), generator=draws).tolist() for _ in lengths])
    stepper = stepper_of("translate", "fed")
    with running(Runtime(backend="gemm", threads=threads)):
        one, other = (beam(each, batch, beam=1, max_length=lengths) for each in (stepper, Stepwise(stepper)))
    assert len({len(found.ids) for [found] in one}) > 3
    assert_same([found for [found] in one], [found for [found] in other])


@pytest.mark.parametrize(("task", "name"), [(task, name) for task, tables in KINDS for name in tables])
def test_these_searches_take_many_steps_a_call(task: str, name: str) -> None:
    stepper, batch = stepper_of(task, name), pair_batch([[5, 9, EOS]])
    with running(Runtime(backend="gemm")):
        assert is_compiled(stepper, batch, beam=1, max_length=5)


@pytest.mark.parametrize("runtime", [Runtime(backend="torch"), Runtime(backend="gemm", kernels="python")])
def test_without_the_products_in_c_steps_are_taken_one_by_one(runtime: Runtime) -> None:
    stepper, batch = stepper_of("translate", "fed"), pair_batch([[5, 9, EOS]])
    with running(runtime):
        assert not is_compiled(stepper, batch, beam=1, max_length=5)


def test_a_model_that_scores_nothing_possible_ends_as_in_single_steps() -> None:
    stepper, batch = made("translate", "fed").stepper(), pair_batch([[5], [7, 8]])
    asked = {"beam": 1, "max_length": 9, "banned_tokens": tuple(range(SYMBOLS.size))}
    with running(Runtime(backend="gemm")):
        assert beam(stepper, batch, **asked) == beam(Stepwise(stepper), batch, **asked)


def test_a_search_is_stopped_between_two_calls() -> None:
    class StopError(Exception):
        pass

    left = 3

    def check() -> None:
        nonlocal left
        left -= 1
        if not left:
            raise StopError

    text = made("language-model", "lstm").stepper()
    assert isinstance(text, CompiledStepper)
    with running(Runtime(backend="gemm")), pytest.raises(StopError):
        greedy(text, pair_batch([[EOS]]), max_length=STEPS + 1, lines=None, check=check)
    assert left == 0
