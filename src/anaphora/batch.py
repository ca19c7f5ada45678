"""The values that data hands to models and searches: one batch, and what it is made of.

Arrays are numpy's; ``to(device)`` gives the same values with torch's tensors in their place. Rows come first in each.
Everything is frozen: ``to`` and ``dataclasses.replace`` give new values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from anaphora.errors import ShapeError

if TYPE_CHECKING:
    from torch import device as Device

ArrayOrTensor = Any
"""An array of numpy; a tensor of torch in a value that ``to`` returned."""

Row = Sequence[int] | np.ndarray[Any, np.dtype[Any]]
"""The ids of one row, before padding."""


_ON_THE_CPU = frozenset({"lengths_B", "example_ids_B"})
"""Arrays that decide what is computed, or where a row is from: reading them must not wait for a device."""


@dataclass(frozen=True)
class Movable:
    """A value of arrays, and of other such values."""

    def to(self, device: Device) -> Self:
        """Return the same value in tensors, with everything that a network computes with on ``device``.

        Lengths of rows and example ids stay on the CPU. Nothing is copied that is there already: tensors on the CPU
        share the memory of the arrays.
        """
        values = vars(self).items()
        movable = {name: value for name, value in values if isinstance(value, Movable) or hasattr(value, "shape")}
        return replace(
            self, **{name: _to(value, "cpu" if name in _ON_THE_CPU else device) for name, value in movable.items()}
        )


@dataclass(frozen=True)
class Ids(Movable):
    """Right-padded rows of token ids."""

    ids_BT: ArrayOrTensor
    """int64; the padding may hold any id."""
    lengths_B: ArrayOrTensor
    """int64, at least 1; always on the CPU, where it decides what is computed."""

    @property
    def mask_BT(self) -> ArrayOrTensor:
        """bool, on the device of the ids: true within a row, false in its padding."""
        return _mask(self.ids_BT, self.lengths_B)


@dataclass(frozen=True)
class SpeltIds(Ids):
    """Rows of word ids with the characters of the words, those that the vocabulary lacks too."""

    words_BT: ArrayOrTensor
    """int64: which of the N distinct words each is; the padding may hold any of them."""
    characters_NL: ArrayOrTensor
    """int64: the characters of each distinct word, right-padded."""
    lengths_N: ArrayOrTensor
    """int64, at least 1, on the device of the characters."""


@dataclass(frozen=True)
class FeaturedIds(Ids):
    """Rows of ids with features, such as the morphological tags of a word to inflect, behind each in ``ids_BT``."""

    features_BF: ArrayOrTensor
    """int64, right-padded with ``<pad>``: the features of each row, in any order, and a last ``</s>``."""


@dataclass(frozen=True)
class Values(Movable):
    """Right-padded rows of vectors, such as the frames of a signal."""

    values_BTD: ArrayOrTensor
    """Floating point; the padding may hold any value."""
    lengths_B: ArrayOrTensor
    """int64, at least 1; always on the CPU."""

    @property
    def mask_BT(self) -> ArrayOrTensor:
        """bool, on the device of the vectors: true within a row, false in its padding."""
        return _mask(self.values_BTD, self.lengths_B)


@dataclass(frozen=True)
class Grid(Movable):
    """The same number of vectors in every row, such as the regions of an image."""

    values_BSD: ArrayOrTensor
    """Floating point."""


@dataclass(frozen=True)
class Labels(Movable):
    """Classes of whole rows: one class a row, or any number of them."""

    classes: ArrayOrTensor
    """B, int64: the class of each row. Or B x C, floating point: the probability of each class, independent of the
    others (1 or 0 where the labels are known)."""


Items = Ids | Values | Grid | Labels
"""Inputs or targets of a model, one item a row."""


@dataclass(frozen=True)
class Supervision(Movable):
    """Training signals beside the targets; the default adds nothing."""

    weights_B: ArrayOrTensor | None = None
    """Factor of the loss of each row; None for 1."""
    alignments_BTS: ArrayOrTensor | None = None
    """float32: for each target position a distribution over the input positions, which attention learns to match; a
    row sums to 1, or to 0 where the target position is not aligned. None where attention is not supervised."""
    learning_rate_factor: float = 1.0
    """Factor of the learning rate of this update."""
    partition_C: ArrayOrTensor | None = None
    """int64, ascending: the distinct target ids of the part of the corpus that the batch is from, its own targets
    among them; for outputs that are trained by partitions. None where the corpus is not partitioned."""

    def weights_of(self, open_TB: ArrayOrTensor, like: ArrayOrTensor) -> ArrayOrTensor | None:
        """Return the factor of each prediction that is true in ``open_TB``, in the type of ``like``; None for 1."""
        return None if self.weights_B is None else self.weights_B.to(like).expand(open_TB.shape)[open_TB]


@dataclass(frozen=True)
class Constraints(Movable):
    """Restrictions of a search; the default restricts nothing."""

    candidates: Ids | None = None
    """The ids that each output may use, each once, ``</s>`` and the prefix among them; None for the whole
    vocabulary."""
    prefixes: Ids | None = None
    """Required beginning of each output; None for nothing."""
    narrow: bool = False
    """True where the steps of a ``CompiledStepper`` are over the candidates alone (``Step.candidates_BC``)."""


NO_SUPERVISION, UNCONSTRAINED = Supervision(), Constraints()


@dataclass(frozen=True)
class Batch(Movable):
    """One batch of examples; a row is one sentence, or one window of running text.

    Translation: ``inputs`` are source ids with ``</s>``; ``targets`` are y_1 .. y_m ``</s>`` (the model shifts them
    right after ``<s>`` itself). Language models: ``targets`` are ``inputs`` one position later. A search needs no
    targets; training and scoring do.
    """

    inputs: Items
    targets: Items | None
    example_ids_B: ArrayOrTensor
    """int64, always on the CPU: the position of each row in its corpus."""
    carry_mask_B: ArrayOrTensor
    """bool: whether this row continues the same row of the previous batch, and so starts from the carried state."""
    supervision: Supervision = NO_SUPERVISION
    constraints: Constraints = UNCONSTRAINED

    @classmethod
    def of_rows(
        cls,
        example_ids: Row,
        inputs: Items,
        targets: Items | None = None,
        supervision: Supervision = NO_SUPERVISION,
        constraints: Constraints = UNCONSTRAINED,
    ) -> Batch:
        """Return a batch of rows that continue none of another batch."""
        ids_B = np.array(example_ids, dtype=np.int64)
        return cls(inputs, targets, ids_B, np.zeros(len(ids_B), dtype=np.bool_), supervision, constraints)

    @property
    def size(self) -> int:
        return len(self.example_ids_B)

    @property
    def predictions(self) -> int:
        """The number of predictions in its loss: of every step, or of every row where rows have labels."""
        return int(self.targets.lengths_B.sum()) if isinstance(self.targets, Ids | Values) else self.size

    @property
    def input_ids(self) -> Ids:
        """The inputs of a model that reads ids; ShapeError where they are something else."""
        return _ids(self.inputs, "inputs")

    @property
    def target_ids(self) -> Ids:
        """The targets of a model that predicts ids; ShapeError where there are none or they are something else."""
        if self.targets is None:
            raise ShapeError("A loss or a score needs targets, but this batch has inputs alone: give it targets.")
        return _ids(self.targets, "targets")


def features_of(ids: Ids) -> ArrayOrTensor:
    """Return the features of rows, B x F; one ``<pad>``, which is id 0, for rows that have none."""
    return ids.features_BF if isinstance(ids, FeaturedIds) else ids.ids_BT[:, :1] * 0


def pad(rows: Sequence[Row], *, value: int = 0, end: int | None = None, multiple: int = 1) -> Ids:
    """Return rows of ids as one rectangle.

    Args:
        rows: the rows; each may be empty where ``end`` is given.
        value: the id that fills the padding.
        end: an id to append to every row, such as ``</s>``.
        multiple: the width becomes a multiple of this.

    >>> pad([[5, 6], [7]], end=3).ids_BT.tolist()
    [[5, 6, 3], [7, 3, 0]]
    """
    closing = [] if end is None else [end]
    lengths = [len(row) + len(closing) for row in rows]
    width = -(-max(lengths, default=0) // multiple) * multiple
    block = np.full((len(rows), width), value, dtype=np.int64)
    for line, row, length in zip(block, rows, lengths, strict=True):
        line[: len(row)] = row
        line[len(row) : length] = closing
    return Ids(block, np.array(lengths, dtype=np.int64))


def _to(value: Any, device: Device | str) -> Any:
    """Return an array as a tensor on ``device``; a tensor or a value with arrays in it there."""
    if isinstance(value, np.ndarray):
        import torch

        value = torch.from_numpy(value)
    return value.to(device)


def _mask(rows: ArrayOrTensor, lengths_B: ArrayOrTensor) -> ArrayOrTensor:
    mask_BT = np.arange(rows.shape[1]) < np.asarray(lengths_B)[:, np.newaxis]
    return mask_BT if isinstance(rows, np.ndarray) else _to(mask_BT, rows.device)


def _ids(items: Items, what: str) -> Ids:
    if not isinstance(items, Ids):
        raise ShapeError(
            f"This model needs a batch whose {what} are Ids, but they are {type(items).__name__}: use a model for them."
        )
    return items
