"""Real-valued sequences encoded once, into columns of numbers, and batches of them.

A sequence is scaled vectors, as offsets from point to point where they are strokes of a pen, with its flags. The first
point of strokes is where the others start from, and is not predicted.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np
import torch

from anaphora.batch import Batch, Values, pad
from anaphora.data.bucketed import BucketedBatches
from anaphora.data.buckets import prediction_rows
from anaphora.data.columns import FLOATS, UNBOUNDED, Bound, Integers, Table, Writer
from anaphora.data.example_batches import WIDTH, LazyBatches
from anaphora.data.ragged import Ragged
from anaphora.data.traces import TraceCorpus
from anaphora.errors import DataError
from anaphora.events import Report, Skipped, silent
from anaphora.formats.traces import Floats, Trace
from anaphora.protocols import VocabularyInfo
from anaphora.text.tokenizer import Tokenizer
from anaphora.wording import agreeing

Singles = np.ndarray[Any, np.dtype[np.float32]]


class Placed(Protocol):
    """A sequence that errors can name."""

    @property
    def place(self) -> str:
        """Its file, and where it is there."""


_Placed = TypeVar("_Placed", bound=Placed)


@dataclass(frozen=True)
class Scale:
    """What vectors are in the files, and how they are scaled."""

    pen: bool
    """Whether they are points of a pen, which become offsets."""
    offsets: bool
    """Whether rows with pen bits are offsets already."""
    upward: bool
    """Whether y grows upwards in the files; inside, it grows downwards."""
    mean_D: tuple[float, ...] = ()
    deviation_D: tuple[float, ...] = ()

    def raw(self, trace: Trace) -> Floats:
        """The vectors before they are scaled, T x D; of a pen the offsets, the first one 0.

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

    def encoded(self, trace: Trace) -> Floats:
        """The scaled vectors and the pen flag, T x (D + pen). Raises DataError for vectors of another width."""
        values_TD = self.raw(trace)
        if values_TD.shape[1] != len(self.mean_D):
            raise DataError(
                f"{trace.place} has vectors of {values_TD.shape[1]} numbers, but others have {len(self.mean_D)}: give "
                f"vectors of one width."
            )
        scaled_TD = (values_TD - np.array(self.mean_D)) / np.array(self.deviation_D)
        return scaled_TD if trace.ends_T is None else np.column_stack([scaled_TD, trace.ends_T])

    def decoded(self, values_TD: Floats) -> Floats:
        """Scaled vectors as the files have them; of a pen, offsets."""
        raw_TD: Floats = values_TD * np.array(self.deviation_D) + np.array(self.mean_D)
        return raw_TD * [1, -1] if self.upward else raw_TD


class Encoded(NamedTuple):
    """One encoded sequence."""

    read_TX: Singles
    """Inputs: the vector before each target; first the first point of strokes, or zeros."""
    targets_TY: Singles
    """Each vector with its flags; the last flag is 1 where the sequence ends."""


def sequence(encoded_TX: Floats, pen: bool) -> Encoded:
    """What a network reads and predicts of an encoded sequence, at least two points of a pen."""
    whole = encoded_TX.astype(np.float32)
    if not pen:
        whole = np.concatenate([np.zeros_like(whole[:1]), whole])
    last = np.zeros((len(whole) - 1, 1), np.float32)
    last[-1] = 1
    return Encoded(whole[:-1], np.concatenate([whole[1:], last], 1))


@dataclass(frozen=True)
class TraceStore:
    """Encoded sequences."""

    values_NX: Singles
    """All vectors with their pen flags."""
    ends: Integers
    """Where each sequence begins and the last one ends."""
    texts: Ragged
    """Ids of the texts, without special tokens; empty where texts are not read."""
    pen: bool
    numbers: Integers
    """The place of each sequence in its corpus."""

    @property
    def lengths(self) -> Integers:
        """Vectors to predict of each sequence."""
        return np.diff(self.ends) - int(self.pen)

    def sequence(self, row: int) -> Encoded:
        return sequence(self.values_NX[self.ends[row] : self.ends[row + 1]].astype(np.float64), self.pen)


def trace_store(
    corpus: TraceCorpus,
    scale: Scale,
    tokenizer: Tokenizer | None,
    folder: Path,
    *,
    longest: int = 0,
    report: Report = silent,
) -> TraceStore:
    """The corpus as numbers: from ``folder`` if it was encoded there before in the same way, else encoded now.

    With ``longest`` > 0, sequences with more vectors than that are left out (a Skipped). Raises DataError for a faulty
    sequence, one of a single point, one without a text where ``tokenizer`` is to read it, when none is left, or the
    folder cannot be written.
    """
    width = len(scale.mean_D) + int(scale.pen)

    def encode(into: Writer) -> dict[str, int]:
        skipped = count = 0
        for number, trace in enumerate(corpus.examples()):
            rows_TX = scale.encoded(trace)
            _check(trace, len(rows_TX), scale.pen, tokenizer is not None)
            if longest and len(rows_TX) > longest:
                skipped += 1
            else:
                count += len(rows_TX)
                into.write("values", rows_TX.ravel())
                into.write("values.ends", [count])
                into.add("text", tokenizer.encode(trace.text) if tokenizer else [])
                into.write("numbers", [number])
            into.tell(number + 1)
        return {"skipped": skipped}

    identity = [corpus.fingerprint, repr(scale), tokenizer.fingerprint if tokenizer else "", longest]
    size = tokenizer.symbols.size if tokenizer else 1
    columns: dict[str, Bound] = {
        "values": FLOATS,
        "values.ends": UNBOUNDED,
        "text.ids": size,
        "text.ends": UNBOUNDED,
        "numbers": max(1, corpus.count),
    }
    task = f"encoding {corpus.name}"
    table = Table(folder, identity, columns, encode, task=task, total=corpus.count, report=report)
    if skipped := table.facts["skipped"]:
        report(Skipped(f"sequences of more than {longest} vectors were left out of {corpus.name}", skipped))
    if not len(table["numbers"]):
        raise DataError(f"Every sequence of {corpus.name} has more than {longest} vectors: raise data.max_length.")
    values = cast(Singles, np.asarray(table["values"][:])).reshape(-1, width)
    texts = Ragged(table["text.ids"], table["text.ends"])
    return TraceStore(values, table["values.ends"][:], texts, scale.pen, table["numbers"][:])


class TraceBatches(BucketedBatches):
    """Batches of a store."""

    def __init__(self, store: TraceStore, text: VocabularyInfo | None, *, batch_tokens: int, seed: int) -> None:
        """In a batch, rows times the longest are at most ``batch_tokens`` vectors; with ``text`` its ids are inputs."""
        super().__init__(store.lengths, batch_tokens, seed)
        self._store, self._text = store, text

    def in_order(self) -> LazyBatches:
        """Batches whose widths depend on each sequence alone, so that what is computed of it does too."""
        widths = [-(-lengths // WIDTH) * WIDTH for lengths in (self._store.lengths, self._store.texts.lengths + 1)]
        rows = prediction_rows(list(zip(*(width.tolist() for width in widths), strict=True)), self._budget)
        return LazyBatches(rows, lambda rows: self._batch(self._in_order(rows), WIDTH))

    def _batch(self, rows: Integers, multiple: int = 1) -> Batch:
        sequences = [self._store.sequence(row) for row in rows.tolist()]
        read = padded([one.read_TX for one in sequences], multiple)
        text = self._text
        texts = pad(self._store.texts.each(rows), value=text.pad, end=text.eos, multiple=multiple) if text else None
        return Batch.of_rows(rows, texts or read, padded([one.targets_TY for one in sequences], multiple))


def padded(rows: Sequence[Singles], multiple: int = 1) -> Values:
    """Rows of vectors as one rectangle, 0 in the padding, its width a multiple of ``multiple``."""
    lengths = [len(row) for row in rows]
    block = np.zeros((len(rows), -(-max(lengths) // multiple) * multiple, rows[0].shape[1]), np.float32)
    for line, row in zip(block, rows, strict=True):
        line[: len(row)] = row
    return Values(torch.from_numpy(block), torch.tensor(lengths))


def _check(trace: Trace, points: int, pen: bool, with_text: bool) -> None:
    if pen and points < 2:
        raise DataError(f"{trace.place} has one point, but a sequence needs two or more: remove it.")
    if not points:
        raise DataError(f"{trace.place} has no vectors: remove it.")
    if with_text:
        written_in(trace)


def check_texts(traces: Iterable[Trace]) -> None:
    """Raise DataError with their places for sequences without a text."""
    if places := [trace.place for trace in traces if not trace.text.strip()]:
        shown = f"{', '.join(places[:5])}{', ..' if len(places) > 5 else ''} {agreeing(len(places), 'have')}"
        raise DataError(f"{shown} no text, which is needed here: add it, or remove the sequence.")


def written_in(trace: Trace) -> str:
    """The text of a sequence; DataError where it has none."""
    check_texts([trace])
    return trace.text


def moments(traces: Iterator[_Placed], scale: Callable[[_Placed], Floats]) -> tuple[list[float], list[float]]:
    """Mean and standard deviation of each number; 1 for one that never varies. Vectors should be of one width."""
    count, total, squares, begin = 0, np.zeros(1), np.zeros(1), np.zeros(1)
    for trace in traces:
        values_TD = scale(trace)
        if count and values_TD.shape[1] != len(total):
            raise DataError(
                f"{trace.place} has vectors of {values_TD.shape[1]} numbers, but those before have {len(total)}: give "
                f"vectors of one width."
            )
        begin = begin if count else values_TD[:1].sum(0)
        moved_TD = values_TD - begin  # squares of what lies far from 0 leave nothing of a small deviation
        count, total, squares = count + len(moved_TD), total + moved_TD.sum(0), squares + (moved_TD**2).sum(0)
    mean = total / count
    deviation = np.sqrt(np.maximum(squares / count - mean**2, 0))
    return (begin + mean).tolist(), np.where(deviation > 0, deviation, 1.0).tolist()
