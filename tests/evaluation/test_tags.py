"""Scores of tags; those of spans are seqeval's in its strict mode (seqeval 1.2.2)."""

import tomllib
from pathlib import Path

import pytest

from anaphora.evaluation.tags import TagCounts
from anaphora.formats.span_tags import Encoding

SEQEVAL = tomllib.loads(Path(__file__).with_name("seqeval.toml").read_text())


@pytest.mark.parametrize("encoding", SEQEVAL)
def test_spans_are_scored_as_seqeval_scores_them(encoding: Encoding) -> None:
    expected, predicted, scores = SEQEVAL[encoding].values()
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
