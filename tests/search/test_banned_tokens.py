"""A search that may not write some symbols."""

import torch

from anaphora.protocols import VocabularyInfo
from anaphora.search.scoring import score
from tests.searches import beam, sample

from .naive import Make, MakeBatch

SOURCES = [[4, 7], [5], [3, 3, 9, 2], [8, 1, 1], [6, 6], [2]]


def test_the_unknown_word_is_never_written_and_what_had_none_stays(automaton: Make, batch: MakeBatch) -> None:
    unknown = 0
    for seed in range(5):
        model = automaton(seed=seed)
        for size in (1, 4):
            usual, known = (
                [found[0] for found in beam(model, batch(SOURCES), beam=size, max_length=12, banned_tokens=banned)]
                for banned in ((), (model.unk,))
            )
            unknown += sum(model.unk in one.ids for one in usual)
            assert all(model.unk not in one.ids and one.score > -torch.inf for one in known)
            if size == 1:
                same = [(one, other) for one, other in zip(usual, known, strict=True) if model.unk not in one.ids]
                assert all((one.ids, one.score) == (other.ids, other.score) for one, other in same)
    assert unknown


def test_what_is_written_without_some_symbols_has_the_score_that_forced_decoding_gives_it(
    automaton: Make, batch: MakeBatch
) -> None:
    pad, bos = 3, 4
    model = automaton(size=7)
    banned = VocabularyInfo(7, pad, model.unk, bos, model.eos).unwritten
    special = 0
    for search in (
        lambda ids: [one for one, *_ in beam(model, batch(SOURCES), beam=3, max_length=12, banned_tokens=ids)],
        lambda ids: sample(model, batch(SOURCES), max_length=12, seed=1, banned_tokens=ids),
    ):
        special += sum(symbol in (pad, bos) for found in search(()) for symbol in found.ids)
        for source, found in zip(SOURCES, search(banned), strict=True):
            assert not {pad, bos} & set(found.ids) and found.score > -torch.inf
            ids = [*found.ids, model.eos] if found.finished else list(found.ids)
            assert score(model, batch([source], [ids]))[0].score == found.score
    assert special
