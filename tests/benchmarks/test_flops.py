"""The operations of a training step are those of its equations, on real positions alone."""

import torch

from anaphora.batch import Batch, Ids
from anaphora.models.translator import Translator
from anaphora.protocols import VocabularyInfo
from benchmarks.flops import training_flops
from tests.networks import made


def rows(*lengths: int) -> Ids:
    return Ids(torch.ones(len(lengths), max(lengths), dtype=torch.int64), torch.tensor(lengths))


def test_flops_are_counted_by_hand_without_padding() -> None:
    tables = {"embedding": {"size": 3}, "encoder": {"cell": "gru", "size": 5}, "decoder": {"cell": "lstm", "size": 7}}
    tables["attention"] = {"score": "general"}
    model = made(Translator, "translate", tables, VocabularyInfo(size=11, pad=0, unk=1, bos=2, eos=3))
    batch = Batch(rows(4, 2), rows(3, 5), torch.arange(2), torch.zeros(2, dtype=torch.bool))
    source = 6 * (2 * 3 * 5 * (3 + 5) + 7 * 10)  # both directions, and the keys
    start = 2 * 2 * 7 * 10  # state and cell
    target = 8 * (4 * 7 * (3 + 7 + 7) + 7 * (10 + 7) + 11 * 7)  # unit with input feeding, combination, vocabulary
    attention = (4 * 3 + 2 * 5) * (7 + 10)  # every target with every source: its key, its value
    assert training_flops(model, batch) == 6 * (source + start + target + attention)
