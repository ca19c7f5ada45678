"""Scores of tags; those of spans are seqeval's in its strict mode (seqeval 1.2.2)."""

import pytest

from anaphora.evaluation.tags import TagCounts
from anaphora.formats.span_tags import Encoding

SEQEVAL: dict[Encoding, tuple[list[str], list[str], tuple[float, float, float, float]]] = {
    "iob1": (
        [
            "B-LOC I-LOC I-LOC B-LOC O B-PER I-PER O",
            "I-PER O I-LOC B-PER I-PER B-PER B-LOC O",
            "B-LOC I-PER O I-PER B-PER I-LOC I-PER B-PER",
        ],
        [
            "O B-LOC I-LOC O I-PER B-PER I-PER I-PER",
            "I-PER O I-PER B-PER I-PER I-LOC B-LOC O",
            "I-LOC I-PER O I-LOC I-LOC I-LOC I-PER B-PER",
        ],
        (0.3076923076923077, 0.3333333333333333, 0.32, 0.25),
    ),
    "iob2": (
        [
            "B-LOC I-PER B-LOC B-LOC B-LOC B-PER I-LOC O",
            "I-PER I-LOC B-LOC B-LOC B-LOC I-PER B-LOC I-LOC",
            "B-LOC B-LOC B-LOC B-LOC I-PER B-LOC B-PER I-PER",
        ],
        [
            "B-LOC I-PER B-LOC B-LOC B-LOC B-PER I-LOC O",
            "I-PER I-LOC I-LOC B-LOC B-LOC I-PER B-LOC I-LOC",
            "O I-LOC B-LOC B-LOC B-PER B-LOC I-PER I-PER",
        ],
        (0.9166666666666666, 0.7333333333333333, 0.8148148148148148, 0.6847826086956522),
    ),
    "bioes": (
        [
            "B-LOC O B-LOC B-PER E-PER B-LOC S-PER I-PER",
            "S-LOC O E-LOC S-PER E-PER E-LOC B-PER I-PER",
            "I-PER E-PER O E-PER E-LOC I-LOC E-LOC B-PER",
        ],
        [
            "B-LOC O B-LOC B-PER E-PER S-LOC S-PER I-PER",
            "S-LOC O E-LOC S-PER E-PER E-LOC E-LOC I-PER",
            "I-PER E-PER O E-PER E-LOC B-PER E-LOC B-PER",
        ],
        (0.8, 1.0, 0.888888888888889, 0.8333333333333333),
    ),
}
"""Expected and predicted tags, faulty ones among them, with precision, recall, F1 and macro F1."""


@pytest.mark.parametrize("encoding", SEQEVAL)
def test_spans_are_scored_as_seqeval_scores_them(encoding: Encoding) -> None:
    expected, predicted, scores = SEQEVAL[encoding]
    counts = TagCounts(encoding)
    assert (counts.accuracy, counts.labels.f1, counts.macro_f1) == (0.0, 0.0, 0.0)
    for one, other in zip(expected, predicted, strict=True):
        counts.add(one.split(), other.split(), [True] * 8)
    spans = counts.labels
    assert (spans.precision, spans.recall, spans.f1, counts.macro_f1) == pytest.approx(scores, abs=1e-12)


def test_accuracy_counts_tokens_of_unknown_words_apart() -> None:
    counts = TagCounts()
    counts.add(["A", "B", "A"], ["A", "A", "A"], [True, False, False])
    counts.add(["B"], ["B"], [True])
    assert counts.accuracy == 0.75
    assert (counts.unknown, counts.unknown_right) == (2, 1)
    assert (counts.sentences, counts.sentences_right) == (2, 1)
    assert counts.by_tag["A"].f1 == pytest.approx(0.8)
    assert counts.by_tag["B"].recall == 0.5


def test_of_several_labels_of_a_token_each_counts() -> None:
    counts = TagCounts(several=True)
    counts.add(["A|B", "_", "C"], ["A", "C", "C"], [True] * 3)
    assert (counts.labels.expected, counts.labels.predicted, counts.labels.right) == (3, 3, 2)
    assert counts.accuracy == pytest.approx(1 / 3)
