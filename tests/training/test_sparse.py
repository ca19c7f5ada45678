"""Tables that learn by the rows of a batch: the same as without, faster; or lazily, under a name of its own."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from anaphora.config import Config
from anaphora.errors import ConfigError
from anaphora.nn.embedding import Embedding, TableConfig
from anaphora.training.optimizer import NamedOptimizer
from anaphora.training.ranks import ALONE
from anaphora.training.rules import Adam, LazyAdam, Rule, Sgd
from anaphora.training.sparse import sparse_tables

WORDS, SIZE = 9, 4
BATCHES = [torch.tensor([[1, 2, 1], [5, 1, 2]]), torch.tensor([[2, 7]]), torch.tensor([[1, 1]])]


class Network(nn.Module):
    """A table and a matrix, whose loss weighs every vector differently."""

    def __init__(self) -> None:
        super().__init__()
        self.words = Embedding(TableConfig(size=SIZE), WORDS, "words")
        self.readout = nn.Linear(SIZE, 3, bias=False)
        source = torch.Generator().manual_seed(7)
        with torch.no_grad():
            for weight in self.parameters():
                weight.copy_(torch.randn(weight.shape, generator=source))

    def learn(self, ids: Tensor) -> None:
        out: Tensor = torch.tanh(self.readout(torch.tanh(self.words(ids))))
        (out * torch.arange(1.0, out.numel() + 1).view_as(out)).sum().backward()  # type: ignore[no-untyped-call]


def trained(rule: Rule, updates: list[list[Tensor]]) -> Network:
    model = Network()
    optimizer = NamedOptimizer(rule, model)
    for micro_batches in updates:
        optimizer.clear()
        for ids in micro_batches:
            model.learn(ids)
        optimizer.add_gradients(ALONE)
        optimizer.step(0.1, epoch=1)
    return model


@pytest.mark.parametrize("updates", [[[ids] for ids in BATCHES], [BATCHES, BATCHES[1:]]], ids=["single", "micro"])
def test_sparse_descent_leaves_the_bits_of_dense_descent(updates: list[list[Tensor]]) -> None:
    dense, sparse = trained(Sgd(), updates), trained(Sgd(sparse=True), updates)
    assert torch.equal(dense.words.weight, sparse.words.weight)
    assert torch.equal(dense.readout.weight, sparse.readout.weight)


def test_lazy_adam_moves_the_words_of_a_batch_alone() -> None:
    ids, then = [torch.tensor([[1, 2]])], [torch.tensor([[2]])]
    for rule, moved in (LazyAdam(), [2]), (Adam(), [1, 2]):
        before, after = (trained(rule, updates).words.weight for updates in ([ids], [ids, then]))
        assert (before != after).any(1).nonzero().flatten().tolist() == moved


@pytest.mark.parametrize("epsilon", [1e-8, 1e-3, 1.0])
@pytest.mark.parametrize("betas", [(0.9, 0.999), (0.5, 0.9), (0.0, 0.0)])
def test_words_of_every_batch_move_by_the_steps_of_adam(epsilon: float, betas: tuple[float, float]) -> None:
    for updates in ([[BATCHES[0]]], [[BATCHES[0]]] * 4):
        lazy, dense = (trained(rule(betas=betas, epsilon=epsilon), updates) for rule in (LazyAdam, Adam))
        torch.testing.assert_close(lazy.words.weight, dense.words.weight, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("by_torch", [False, True])
def test_a_saved_state_goes_on_by_the_rule_that_it_began_with(by_torch: bool) -> None:
    rule, before, after = LazyAdam(epsilon=0.1), Network(), Network()
    begun, resumed = NamedOptimizer(rule, before), NamedOptimizer(rule, after)
    before.learn(BATCHES[0])
    begun.add_gradients(ALONE)
    begun.step(0.1, epoch=1)
    saved = {name: one.clone() for name, one in begun.tensors().items() if not by_torch or "corrected" not in name}
    after.load_state_dict(before.state_dict())
    resumed.restore(saved, {}, Path("optimizer.safetensors"))
    assert resumed.tensors().keys() == saved.keys()

    table = nn.Parameter(before.words.weight.detach().clone())
    of_torch = torch.optim.SparseAdam([table], lr=0.1, betas=rule.betas, eps=rule.epsilon)
    of_torch.state[table] = {name: saved[f"{name}/words.weight"].clone() for name in ("exp_avg", "exp_avg_sq")}
    of_torch.state[table]["step"] = 1
    for model, optimizer in ((before, begun), (after, resumed)):
        optimizer.clear()
        model.learn(BATCHES[1])
        optimizer.add_gradients(ALONE)
        table.grad = model.words.weight.grad
        optimizer.step(0.1, epoch=1)
    of_torch.step()
    assert torch.equal(after.words.weight, table if by_torch else before.words.weight)
    assert not torch.equal(before.words.weight, table)


def test_a_gradient_has_the_rows_of_the_words_that_learn_something() -> None:
    model = Network()
    optimizer = NamedOptimizer(LazyAdam(), model)
    model.learn(BATCHES[0])
    (model.words(torch.tensor([3])) * 0).sum().backward()  # type: ignore[no-untyped-call]
    optimizer.add_gradients(ALONE)
    gradient = model.words.weight.grad
    assert gradient is not None and gradient.indices().tolist() == [[1, 2, 5]]
    rows, matrix = optimizer.gradients()
    assert rows.shape == (3, SIZE) and matrix.shape == model.readout.weight.shape


def test_tied_shared_and_frozen_tables_stay_dense() -> None:
    tied, shared = Network(), Network()
    tied.readout.weight = tied.words.weight
    shared.other = shared.words
    frozen = nn.Sequential(Embedding(TableConfig.model_construct(size=SIZE, frozen=True), WORDS, "words"))
    assert list(sparse_tables(Network())) == ["words.weight"]
    assert not any(map(sparse_tables, (tied, shared, frozen)))


@pytest.mark.parametrize(
    ("rule", "table"), [(LazyAdam, {"kind": "lazy-adam"}), (Sgd, {"kind": "sgd", "sparse": True})], ids=["adam", "sgd"]
)
def test_what_would_shrink_absent_words_is_refused(rule: type[Config], table: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"weight_decay = 0.1.*words that are not in a batch too"):
        rule.parse(table | {"weight_decay": 0.1}, "here")
