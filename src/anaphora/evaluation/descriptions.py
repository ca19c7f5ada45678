"""Descriptions of images against several references each: BLEU, and how many are one of their references."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anaphora.evaluation.bleu import Score, bleu_of_several


@dataclass(frozen=True)
class DescriptionScores:
    """The scores of a text."""

    count: int
    """Images."""
    references: int
    bleu: Score
    exact_match: float
    """Fraction of images whose description is one of their references, case and white space aside."""

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
    score = bleu_of_several(texts, references, language=language)
    right = sum(_plain(text) in map(_plain, of_one) for text, of_one in zip(texts, references, strict=True))
    return DescriptionScores(len(texts), sum(map(len, references)), score, right / len(texts))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
