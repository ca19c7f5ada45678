"""An aligner over given texts: what is too long to be linked, and that nothing else suffers from it."""

import numpy as np
import pytest

from anaphora.data.ragged import Ragged
from anaphora.errors import ConfigError
from anaphora.events import Event, Progress, Skipped
from anaphora.inference.alignment.groups import LONGEST
from anaphora.models.alignment import aligner as models
from anaphora.tasks.alignment.predictor import AlignmentPredictor
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.words import WordTokenizer

WORDS = ["a", "b", "c", "d", "e", "f"]


def test_a_pair_too_long_to_be_linked_has_no_links_and_the_others_keep_theirs() -> None:
    tokenizer = WordTokenizer(WORDS, lowercase=False, segmentation="whitespace", language="en")
    model = models.Aligner(models.AlignerModelConfig(), tokenizer.symbols, tokenizer.symbols)
    rows = Ragged.of(np.random.default_rng(1).integers(4, 10, (60, 4)).tolist())
    model.fit(rows, rows)
    aligner, heard = AlignmentPredictor(model, tokenizer, tokenizer), list[Event]()
    endless = "a " * (LONGEST + 1)
    found = aligner.align(["a b", "a", endless, "c"], ["a b", endless, "b", "c"], report=heard.append)
    assert found == [*aligner.align(["a b"], ["a b"]), frozenset(), frozenset(), {(0, 0)}]
    assert [event for event in heard if not isinstance(event, Progress)] == [
        Skipped("pairs with more than 2,000 tokens on a side have no links", 2)
    ]


def test_a_dictionary_is_of_whole_words() -> None:
    letters = CharacterTokenizer("ab ", lowercase=False)
    model = models.Aligner(models.AlignerModelConfig(), letters.symbols, letters.symbols)
    with pytest.raises(ConfigError, match="tokens of this aligner are not words"):
        next(AlignmentPredictor(model, letters, letters).dictionary())
