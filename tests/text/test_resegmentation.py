"""Other segmentations of the same text."""

import math
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.text.resegmentation import LatticeSampling, Resegment
from anaphora.text.subwords import Kind, SubwordTokenizer

TEXT = "the dog dogs cat cats lower lowest newer newest wide wider widest sees seeing seen Жук"
WORDS = TEXT.split()
DRAW = Random(1)
LINES = [" ".join(DRAW.choices(WORDS, k=6)) for _ in range(200)]


def tokenizer_of(kind: Kind, byte_fallback: bool = True) -> SubwordTokenizer:
    size = 340 if byte_fallback else 80
    return SubwordTokenizer.learn(LINES, size=size, lowercase=False, byte_fallback=byte_fallback, kind=kind)


BPE, UNIGRAM = tokenizer_of("bpe"), tokenizer_of("unigram")
SEGMENTERS: dict[str, tuple[SubwordTokenizer, Resegment]] = {
    "bpe": (BPE, BPE.merge_dropout(0.3)),
    "unigram": (UNIGRAM, UNIGRAM.lattice_sampling(0.1)),
}
texts = st.lists(st.sampled_from([*WORDS, "dogcat", "字", "é", "d", "▁"]), max_size=8).map(" ".join)


@pytest.mark.parametrize("kind", SEGMENTERS)
@given(text=texts, seed=st.integers(0, 1000))
def test_a_cut_spells_the_text_and_depends_on_it_and_the_generator_alone(kind: str, text: str, seed: int) -> None:
    tokenizer, cut = SEGMENTERS[kind]
    once = cut(tokenizer.encode(text), Random(seed))
    assert tokenizer.decode(once) == tokenizer.decode(tokenizer.encode(text))
    assert cut(tokenizer.encode(text), Random(seed)) == once
    assert cut(once, Random(seed)) == once  # not on how the row was cut before


@pytest.mark.parametrize("kind", SEGMENTERS)
def test_there_is_more_than_one_cut(kind: str) -> None:
    tokenizer, cut = SEGMENTERS[kind]
    assert len({tuple(cut(tokenizer.encode(TEXT), Random(seed))) for seed in range(50)}) > 5


@given(text=texts)
def test_without_dropout_the_cut_is_that_of_the_vocabulary(text: str) -> None:
    assert BPE.merge_dropout(0.0)(BPE.encode(text), Random(0)) == BPE.encode(text)


@given(text=texts)
def test_at_a_high_alpha_the_cut_is_the_likeliest(text: str) -> None:
    sharp = UNIGRAM.lattice_sampling(1000.0)
    assert sharp(UNIGRAM.encode(text), Random(0)) == UNIGRAM.encode(text)


def test_unknown_characters_stay_unknown() -> None:
    tokenizer = tokenizer_of("bpe", byte_fallback=False)
    ids = tokenizer.encode("dog 字 cat")
    assert tokenizer.merge_dropout(0.0)(ids, Random(0)) == ids


def test_segmentations_are_drawn_as_often_as_their_probabilities_say() -> None:
    scores = {"a": math.log(0.4), "b": math.log(0.3), "ab": math.log(0.2)}
    cut = LatticeSampling({"a": 4, "b": 5, "ab": 6}, scores, alpha=0.5)
    draw = Random(0)
    counts = Counter(tuple(cut([6], draw)) for _ in range(20_000))
    whole, parts = math.sqrt(0.2), math.sqrt(0.4 * 0.3)
    assert counts.keys() == {(6,), (4, 5)}
    assert counts[(6,)] / 20_000 == pytest.approx(whole / (whole + parts), abs=0.01)
