"""Labels of whole examples: one class, or any number of labels."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import numpy as np

from anaphora.batch import Labels
from anaphora.data.columns import Integers
from anaphora.data.fields.field import Field, Place
from anaphora.data.ragged import Ragged
from anaphora.errors import DataError

Targets = np.ndarray[Any, np.dtype[Any]]
"""N int64 classes, or N x C booleans: True where an example has a label."""


class Label(Field[Sequence[str]]):
    """The class of an example, or its labels where there may be several or none."""

    unit = "label"

    def __init__(
        self, name: str, names: Sequence[str], get: Callable[[Any], Sequence[str]], *, several: bool = False
    ) -> None:
        """``names`` are those of the classes in the order of their ids."""
        super().__init__(name, get)
        self.names, self.several, self.bound = names, several, len(names)
        self._ids = {label: number for number, label in enumerate(names)}

    @property
    def identity(self) -> Sequence[object]:
        return [*self.names, self.several]

    def encode(self, values: Sequence[Sequence[str]], place: Place) -> Ragged:
        for number, labels in enumerate(values):
            refuse_unknown(labels, self._ids, partial(place, number))
        return Ragged.of([[self._ids[label] for label in labels] for labels in values])

    def targets(self, rows: Ragged, chosen: Integers | None = None) -> Targets:
        """Return the classes of all rows, or of the ``chosen`` ones."""
        chosen = np.arange(len(rows)) if chosen is None else chosen
        if not self.several:
            return np.asarray(rows.ids[rows.offsets[chosen]]).astype(np.int64)
        targets_NC = np.zeros((len(chosen), len(self.names)), np.bool_)
        for target_C, labels in zip(targets_NC, rows.split(chosen), strict=True):
            target_C[labels] = True
        return targets_NC

    def items(self, rows: Ragged, chosen: Integers, multiple: int = 1) -> Labels:
        targets = self.targets(rows, chosen)
        return Labels(targets.astype(np.float32) if self.several else targets)


def refuse_unknown(labels: Sequence[str], known: Collection[str], place: Callable[[], str]) -> None:
    """Raise DataError for the first of the labels that is none of the ``known``."""
    unseen = next((label for label in labels if label not in known), None)
    if unseen is not None:
        shown = ", ".join(sorted(known)[:8]) + (", ..." if len(known) > 8 else "")
        raise DataError(
            f"{place()} has the label '{unseen}', which training does not have ({shown}): correct it, or train with "
            f"examples that have it."
        ) from None
