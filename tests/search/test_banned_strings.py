"""No output spells a text that it must not have, whatever tokens write it, and the others stay as they are."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.search.banned_strings import BannedStrings, Spelling
from tests.searches import beam

from .naive import Make, MakeBatch, n_best

SOURCES = [[4, 7], [5], [3, 3, 9, 2]]
WRITES = ["", "", "", "a", "b", "ab", " a", "{", "}b", "{a}"]


@settings(max_examples=15)
@given(
    texts=st.lists(st.lists(st.text("ab{} ", min_size=1, max_size=4), max_size=2), min_size=3, max_size=3).filter(any),
    size=st.integers(1, 5),
    n=st.integers(1, 4),
    seed=st.integers(0, 20),
)
def test_a_beam_is_one_that_never_had_what_spells_a_text(
    automaton: Make, batch: MakeBatch, texts: list[list[str]], size: int, n: int, seed: int
) -> None:
    stepper = automaton(size=len(WRITES), seed=seed)

    def text_of(ids: Sequence[int]) -> str:
        return "".join(WRITES[token] for token in ids)

    steering = [BannedStrings(texts, Spelling(WRITES))]
    found = beam(stepper, batch(SOURCES), beam=size, n=n, max_length=7, steering=steering)
    for source, unwanted, hypotheses in zip(SOURCES, texts, found, strict=True):

        def free(ids: tuple[int, ...], token: int, unwanted: Sequence[str] = unwanted) -> bool:
            return not any(text in text_of((*ids, token)) for text in unwanted)

        best = n_best(stepper, batch([source]), size, n, 7, allowed=free)
        assert [one.ids for one in hypotheses if one.finished] == [ids for _, _, ids in best]
        assert all(text not in text_of(one.ids) for one in hypotheses for text in unwanted)
