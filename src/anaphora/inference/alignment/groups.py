"""Pairs of sentences laid out for the alignment models: groups of one source length, so that nothing is padded there.

Letters: R the pairs of a group, S the words of their sources, T the words of the longest target.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from anaphora.inference.alignment.lexicon import EMPTY, Lexicon
from anaphora.protocols import Array

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anaphora.data.ragged import Ragged

CELLS = 1 << 19
"""Links that are weighed at once: R x T x (S + 1) is about this at most."""

LONGEST = 2000
"""Tokens of a side that are looked at: of a longer pair, the links of one alone would fill the memory."""


@dataclass(frozen=True)
class Group:
    """Pairs whose sources have the same number of words, those with the longest targets first."""

    rows_R: Array
    """Positions of the pairs."""
    sources_RS: Array
    """Word ids; one column more than words, the last of them the empty word's."""
    targets_RT: Array
    """Word ids, padded."""
    lengths_R: Array
    """Words of the targets, falling."""

    @cached_property
    def active_T(self) -> Array:
        """Number of pairs with a target word at each place: those in front."""
        return np.asarray((self.lengths_R[:, None] > np.arange(self.targets_RT.shape[1])).sum(0))

    @cached_property
    def open_RT(self) -> Array:
        """Mask of target words, without padding."""
        return np.asarray(np.arange(self.targets_RT.shape[1]) < self.lengths_R[:, None])

    def keys_RTS(self, size: int) -> Array:
        """Return the key of every possible link."""
        return self.sources_RS[:, None, :] * size + self.targets_RT[:, :, None]


def has_both_sides(widths: Array, heights: Array) -> Array:
    """Return the pairs with words on both sides, and no more than ``LONGEST``."""
    return np.asarray((np.minimum(widths, heights) > 0) & (np.maximum(widths, heights) <= LONGEST))


def groups(sources: Ragged, targets: Ragged) -> Iterator[Group]:
    """Yield all pairs that can be linked, from short sources to long."""
    widths, heights = sources.lengths, targets.lengths
    open_N = has_both_sides(widths, heights)
    for width in np.unique(widths[open_N]):
        rows = np.flatnonzero((widths == width) & open_N)
        rows = rows[np.argsort(-heights[rows], kind="stable")]
        while len(rows):
            count = max(1, CELLS // int(heights[rows[0]] * (width + 1)))
            yield _group(sources, targets, rows[:count])
            rows = rows[count:]


def seen(sources: Ragged, targets: Ragged, size: int) -> Array:
    """Return the keys of all links that some pair of sentences makes possible, in order."""
    keys, found = np.empty(0, dtype=np.int64), list[Array]()
    for group in groups(sources, targets):
        found.append(np.unique(group.keys_RTS(size)[group.open_RT]))
        if sum(map(len, found)) > max(CELLS, len(keys)):  # what was seen before is held once
            keys, found = np.unique(np.concatenate([keys, *found])), []
    return np.unique(np.concatenate([keys, *found]))


def locate(group: Group, lexicon: Lexicon) -> Array:
    """Return the place in the table of each possible link of a group, R x T x (S + 1); none for padding."""
    entries = lexicon.entries(group.keys_RTS(lexicon.size))
    entries[~group.open_RT] = -1
    return entries


def _group(sources: Ragged, targets: Ragged, rows: Array) -> Group:
    width, heights = int(sources.lengths[rows[0]]), targets.lengths[rows]
    sources_RS = np.full((len(rows), width + 1), EMPTY, dtype=np.int64)
    sources_RS[:, :-1] = sources.ids[sources.offsets[rows][:, None] + np.arange(width)]
    steps = np.arange(int(heights[0]))
    places = np.minimum(targets.offsets[rows][:, None] + steps, len(targets.ids) - 1)
    targets_RT = np.where(steps < heights[:, None], targets.ids[places].astype(np.int64), 0)
    return Group(rows, sources_RS, targets_RT, heights)
