"""The loss of lines read each by itself."""

import pytest
import torch

from anaphora.evaluation import sentences
from anaphora.evaluation.sentences import sentence_loss
from anaphora.models.registry import build
from anaphora.protocols import Batch, Sequence, Symbols

SYMBOLS = Symbols(17, 0, 1, 2, 3)
LINES = [[5, 9, 11], [], [4], [16, 16, 5, 6, 7], [4, 5]]


def test_the_loss_is_the_sum_of_those_of_the_lines_alone(monkeypatch: pytest.MonkeyPatch) -> None:
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
    heard: list[int] = []
    nats, tokens = sentence_loss(model, (unit for line in LINES for unit in [*line, 3]), SYMBOLS, heard.append)
    assert nats == pytest.approx(alone, rel=1e-6)
    assert tokens == heard[-1] == sum(map(len, LINES)) + len(LINES)
