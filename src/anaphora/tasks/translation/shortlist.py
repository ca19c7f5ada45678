"""Candidates of sentences from the shortlist of a run.

They are the most frequent target tokens and, of each of a sentence's own tokens, the most probable translations and the
token itself, which names and numbers need.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from anaphora.batch import Ids, pad
from anaphora.data.columns import Integers
from anaphora.errors import ConfigError
from anaphora.files import sha256
from anaphora.prediction.candidates import Shortlist
from anaphora.run import shortlists
from anaphora.text.tokenizer import EOS, UNK, Tokenizer

Rows = Sequence[Sequence[int]]


class Columns(NamedTuple):
    """A shortlist as it is looked up."""

    frequent_V: Integers
    """Target tokens, the most frequent first."""
    translations_M: Integers
    """The translations of each source token, the most probable first, one source token after the other."""
    starts: Sequence[int]
    """Beginnings of the translations of each source token; and the end of all."""


def candidates_of(columns: Columns, rows: Rows, asked: Shortlist, also: Rows) -> Ids:
    """The candidates of sentences of such source tokens; ids rise. ``also`` are those that each needs."""
    frequent, translations, starts = columns
    always = np.zeros(len(frequent), dtype=bool)
    always[[UNK, EOS]] = True
    always[frequent[: asked.frequent]] = True
    found = []
    for row, needed in zip(rows, also, strict=True):
        inside = always.copy()
        inside[list(needed)] = True
        for token in row:
            inside[translations[starts[token] : min(starts[token + 1], starts[token] + asked.each)]] = True
        found.append(np.flatnonzero(inside))
    return pad(found)


class RunShortlist:
    """The shortlist of one run folder, read when it is first used."""

    def __init__(self, path: Path, source: Tokenizer, target: Tokenizer) -> None:
        self._path, self._source, self._target = path, source, target

    def __call__(self, rows: Rows, asked: Shortlist, also: Rows) -> Ids:
        """The candidates of sentences of such source tokens, each a function of its own sentence; ids rise.

        ``also`` are tokens that the translation of each must be able to have. Raises ConfigError where the run has no
        shortlist, and as ``run.shortlists.read``.
        """
        return candidates_of(self._columns, rows, asked, also)

    @cached_property
    def _columns(self) -> Columns:
        sizes = self._source.symbols.size, self._target.symbols.size
        read = shortlists.read(self._path, digest_of(self._source, self._target), sizes)
        if read is None:
            raise ConfigError(f"{self._path} has no shortlist: make one with anaphora shortlist {self._path}.")
        return Columns(read.frequent_V.numpy(), read.translations_M.numpy(), [0, *read.ends_S.tolist()])


def no_shortlist(rows: Rows, asked: Shortlist, also: Rows) -> NoReturn:
    """The shortlist of a translator that is no run by itself."""
    raise ConfigError("A shortlist is stored in a run, but this translator is none: translate without it.")


def digest_of(source: Tokenizer, target: Tokenizer) -> str:
    """SHA-256 of the vocabularies that a shortlist belongs to."""
    return sha256(f"{source.fingerprint} {target.fingerprint}".encode())
