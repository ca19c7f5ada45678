"""Random segmentations of a text into subwords, drawn anew every epoch, so that a model sees rare words as well.

BPE-dropout (Provilkov, Emelianenko, Voita 2020) skips merges at random; subword regularization (Kudo 2018) samples from
the unigram model. Both map a row of ids to another row that spells the same text. The same generator gives the same
segmentation. Tokens never cross the space between two words.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from random import Random

from anaphora.text.tokenizer import SPACE

Resegment = Callable[[Sequence[int], Random], list[int]]
"""A row of ids and a generator to another row that spells the same text."""

_WORDS_KEPT = 1 << 14
"""Words whose lattices are remembered."""


class _Resegmenting:
    """Segments every word of a row of ids again; ids that spell no text (special tokens, bytes) stay."""

    def __init__(self, tokens: Mapping[str, int]) -> None:
        self._tokens = tokens
        self._texts = {number: token for token, number in tokens.items()}

    def __call__(self, ids: Sequence[int], draw: Random) -> list[int]:
        segmented: list[int] = []
        for word in _words(ids, self._texts):
            segmented += [word] if isinstance(word, int) else self._segment(word, draw)
        return segmented

    def _segment(self, word: str, draw: Random) -> list[int]:
        raise NotImplementedError


class MergeDropout(_Resegmenting):
    """BPE with every possible merge left out with probability ``dropout``, drawn again at every step."""

    def __init__(self, tokens: Mapping[str, int], dropout: float) -> None:
        """``tokens``: the id of every subword but special tokens and bytes; a lower id was merged earlier."""
        super().__init__(tokens)
        self._dropout = dropout

    def _segment(self, word: str, draw: Random) -> list[int]:
        parts = list(word)
        while len(parts) > 1:
            merges = [
                (number, place)
                for place in range(len(parts) - 1)
                if (number := self._tokens.get(parts[place] + parts[place + 1])) is not None
                and draw.random() >= self._dropout
            ]
            if not merges:
                break
            _, place = min(merges)
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
        return [self._tokens[part] for part in parts]


class LatticeSampling(_Resegmenting):
    """A segmentation drawn with probability proportional to its unigram probability to the power ``alpha``."""

    def __init__(self, tokens: Mapping[str, int], scores: Mapping[str, float], alpha: float) -> None:
        """``tokens`` as for MergeDropout, ``scores`` their log-probabilities."""
        super().__init__(tokens)
        self._weights = {token: alpha * score for token, score in scores.items()}
        self._longest = max(map(len, tokens), default=0)
        self._lattice = lru_cache(_WORDS_KEPT)(self._filter)

    def _segment(self, word: str, draw: Random) -> list[int]:
        """Backward sampling: from the word's end, each token given what follows it."""
        lattice = self._lattice(word)
        end, chosen = len(word), []
        while end:
            threshold = draw.random()
            starts = lattice[end]
            start = next((start for start, share in starts if share > threshold), starts[-1][0])
            chosen.append(self._tokens[word[start:end]])
            end = start
        return chosen[::-1]

    def _filter(self, word: str) -> list[list[tuple[int, float]]]:
        """Return for every end the starts of tokens that end there with cumulative chances (forward filtering)."""
        log_sums = [0.0] + [-math.inf] * len(word)
        lattice: list[list[tuple[int, float]]] = [[]]
        for end in range(1, len(word) + 1):
            starts = [
                (start, log_sums[start] + self._weights[word[start:end]])
                for start in range(max(0, end - self._longest), end)
                if word[start:end] in self._tokens and log_sums[start] > -math.inf
            ]
            highest = max((weight for _, weight in starts), default=-math.inf)
            total = sum(math.exp(weight - highest) for _, weight in starts)
            log_sums[end] = highest + math.log(total) if starts else -math.inf
            reached, entry = 0.0, []
            for start, weight in starts:
                reached += math.exp(weight - highest) / total
                entry.append((start, reached))
            lattice.append(entry)
        return lattice


def _words(ids: Sequence[int], texts: Mapping[int, str]) -> list[str | int]:
    """Return the runs of tokens between two spaces as texts, and each id that is no token by itself."""
    words: list[str | int] = []
    for number in ids:
        text = texts.get(int(number))
        if text is None:
            words.append(int(number))
        elif words and isinstance(words[-1], str) and not text.startswith(SPACE):
            words[-1] += text
        else:
            words.append(text)
    return words
