"""Text as the ids of its tokens."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from anaphora.batch import FeaturedIds, Ids, pad
from anaphora.data.columns import Bound, Column, Integers, Table, Writer
from anaphora.data.fields.field import Field, Place
from anaphora.data.ragged import Ragged, token_counts
from anaphora.text.tokenizer import Tokenizer


class Tokens(Field[str]):
    """Text as ids, without special tokens in a store; each row of a batch ends in ``</s>``."""

    unit = "token"

    def __init__(self, name: str, tokenizer: Tokenizer, get: Callable[[Any], str] = str, *, longest: int = 0) -> None:
        """With ``longest`` > 0, texts are truncated to so many tokens."""
        super().__init__(name, get)
        self.tokenizer, self._longest, self.bound = tokenizer, longest, tokenizer.symbols.size

    @property
    def identity(self) -> Sequence[object]:
        return [self.tokenizer.fingerprint, self._longest]

    def encode(self, values: Sequence[str], place: Place) -> Ragged:
        return self.truncate(Ragged.of(self.tokenizer.encode_lines(values, 1)))

    def truncate(self, rows: Ragged) -> Ragged:
        """Return rows of at most ``longest`` tokens."""
        return rows.truncate(self._longest)

    def lengths(self, rows: Ragged) -> Integers:
        """Return the number of tokens of each row, ``</s>`` included."""
        return np.asarray(rows.lengths + 1)

    def items(self, rows: Ragged, chosen: Integers, multiple: int = 1) -> Ids:
        symbols, own = self.tokenizer.symbols, rows.split(chosen)
        found = pad(own, value=symbols.pad, end=symbols.eos, multiple=multiple)
        if not symbols.features:
            return found
        lengths_B = (found.ids_BT == symbols.eos).argmax(1) + 1
        features = pad([row[length:] for row, length in zip(own, lengths_B.tolist(), strict=True)], end=symbols.eos)
        return FeaturedIds(found.ids_BT, lengths_B, features.ids_BT)

    def counts(self, rows: Ragged) -> Integers:
        """Return how often each token is to be predicted, ``</s>`` once a row."""
        symbols = self.tokenizer.symbols
        counts_V = token_counts(rows.ids, symbols.size)
        counts_V[symbols.eos] += len(rows)
        return counts_V


class RunningText(Tokens):
    """Running text as one flat row of ids: ``</s>``, then the lines one after the other, each with its ``</s>``."""

    @property
    def columns(self) -> Mapping[str, Bound]:
        return {f"{self.name}.ids": self.bound}

    def appender(self, into: Writer) -> Callable[[Ragged], None]:
        end = self.tokenizer.symbols.eos
        into.write(f"{self.name}.ids", [end])
        return lambda rows: into.write(f"{self.name}.ids", np.insert(rows.ids, np.cumsum(rows.lengths), end))

    def from_store(self, table: Table) -> Column:
        return table[f"{self.name}.ids"]
