"""The recipe ``bilstm-attention`` is its equations: written out by hand, one sentence and one word at a time."""

import tomllib

import torch
from torch import Tensor

from anaphora import recipes
from anaphora.models.translator import Translator
from anaphora.protocols import VocabularyInfo
from tests.networks import made

from ..batches import pair_batch

SOURCE, TARGET = VocabularyInfo(11, 0, 1, 2, 3), VocabularyInfo(13, 0, 1, 2, 3)


def lstm(a_4n: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    i, f, g, o = a_4n.chunk(4)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def log_likelihood(w: dict[str, Tensor], source: list[int], target: list[int]) -> Tensor:
    """Log p(target | source) by section 4 of the equations; all vectors are columns."""
    x = [w["source_embedding.weight"][word] for word in source]
    annotations = {}
    for way, order in ("right_to_left", range(len(x) - 1, -1, -1)), ("left_to_right", range(len(x))):
        part = f"encoder.layers.0.{way}.weights"
        h = c = torch.zeros(4, dtype=torch.float64)
        for j in order:
            h, c = lstm(w[f"{part}.input0.weight"] @ x[j] + w[f"{part}.layer0.h"] @ h, c)
            annotations[way, j] = h
        annotations[way, "last h"], annotations[way, "last c"] = h, c
    both = [torch.cat([annotations["right_to_left", j], annotations["left_to_right", j]]) for j in range(len(x))]

    d = "decoder.weights"
    h, c = (
        w[f"{d}.start0_{field}.weight"]
        @ torch.cat([annotations["right_to_left", f"last {field}"], annotations["left_to_right", f"last {field}"]])
        for field in "hc"
    )
    o = torch.zeros(6, dtype=torch.float64)
    w_ybar = torch.cat([w[f"{d}.input0.weight"], w[f"{d}.feed.weight"]], 1)
    w_u = torch.cat([w[f"{d}.combine_context.weight"], w[f"{d}.combine_state.weight"]], 1)
    total = torch.zeros((), dtype=torch.float64)
    for before, word in zip([TARGET.bos, *target], [*target, TARGET.eos], strict=True):
        ybar = torch.cat([w["target_embedding.weight"][before], o])
        h, c = lstm(w_ybar @ ybar + w[f"{d}.layer0.h"] @ h, c)
        e = torch.stack([h @ w[f"{d}.attention.memory"] @ hs for hs in both])
        a = sum(weight * hs for weight, hs in zip(torch.softmax(e, 0), both, strict=True))
        o = torch.tanh(w_u @ torch.cat([a, h]))
        total = total + torch.log_softmax(w["output.weight"] @ o, 0)[word]
    return total


def test_the_recipe_is_its_equations_which_have_no_biases() -> None:
    tables = tomllib.loads(recipes.read("bilstm-attention"))
    tables["embedding"] = {"size": 5}
    tables["encoder"] |= {"size": 4, "dropout": 0.0}
    tables["decoder"] |= {"size": 6, "dropout": 0.0}
    model = made(Translator, "translate", tables, {"source": SOURCE, "target": TARGET}, seed=7).double()
    sources, targets = [[4, 5, 6, 3], [7, 3], [9, 10, 3]], [[4, 12], [5], [6, 7, 8, 4]]
    loss, _ = model(pair_batch(sources, [[*target, 3] for target in targets], multiple=1))
    assert loss.count == 10
    weights: dict[str, Tensor] = {name: weight for name, weight in model.named_parameters() if weight.numel()}
    by_hand = -sum(log_likelihood(weights, s, t) for s, t in zip(sources, targets, strict=True))
    torch.testing.assert_close(loss.sum, by_hand, rtol=1e-12, atol=1e-12)
    found, expected = (
        dict(zip(weights, torch.autograd.grad(total, [*weights.values()]), strict=True))
        for total in (loss.sum, by_hand)
    )
    assert all(gradient.any() for gradient in expected.values())
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-11)
