"""A minimum length, no repeated n-grams and prefixes of whole words, under every search."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.search.constraints import MinimumLength, NoRepeatedNgrams, WholeWords
from tests.searches import beam

from .naive import FEW_SOURCES, Make, MakeBatch, n_best


def ngrams(ids: tuple[int, ...], n: int) -> list[tuple[int, ...]]:
    return [ids[place : place + n] for place in range(len(ids) - n + 1)]


@settings(max_examples=15)
@given(length=st.integers(0, 6), size=st.integers(1, 5), n=st.integers(1, 4), seed=st.integers(0, 20))
def test_a_minimum_length_is_a_beam_without_shorter_outputs(
    automaton: Make, batch: MakeBatch, length: int, size: int, n: int, seed: int
) -> None:
    stepper = automaton(size=5, seed=seed)
    steering = [MinimumLength(length, stepper.eos)]
    for source, found in zip(
        FEW_SOURCES, beam(stepper, batch(FEW_SOURCES), beam=size, n=n, max_length=9, steering=steering), strict=True
    ):
        best = n_best(
            stepper, batch([source]), size, n, 9, allowed=lambda ids, token: token != stepper.eos or len(ids) >= length
        )
        assert [one.ids for one in found if one.finished] == [ids for _, _, ids in best]
        assert all(len(one.ids) >= length for one in found)


@settings(max_examples=15)
@given(order=st.integers(1, 4), size=st.integers(1, 5), n=st.integers(1, 4), seed=st.integers(0, 20))
def test_no_ngram_is_written_twice_and_the_rest_of_the_beam_stays(
    automaton: Make, batch: MakeBatch, order: int, size: int, n: int, seed: int
) -> None:
    stepper = automaton(size=4, seed=seed, sharpness=3.0)

    def new(ids: tuple[int, ...], token: int) -> bool:
        grown = ngrams((*ids, token), order)
        return token == stepper.eos or len(grown) == len(set(grown))

    found = beam(stepper, batch(FEW_SOURCES), beam=size, n=n, max_length=9, steering=[NoRepeatedNgrams(order)])
    for source, hypotheses in zip(FEW_SOURCES, found, strict=True):
        best = n_best(stepper, batch([source]), size, n, 9, allowed=new)
        assert [one.ids for one in hypotheses if one.finished] == [ids for _, _, ids in best]


@settings(max_examples=12)
@given(
    prefixes=st.lists(st.lists(st.integers(2, 3), max_size=3), min_size=4, max_size=4),
    after=st.lists(st.booleans(), min_size=4, max_size=4),
    closed=st.lists(st.booleans(), min_size=4, max_size=4),
    seed=st.integers(0, 20),
)
def test_a_full_width_search_with_a_prefix_is_exhaustive_search_among_what_begins_with_it(
    automaton: Make, batch: MakeBatch, prefixes: list[list[int]], after: list[bool], closed: list[bool], seed: int
) -> None:
    stepper, longest = automaton(size=4, seed=seed), 5
    lengths = [len(prefix) * ends for prefix, ends in zip(prefixes, closed, strict=True)]
    steering = [WholeWords(torch.tensor(lengths), torch.tensor([True, True, *after[2:]]))]
    found = beam(
        stepper, batch(FEW_SOURCES, prefixes=prefixes), beam=4**4, n=4**4, max_length=longest, steering=steering
    )
    for source, prefix, length, hypotheses in zip(FEW_SOURCES, prefixes, lengths, found, strict=True):

        def begins(ids: tuple[int, ...], token: int, prefix: list[int] = prefix, length: int = length) -> bool:
            if len(ids) < len(prefix):
                return token == prefix[len(ids)]
            return not length or len(ids) != length or token < 2 or after[token]

        best = n_best(stepper, batch([source]), 4**4, 4**4, longest, allowed=begins)
        assert [(one.score, one.ids) for one in hypotheses] == [(score, ids) for _, score, ids in best]
