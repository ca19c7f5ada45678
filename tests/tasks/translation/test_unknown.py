"""Unknown words are copied or translated, by attention or by annotations."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from anaphora.errors import ConfigError
from anaphora.protocols import Array
from anaphora.search.hypothesis import Hypothesis
from anaphora.tasks.translation.constraints import SentenceRequest
from anaphora.tasks.translation.unmasking import AnnotatedWords, UnknownWords, unknown_words
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.masking import MaskedText
from anaphora.text.rare_word_annotation import AnnotatedTokenizer, Rare, annotations
from anaphora.text.tokenizer import UNK, Tokenizer
from anaphora.text.words import WordTokenizer

SOURCE = WordTokenizer(["the", "sees"], lowercase=False, segmentation="whitespace", language="en")
TARGET = WordTokenizer(["le", "voit"], lowercase=False, segmentation="whitespace", language="fr")
LE, VOIT = TARGET.encode("le voit")
ROW = SentenceRequest(MaskedText("the Cat sees", "", "the Cat sees", ""), SOURCE.encode("the Cat sees"))
WEIGHTS = np.array([[0.9, 0.1, 0.0, 0.0], [0.1, 0.3, 0.2, 0.4], [0.0, 0.0, 1.0, 0.0]], np.float32)
"""Where each word of a translation looked in "the Cat sees" and its end."""


def translator(source: Tokenizer, target: Tokenizer, **more: bool) -> Any:
    """A translator that is not asked whether it attends unless it says so."""
    return SimpleNamespace(source=source, target=target, **more)


def hypothesis(*ids: int, weights: Array | None = WEIGHTS) -> Hypothesis:
    return Hypothesis(ids, -1.0, weights, True, rank=-1.0)


def written(words: UnknownWords, given: Hypothesis) -> str:
    filled, bare = words.fill(ROW, given)
    return TARGET.decode_with(bare.ids, filled) if filled else TARGET.decode(bare.ids)


@pytest.mark.parametrize(
    ("dictionary", "expected"),
    [
        ({}, "Cat"),  # which was looked at most; never the end
        ({"Cat": "chat"}, "chat"),
        ({"cat": "chatte", "Cat": "chat"}, "chat"),
        # a copy keeps its spelling unless the dictionary has it as it is
        ({"cat": "cat"}, "Cat"),
        ({"cat": "cat", "Cat": "CAT"}, "CAT"),
        ({"cat": "CaT2"}, "CaT2"),
    ],
)
def test_an_unknown_word_is_copied_or_translated_by_the_dictionary(dictionary: dict[str, str], expected: str) -> None:
    words = UnknownWords(SOURCE, dictionary)
    assert written(words, hypothesis(LE, UNK, VOIT)) == f"le {expected} voit"
    assert written(words, hypothesis(LE, VOIT, LE)) == "le voit le"


def test_a_word_that_looked_nowhere_stays_unknown() -> None:
    nowhere = hypothesis(LE, UNK, VOIT, weights=WEIGHTS * np.array([[1], [0], [1]]))
    assert written(UnknownWords(SOURCE, {}), nowhere) == "le <unk> voit"


def annotated(rare: Rare) -> AnnotatedTokenizer:
    vocabulary = [*annotations(rare), "le", "voit"]
    words = WordTokenizer(vocabulary, lowercase=False, segmentation="whitespace", language="fr")
    return AnnotatedTokenizer(words, rare, {"Cat": "chat", "the": "la"})


def test_an_annotated_word_is_translated_or_copied_and_attention_keeps_to_the_words() -> None:
    target = annotated("posall")
    ids = target.annotate(ROW.ids, target.encode("le Chat voit ici Ann"), [0, 1, 2, -1, 1])
    weights = np.arange(44.0).reshape(11, 4)
    words, bare = AnnotatedWords(SOURCE, target).fill(ROW, hypothesis(*ids, weights=weights))
    assert target.decode_with(bare.ids, words) == "le chat voit <unk> chat"
    assert bare.ids == tuple(target.encode("le Chat voit ici Ann"))
    assert bare.weights is not None and bare.weights[:, 0].tolist() == [0, 8, 16, 24, 32, 40]
    without, bare = AnnotatedWords(SOURCE, target).fill(ROW, hypothesis(*ids, weights=None))
    assert without == words and bare.weights is None


def test_what_cannot_be_replaced_is_refused_before_anything_is_written() -> None:
    assert isinstance(unknown_words(translator(SOURCE, annotated("posunk")), None), AnnotatedWords)
    assert unknown_words(translator(SOURCE, TARGET), None) is None
    assert isinstance(unknown_words(translator(SOURCE, TARGET, attends=True), {}), UnknownWords)
    letters = CharacterTokenizer("abc", lowercase=False)
    for sides, complaint in (
        ((SOURCE, annotated("posunk")), r"text\.rare = 'posunk'"),
        ((letters, TARGET), "smaller tokens and leaves no word unknown"),
        ((SOURCE, letters), "smaller tokens and leaves no word unknown"),
        ((SOURCE, TARGET), "has no attention"),
    ):
        with pytest.raises(ConfigError, match=complaint):
            unknown_words(translator(*sides, attends=False), {})
