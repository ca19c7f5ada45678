"""Words and tags come back from a store and from memory as they were, and unknown ones as unknown."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.batch import Ids, Values
from anaphora.data.example_batches import Side
from anaphora.data.fields.tags import Tags
from anaphora.data.fields.words import Words
from anaphora.errors import DataError
from anaphora.text.tokenizer import BOS, EOS, MARKS, UNK
from anaphora.text.words import WordTokenizer

WORDS, LETTERS = ["cat", "sees", "dog"], [*"catsedog"]
SENTENCES = st.lists(st.lists(st.sampled_from([*WORDS, "catfish"]), min_size=1, max_size=6), min_size=1, max_size=5)


@given(SENTENCES)
def test_words_are_ids_with_their_characters(sentences: list[list[str]]) -> None:
    words, letters = (
        WordTokenizer(list(dict.fromkeys(names)), lowercase=False, segmentation="whitespace", language="en")
        for names in (WORDS, LETTERS)
    )
    field = Words("words", words, letters, lambda example: example, longest=4)
    side = Side.of(field, [field.encode([sentence], str) for sentence in sentences])
    assert side.lengths.tolist() == list(map(len, sentences))
    ids = field.items(side.rows, np.arange(len(sentences)))
    for row, sentence in enumerate(sentences):
        for place, word in enumerate(sentence):
            known = WORDS.index(word) + len(MARKS) if word in WORDS else UNK
            assert ids.ids_BT[row, place] == known
            letters_L = ids.characters_NL[ids.words_BT[row, place]].tolist()
            assert letters_L[0] == BOS and letters_L[len(word[:4]) + 1] == EOS


def tags_field(several: bool) -> Tags:
    return Tags("tags", ["A", "B", "C"], lambda example: example, several=several)


def in_place(tags: Sequence[str]) -> tuple[Sequence[str], object]:
    return tags, lambda step: f"line {step + 1}"


TAGS = {False: ["A", "B", "C"], True: ["A", "A|C", "_", "A|B|C"]}
"""Tags of one label a step, and of several."""


@pytest.mark.parametrize("several", TAGS)
@given(data=st.data())
def test_tags_come_back(several: bool, data: st.DataObject) -> None:
    steps = st.lists(st.sampled_from(TAGS[several]), min_size=1, max_size=6)
    field, rows = tags_field(several), data.draw(st.lists(steps, min_size=1, max_size=5))
    side = Side.of(field, [field.encode([in_place(tags)], str) for tags in rows])  # type: ignore[list-item]
    found = field.items(side.rows, np.arange(len(rows)))
    assert isinstance(found, Values if several else Ids) and field.decode(found, list(map(len, rows))) == rows
    assert not isinstance(found, Values) or np.isin(found.values_BTD, [0, 1]).all()


def test_an_unknown_tag_is_refused_at_its_step(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 2 has the label 'D', which training does not have"):
        tags_field(several=False).encode([in_place(["A", "D"])], str)  # type: ignore[list-item]
