"""Bounds of a search: the prefix of each sentence, and its maximum length."""

from collections import abc
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from anaphora.batch import Ids, pad
from anaphora.errors import ConfigError
from anaphora.protocols import Array
from anaphora.wording import inflect


class ForcedSentences(NamedTuple):
    """Sentences that are within their prefix at a step."""

    mask_B: Array
    ids_B: Array
    """The next token of the prefix; any token outside of it."""


@dataclass(frozen=True)
class Bounds:
    """The prefix and the maximum length of every sentence of a batch."""

    prefixes_BT: Array
    """int64: the tokens that sentence b must begin with, 0 in the padding; T may be 0."""
    prefix_lengths_B: Array
    """int64: number of forced tokens. A forced ``</s>`` does not end a sentence."""
    max_lengths_B: Array
    """int64: number of tokens that may be predicted, forced ones and ``</s>`` included."""

    @classmethod
    def of(cls, prefixes: Ids | None, max_length: int | abc.Sequence[int], sentences: int) -> "Bounds":
        """Return the bounds of this many sentences; a prefix is always read whole.

        Raises ConfigError for a maximum length below 1, and for another number of maximum lengths than sentences.
        """
        lengths = [max_length] * sentences if isinstance(max_length, int) else list(max_length)
        if len(lengths) != sentences or min(lengths, default=1) < 1:
            raise ConfigError(
                f"The greatest length should be at least 1 for each of {inflect(sentences, 'sentence')}, but is "
                f"{max_length}: give one number, or one a sentence."
            )
        max_lengths_B = np.array(lengths, dtype=np.int64)
        given = prefixes or pad([()] * sentences)
        # the padding may hold anything, but what is looked up must be an id
        prefixes_BT, lengths_B = np.where(given.mask_BT, given.ids_BT, 0), given.lengths_B
        return cls(prefixes_BT, lengths_B, np.maximum(max_lengths_B, lengths_B))

    @property
    def prefixes(self) -> list[list[int]]:
        """The prefix of every sentence."""
        rows = zip(self.prefixes_BT.tolist(), self.prefix_lengths_B.tolist(), strict=True)
        return [row[:length] for row, length in rows]

    def forced_at(self, step: int, sentences_B: Array) -> ForcedSentences:
        """Return the sentences that are forced at ``step``."""
        if step >= self.prefixes_BT.shape[1]:
            return ForcedSentences(np.zeros(len(sentences_B), dtype=np.bool_), np.zeros_like(sentences_B))
        return ForcedSentences(step < self.prefix_lengths_B[sentences_B], self.prefixes_BT[sentences_B, step])

    def at_end(self, step: int, sentences_B: Array) -> Array:
        """Return a mask of the sentences that have reached their maximum length after ``step``."""
        return step + 1 >= self.max_lengths_B[sentences_B]
