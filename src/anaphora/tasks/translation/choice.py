"""Choice among several translations of a sentence or a line: the result and its alternatives.

Minimum Bayes risk chooses the hypothesis that agrees best with all that the model might have written. The agreement of
two texts is their chrF2 (Popovic 2015), which needs no tokens. Over an n-best list every hypothesis counts as its
probability (Kumar and Byrne 2004), over samples as often as it was drawn (Eikema and Aziz 2020).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from heapq import nlargest
from math import exp, inf

from anaphora.evaluation.bleu import metric_of
from anaphora.prediction.options import SearchOptions
from anaphora.tasks.translation.translation import Translation
from anaphora.text.sentences import Passage, Splitter


def best_of(found: Iterable[Translation], options: SearchOptions) -> Translation:
    """The first of the translations of a sentence, or that of minimum risk, with others of another text."""
    most = 1 + options.alternatives
    if not options.minimum_risk:
        by_text: dict[str, Translation] = {}
        for one in found:
            by_text.setdefault(one.text, one)
            if len(by_text) == most:
                break
        best, *others = by_text.values()
    else:
        best, *others = _least_risk(list(found)[: options.minimum_risk], drawn=options.sampling is not None)[:most]
    return replace(best, alternatives=tuple(others)) if others else best


def _least_risk(found: Sequence[Translation], *, drawn: bool) -> list[Translation]:
    """The translations of different text by expected chrF, which is their rank; of equal ones the first."""
    chances = [1.0] * len(found) if drawn else probabilities([one.score for one in found])
    by_text: dict[str, Translation] = {}
    weights: dict[str, float] = {}
    for one, chance in zip(found, chances, strict=True):
        by_text.setdefault(one.text, one)
        weights[one.text] = weights.get(one.text, 0.0) + chance
    gains = expected_chrf(list(by_text), list(weights.values()))
    ranked = [replace(one, rank=gain) for one, gain in zip(by_text.values(), gains, strict=True)]
    return sorted(ranked, key=lambda one: -one.rank)


def together(
    passage: Passage, parts: Sequence[Translation], options: SearchOptions, splitter: Splitter | None
) -> Translation:
    """One translation of the sentences of a passage.

    Its alternatives are the best of all that the translations of its sentences make: by their ranks together, or of
    samples by how early they were drawn.
    """
    if not parts:
        return Translation(passage.gaps[0], 0.0, True)
    if splitter is None:
        return parts[0]
    gaps = splitter.gaps(passage)
    in_order = options.sampling is not None and not options.minimum_risk
    chosen: list[tuple[float, list[Translation]]] = [(0.0, [])]
    for part in parts:
        grown = [
            (total + (-place if in_order else one.rank), [*before, one])
            for total, before in chosen
            for place, one in enumerate((part, *part.alternatives))
        ]
        chosen = nlargest(1 + options.alternatives, grown, key=lambda one: one[0])
    by_text: dict[str, Translation] = {}
    for _, of_parts in chosen:
        joined = _joined(passage, of_parts, gaps)
        by_text.setdefault(joined.text, joined)
    best, *others = by_text.values()
    return replace(best, alternatives=tuple(others))


def _joined(passage: Passage, parts: list[Translation], gaps: Sequence[str]) -> Translation:
    text = passage.with_sentences([part.text for part in parts], gaps)
    if len(parts) == 1:
        return replace(parts[0], text=text, alternatives=())
    return Translation.joined(text, parts, list(zip(passage.gaps[1:-1], gaps[1:-1], strict=True)))


def expected_chrf(texts: Sequence[str], weights: Sequence[float]) -> list[float]:
    """Return the mean chrF2 of each text, of 100, against all of them as references, each with its weight."""
    metric, total = metric_of("chrF2", "en", "raw", single=True), sum(weights)  # chrF is the same for every language
    references = list(zip(texts, weights, strict=True))
    return [
        sum(weight * metric.sentence_score(text, [reference]).score for reference, weight in references) / total
        for text in texts
    ]


def probabilities(scores: Sequence[float]) -> list[float]:
    """Return the relative probabilities of hypotheses by their ln p; equal ones where none is possible."""
    most = max(scores)
    return [exp(score - most) for score in scores] if most > -inf else [1.0] * len(scores)
