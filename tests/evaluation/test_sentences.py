"""What lines cost, each read by itself."""

import pytest
import torch

from anaphora.batch import Batch, Ids
from anaphora.errors import DataError
from anaphora.evaluation import sentences
from anaphora.evaluation.sentences import line_log_probs, sentence_log_probs
from anaphora.protocols import VocabularyInfo
from tests.networks import build

SYMBOLS = VocabularyInfo(17, 0, 1, 2, 3)
LINES = [[5, 9, 11], [], [4], [16, 16, 5, 6, 7], [4, 5]]


def test_units_cost_what_they_cost_in_their_lines_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "ROWS", 2)
    tables = {"reads": "sentences", "embedding": {"size": 6}, "recurrence": {"size": 8}}
    model = build("language-model", tables, {"text": SYMBOLS}, "test.toml")
    model.initialise(3)
    model.eval()
    alone = 0.0
    for line in LINES:
        lengths_B = torch.tensor([len(line) + 1])
        rows = Ids(torch.tensor([[2, *line]]), lengths_B), Ids(torch.tensor([[*line, 3]]), lengths_B)
        loss, carry = model(Batch(*rows, torch.arange(1), torch.tensor([False])))
        assert not carry
        alone += loss.sum.item()
    found = list(sentence_log_probs(model, (unit for line in LINES for unit in [*line, 3]), 2, 3))
    assert -sum(float(log_probs.sum()) for _, log_probs in found) == pytest.approx(alone, rel=1e-6)
    assert sorted(torch.cat([ids for ids, _ in found]).tolist()) == sorted(
        unit for line in LINES for unit in [*line, 3]
    )
    assert list(sentence_log_probs(model, [], 2, 3)) == []


def test_a_line_of_any_length_costs_what_it_costs_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = build("language-model", {"embedding": {"size": 6}, "recurrence": {"size": 8}}, {"text": SYMBOLS}, "test")
    model.initialise(3)
    model.eval()
    units = [unit for line in [[5, 9, 11] * 300, *LINES, [7] * 40] for unit in [*line, 3]]
    at_once = list(sentence_log_probs(model, units, 3, 3))
    monkeypatch.setattr(sentences, "TOKENS", 30)
    sizes: list[int] = []
    read = sentences._batch
    monkeypatch.setattr(
        sentences, "_batch", lambda rows, before: sizes.append(len(rows) * len(rows[0])) or read(rows, before)
    )
    bounded = list(sentence_log_probs(model, units, 3, 3))
    assert sum(len(ids) for ids, _ in bounded) == len(units) and 0 < max(sizes) <= 30
    totals = [sum(float(log_probs.sum()) for _, log_probs in found) for found in (at_once, bounded)]
    assert totals[1] == pytest.approx(totals[0], rel=1e-5)


def test_every_line_is_given_back_at_its_place_with_the_bits_that_it_has_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "TOKENS", 30)
    model = build("language-model", {"embedding": {"size": 6}, "recurrence": {"size": 8}}, {"text": SYMBOLS}, "test")
    model.initialise(3)
    model.eval()
    rows = [[*line, 3] for line in [*LINES, [5, 9, 11] * 20, [7] * 12]]
    found = {}
    for places, log_probs in line_log_probs(model, rows, 3):
        found |= dict(zip(places, log_probs, strict=True))
    assert sorted(found) == list(range(len(rows)))
    for place, row in enumerate(rows):
        [([_], [alone_T])] = line_log_probs(model, [row], 3)
        assert len(alone_T) == len(row) and torch.equal(found[place], alone_T)


def test_a_sentence_too_long_to_be_read_at_once_is_refused_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "TOKENS", 4)
    model = build("language-model", {"reads": "sentences"}, {"text": SYMBOLS}, "test")
    with pytest.raises(DataError, match="Line 4 should be a sentence of at most 4 tokens, but has 6: split it"):
        list(sentence_log_probs(model, (unit for line in LINES for unit in [*line, 3]), 2, 3))
