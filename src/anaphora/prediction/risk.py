"""Minimum Bayes risk: the hypothesis that agrees best with all that the model might have written.

The agreement of two texts is their chrF2 (Popovic 2015), which needs no tokens. Over an n-best list every hypothesis
counts as its probability (Kumar and Byrne 2004), over samples as often as it was drawn (Eikema and Aziz 2020).
"""

from collections.abc import Sequence
from math import exp, inf

from anaphora.evaluation.bleu import metric_of


def expected_chrf(texts: Sequence[str], weights: Sequence[float]) -> list[float]:
    """The mean chrF2 of each text, of 100, against all of them as references, each with its weight."""
    metric, total = metric_of("chrF2", "en", "raw", single=True), sum(weights)  # chrF is the same for every language
    evidence = list(zip(texts, weights, strict=True))
    return [
        sum(weight * metric.sentence_score(text, [reference]).score for reference, weight in evidence) / total
        for text in texts
    ]


def probabilities(scores: Sequence[float]) -> list[float]:
    """The probabilities of hypotheses in proportion to each other, by their ln p; equal ones where none is possible."""
    most = max(scores)
    return [exp(score - most) for score in scores] if most > -inf else [1.0] * len(scores)
