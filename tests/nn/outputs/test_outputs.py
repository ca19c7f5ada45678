"""What holds for every output layer, whatever it does with a large vocabulary."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from torch import Tensor, nn
from torch.testing import assert_close

from anaphora.batch import Ids, Supervision
from anaphora.kernels.backends import Backend
from anaphora.nn.outputs import AnyOutput
from anaphora.nn.outputs.full import Full
from anaphora.nn.outputs.output import Output
from anaphora.nn.randomness import generator
from anaphora.nn.weights import Uniform
from anaphora.protocols import VocabularyInfo
from tests.runtimes import updating

SIZE, WIDTH = 37, 16
SYMBOLS = VocabularyInfo(SIZE, 0, 1, 2, 3)
EXACT: list[Any] = [
    "full",
    {"kind": "full", "bias": False},
    {"kind": "full", "tied": True},
    {"kind": "full", "tied": True, "bias": False, "fixed_norm": 3.0},
    {"kind": "full", "fixed_norm": 2.5},
    "class-factored",
    {"kind": "class-factored", "classes": 2, "bins": "unigram"},
    {"kind": "class-factored", "classes": SIZE - 1, "tied": True, "bias": False},
    "hierarchical",
    {"kind": "hierarchical", "bias": False},
    "adaptive",
    {"kind": "adaptive", "cutoffs": [5, 11, 30], "factor": 8.0, "bias": False},
]
SAMPLED: list[Any] = [
    "sampled",
    {"kind": "sampled", "proposal": {"kind": "log-uniform", "words": 7}, "tied": True},
    {"kind": "sampled", "proposal": {"kind": "unigram", "words": 7}, "bias": False},
    {"kind": "sampled", "proposal": "partition"},
    "nce",
    {"kind": "nce", "noise_samples": 3, "tied": True},
]

IDS_BT = torch.tensor([[5, 9, 30, 36], [7, 3, 0, 0], [20, 0, 0, 0]])
LENGTHS_B = torch.tensor([4, 2, 1])
WORDS_C = torch.tensor([2, 3, 5, 7, 9, 11, 20, 30, 36])


def shown(table: Any) -> str:
    return str(table) if isinstance(table, str | bool) else "-".join(str(value) for value in table.values())


def parsed(table: Any) -> Any:
    ready = {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()} if isinstance(table, dict) else table
    return TypeAdapter[Any](AnyOutput).validate_python(ready)


def make(table: Any, counted: bool = True) -> Output:
    """An output over a few words, some of them frequent."""
    source = generator(3, "initialise")
    embedding = nn.Embedding(SIZE, WIDTH, _weight=torch.randn(SIZE, WIDTH, generator=source))
    output: Output = parsed(table).build(embedding, WIDTH, SYMBOLS)
    output.initialise(Uniform(range=0.5), source)
    if counted and hasattr(output, "counts"):
        output.counts.set_token_counts(1000 // (1 + torch.randperm(SIZE, generator=source)))
    return output


def states() -> Tensor:
    return torch.randn(4, 3, WIDTH, generator=torch.Generator().manual_seed(1))


TARGETS, SUPERVISION = Ids(IDS_BT, LENGTHS_B), Supervision(partition_C=WORDS_C)


EVERY = pytest.mark.parametrize("table", EXACT + SAMPLED, ids=shown)


@EVERY
def test_the_probabilities_of_all_words_sum_to_1_before_anything_was_counted(table: Any) -> None:
    log_probs = make(table, counted=False).double().eval().log_probs(states()[0].double())
    assert log_probs.shape == (3, SIZE)
    assert_close(log_probs.exp().sum(1), torch.ones(3, dtype=torch.float64))


@pytest.mark.parametrize("table", SAMPLED, ids=shown)
def test_what_training_hardly_looks_at_and_no_text_has_takes_no_probability_from_words(table: Any) -> None:
    output = make(table).double().eval()
    log_probs = output.log_probs(states()[0].double())
    never = [SYMBOLS.pad, SYMBOLS.bos]
    assert torch.isneginf(log_probs[:, never]).all()
    assert torch.isfinite(log_probs[:, [word for word in range(SIZE) if word not in never]]).all()
    listed = Ids(torch.arange(SIZE).unsqueeze(0), torch.tensor([SIZE]))
    assert_close(output.shortlist(listed).log_probs(states()[0].double()), log_probs)


@pytest.mark.parametrize("table", SAMPLED, ids=shown)
def test_gradients_in_evaluation_leave_alone_what_is_never_predicted(table: Any) -> None:
    output = make(table).double().eval()
    output.loss(states().double(), TARGETS, SUPERVISION).sum.backward()
    for weight in output.parameters():
        if weight.numel():
            assert weight.grad is not None and torch.isfinite(weight.grad).all()
            assert not weight.grad[[SYMBOLS.pad, SYMBOLS.bos]].any()


@EVERY
def test_targets_have_the_same_bits_in_rows_of_any_number(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    output = make(table).eval()
    whole_BT = output.target_log_probs(states(), TARGETS)
    monkeypatch.setattr("anaphora.kernels.log_probs.ROWS", 2)
    monkeypatch.setattr("anaphora.kernels.log_probs.NUMBERS", 1)
    np.testing.assert_array_equal(output.target_log_probs(states(), TARGETS), whole_BT)


@EVERY
@settings(max_examples=5)
@given(rows=st.lists(st.integers(0, 6), max_size=12).map(sorted))
def test_any_number_of_words_is_looked_up_in_each_row(table: Any, rows: list[int]) -> None:
    output, states_NH, rows_E = make(table).eval(), states().flatten(0, 1)[:7], np.array(rows, np.int64)
    ids_E = np.random.default_rng(len(rows)).integers(4, output.size, len(rows))
    found_E = output.log_probs_of(states_NH, rows_E, ids_E)
    assert found_E.dtype == np.float64
    for row, word, found in zip(rows, ids_E, found_E, strict=True):
        alone_11 = output.log_probs_of(states_NH[row : row + 1], np.array([0]), word[None])
        assert found == alone_11 == pytest.approx(output.log_probs(states_NH)[row, word].item(), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize(
    ("table", "training"), [(t, False) for t in EXACT + SAMPLED] + [(t, True) for t in EXACT], ids=shown
)
def test_the_loss_is_what_the_targets_cost_but_for_estimates_in_training(table: Any, training: bool) -> None:
    output = make(table).train(training)
    loss, each_BT = output.loss(states(), TARGETS, SUPERVISION), output.target_log_probs(states(), TARGETS)
    assert loss.count == 7
    assert -each_BT.sum().item() == pytest.approx(loss.sum.item(), rel=1e-5)
    assert not each_BT[np.arange(4) >= LENGTHS_B.numpy()[:, None]].any()


@EVERY
def test_padding_never_changes_the_loss(table: Any) -> None:
    output, behind_TB = make(table), torch.arange(4).unsqueeze(1) >= LENGTHS_B
    spoilt = states().masked_fill(behind_TB.unsqueeze(2), torch.nan)
    with updating(1, 1):
        clean, poisoned = output.loss(states(), TARGETS, SUPERVISION).sum, output.loss(spoilt, TARGETS, SUPERVISION).sum
    assert torch.equal(clean, poisoned)


@EVERY
def test_a_row_counts_as_much_as_its_weight_says(table: Any) -> None:
    output, weights_B = make(table).double(), torch.tensor([0.5, 2.0, 0.0], dtype=torch.float64)

    def of_row(b: int) -> Tensor:
        alone = Ids(IDS_BT[b : b + 1], LENGTHS_B[b : b + 1])
        return output.loss(states()[:, b : b + 1].double(), alone, SUPERVISION).sum

    with updating(1, 1):
        together = output.loss(states().double(), TARGETS, Supervision(weights_B, partition_C=WORDS_C)).sum
        assert_close(together, 0.5 * of_row(0) + 2 * of_row(1))


@EVERY
def test_a_row_has_the_same_bits_alone_and_in_any_batch(table: Any) -> None:
    output = make(table).eval()
    rows = torch.randn(9, WIDTH, generator=torch.Generator().manual_seed(4))
    together = output.log_probs(rows)
    for n in 0, 4, 8:
        assert torch.equal(output.log_probs(rows[n : n + 1])[0], together[n])
    assert torch.equal(output.log_probs(rows[3:].flip(0)), together[3:].flip(0))


@EVERY
def test_every_weight_learns(table: Any) -> None:
    output = make(table)
    many = Ids(torch.arange(SIZE).repeat(2, 1), torch.tensor([SIZE, SIZE]))
    with updating(1, 1):
        output.loss(torch.randn(SIZE, 2, WIDTH), many, Supervision(partition_C=torch.arange(SIZE))).sum.backward()
    assert [name for name, w in output.named_parameters() if w.numel() and (w.grad is None or not w.grad.any())] == []


@pytest.mark.parametrize("table", [table for table in SAMPLED if "partition" not in shown(table)], ids=shown)
def test_samples_are_those_of_the_update(table: Any) -> None:
    output = make(table)

    def loss(update: int) -> float:
        with updating(1, update):
            return output.loss(states(), TARGETS, SUPERVISION).sum.item()

    assert loss(1) == loss(1)
    if table != "sampled":  # of so few words all are drawn
        assert loss(1) != loss(2)
    with pytest.raises(RuntimeError, match="within"):
        output.loss(states(), TARGETS, SUPERVISION)


@EVERY
@pytest.mark.parametrize("backend", ["gemm", "bf16"])
def test_every_backend_gives_the_loss_and_the_gradients_up_to_rounding(table: Any, backend: Backend) -> None:
    output, h = make(table), states().requires_grad_()
    weights = [h, *(weight for weight in output.parameters() if weight.numel())]

    def of(way: Backend) -> tuple[Tensor, ...]:
        with updating(backend=way):
            loss = output.loss(h, TARGETS, SUPERVISION).sum
            return loss.detach(), *torch.autograd.grad(loss, weights)

    for rounded, plain in zip(of(backend), of("torch"), strict=True):
        assert_close(rounded, plain, rtol=0.05, atol=0.05)


def test_partitions_have_to_come_with_the_batch() -> None:
    output = make({"kind": "sampled", "proposal": "partition"})
    assert output.partition == 5000
    with pytest.raises(ValueError, match="Partitions"):
        output.loss(states(), TARGETS)


def test_a_table_that_does_not_say_its_kind_is_of_the_full_softmax() -> None:
    assert parsed({"tied": True}) == Full(tied=True)
    assert parsed({}) == parsed("full") == Full()


@pytest.mark.parametrize(
    ("option", "value", "kinds"),
    [
        ("label_smoothing", 0.1, ("class-factored", "hierarchical", "sampled", "nce", "adaptive")),
        ("tied", True, ("hierarchical", "adaptive")),
        ("bias", False, ("nce",)),
    ],
)
def test_options_without_effect_are_refused(option: str, value: Any, kinds: tuple[str, ...]) -> None:
    for kind in kinds:
        with pytest.raises(ValidationError, match=option):
            parsed({"kind": kind, option: value})


@pytest.mark.parametrize("kind", ["full", "class-factored", "sampled", "nce"])
def test_a_tied_output_borrows_the_embedding(kind: str) -> None:
    embedding = nn.Embedding(SIZE, WIDTH)
    assert parsed({"kind": kind, "tied": True}).build(embedding, WIDTH, SYMBOLS).weight is embedding.weight
