"""Every example is in one batch of an epoch, in an order of the seed; widths of prediction depend on each row alone."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anaphora.batch import Labels
from anaphora.data.example_batches import Side, prediction_batches
from anaphora.data.example_store import ExampleStore, example_store
from anaphora.data.fields.label import Label
from anaphora.data.fields.tokens import Tokens
from anaphora.data.ragged import Ragged
from anaphora.errors import DataError
from anaphora.events import Event, Skipped
from anaphora.text.characters import CharacterTokenizer
from tests.data.stores import Listed

CORPUS = Listed([("ab" * number + "c", "xy"[number % 2]) for number in range(20)])
TOKENIZER = CharacterTokenizer.learn(["abc"], lowercase=False, least=1)


def fields(labels: str = "xy") -> tuple[Tokens, Label]:
    text = Tokens("text", TOKENIZER, lambda example: example[0])
    return text, Label("label", [*labels], lambda example: [example[1]])


def stored(folder: Path, **options: Any) -> tuple[ExampleStore, Tokens, Label]:
    text, label = fields()
    return example_store(CORPUS, [text, label], folder, noun="text", **options), text, label


def test_long_examples_are_left_out_and_keep_their_places(tmp_path: Path) -> None:
    for _ in range(2):  # encoded, then opened
        heard: list[Event] = []
        store, *_ = stored(tmp_path / "encoded", longest=9, bounded=fields()[:1], report=heard.append)
        assert np.asarray(store.numbers).tolist() == [0, 1, 2, 3, 4]
        [skipped] = [event for event in heard if isinstance(event, Skipped)]
        assert skipped == Skipped("texts of more than 9 tokens were left out of train", 15)
    with pytest.raises(DataError, match=r"Every text of train has more than 1 token"):
        example_store(Listed([("abc", "x")]), fields(), tmp_path / "none", noun="text", longest=1)


def test_a_refused_value_is_named_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="row 2 has the label 'y', which training does not have"):
        example_store(CORPUS, fields("x"), tmp_path / "encoded", noun="text")


def test_rows_that_are_scored_carry_what_is_expected() -> None:
    text, label = fields()
    texts, labels = (Side.of(field, [field.encode(list(map(field.get, CORPUS.rows)), str)]) for field in (text, label))
    for batch in prediction_batches(texts, 64, labels):
        assert isinstance(batch.targets, Labels)
        assert batch.targets.classes.tolist() == [number % 2 for number in batch.example_ids_B.tolist()]
    assert len(prediction_batches(Side(text, Ragged.of([])), 64)) == 0
