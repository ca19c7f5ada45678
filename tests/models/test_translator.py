"""A translator: one model whether trained, stepped, alone or in a batch."""

from typing import Any

import numpy as np
import pytest
import torch

from anaphora.errors import ConfigError
from anaphora.models.translator import Translator
from anaphora.protocols import VocabularyInfo
from anaphora.search.scoring import score
from tests.networks import made
from tests.runtimes import updating

from ..batches import pair_batch
from .four_pairs import ALL, SYMBOLS, cost_after_its_own_likeliest_words


def make(tables: dict[str, Any], source: VocabularyInfo = SYMBOLS) -> Translator:
    sizes = {"embedding": {"size": 8}, "encoder": {"size": 8}, "decoder": {"size": 24}}
    merged = {name: sizes.get(name, {}) | tables.get(name, {}) for name in sizes.keys() | tables.keys()}
    return made(Translator, "translate", merged, {"source": source, "target": SYMBOLS})


def test_shared_and_tied_tables_are_one() -> None:
    model = make({"embedding": {"shared": True}, "decoder": {"readout_size": 8}, "output": {"tied": True}})
    assert model.source_embedding.weight is model.target_embedding.weight is model.output.weight
    assert len({id(weight) for weight in model.parameters()}) == len(list(model.parameters()))


@pytest.mark.parametrize(
    ("tables", "remedy"),
    [
        ({"attention": {"query": "previous"}}, "query"),
        ({"attention": {"score": "dot"}}, "decoder.size = 16"),
        ({"output": {"tied": True}}, "readout"),
        ({"embedding": {"shared": True}}, "text.joint"),
        ({"decoder": {"cell": "lstmm"}}, "decoder.cell"),
    ],
)
def test_options_that_do_not_go_together_are_refused_with_a_remedy(tables: dict[str, Any], remedy: str) -> None:
    with pytest.raises(ConfigError, match=remedy):
        make(tables, source=VocabularyInfo(19, 0, 1, 2, 3))


def test_weights_start_from_the_seed() -> None:
    first, again = make({}), make({})
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True))
    again.initialise(seed=4)
    assert not torch.equal(first.source_embedding.weight, again.source_embedding.weight)


def test_positions_are_those_of_the_sentence_where_the_encoder_reads_it_in_reverse() -> None:
    window = {"query": "current", "context": "output", "window": {"kind": "local-m", "radius": 1}}
    model = make({"encoder": {"bidirectional": False, "reversed": True}, "attention": window, "decoder": {"size": 8}})
    rows = [[4, 5, 6, 7, 8, 3], [9, 10, 3]]
    for forced, row in zip(score(model.stepper(), pair_batch(rows, rows)), rows, strict=True):
        assert forced.weights is not None
        for step, weights_S in enumerate(forced.weights):
            assert np.flatnonzero(weights_S).tolist() == [s for s in range(step - 1, step + 2) if 0 <= s < len(row)]


SAMPLING = [
    {"kind": "linear", "updates": 1, "min_probability": 0.5},
    {"kind": "linear", "updates": 1, "min_probability": 0.0, "draw": "argmax"},
]


def sampled(sampling: dict[str, Any], update: int = 1, **tables: Any) -> tuple[Translator, torch.Tensor]:
    model = make({"decoder": {"scheduled_sampling": sampling}} | tables)
    with updating(1, update):
        return model, model(ALL)[0].sum


@pytest.mark.parametrize("sampling", SAMPLING)
def test_words_of_its_own_are_a_function_of_the_update_and_teach_every_weight(sampling: dict[str, Any]) -> None:
    (model, loss), (_, again), (_, later) = sampled(sampling), sampled(sampling), sampled(sampling, 2)
    assert model.training
    assert loss.item() == again.item()
    assert (loss.item() == later.item()) == (sampling["min_probability"] == 0)
    loss.backward()
    assert [name for name, w in model.named_parameters() if w.numel() and (w.grad is None or not w.grad.any())] == []


def test_a_decoder_that_reads_its_own_likeliest_words_reads_what_greedy_search_writes() -> None:
    model, loss = sampled(SAMPLING[1])
    assert loss.item() == pytest.approx(cost_after_its_own_likeliest_words(model), rel=1e-5)


def test_scheduled_sampling_changes_nothing_but_training() -> None:
    model, _ = sampled(SAMPLING[0])
    plain = make({})
    with torch.no_grad():
        assert torch.equal(model.eval()(ALL)[0].sum, plain.eval()(ALL)[0].sum)
