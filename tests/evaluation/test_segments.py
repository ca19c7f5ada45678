"""Metrics as sums over segments equal the metrics of the whole text."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.evaluation.bleu import bleu
from anaphora.evaluation.classification import classification_scores, several_label_scores
from anaphora.evaluation.descriptions import description_scores
from anaphora.evaluation.perplexity import LineSums
from anaphora.evaluation.segments import SegmentMetric
from anaphora.evaluation.strings import StringScores


def values(metrics: list[SegmentMetric]) -> dict[str, float]:
    return {metric.name: metric.value for metric in metrics}


@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(2, 4))
def test_those_of_classes_are_those_of_the_whole(seed: int, examples: int, classes: int) -> None:
    draws = np.random.default_rng(seed)
    probabilities = draws.dirichlet(np.ones(classes), examples)
    scores = classification_scores([*"abcd"][:classes], draws.integers(classes, size=examples), probabilities)
    whole = {"accuracy": scores.accuracy, "macro-F1": scores.macro_f1, "loss": scores.loss}
    whole |= {"calibration error": scores.calibration_error}
    assert values(scores.segment_metrics()) == pytest.approx(whole)


@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(1, 4))
def test_those_of_several_labels_are_those_of_the_whole(seed: int, examples: int, labels: int) -> None:
    draws = np.random.default_rng(seed)
    true, probabilities = draws.random((examples, labels)) < 0.4, draws.random((examples, labels))
    scores = several_label_scores([*"abcd"][:labels], true, probabilities, np.full(labels, 0.5))
    whole = {"micro-F1": scores.micro_f1, "macro-F1": scores.macro_f1, "exact matches": scores.accuracy}
    assert values(scores.segment_metrics()) == pytest.approx(whole | {"loss": scores.loss})


@given(st.lists(st.tuples(st.text("ab", max_size=4), st.lists(st.text("ab", max_size=4), min_size=1)), min_size=1))
def test_those_of_strings_are_those_of_the_whole(rows: list[tuple[str, list[str]]]) -> None:
    scores = StringScores.of([output for output, _ in rows], [answers for _, answers in rows])
    found = values(scores.segment_metrics())
    rate = found.pop("symbol error rate")
    assert found == pytest.approx({"accuracy": scores.accuracy, "edit distance": scores.edit_distance})
    # edits without a symbol: the rate of the whole divides by one
    assert not any(scores.symbols_of) or rate == pytest.approx(scores.symbol_error_rate)


def test_those_of_descriptions_are_those_of_the_whole() -> None:
    texts = ["a red circle here", "two blue boxes", "nothing"]
    references = [["a red circle is here", "the red circle here"], ["Two  blue boxes"], ["a", "b", "c"]]
    scores = description_scores(texts, references, language="en")
    whole = bleu(texts, references, language="en")
    expected = {"BLEU": whole.value, "CIDEr-D": scores.cider, "exact match": 1 / 3}
    assert values(scores.segment_metrics()) == pytest.approx(expected)
    assert whole.signature in scores.segment_metrics()[0].conditions


@given(st.lists(st.lists(st.integers(1, 3), max_size=4), min_size=1, max_size=6), st.integers(1, 5))
def test_sums_of_lines_do_not_depend_on_where_the_text_is_divided(lines: list[list[int]], size: int) -> None:
    tokens = np.array([token for line in lines for token in [*line, 0]])
    sums = LineSums(end=0)
    for start in range(0, len(tokens), size):
        part = tokens[start : start + size]
        sums.add(part, part[:, None] ** 2.0)
    assert sums.lines()[:, 0].tolist() == [math.fsum(token**2 for token in line) for line in lines]
