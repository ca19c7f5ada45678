"""What lines cost, each read by itself."""

import pytest
import torch

from anaphora.evaluation import sentences
from anaphora.evaluation.sentences import sentence_log_probs
from anaphora.models.registry import build
from anaphora.protocols import Batch, Sequence, Symbols

SYMBOLS = Symbols(17, 0, 1, 2, 3)
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
        rows = Sequence(torch.tensor([[2, *line]]), lengths_B), Sequence(torch.tensor([[*line, 3]]), lengths_B)
        loss, carry = model(Batch(*rows, torch.arange(1), torch.tensor([False])))
        assert not carry
        alone += loss.sum.item()
    found = list(sentence_log_probs(model, (unit for line in LINES for unit in [*line, 3]), 2, 3))
    assert -sum(float(log_probs.sum()) for _, log_probs in found) == pytest.approx(alone, rel=1e-6)
    assert sorted(torch.cat([ids for ids, _ in found]).tolist()) == sorted(
        unit for line in LINES for unit in [*line, 3]
    )
    assert list(sentence_log_probs(model, [], 2, 3)) == []
