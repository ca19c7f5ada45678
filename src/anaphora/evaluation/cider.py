"""CIDEr-D (Vedantam et al. 2015, section 7): how much a description shares with what several people wrote.

Both sides are vectors of n-gram counts, weighted by how few images have the n-gram in a reference:

    g(w) = count(w) * (log images - log max(1, images with w))
    similarity_n(r) = exp(-(l - l_r)^2 / (2 * 6^2)) * sum over w of min(g(w), g_r(w)) g_r(w) / (|g| |g_r|)
    CIDEr-D_n = 10 * mean over references r of similarity_n(r)

and the score of an image is the mean of n = 1 to 4. As in the evaluation code of COCO captions, l is the number of
bigrams, and orders of which a side has no vector count 0. Values are from 0 to 10.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

ORDERS = 4
_SIGMA = 6.0

Words = Sequence[str]
Ngram = tuple[str, ...]


def cider_d(outputs: Sequence[Words], references: Sequence[Sequence[Words]]) -> list[float]:
    """The score of each image, from one output and at least one reference each.

    Document frequencies are those of ``references``, so the score of a single image alone is 0.
    """
    counted = [[_ngrams(words) for words in of_one] for of_one in references]
    images_with = Counter(ngram for of_one in counted for ngram in set().union(*of_one))
    rarity = {ngram: math.log(len(references)) - math.log(images) for ngram, images in images_with.items()}
    unseen = math.log(len(references)) if references else 0.0
    found = []
    for output, of_one in zip(outputs, counted, strict=True):
        own = _weighted(_ngrams(output), rarity, unseen)
        similar = [_similarity(own, _weighted(reference, rarity, unseen)) for reference in of_one]
        found.append(10 * sum(similar) / len(similar))
    return found


class _Vectors(NamedTuple):
    """The vectors of one text."""

    weights: list[dict[Ngram, float]]
    """By order."""
    norms: list[float]
    bigrams: int


def _ngrams(words: Words) -> Counter[Ngram]:
    """How often each n-gram is in the text."""
    starts = [(order, start) for order in range(1, ORDERS + 1) for start in range(len(words) - order + 1)]
    return Counter(tuple(words[start : start + order]) for order, start in starts)


def _weighted(ngrams: Counter[Ngram], rarity: dict[Ngram, float], unseen: float) -> _Vectors:
    weights: list[dict[Ngram, float]] = [{} for _ in range(ORDERS)]
    for ngram, times in ngrams.items():
        weights[len(ngram) - 1][ngram] = times * rarity.get(ngram, unseen)
    norms = [math.sqrt(sum(value * value for value in of_order.values())) for of_order in weights]
    return _Vectors(weights, norms, sum(times for ngram, times in ngrams.items() if len(ngram) == 2))


def _similarity(own: _Vectors, reference: _Vectors) -> float:
    """From 0 to 1: the mean over orders of a cosine of clipped weights, less for another length."""
    total = 0.0
    for order in range(ORDERS):
        theirs, norms = reference.weights[order], own.norms[order] * reference.norms[order]
        if norms:
            shared = ((weight, theirs[ngram]) for ngram, weight in own.weights[order].items() if ngram in theirs)
            total += sum(min(mine, other) * other for mine, other in shared) / norms
    return total / ORDERS * math.exp(-((own.bigrams - reference.bigrams) ** 2) / (2 * _SIGMA**2))
