"""Descriptions of images against several references each: BLEU, and how many are one of their references."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from anaphora.evaluation.bleu import Score, bleu_of_several, segment_bleu_of_several
from anaphora.evaluation.segments import SegmentMetric, counts, fraction


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
        """Images."""
        return len(self.texts)

    @property
    def references(self) -> int:
        return sum(map(len, self.answers))

    @property
    def exact_match(self) -> float:
        """Fraction of images whose description is one of their references, case and white space aside."""
        return sum(self._right) / self.count

    @property
    def _right(self) -> list[bool]:
        return [_plain(text) in map(_plain, of_one) for text, of_one in zip(self.texts, self.answers, strict=True)]

    def metrics(self) -> list[SegmentMetric]:
        """BLEU and exact match as sums over images."""
        right = counts((self._right, [1] * self.count))
        bleu = segment_bleu_of_several(self.texts, self.answers, language=self.language)
        return [bleu, SegmentMetric("exact match", right, fraction)]

    def json(self) -> dict[str, Any]:
        """Everything, for ``json.dumps``."""
        return {
            "images": self.count,
            "references": self.references,
            "bleu": self.bleu.json(),
            "exact_match": self.exact_match,
        }

    def __str__(self) -> str:
        return f"{self.bleu}, exact match {self.exact_match:.4f} ({self.count:,} images)"


def description_scores(
    texts: Sequence[str], references: Sequence[Sequence[str]], *, language: str
) -> DescriptionScores:
    """The scores of one text for each image, whose references may be any number but none.

    Raises DataError and MissingExtraError as ``bleu``.
    """
    return DescriptionScores(texts, references, language, bleu_of_several(texts, references, language=language))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
