"""Descriptions of images against several references each: BLEU, CIDEr-D (Vedantam et al. 2015), and exact matches."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from anaphora.evaluation.bleu import Score, bleu, segment_metric, word_splitter
from anaphora.evaluation.segments import SegmentMetric, counts, fraction
from anaphora.wording import inflect


@dataclass(frozen=True)
class DescriptionScores:
    """The scores of a text."""

    texts: Sequence[str] = field(repr=False)
    """One for each image."""
    answers: Sequence[Sequence[str]] = field(repr=False)
    """The references of each image."""
    language: str
    bleu: Score
    beam: int = 1
    """Beam of the search that found the texts."""

    @property
    def count(self) -> int:
        return len(self.texts)

    @property
    def references(self) -> int:
        return sum(map(len, self.answers))

    @property
    def exact_match(self) -> float:
        """Fraction of images whose description is one of their references, case and white space aside."""
        return sum(self._right) / self.count

    @property
    def cider(self) -> float:
        """Mean CIDEr-D of the images, from 0 to 10; 0 for a single image."""
        return sum(self._ciders) / self.count

    @cached_property
    def _ciders(self) -> list[float]:
        words = word_splitter(self.language)
        return cider_d([*map(words, self.texts)], [[*map(words, of_one)] for of_one in self.answers])

    @property
    def _right(self) -> list[bool]:
        return [_plain(text) in map(_plain, of_one) for text, of_one in zip(self.texts, self.answers, strict=True)]

    def segment_metrics(self) -> list[SegmentMetric]:
        """BLEU, CIDEr-D and exact match as sums over images; document frequencies stay those of all images."""
        right = counts((self._right, [1] * self.count))
        bleu = segment_metric(self.texts, self.answers, "BLEU", language=self.language)
        cider = SegmentMetric("CIDEr-D", counts((self._ciders, [1] * self.count)), fraction, top=10)
        return [bleu, cider, SegmentMetric("exact match", right, fraction)]

    def json(self) -> dict[str, Any]:
        return {
            "images": self.count,
            "references": self.references,
            "bleu": self.bleu.json(),
            "cider_d": self.cider,
            "exact_match": self.exact_match,
        }

    def __str__(self) -> str:
        images = inflect(self.count, "image")
        return f"{self.bleu}, CIDEr-D {self.cider:.3f}, exact match {self.exact_match:.4f} ({images})"


def description_scores(
    texts: Sequence[str], references: Sequence[Sequence[str]], *, language: str, beam: int = 1
) -> DescriptionScores:
    """Return the scores of one text for each image, whose references may be any number but none.

    Raises DataError and MissingExtraError as ``bleu``.
    """
    return DescriptionScores(texts, references, language, bleu(texts, references, language=language), beam)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


ORDERS = 4
_SIGMA = 6.0

Words = Sequence[str]
Ngram = tuple[str, ...]


def cider_d(outputs: Sequence[Words], references: Sequence[Sequence[Words]]) -> list[float]:
    """Return the score of each image, from one output and at least one reference each.

    Document frequencies are those of ``references``, so the score of a single image alone is 0.

    Both sides are vectors of n-gram counts, weighted by how few images have the n-gram in a reference:

        g(w) = count(w) * (log images - log max(1, images with w))
        similarity_n(r) = exp(-(l - l_r)^2 / (2 * 6^2)) * sum over w of min(g(w), g_r(w)) g_r(w) / (|g| |g_r|)
        CIDEr-D_n = 10 * mean over references r of similarity_n(r)

    and the score of an image is the mean of n = 1 to 4. As in the evaluation code of COCO captions, l is the number of
    bigrams, and orders of which a side has no vector count 0. Values are from 0 to 10.
    """
    ngrams = [[_ngrams(words) for words in of_one] for of_one in references]
    images_with = Counter(ngram for of_one in ngrams for ngram in set().union(*of_one))
    rarity = {ngram: math.log(len(references)) - math.log(images) for ngram, images in images_with.items()}
    unseen = math.log(len(references)) if references else 0.0
    found = []
    for output, of_one in zip(outputs, ngrams, strict=True):
        own = _weight(_ngrams(output), rarity, unseen)
        similar = [_similarity(own, _weight(reference, rarity, unseen)) for reference in of_one]
        found.append(10 * sum(similar) / len(similar))
    return found


class _Vectors(NamedTuple):
    """The vectors of one text."""

    weights: list[dict[Ngram, float]]
    """Weights of n-grams by order."""
    norms: list[float]
    bigrams: int


def _ngrams(words: Words) -> Counter[Ngram]:
    """Count the n-grams of a text."""
    starts = [(order, start) for order in range(1, ORDERS + 1) for start in range(len(words) - order + 1)]
    return Counter(tuple(words[start : start + order]) for order, start in starts)


def _weight(ngrams: Counter[Ngram], rarity: dict[Ngram, float], unseen: float) -> _Vectors:
    weights: list[dict[Ngram, float]] = [{} for _ in range(ORDERS)]
    for ngram, times in ngrams.items():
        weights[len(ngram) - 1][ngram] = times * rarity.get(ngram, unseen)
    norms = [math.sqrt(sum(value * value for value in of_order.values())) for of_order in weights]
    return _Vectors(weights, norms, sum(times for ngram, times in ngrams.items() if len(ngram) == 2))


def _similarity(own: _Vectors, reference: _Vectors) -> float:
    """Return a number from 0 to 1: the mean over orders of a cosine of clipped weights, less for another length."""
    total = 0.0
    for order in range(ORDERS):
        theirs, norms = reference.weights[order], own.norms[order] * reference.norms[order]
        if norms:
            shared = ((weight, theirs[ngram]) for ngram, weight in own.weights[order].items() if ngram in theirs)
            total += sum(min(mine, other) * other for mine, other in shared) / norms
    return total / ORDERS * math.exp(-((own.bigrams - reference.bigrams) ** 2) / (2 * _SIGMA**2))
