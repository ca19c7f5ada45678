"""Placeholders are written each exactly once, whatever the model, the beam and the other sentences of the batch."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.batch import Batch
from anaphora.protocols import Array, SearchStart, Step, Stepper
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.pointing import Adjacency, Placeholders, Pointing
from anaphora.search.wrapper import Wrapper
from tests.searches import beam

from .naive import automaton, batch

SIZE, EOS, UNK = 7, 1, 2
MOST = 12


def adjacency(before: Sequence[int] = (), after: Sequence[int] = ()) -> Adjacency:
    """Any token may stand beside a placeholder, but for these in front of it and these behind it."""
    allowed = np.ones((3, SIZE), dtype=np.bool_)
    allowed[0, list(before)] = False
    allowed[1, list(after)] = False
    return Adjacency(*allowed)


def placeholders(sources: Sequence[Sequence[int]], counts: Sequence[int], stand_ins: Sequence[int]) -> Placeholders:
    """The first words of each source, as many as ``counts`` says, with stand-ins in turn."""
    most, width = max(counts), max(map(len, sources))
    positions = np.zeros((len(sources), most, width), dtype=np.bool_)
    tokens = np.zeros((len(sources), most), dtype=np.int64)
    for b, count in enumerate(counts):
        for k in range(count):
            positions[b, k, k] = True
            tokens[b, k] = stand_ins[k % len(stand_ins)]
    alone = tokens > UNK
    anywhere = np.ones_like(alone)
    return Placeholders(positions, tokens, alone, anywhere, anywhere, np.full(len(sources), MOST))


def search(
    model: Stepper, batch: Batch, given: Placeholders, size: int, beside: Adjacency | None = None
) -> list[list[Hypothesis]]:
    pointing = Pointing(model, given, beside or adjacency())
    return beam(pointing, batch, beam=size, n=size, max_length=given.lengths_B.tolist(), steering=[pointing.steering])


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10_000),
    counts=st.lists(st.integers(0, 3), min_size=1, max_size=4).filter(any),
    stand_ins=st.lists(st.integers(UNK, SIZE - 1), min_size=1, max_size=3),
    size=st.integers(1, 6),
    attends=st.booleans(),
    sharpness=st.sampled_from([0.5, 4.0, 40.0]),
)
def test_every_output_has_every_placeholder_once_alone_as_in_a_batch(
    seed: int, counts: list[int], stand_ins: list[int], size: int, attends: bool, sharpness: float
) -> None:
    model = automaton(size=SIZE, seed=seed, sharpness=sharpness, attends=attends)
    sources = [[3 + (seed + b + k) % 4 for k in range(3 + b % 2)] for b in range(len(counts))]
    together = search(model, batch(sources), placeholders(sources, counts, stand_ins), size)
    for b, (source, count) in enumerate(zip(sources, counts, strict=True)):
        for one in together[b]:
            assert sorted(token - SIZE for token in one.ids if token >= SIZE) == list(range(count))
            assert one.score > -np.inf and len(one.ids) <= MOST
        if count:
            [alone] = search(model, batch([source]), placeholders([source], [count], stand_ins), size)
        else:
            [alone] = beam(model, batch([source]), beam=size, n=size, max_length=MOST)
        assert [(x.ids, x.score) for x in alone] == [(x.ids, x.score) for x in together[b]]


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000), size=st.integers(1, 5))
def test_a_placeholder_is_not_written_beside_letters_while_there_is_time(seed: int, size: int) -> None:
    sources = [[3, 4, 5]]
    given = placeholders(sources, [2], [5, 6])._replace(lengths_B=np.array([40]))
    letters = (3, 4)
    [found] = search(automaton(size=SIZE, seed=seed), batch(sources), given, size, adjacency(letters, letters))
    for one in found:
        early = one.ids[: 40 - 4]
        assert not any((a in letters and b >= SIZE) or (a >= SIZE and b in letters) for a, b in pairwise(early))


def test_a_placeholder_is_written_where_its_stand_in_would_be() -> None:
    """A model without attention that is certain what to write: the output is the same with the placeholder."""
    for seed in range(10):
        model = automaton(size=SIZE, seed=seed, sharpness=60.0, attends=False)
        [[best]] = beam(model, batch([[3, 4]]), beam=4, max_length=MOST)
        words = [token for token in best.ids if token > UNK and best.ids.count(token) == 1]
        if not best.finished or not words:
            continue
        [[found, *_]] = search(model, batch([[3, 4]]), placeholders([[3, 4]], [1], words[:1]), 8)
        assert found.ids == tuple(SIZE if token == words[0] else token for token in best.ids)
        assert found.score == pytest.approx(best.score, abs=1e-4)


def test_what_attention_is_on_is_written() -> None:
    model = automaton(size=SIZE, seed=1)
    model.log_probs_QV[:, 6] = -50.0

    class Looking(Wrapper):
        """The model, looking at the second word of the source as it writes the third token, and else at its end."""

        def start(self, batch: Batch) -> SearchStart:
            return super().start(batch)._replace(state=(super().start(batch).state, 0))

        def advance(self, memory: Any, state: Any, ids_N: Array) -> Step:
            step = super().advance(memory, state[0], ids_N)
            weights = np.zeros((len(ids_N), 3), dtype=np.float32)
            weights[:, 1 if state[1] == 2 else 2] = 1.0
            return step._replace(weights_NS=weights, state=(step.state, state[1] + 1))

        def select(self, state: Any, rows_N: Array) -> Any:
            return super().select(state[0], rows_N), state[1]

    positions = np.array([[[False, True, False]]])
    given = Placeholders(positions, np.array([[6]]), *np.ones((3, 1, 1), dtype=np.bool_), np.array([MOST]))
    [[best, *_]] = search(Looking(model), batch([[3, 4, 5]]), given, 6)
    assert best.ids.index(SIZE) == 2
    trained = given._replace(attended_BK=np.zeros((1, 1), dtype=np.bool_))
    [[unlikely, *_]] = search(Looking(model), batch([[3, 4, 5]]), trained, 6)
    assert unlikely.score < -50.0 < best.score
