"""Descriptions of images against several references each: BLEU, CIDEr-D, and how many are one of their references."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from anaphora.evaluation.bleu import Score, bleu_of_several, segment_bleu_of_several, word_splitter
from anaphora.evaluation.cider import cider_d
from anaphora.evaluation.segments import SegmentMetric, counts, fraction
from anaphora.wording import counted


@dataclass(frozen=True)
class DescriptionScores:
    """The scores of a text."""

    texts: Sequence[str] = field(repr=False)
    """One for each image."""
    answers: Sequence[Sequence[str]] = field(repr=False)
    """The references of each image."""
    language: str
    bleu: Score

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

    def metrics(self) -> list[SegmentMetric]:
        """BLEU, CIDEr-D and exact match as sums over images; document frequencies stay those of all images."""
        right = counts((self._right, [1] * self.count))
        bleu = segment_bleu_of_several(self.texts, self.answers, language=self.language)
        cider = SegmentMetric("CIDEr-D", counts((self._ciders, [1] * self.count)), fraction)
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
        images = counted(self.count, "image")
        return f"{self.bleu}, CIDEr-D {self.cider:.3f}, exact match {self.exact_match:.4f} ({images})"


def description_scores(
    texts: Sequence[str], references: Sequence[Sequence[str]], *, language: str
) -> DescriptionScores:
    """The scores of one text for each image, whose references may be any number but none.

    Raises DataError and MissingExtraError as ``bleu``.
    """
    return DescriptionScores(texts, references, language, bleu_of_several(texts, references, language=language))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
