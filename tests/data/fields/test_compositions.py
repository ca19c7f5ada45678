"""Inputs and targets that no task combines: fields, a store, batches and a tiny network learn a rule."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from anaphora.batch import Batch, Grid, Ids, Labels, Values
from anaphora.data.example_batches import ExampleBatches
from anaphora.data.example_store import example_store
from anaphora.data.features import GridShape
from anaphora.data.fields.field import Field
from anaphora.data.fields.grid import Grid as GridField
from anaphora.data.fields.label import Label
from anaphora.data.fields.tags import Tags
from anaphora.data.fields.tokens import Tokens
from anaphora.data.fields.vectors import Vectors
from anaphora.text.words import WordTokenizer
from tests.data.stores import Listed

SEED = 5
NAMES = ("first", "second")


def first(example: Any) -> Any:
    return example[0]


def second(example: Any) -> Any:
    return example[1]


def second_in_place(example: Any) -> Any:
    return example[1], lambda step: f"step {step}"


def learn(
    examples: Sequence[Any],
    fields: tuple[Field[Any], Field[Any]],
    network: torch.nn.Module,
    loss: Callable[[Batch], torch.Tensor],
    folder: Path,
) -> float:
    """Return the loss of the last epoch after 60 of them."""
    store = example_store(Listed(examples), fields, folder, noun="example")
    batches = ExampleBatches(store, *fields, batch_tokens=100, seed=SEED, sized_by=fields[:1])
    optimizer = torch.optim.Adam(network.parameters(), lr=0.05)
    for epoch in range(1, 61):
        losses = []
        for batch in batches.epoch(epoch):
            optimizer.zero_grad()
            found = loss(batch)
            found.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            losses.append(found.item())
    return float(np.mean(losses))


def sequences(count: int) -> list[np.ndarray[Any, Any]]:
    """Return sequences of two numbers a step, none of them near 0."""
    source = np.random.default_rng(SEED)
    signs = [source.choice([-1.0, 1.0], (int(source.integers(1, 7)), 2)) for _ in range(count)]
    return [(one * source.uniform(0.5, 1.5, one.shape)).astype(np.float32) for one in signs]


def labels_of(step: Sequence[float]) -> list[str]:
    return [name for name, value in zip(NAMES, step, strict=True) if value > 0]


def test_vectors_to_several_labels_a_step(tmp_path: Path) -> None:
    examples = [(one, ["|".join(labels_of(step)) or "_" for step in one]) for one in sequences(100)]
    torch.manual_seed(SEED)
    network = torch.nn.Linear(2, 2)

    def loss(batch: Batch) -> torch.Tensor:
        assert isinstance(batch.inputs, Values) and isinstance(batch.targets, Values)
        inside = batch.inputs.mask_BT
        found = network(batch.inputs.values_BTD)[inside]
        return torch.nn.functional.binary_cross_entropy_with_logits(found, batch.targets.values_BTD[inside])

    fields = Vectors("vectors", 2, first), Tags("tags", NAMES, second_in_place, several=True)
    assert learn(examples, fields, network, loss, tmp_path / "store") < 0.1


def test_a_grid_to_a_label(tmp_path: Path) -> None:
    source = np.random.default_rng(SEED)
    grids = [source.normal(size=(4, 3)).astype(np.float32) for _ in range(100)]
    examples = [(one, [NAMES[int(one[:, 0].sum() > 0)]]) for one in grids]
    torch.manual_seed(SEED)
    network = torch.nn.Linear(3, 2)

    def loss(batch: Batch) -> torch.Tensor:
        assert isinstance(batch.inputs, Grid) and isinstance(batch.targets, Labels)
        return torch.nn.functional.cross_entropy(network(batch.inputs.values_BSD.sum(1)), batch.targets.classes)

    fields = GridField("grid", GridShape(2, 2, 3), first), Label("label", NAMES, second)
    assert learn(examples, fields, network, loss, tmp_path / "store") < 0.2


def test_text_to_vectors(tmp_path: Path) -> None:
    source = np.random.default_rng(SEED)
    of_word = {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [-1.0, 2.0]}
    texts = [source.choice(list(of_word), int(source.integers(1, 7))).tolist() for _ in range(100)]
    examples = [(" ".join(text), np.array([of_word[word] for word in text], np.float32)) for text in texts]
    torch.manual_seed(SEED)
    tokenizer = WordTokenizer(list(of_word), lowercase=False, segmentation="whitespace", language="en")
    network = torch.nn.Embedding(tokenizer.symbols.size, 2)

    def loss(batch: Batch) -> torch.Tensor:
        assert isinstance(batch.inputs, Ids) and isinstance(batch.targets, Values)
        found_BTD = network(batch.inputs.ids_BT)[:, : batch.targets.values_BTD.shape[1]]  # without </s>
        inside = batch.targets.mask_BT
        return torch.nn.functional.mse_loss(found_BTD[inside], batch.targets.values_BTD[inside])

    fields = Tokens("text", tokenizer, first), Vectors("vectors", 2, second)
    assert learn(examples, fields, network, loss, tmp_path / "store") < 0.01
