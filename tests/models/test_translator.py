"""A translator: one model whether trained, stepped, alone or in a batch; its attention may be guided."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from anaphora.batch import Batch, Supervision, pad
from anaphora.errors import ConfigError
from anaphora.models.translator import Translator
from anaphora.protocols import VocabularyInfo
from anaphora.search.scoring import score
from tests.kernels import naive
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
        ({"attention": {"kind": "none"}, "guided_alignment": {"kind": "learn"}}, "nothing attends"),
        ({"attention": {"kind": "gaussian-window"}, "guided_alignment": {"kind": "learn"}}, "weights that are shares"),
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


def aligned(alignments_BTS: np.ndarray[Any, Any] | None) -> Batch:
    supervision = Supervision(alignments_BTS=alignments_BTS)
    return Batch.of_rows(range(2), pad([[4, 5, 6, 3], [7, 3]]), pad([[8, 9, 3], [10, 3]]), supervision)


@pytest.mark.parametrize(("query", "context"), [("current", "output"), ("previous", "state"), ("current", "state")])
def test_a_guided_loss_is_that_of_the_words_and_the_cost_of_looking_elsewhere(query: str, context: str) -> None:
    guide = {"guided_alignment": {"kind": "learn", "weight": 0.7}}
    model = make({"attention": {"query": query, "context": context}} | guide).double()
    alignments_BTS = np.zeros((2, 3, 4), np.float32)
    alignments_BTS[0, 0, 1] = alignments_BTS[1, 0, 0] = 1
    alignments_BTS[0, 1, [0, 2]] = 0.5
    guided = aligned(alignments_BTS)
    together, alone = model(guided)[0], model(aligned(None))[0]
    weights_TBS = model.target_signals(guided)[0]["weights"]
    alignments_TBS = torch.from_numpy(alignments_BTS).double().transpose(0, 1)
    assert_close(together.minimised, alone.sum + 0.7 * naive.guidance(weights_TBS, alignments_TBS))
    assert together.sum == alone.sum and together.count == alone.count
    doubled = replace(guided, supervision=replace(guided.supervision, weights_B=np.array([2.0, 2.0])))
    assert_close(model(doubled)[0].minimised, 2 * together.minimised)
