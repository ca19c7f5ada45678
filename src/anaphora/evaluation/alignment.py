"""Word alignments: out of attention, between tokens and words, and measured against those of people or another aligner.

A link (i, j) says that token i of the source and token j of the target translate each other; both count from 0.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anaphora.errors import DataError
from anaphora.formats.pharaoh import Links
from anaphora.text.tokenizer import SPACE


def hard_links(weights_TS: npt.NDArray[Any], source: int, target: int) -> Links:
    """Link each of ``target`` tokens to the source position it looked at most (the first of equals).

    ``weights_TS`` may hold a row and a column more, of the two ``</s>``: that row is left out, and a token that looked
    at ``</s>`` most gets no link, nor does one that looked nowhere. ``source`` and ``target`` count the tokens without
    it.
    """
    if not source or not target:
        return frozenset()
    looked_T, most_T = weights_TS[:target].argmax(axis=1), weights_TS[:target].max(axis=1)
    return frozenset((int(i), j) for j, i in enumerate(looked_T) if i < source and most_T[j] > 0)


def words_of(pieces: Sequence[str]) -> list[int | None]:
    """Return the word, counted from 0, that each piece belongs to; None for a piece that is only space."""
    words: list[int | None] = []
    word, open_word = -1, False
    for piece in pieces:
        letters = piece.strip(SPACE)
        open_word = open_word and not piece.startswith(SPACE)
        if letters and not open_word:
            word, open_word = word + 1, True
        words.append(word if letters else None)
        open_word = open_word and not piece.endswith(SPACE)
    return words


def set_space(pieces: Sequence[str], space: bool) -> list[str]:
    """Return the pieces of a text with the space in front of the first, or without it, whatever it had."""
    first, *others = pieces or [""]
    bare = first.removeprefix(SPACE)
    return [SPACE + bare if space else bare, *others][: len(pieces)]


def merge(links: Iterable[tuple[int, int]], source: Sequence[int | None], target: Sequence[int | None]) -> Links:
    """Links between words, given those between pieces and the word of every piece on either side."""
    merged = ((source[i], target[j]) for i, j in links)
    return frozenset((i, j) for i, j in merged if i is not None and j is not None)


class SoftLinks(NamedTuple):
    """Attention of each word of a translation to the words of its source."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    weights_TS: npt.NDArray[np.float64]
    """A row for each word of the translation. It sums to at most 1: what attention gives to ``</s>`` is left out."""

    @classmethod
    def of(cls, weights_TS: npt.NDArray[Any], source: Sequence[str], target: Sequence[str]) -> "SoftLinks":
        """Sum attention between pieces over the pieces of a source word, and take the mean over those of a target word.

        ``source`` and ``target`` are the pieces without ``</s>``; of ``weights_TS`` their rows and columns are read.
        """
        sides = [_group(pieces) for pieces in (source, target)]
        (source_words, of_source_IS), (target_words, of_target_JT) = sides
        weights_JT = of_target_JT / np.maximum(of_target_JT.sum(axis=1, keepdims=True), 1)
        inner_TS = np.asarray(weights_TS, dtype=np.float64)[: len(target), : len(source)]
        return cls(source_words, target_words, weights_JT @ inner_TS @ of_source_IS.T)

    def json(self) -> dict[str, Any]:
        rows = [[round(weight, 4) for weight in row] for row in self.weights_TS.tolist()]
        return {"source": list(self.source), "target": list(self.target), "weights": rows}


def _group(pieces: Sequence[str]) -> tuple[tuple[str, ...], npt.NDArray[np.float64]]:
    """Return the words that pieces make, and 1 for each piece of each word."""
    places = words_of(pieces)
    words = [""] * (1 + max((place for place in places if place is not None), default=-1))
    members = np.zeros((len(words), len(pieces)))
    for number, (piece, place) in enumerate(zip(pieces, places, strict=True)):
        if place is not None:
            words[place] += piece.strip(SPACE)
            members[place, number] = 1
    return tuple(words), members


class Agreement(NamedTuple):
    """Agreement of found links with the right ones, each number from 0 to 1."""

    error_rate: float
    """1 - (|A & S| + |A & P|) / (|A| + |S|), the best being 0 (Och and Ney 2003); A found, S sure, P possible ones."""
    precision: float
    """|A & P| / |A|."""
    recall: float
    """|A & S| / |S|."""

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    def __str__(self) -> str:
        return (
            f"alignment error rate {100 * self.error_rate:.2f}%, precision {100 * self.precision:.2f}%, "
            f"recall {100 * self.recall:.2f}%, F1 {100 * self.f1:.2f}%"
        )


def agreement(found: Sequence[Links], sure: Sequence[Links], possible: Sequence[Links] = ()) -> Agreement:
    """Compare ``found`` links with ``sure`` ones over all sentences; the links of nothing count as all right.

    ``possible`` links are those allowed beside the sure ones, if the gold standard knows them. Raises DataError for
    unequal counts of sentences, or where there is no link at all.
    """
    if len(found) != len(sure) or len(possible) not in (0, len(sure)):
        raise DataError(
            f"Alignments of different sentences: {len(found):,} found, {len(sure):,} sure, {len(possible):,} possible."
        )
    allowed = [s | p for s, p in zip(sure, possible, strict=True)] if possible else sure
    all_found, all_sure = sum(map(len, found)), sum(map(len, sure))
    if not all_found + all_sure:
        raise DataError("An alignment error rate needs links, but there are none on either side: give some.")
    right = sum(len(a & p) for a, p in zip(found, allowed, strict=True))
    met = sum(len(a & s) for a, s in zip(found, sure, strict=True))
    return Agreement(
        error_rate=1.0 - (met + right) / (all_found + all_sure),
        precision=right / all_found if all_found else 1.0,
        recall=met / all_sure if all_sure else 1.0,
    )
