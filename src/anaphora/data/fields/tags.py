"""A tag for each step of a row: one label, or any number of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from anaphora.batch import Ids, Items, Values, pad
from anaphora.data.columns import UNBOUNDED, Bound, Integers, Table, Writer
from anaphora.data.fields.field import Field, Place, distinct_appender
from anaphora.data.fields.label import refuse_unknown
from anaphora.data.ragged import Ragged
from anaphora.formats.span_tags import TagsInPlace
from anaphora.formats.tagged import NO_LABEL, labels_of


@dataclass(frozen=True)
class TagRows:
    """Tags as numbers of distinct ones, in the order in which these occur first."""

    tags: Ragged
    """Number of the distinct tag of each step."""
    labels: Ragged
    """Labels of each distinct tag."""

    @property
    def lengths(self) -> Integers:
        """Steps of each row."""
        return self.tags.lengths


class Tags(Field[TagsInPlace]):
    """Tags as ids of labels; values come with a function from a step to its place in a file."""

    unit = "token"
    bound = UNBOUNDED

    def __init__(
        self, name: str, labels: Sequence[str], get: Callable[[Any], TagsInPlace], *, several: bool = False
    ) -> None:
        """``labels`` in the order of their ids; ``several`` of them may be in a tag."""
        super().__init__(name, get)
        self.names, self.several = labels, several
        self._ids = {label: number for number, label in enumerate(labels)}

    @property
    def identity(self) -> Sequence[object]:
        return [*self.names, self.several]

    @property
    def columns(self) -> Mapping[str, Bound]:
        labels = {f"{self.name}.labels.ids": len(self.names), f"{self.name}.labels.ends": UNBOUNDED}
        return {**super().columns, **labels}

    def labels(self, tag: str) -> list[int]:
        """Return the ids of the labels of a tag, one unless there may be several; KeyError for an unknown one."""
        return [self._ids[label] for label in (labels_of(tag) if self.several else [tag])]

    def tag(self, labels: Iterable[int]) -> str:
        """Return the tag of some labels."""
        names = [self.names[label] for label in labels]
        return ("|".join(names) or NO_LABEL) if self.several else names[0]

    def decode(self, found: Items, lengths: Sequence[int]) -> list[list[str]]:
        """Return the tags of rows of these lengths that a network gave, without padding."""
        if isinstance(found, Ids):
            rows = zip(found.ids_BT.tolist(), lengths, strict=True)
            return [[self.names[tag] for tag in tags[:length]] for tags, length in rows]
        assert isinstance(found, Values)
        several = zip(found.values_BTD.tolist(), lengths, strict=True)
        return [
            [self.tag(label for label, there in enumerate(labels) if there) for labels in tags[:length]]
            for tags, length in several
        ]

    def refuse_unknown(self, value: TagsInPlace) -> None:
        """Raise DataError with its place for a tag with a label that training does not have."""
        tags, place = value
        for step, tag in enumerate(tags):
            try:
                self.labels(tag)
            except KeyError as error:
                refuse_unknown(error.args, self._ids, partial(place, step))

    def encode(self, values: Sequence[TagsInPlace], place: Place) -> Ragged:
        """Return the tags themselves, which are numbered as they are appended or held."""
        for value in values:
            self.refuse_unknown(value)
        return Ragged.of_strings([tags for tags, _ in values])

    def appender(self, into: Writer) -> Callable[[Ragged], None]:
        return distinct_appender(into, self.name, lambda tag: into.add(f"{self.name}.labels", self.labels(tag)))

    def from_store(self, table: Table) -> TagRows:
        labels = Ragged(table[f"{self.name}.labels.ids"], table[f"{self.name}.labels.ends"])
        return TagRows(super().from_store(table), labels)

    def from_memory(self, rows: Ragged) -> TagRows:
        tags, distinct = rows.as_numbers({})
        return TagRows(tags, Ragged.of(map(self.labels, distinct)))

    def items(self, rows: TagRows, chosen: Integers, multiple: int = 1) -> Items:
        """Return the label of each step as Ids; of several, Values with a 1 for each."""
        tags = pad(rows.tags.split(chosen), multiple=multiple)
        if not self.several:
            labels_W = np.asarray(rows.labels.ids[:]).astype(np.int64)
            return Ids(labels_W[tags.ids_BT], tags.lengths_B)
        labels_WC = np.zeros((len(rows.labels), len(self.names)), np.float32)
        for number, of_tag in enumerate(rows.labels.to_lists()):
            labels_WC[number, of_tag] = 1
        return Values(labels_WC[tags.ids_BT], tags.lengths_B)
