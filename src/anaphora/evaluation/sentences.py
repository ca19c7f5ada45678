"""Log-probabilities of lines, each by itself: no state is carried, so many lines are read side by side."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import accumulate, islice, takewhile
from typing import Any, NamedTuple, cast

import numpy as np

from anaphora.batch import Batch, Ids, pad
from anaphora.errors import DataError
from anaphora.evaluation.stream import LogProbs, stream_log_probs
from anaphora.protocols import Array, Carry, TextModel
from anaphora.wording import inflect

Found = tuple[list[int], list[Array]]
"""Positions of rows, and ln p of the tokens of each."""

ROWS = 64
"""Sentences of a batch."""

SORTED = 32 * ROWS
"""Sentences that are sorted by length together."""

TREE = 8 * ROWS
"""Sentences that are read as one tree at most."""

TOKENS = 1 << 16
"""Rows times the longest in a batch at most, and tokens of a line that is read at once."""


def sentence_log_probs(model: TextModel, ids: Iterable[int], before: int, end: int) -> LogProbs:
    """Yield the tokens of a text and ln p of each, some lines at a time; each line closes with ``end``.

    ``before`` precedes every line. A line of running text may have any length: a long one is read window by window. A
    model of sentences, for which ``before`` and ``end`` differ, reads each of them at once.
    ``model`` is in evaluation mode. Raises DataError for a sentence too long for that.
    """
    rows = _rows(ids, end, 0 if before == end else TOKENS)
    while some := list(islice(rows, SORTED)):
        found = dict[int, Array]()
        for places, log_probs in line_log_probs(model, some, before):
            found.update(zip(places, log_probs, strict=True))
        in_order = np.concatenate([found[place] for place in range(len(some))])
        yield np.array([token for row in some for token in row]), in_order


def line_log_probs(model: TextModel, rows: Sequence[list[int]], before: int) -> Iterator[Found]:
    """Positions in ``rows`` and ln p of the tokens of each of these rows, in float64.

    A row has the same bits whatever the other rows are. For ``model``, ``before`` and long rows see
    ``sentence_log_probs``; but a model of sentences must be given no row of more than ``TOKENS``. Where many rows of a
    recurrent model begin alike, what they have in common is read once.
    """
    left: Sequence[int] = range(len(rows))
    if hasattr(model, "following_log_probs"):
        left = yield from _alike(model, rows, before)
    yield from _by_length(model, rows, before, left)


def _alike(model: Any, rows: Sequence[list[int]], before: int) -> Generator[Found, None, list[int]]:
    """Yield ``line_log_probs`` of rows that are faster read as a tree; return the positions of the others."""
    left = [place for place, row in enumerate(rows) if len(row) > TOKENS]
    places = sorted((place for place, row in enumerate(rows) if len(row) <= TOKENS), key=rows.__getitem__)
    for start in range(0, len(places), TREE):
        some = places[start : start + TREE]
        tree = PrefixTree([rows[place] for place in some])
        if tree.saves:
            yield some, tree.log_probs(model, before)
        else:
            left += some
    return left


def _by_length(model: TextModel, rows: Sequence[list[int]], before: int, left: Iterable[int]) -> Iterator[Found]:
    """Yield ``line_log_probs`` of the rows that are ``left``, the longest first."""
    places = sorted(left, key=lambda place: -len(rows[place]))
    done = 0
    while done < len(places):
        longest = len(rows[places[done]])
        some = places[done : done + max(1, min(ROWS, TOKENS // longest))]
        done += len(some)
        if longest > TOKENS:
            read = stream_log_probs(model, rows[some[0]], before)
            yield some, [np.concatenate([log_probs_N for _, log_probs_N in read])]
            continue
        log_probs_BT, _ = model.target_log_probs(_batch([rows[place] for place in some], before))
        yield some, [of_row_T[: len(rows[place])] for place, of_row_T in zip(some, log_probs_BT, strict=True)]


def _rows(ids: Iterable[int], end: int, most: int) -> Iterator[list[int]]:
    """Yield the tokens of every line with its end.

    DataError for one of more than ``most`` tokens, where that is not 0.
    """
    row: list[int] = []
    number = 1
    for token in ids:
        row.append(token)
        if token == end:
            if 0 < most < len(row):
                raise DataError(
                    f"Line {number:,} should be a sentence of at most {inflect(most, 'token')}, but has "
                    f"{len(row):,}: split it."
                )
            yield row
            row, number = [], number + 1


def _batch(rows: list[list[int]], before: int) -> Batch:
    ids_BL = pad([[before, *row] for row in rows], value=before).ids_BT
    lengths_B = np.array([len(row) for row in rows])
    return Batch.of_rows(range(len(rows)), Ids(ids_BL[:, :-1], lengths_B), Ids(ids_BL[:, 1:], lengths_B))


LEVEL = 32
"""Tokens of lines that are read in the time that a level of the tree takes besides the reading of its prefixes."""


class _Level(NamedTuple):
    """The distinct prefixes of one length, in the order of their tokens."""

    ids: list[int]
    """The last token of each."""
    parents: list[int]
    """The place of each prefix without that token, in the level before."""


class PrefixTree:
    """The distinct prefixes of some lines.

    The distinct prefixes of all lines form a tree. It is read by length, all prefixes of one length side by side; each
    continues the state of the prefix that is a token shorter, and one prediction serves all tokens that follow it.
    """

    def __init__(self, rows: Sequence[list[int]]) -> None:
        """``rows``: the tokens of the lines, each at least one, in ascending order."""
        self.levels: list[_Level] = []
        self.paths: list[list[int]] = []
        """For each line, the place of its prefix of every length in its level."""
        before, path = list[int](), list[int]()
        for row in rows:
            shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, row, strict=False)))
            path = path[:shared]
            for depth in range(shared, len(row)):
                if depth == len(self.levels):
                    self.levels.append(_Level([], []))
                level = self.levels[depth]
                level.ids.append(row[depth])
                level.parents.append(path[-1] if path else 0)
                path.append(len(level.ids) - 1)
            self.paths.append(path)
            before = row

    @property
    def saves(self) -> bool:
        """True if it is faster to read the tree than each line by itself."""
        distinct, tokens = sum(len(level.ids) for level in self.levels), sum(map(len, self.paths))
        return distinct + LEVEL * len(self.levels) < tokens

    def log_probs(self, model: Any, before: int) -> list[Array]:
        """ln p of the tokens of every line, in float64; ``before`` precedes each line.

        They have the bits that each line has alone. ``model`` is in evaluation mode.
        """
        found, carry = list[Array](), cast("Carry | None", None)
        ids_N, row_N = np.array([before]), np.array([0])
        for level in self.levels:
            place_M, of_place_N = np.unique(level.parents, return_inverse=True)  # they ascend
            if carry:
                carry = {name: state_XH[row_N[place_M]] for name, state_XH in carry.items()}
            read_M, ids_N, row_N = ids_N[place_M], np.array(level.ids), of_place_N
            log_probs_N, carry = model.following_log_probs(carry, read_M, row_N, ids_N)
            found.append(log_probs_N)
        begins = [0, *accumulate(map(len, found))]
        found_P = np.concatenate(found)
        return [found_P[[begin + place for begin, place in zip(begins, path, strict=False)]] for path in self.paths]
