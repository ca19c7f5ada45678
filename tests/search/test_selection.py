"""Choice of continuations: diverse beam search against a plain reading of the paper."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.batch import Batch
from anaphora.protocols import Stepper
from anaphora.search.selection import Diversity
from tests.searches import beam

from .naive import FEW_SOURCES, automaton, batch


def groups_of(
    stepper: Stepper, batch: Batch, size: int, diversity: Diversity, longest: int
) -> list[list[tuple[float, tuple[int, ...]]]]:
    """What every group finishes, best first."""
    memory, start, _ = stepper.start(batch)
    live = [[(0.0, (), start, stepper.bos)] for _ in range(diversity.groups)]
    finished: list[list[tuple[float, tuple[int, ...]]]] = [[] for _ in live]
    for _ in range(longest):
        taken: Counter[int] = Counter()
        for group, rows in enumerate(live):
            grown = []
            for total, ids, state, last in rows:
                log_probs, _, state, *_ = stepper.advance(memory, state, np.array([last]))
                grown += [(total + v, (*ids, i), state, i) for i, v in enumerate(log_probs[0].tolist())]
            grown.sort(key=lambda one: -one[0])  # ties of the reduced totals go to the better one
            grown.sort(key=lambda one: -(one[0] - diversity.strength * taken[one[3]]))
            top = grown[: size // diversity.groups]
            taken.update(one[3] for one in top)
            finished[group] += [(total, ids[:-1]) for total, ids, _, i in top if i == stepper.eos]
            live[group] = [one for one in top if one[3] != stepper.eos]
    return [sorted(own, key=lambda one: -one[0]) for own in finished]


@settings(max_examples=15)
@given(
    groups=st.integers(2, 3),
    each=st.integers(1, 3),
    strength=st.floats(0, 4),
    seed=st.integers(0, 30),
    lengths=st.lists(st.integers(1, 7), min_size=4, max_size=4),
)
def test_every_group_gives_its_best(groups: int, each: int, strength: float, seed: int, lengths: list[int]) -> None:
    stepper, diversity = automaton(size=5, seed=seed), Diversity(groups, strength)
    size = groups * each
    found = beam(stepper, batch(FEW_SOURCES), beam=size, n=size, max_length=lengths, diversity=diversity)
    for source, length, hypotheses in zip(FEW_SOURCES, lengths, found, strict=True):
        own = groups_of(stepper, batch([source]), size, diversity, length)
        expected: dict[tuple[int, ...], float] = {}
        for place in range(size):
            for one in own:
                if place < len(one) and len(expected) < size:
                    expected.setdefault(one[place][1], one[place][0])
        assert {one.ids: one.score for one in hypotheses if one.finished} == expected
        assert [one.score for one in hypotheses] == sorted((one.score for one in hypotheses), reverse=True)
