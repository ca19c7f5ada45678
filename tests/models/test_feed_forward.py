"""Feed-forward language models: their papers' equations by hand, bits in any batch, gradients."""

from typing import Any

import pytest
import torch
from torch import Tensor

from anaphora.kernels.naive.units import normalise
from anaphora.models.feed_forward import FeedForwardLanguageModel
from anaphora.protocols import VocabularyInfo
from tests.networks import made
from tests.runtimes import updating

from ..batches import text_batch

SYMBOLS = VocabularyInfo(11, 0, 1, 2, 3)
END = SYMBOLS.eos
KINDS: list[dict[str, Any]] = [
    {"kind": "feed-forward", "words": 3, "size": 16},
    {"kind": "feed-forward", "words": 2, "size": 16, "direct": True},
    {"kind": "feed-forward", "words": 1, "size": 8},
    {"kind": "log-bilinear", "words": 3},
    {"kind": "log-bilinear", "words": 5, "diagonal": True},
    {"kind": "convolution", "layers": 3, "words": 2, "size": 24},
    {"kind": "feed-forward", "words": 2, "size": 8, "bias": False},
    {"kind": "feed-forward", "words": 2, "size": 16, "layer_norm": True},
    {"kind": "convolution", "layers": 3, "words": 2, "size": 8, "layer_norm": True, "bias": False},
]
EVERY_KIND = pytest.mark.parametrize("window", KINDS, ids=lambda window: "-".join(map(str, window.values())))
TEXT = [END, 5, 6, 7, END, 8, 9, 5, 5, END, 10, 6]


def make(window: dict[str, Any], embedding: int = 8) -> FeedForwardLanguageModel:
    tables = {"model": "feed-forward", "embedding": {"size": embedding}, "network": window}
    model = made(FeedForwardLanguageModel, "language-model", tables, SYMBOLS, seed=4)
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.1 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(weight.numel()))
    return model.eval()


def hidden(weights: dict[str, Tensor], name: str, x: Tensor) -> Tensor:
    """tanh(W x + b), where there is a gain, W x normalised."""
    a = weights[f"{name}.weight"] @ x
    if f"{name}.gain" in weights:
        a = normalise(a, weights[f"{name}.gain"])
    return torch.tanh(a + weights.get(f"{name}.bias", 0))


def by_hand(model: FeedForwardLanguageModel, before: list[int]) -> Tensor:
    """The log-probabilities after ``before``, which holds as many ids as the model sees."""
    weights, config = model.window.weights.tensors(), model.config.network
    x = [model.embedding.weight[unit] for unit in before]
    if config.kind == "feed-forward":
        state = hidden(weights, "hidden", torch.cat(x))
        state = torch.cat([state, *x]) if config.direct else state  # type: ignore[union-attr]
    elif config.kind == "log-bilinear":
        C = weights["predict.weight"]
        full = [C[i].diag() for i in range(len(x))] if config.diagonal else C.chunk(len(x), dim=1)  # type: ignore[union-attr]
        state = sum((C_i @ x_i for C_i, x_i in zip(full, x, strict=True)), torch.zeros(8))
    else:
        for layer in range(config.layers):  # type: ignore[union-attr]
            x = [hidden(weights, f"layer{layer}", torch.cat(x[i : i + 2])) for i in range(len(x) - 1)]
        [state] = x
    return torch.log_softmax(model.output.weight @ state + model.output.bias, 0)


@EVERY_KIND
@torch.no_grad()
def test_a_window_of_text_costs_what_the_equations_say(window: dict[str, Any]) -> None:
    model = make(window)
    steps = model.config.network.steps
    padded = [END] * steps + TEXT
    expected = -sum(
        float(by_hand(model, padded[place - steps : place])[padded[place]]) for place in range(steps + 1, len(padded))
    )
    loss, carry = model(text_batch([TEXT]))
    assert float(loss.sum) == pytest.approx(expected, rel=1e-5) and loss.count == len(TEXT) - 1
    assert carry["ids"].tolist() == [padded[len(padded) - steps : -1]]


@pytest.mark.matrix
@EVERY_KIND
@pytest.mark.parametrize("rows", [1, 3, 5, 7, 29])
def test_a_row_has_the_same_bits_whatever_stands_beside_it(window: dict[str, Any], rows: int) -> None:
    stepper = make(window, embedding=60).stepper()
    source = torch.Generator().manual_seed(3)
    ids_NL = torch.randint(4, SYMBOLS.size, (30, stepper.order), generator=source)
    whole_NV = stepper.advance(None, {"ids": ids_NL[:, :-1]}, ids_NL[:, -1].numpy()).log_probs_NV
    part_NV = stepper.advance(None, {"ids": ids_NL[:rows, :-1]}, ids_NL[:rows, -1].numpy()).log_probs_NV
    assert (part_NV == whole_NV[:rows]).all()


@EVERY_KIND
def test_every_weight_learns(window: dict[str, Any]) -> None:
    model = make(window | {"dropout": 0.1}).train()
    with updating(1, 1):
        loss, _ = model(text_batch([TEXT]))
    loss.sum.backward()
    assert [name for name, weight in model.named_parameters() if weight.grad is None or not weight.grad.any()] == []
