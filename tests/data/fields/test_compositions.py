"""Inputs and targets that no task combines: every batch has the values of its examples, each beside its own target."""

from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from anaphora.batch import Batch, Grid, Ids, Labels, Values
from anaphora.data.example_batches import ExampleBatches
from anaphora.data.example_store import example_store
from anaphora.data.features import GridShape
from anaphora.data.fields.field import Field
from anaphora.data.fields.grid import Grid as GridField
from anaphora.data.fields.label import Label
from anaphora.data.fields.tags import Tags
from anaphora.data.fields.tokens import Tokens
from anaphora.data.fields.vectors import Vectors
from anaphora.text.words import WordTokenizer
from tests.data.stores import Listed

NAMES = ("first", "second")
DRAW = np.random.default_rng(5)


def vectors(count: int) -> list[np.ndarray[Any, Any]]:
    """Return sequences of two numbers a step."""
    return [DRAW.normal(size=(int(DRAW.integers(1, 7)), 2)).astype(np.float32) for _ in range(count)]


def rows(
    examples: Sequence[Any], fields: tuple[Field[Any], Field[Any]], folder: Path
) -> Iterator[tuple[Batch, int, Any, Any]]:
    """Yield each row of an epoch: its batch, its place there, and the input and target of its example."""
    store = example_store(Listed(examples), fields, folder / "store", noun="example")
    batches = ExampleBatches(store, *fields, batch_tokens=100, seed=5, sized_by=fields[:1])
    seen = [(batch, place, number) for batch in batches.epoch(1) for place, number in enumerate(batch.example_ids_B)]
    assert sorted(int(number) for *_, number in seen) == list(range(len(examples)))
    for batch, place, number in seen:
        yield batch, place, *examples[int(number)]


def test_vectors_to_several_labels_a_step(tmp_path: Path) -> None:
    tags = Tags("tags", NAMES, lambda example: (example[1], str), several=True)
    written = np.array(["_", "first", "second", "first|second"])
    examples = [(one, written[DRAW.integers(0, 4, len(one))].tolist()) for one in vectors(50)]
    for batch, place, given, expected in rows(examples, (Vectors("vectors", 2, itemgetter(0)), tags), tmp_path):
        assert isinstance(batch.inputs, Values) and isinstance(batch.targets, Values)
        assert np.array_equal(batch.inputs.values_BTD[place, : len(given)], given)
        assert tags.decode(batch.targets, batch.targets.lengths_B.tolist())[place] == expected


def test_a_grid_to_a_label(tmp_path: Path) -> None:
    examples = [(DRAW.normal(size=(4, 3)).astype(np.float32), [NAMES[n % 3 % 2]]) for n in range(50)]
    fields = GridField("grid", GridShape(2, 2, 3), itemgetter(0)), Label("label", NAMES, itemgetter(1))
    for batch, place, given, [label] in rows(examples, fields, tmp_path):
        assert isinstance(batch.inputs, Grid) and isinstance(batch.targets, Labels)
        assert np.array_equal(batch.inputs.values_BSD[place], given)
        assert NAMES[batch.targets.classes[place]] == label


def test_text_to_vectors(tmp_path: Path) -> None:
    tokenizer = WordTokenizer(["a", "b", "c"], lowercase=False, segmentation="whitespace", language="en")
    examples = [(" ".join(DRAW.choice(["a", "b", "c"], len(one))), one) for one in vectors(50)]
    fields = Tokens("text", tokenizer, itemgetter(0)), Vectors("vectors", 2, itemgetter(1))
    for batch, place, text, expected in rows(examples, fields, tmp_path):
        assert isinstance(batch.inputs, Ids) and isinstance(batch.targets, Values)
        assert batch.inputs.ids_BT[place, : len(expected)].tolist() == tokenizer.encode(text)
        assert np.array_equal(batch.targets.values_BTD[place, : len(expected)], expected)
