"""The loss of lines, each read by itself, and of those that begin alike as a tree of their prefixes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anaphora.batch import Batch, pad
from anaphora.errors import DataError
from anaphora.evaluation import sentences
from anaphora.evaluation.sentences import PrefixTree, line_log_probs, sentence_log_probs
from anaphora.kernels.backends import InferencePrecision
from anaphora.kernels.runtime import Runtime, running
from anaphora.models.language_model import LanguageModel
from anaphora.protocols import VocabularyInfo
from tests.networks import build

SYMBOLS = VocabularyInfo(17, 0, 1, 2, 3)
LINES = st.lists(st.lists(st.integers(4, 6), max_size=5).map(lambda line: [*line, 3]), min_size=1, max_size=12)
SOME = [[5, 9, 11], [], [4], [16, 16, 5, 6, 7], [4, 5]]
KINDS: dict[str, dict[str, Any]] = {
    "plain": {"recurrence": {"size": 8}},
    "lstm": {"recurrence": {"size": 8, "layers": 2}},
    "sentences": {"reads": "sentences", "recurrence": {"size": 8, "initial_state": "learned"}},
    "gru, normalized": {"recurrence": {"size": 8, "cell": {"kind": "gru"}, "layer_norm": True}},
    "elman, adaptive": {"recurrence": {"size": 8, "cell": {"kind": "elman"}}, "output": {"kind": "adaptive"}},
    "window of gradients": {"recurrence": {"size": 8, "truncation": {"kind": "window", "steps": 2}}},
}


def network(kind: str) -> LanguageModel:
    model = build("language-model", {"embedding": {"size": 6}, **KINDS[kind]}, {"text": SYMBOLS}, "test")
    assert isinstance(model, LanguageModel)
    model.initialise(3)
    return model.eval()


def by_place(model: LanguageModel, rows: list[list[int]]) -> list[Any]:
    found = {}
    for places, log_probs in line_log_probs(model, rows, 3):
        found |= dict(zip(places, log_probs, strict=True))
    return [found[place] for place in range(len(rows))]


@pytest.mark.parametrize(
    ("kind", "precision"), [*((kind, "fp32") for kind in KINDS), ("lstm", "bf16"), ("gru, normalized", "int8")]
)
@settings(max_examples=6)
@given(rows=LINES)
@example(rows=[[3]])
def test_a_line_of_a_tree_has_its_bits_alone(kind: str, precision: InferencePrecision, rows: list[list[int]]) -> None:
    model = network(kind)
    with running(Runtime.inference(precision=precision)):
        together = PrefixTree(sorted(rows)).log_probs(model, 3)
        for row, found_T in zip(sorted(rows), together, strict=True):
            [([_], [alone_T])] = line_log_probs(model, [row], 3)
            np.testing.assert_array_equal(found_T, alone_T)


def test_lines_are_read_as_trees_where_that_is_less_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "TREE", 3)
    monkeypatch.setattr(sentences, "LEVEL", 1)
    model, alike = network("lstm"), [[5, 5, 5, 5, last, 3] for last in (7, 4, 6)]
    rows = [alike[0], [9, 3], alike[1], [8, 3], [12, 13, 14, 3], alike[2]]
    assert PrefixTree(sorted(alike)).saves and not PrefixTree(sorted(rows[1::2])).saves
    for found_T, row in zip(by_place(model, rows), rows, strict=True):
        assert np.array_equal(found_T, by_place(model, [row])[0])


def test_units_cost_what_they_cost_in_their_lines_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "ROWS", 2)
    model, alone = network("sentences"), 0.0
    for line in SOME:
        loss, carry = model(Batch.of_rows([0], pad([[2, *line]]), pad([[*line, 3]])))
        assert not carry
        alone += loss.sum.item()
    units = [unit for line in SOME for unit in [*line, 3]]
    found = list(sentence_log_probs(model, iter(units), 2, 3))
    assert -sum(float(log_probs.sum()) for _, log_probs in found) == pytest.approx(alone, rel=1e-6)
    assert np.concatenate([ids for ids, _ in found]).tolist() == units
    assert list(sentence_log_probs(model, [], 2, 3)) == []
    monkeypatch.setattr(sentences, "TOKENS", 4)
    with pytest.raises(DataError, match="Line 4 should be a sentence of at most 4 tokens, but has 6: split it"):
        list(sentence_log_probs(model, iter(units), 2, 3))


def test_a_line_of_any_length_costs_what_it_costs_at_once_and_keeps_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    model = network("plain")
    rows = [[*line, 3] for line in [[5, 9, 11] * 40, *SOME, [5, 9, 11] * 20, [7] * 12]]
    at_once = by_place(model, rows)
    monkeypatch.setattr(sentences, "TOKENS", 30)
    for row, found_T, whole_T in zip(rows, by_place(model, rows), at_once, strict=True):
        assert len(found_T) == len(row) and found_T == pytest.approx(whole_T, rel=1e-5)
        assert np.array_equal(found_T, by_place(model, [row])[0])
