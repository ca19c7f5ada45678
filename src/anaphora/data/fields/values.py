"""Real-valued sequences, scaled: signals, and the strokes of a pen.

Strokes are offsets from point to point, with a flag where the pen is lifted. Their first point is where the others
start from, and is not predicted.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anaphora.batch import Values as PaddedValues
from anaphora.data.columns import FLOATS, Integers
from anaphora.data.fields.field import Field, Place
from anaphora.data.fields.vectors import pad_vectors
from anaphora.data.ragged import Ragged
from anaphora.errors import DataError
from anaphora.formats.traces import Floats, Trace
from anaphora.wording import agreeing


@dataclass(frozen=True)
class Scale:
    """Kind of the vectors in files, and their scaling."""

    pen: bool
    """True for points of a pen, which become offsets."""
    offsets: bool
    """True if rows with pen bits are offsets already."""
    upward: bool
    """True if y grows upwards in the files; inside, it grows downwards."""
    mean_D: tuple[float, ...] = ()
    deviation_D: tuple[float, ...] = ()

    def raw(self, trace: Trace) -> Floats:
        """Return the vectors before they are scaled, T x D; of a pen the offsets, the first one 0.

        Raises DataError for a sequence with a pen among those without, or the other way round.
        """
        if self.pen != (trace.ends_T is not None):
            have, others = ("no pen", "a pen") if self.pen else ("a pen", "none")
            raise DataError(f"{trace.place} has {have}, but the others have {others}: give sequences of one kind.")
        if not self.pen:
            return trace.values_TD
        relative = self.offsets if trace.offsets is None else trace.offsets
        moved_TD = trace.values_TD.copy() if relative else np.diff(trace.values_TD, axis=0, prepend=0)
        moved_TD[0] = 0
        return moved_TD * [1, -1] if self.upward else moved_TD

    def encode(self, trace: Trace) -> Floats:
        """Return the scaled vectors and the pen flag, T x (D + pen); DataError for vectors of another width."""
        values_TD = self.raw(trace)
        if values_TD.shape[1] != len(self.mean_D):
            raise DataError(
                f"{trace.place} has vectors of {values_TD.shape[1]} numbers, but others have {len(self.mean_D)}: give "
                f"vectors of one width."
            )
        scaled_TD = (values_TD - np.array(self.mean_D)) / np.array(self.deviation_D)
        return scaled_TD if trace.ends_T is None else np.column_stack([scaled_TD, trace.ends_T])

    def decode(self, values_TD: Floats) -> Floats:
        """Return scaled vectors as the files have them; of a pen, offsets."""
        raw_TD: Floats = values_TD * np.array(self.deviation_D) + np.array(self.mean_D)
        return raw_TD * [1, -1] if self.upward else raw_TD


class Values(Field[Trace]):
    """Whole sequences, T x (D + pen)."""

    unit = "vector"
    bound = FLOATS

    def __init__(self, name: str, scale: Scale, get: Callable[[Any], Trace] = lambda example: example) -> None:
        super().__init__(name, get)
        self.scale = scale
        self.width = len(scale.mean_D) + int(scale.pen)

    @property
    def identity(self) -> Sequence[object]:
        return [repr(self.scale)]

    def encode(self, values: Sequence[Trace], place: Place) -> Ragged:
        """Return the scaled sequences; DataError for one of another width or kind, and for an empty one."""
        return Ragged.of_arrays([self._encode(trace).astype(np.float32) for trace in values], self.width)

    def items(self, rows: Ragged, chosen: Integers, multiple: int = 1) -> PaddedValues:
        return pad_vectors([self._item(values_TX) for values_TX in rows.split(chosen)], multiple)

    def _encode(self, trace: Trace) -> Floats:
        encoded_TX = self.scale.encode(trace)
        if not len(encoded_TX):
            raise DataError(f"{trace.place} has no vectors: remove it.")
        return encoded_TX

    def _item(self, values_TX: Any) -> Any:
        return values_TX


class PredictedValues(Values):
    """The vectors of sequences that are predicted one by one."""

    def lengths(self, rows: Ragged) -> Integers:
        """Return the number of vectors to predict of each sequence."""
        return np.asarray(rows.lengths - int(self.scale.pen))

    def _encode(self, trace: Trace) -> Floats:
        if self.scale.pen and len(trace.values_TD) < 2:
            raise DataError(f"{trace.place} has one point, but a sequence needs two or more: remove it.")
        return super()._encode(trace)


class PreviousValues(PredictedValues):
    """Inputs of a prediction: the vector before each target; first the first point of strokes, or zeros."""

    def _item(self, values_TX: Any) -> Any:
        return values_TX[:-1] if self.scale.pen else np.concatenate([np.zeros_like(values_TX[:1]), values_TX[:-1]])


class NextValues(PredictedValues):
    """Targets of a prediction: each vector with its flags; the last flag is 1 where the sequence ends."""

    def _item(self, values_TX: Any) -> Any:
        targets_TX = values_TX[1:] if self.scale.pen else values_TX
        last_T1 = np.zeros((len(targets_TX), 1), np.float32)
        last_T1[-1] = 1
        return np.concatenate([targets_TX, last_T1], 1)


def check_texts(traces: Iterable[Trace]) -> None:
    """Raise DataError with their places for sequences without a text."""
    if places := [trace.place for trace in traces if not trace.text.strip()]:
        shown = f"{', '.join(places[:5])}{', ..' if len(places) > 5 else ''} {agreeing(len(places), 'have')}"
        raise DataError(f"{shown} no text, which is needed here: add it, or remove the sequence.")


def written_in(trace: Trace) -> str:
    """Return the text of a sequence; DataError where it has none."""
    check_texts([trace])
    return trace.text
