"""A translator fused with a language model: one model whether trained, stepped or read naively, and only its readout
learns."""

from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from anaphora.errors import ConfigError
from anaphora.models.translator import Translator
from tests.networks import build, made
from tests.runtimes import updating

from ..batches import text_batch
from .four_pairs import ALL, SYMBOLS, assert_naive_reading, assert_one_model, cost_after_its_own_likeliest_words

BAHDANAU = {
    "decoder": {"cell": "gru", "input_feeding": False, "readout_size": 10, "readout_layer": "maxout"}
    | {"readout_state": "previous", "readout_word": True},
    "attention": {"score": "concat", "query": "previous", "context": "state"},
}
CONDITIONAL = {"decoder": {"layers": 2, "dropout": 0.2}, "attention": {"query": "current", "context": "state"}}
CHO = {"decoder": {"sentence_encoding": "every-step", "bias": False, "cell": "gru"}, "attention": "none"}
SENTENCES = {"reads": "sentences", "recurrence": {"cell": "gru", "layers": 2, "size": 6, "dropout": 0.5}}
SYSTEMS: dict[str, dict[str, Any]] = {
    "luong": {},
    "bahdanau": BAHDANAU,
    "conditional": CONDITIONAL | {"model": SENTENCES},
    "no attention": CHO,
    "tied": {"decoder": {"readout_size": 8}, "output": {"tied": True}},
}
EVERY_SYSTEM = pytest.mark.parametrize("tables", SYSTEMS.values(), ids=SYSTEMS.keys())


def make(tables: dict[str, Any]) -> Translator:
    """A small fused translator whose language model knows something."""
    model = {"embedding": {"size": 5}, "recurrence": {"size": 7}} | tables.get("model", {})
    sizes = {"embedding": {"size": 8}, "encoder": {"size": 8}, "decoder": {"size": 12}}
    merged = {name: size | tables.get(name, {}) for name, size in sizes.items()}
    merged |= {name: tables[name] for name in ("attention", "output", "guided_alignment") if name in tables}
    merged["fusion"] = {"kind": "deep", "run": "runs/lm", "model": model}
    fused = made(Translator, "translate", merged, SYMBOLS)
    assert fused.language_model is not None
    source = torch.Generator().manual_seed(4)
    for weight in fused.language_model.parameters():
        nn.init.normal_(weight, generator=source)
    return fused


@EVERY_SYSTEM
def test_readout_gate_and_output_learn_and_nothing_else_moves(tables: dict[str, Any]) -> None:
    model = make(tables).train()
    with updating(1, 1):
        model(ALL)[0].sum.backward()
    moved = {name for name, weight in model.named_parameters() if weight.grad is not None and weight.grad.any()}
    tuned = {"output.weight", "output.bias"} if "output" not in tables else {"target_embedding.weight", "output.bias"}
    names = (name for name, _ in model.named_parameters())
    tuned |= {name for name in names if name.startswith(("decoder.weights.combine_", "decoder.weights.gate."))}
    assert moved == tuned


@EVERY_SYSTEM
def test_a_translator_is_one_model_trained_or_stepped_alone_or_in_any_batch(tables: dict[str, Any]) -> None:
    assert_one_model(make(tables))
    if tables in (SYSTEMS["luong"], BAHDANAU, SYSTEMS["conditional"]):
        assert_naive_reading(make(tables))


def test_own_words_in_training_are_read_by_the_language_model_too() -> None:
    sampling = {"kind": "linear", "updates": 1, "min_probability": 0.0, "draw": "argmax"}
    model = make({"decoder": {"scheduled_sampling": sampling}})
    with updating(1, 1):
        loss = model(ALL)[0].sum.item()
    assert loss == pytest.approx(cost_after_its_own_likeliest_words(model), rel=1e-5)


@pytest.mark.parametrize("reads", ["stream", "sentences"])
def test_what_it_reads_beside_the_decoder_is_what_the_language_model_alone_makes_of_a_sentence(reads: str) -> None:
    parts = {"embedding": {"size": 5, "scaled": True}, "recurrence": {"size": 7, "layers": 2}, "reads": reads}
    fused = make({"model": parts}).train()
    assert fused.language_model is not None
    alone: Any = build("language-model", parts, {"text": SYMBOLS}, "test.toml")
    missing = alone.load_state_dict(fused.language_model.state_dict(), strict=False)
    assert not missing.unexpected_keys
    begin = SYMBOLS.bos if reads == "sentences" else SYMBOLS.eos
    ids, lengths = torch.tensor([[5, 6, 7], [9, 0, 0]]), torch.tensor([3, 1])
    text = text_batch(torch.cat([torch.full((2, 1), begin), ids], 1).numpy(), lengths=[3, 1])
    with torch.no_grad():
        states_BTL, *_ = alone.eval().states_and_target_log_probs(text)
    shifted_TB = torch.cat([torch.full((2, 1), SYMBOLS.bos), ids], 1)[:, :3].T
    assert torch.equal(fused.language_model(shifted_TB, lengths).transpose(0, 1), torch.from_numpy(states_BTL))


@pytest.mark.parametrize(
    "tables",
    [
        {"embedding": {"source_vectors": "file", "frozen": True}},
        {"model": {"embedding": {"vectors": "file", "frozen": True}}},
    ],
    ids=["translator", "language model"],
)
def test_a_copy_is_the_same_even_where_tables_hold_rows(tables: dict[str, Any]) -> None:
    fused = make(tables)
    assert_close(dict(deepcopy(fused).state_dict()), dict(fused.state_dict()), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("tables", "remedy"),
    [
        ({"decoder": {"readout_layer": "none"}}, r'readout_layer = "tanh"'),
        ({"guided_alignment": "learn"}, 'set guided_alignment = "none", or train the translator with it before'),
    ],
)
def test_what_fusion_leaves_nothing_to_do_is_refused(tables: dict[str, Any], remedy: str) -> None:
    with pytest.raises(ConfigError, match=remedy):
        make(tables)
