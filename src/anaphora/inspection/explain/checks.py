"""Answers of lessons by this package, with which those of the formulas are compared."""

from collections.abc import Mapping, Sequence
from itertools import chain, product
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import Parameter, functional

from anaphora.batch import pad
from anaphora.evaluation.bleu import bleu
from anaphora.evaluation.perplexity import Likelihood, TextSize, perplexity
from anaphora.inspection.explain.formula import Formulas, term_of
from anaphora.kernels import cells
from anaphora.kernels.densities import MixtureShape
from anaphora.kernels.linear import linear
from anaphora.kernels.losses import label_loss
from anaphora.kernels.mixture import mixture_loss
from anaphora.kernels.observer import Tensors
from anaphora.kernels.outputs.linear_chain import Chain, linear_chain_loss
from anaphora.kernels.outputs.viterbi import best_tags
from anaphora.kernels.parts import Activate, Add, Mask, Part, Project, Unit, previous
from anaphora.kernels.program import Program
from anaphora.kernels.rows import rows_of
from anaphora.kernels.scores import Concat
from anaphora.kernels.softmax import softmax_loss
from anaphora.kernels.truncation import scan_windows
from anaphora.models.ngram.model import NgramConfig, NgramModel, NgramModelConfig
from anaphora.nn.attention import AttentionConfig, SoftAttention
from anaphora.nn.encoders.encoder import EncoderSpec
from anaphora.protocols import VocabularyInfo
from anaphora.training.clipping import clip, global_norm
from anaphora.training.rules import Sgd

Values = Mapping[str, Any]
Answers = dict[str, Any]
ALL = 1000
"""Steps of a window or a chunk that is the whole text."""


def _leaf(values: Any) -> Tensor:
    """Return numbers as a tensor in float64 that has gradients."""
    return torch.tensor(np.array(values), dtype=torch.float64).requires_grad_()


def _leaves(values: Values, *keys: str) -> dict[str, Tensor]:
    return {key: _leaf(values[key]) for key in keys}


def _steps(name: str, values: Sequence[Any] | Tensor) -> Answers:
    """Return values by the symbols of their steps."""
    return {f"{name}[{step}]": value for step, value in enumerate(values, 1)}


def _gradients(loss: Tensor, of: Tensors) -> Answers:
    """Return the gradients of leaves by the keys of lessons."""
    return {f"d{key}": one for key, one in zip(of, torch.autograd.grad(loss, [*of.values()]), strict=True)}


def _scan(
    parts: Sequence[Part],
    given: Mapping[str, Tensor | Sequence[Tensor]],
    weights: Tensors,
    first: Tensors | None = None,
    memory: Tensors | None = None,
    back: int = ALL,
) -> dict[str, Tensor]:
    """Return all that parts write for a batch of one; each loss goes ``back`` so many steps."""
    program = Program(tuple(parts), tuple(signal for part in parts for signal in part.writes))
    inputs = {name: torch.stack([*rows]).reshape(len(rows), 1, -1) for name, rows in given.items()}
    [length] = {len(rows) for rows in given.values()}
    return scan_windows(program, inputs, first or {}, weights, memory or {}, torch.tensor([length]), back).outputs


def run_unit(values: Values, unit: Mapping[str, Any]) -> Answers:
    """Return the states of a unit, and the gradients of all that it was given.

    Args:
        values: numbers of the lesson.
        unit: ``cell`` and its ``options``; keys of the numbers that are its ``inputs`` (without them, ``steps`` of
            zeros), its ``first`` states and its ``weights``, of several one above the other; keys of its ``states``
            by field, step by step; formulas of the gradients that ``arrive`` at some of them.
    """
    cell = cells.CELLS[unit["cell"]](**unit.get("options", {}))
    inputs, first, named = unit.get("inputs", []), unit["first"], unit["weights"]
    of = {key: _leaf(np.atleast_2d(values[key])) for key in chain(inputs, first.values(), *named.values())}
    weights = {name: torch.cat([of[key] for key in keys]) for name, keys in named.items()}
    for name in {"in.bias", *(f"unit.{vector}" for vector in cell.vectors)} & weights.keys():
        weights[name] = weights[name].flatten()
    start = {f"unit.{field}": of[key] for field, key in first.items()}
    x = [of[key] for key in inputs] or [torch.zeros_like(start["unit.h"])] * unit["steps"]
    projected = [Project("in", "x", "a", "in.bias" in weights)] if inputs else []
    outputs = _scan([*projected, Unit("unit", cell, ("a",))], {"x" if inputs else "a": x}, weights, start)
    of_fields = unit["states"].items()
    found = {key: outputs[f"unit.{field}"][t, 0] for field, keys in of_fields for t, key in enumerate(keys)}
    if arriving := unit.get("arrive"):
        formulas = Formulas(dict(values))
        arrived = {state: _leaf(term_of(formulas.evaluate(text, {})).value) for state, text in arriving.items()}
        found |= _gradients(torch.stack([(one * found[state]).sum() for state, one in arrived.items()]).sum(), of)
    return {key: one for key, one in found.items() if key in values}


def linear_recurrence(values: Values) -> Answers:
    """Return the states of h_t = a h_{t-1} + b x_t + c, and the gradients of a."""
    weights = {
        "step.weight": _leaf([[values["a"]]]),
        "in.weight": _leaf([[values["b"]]]),
        "in.bias": _leaf([values["c"]]),
    }
    parts = (
        Project("step", previous("h"), "kept", False),
        Project("in", "x", "new", True),
        Add("sum", ("kept", "new"), "h"),
    )
    h_T = _scan(parts, {"x": _leaf(values["x"])}, weights, {"h": _leaf([[values["h[0]"]]])})["h"].flatten()
    losses = (values["d"] * h_T - torch.tensor(values["y"])) ** 2
    gradients = [torch.autograd.grad(loss, weights["step.weight"], retain_graph=True)[0] for loss in losses]
    return _steps("h", h_T) | _steps("da", gradients) | {"da": sum(gradients)}


def simple_unit(values: Values, back: int = ALL, chunk: int = ALL) -> Answers:
    """Return the losses of the simple unit with a softmax, and its gradients.

    They go ``back`` so many steps, and stop at the border of a ``chunk``.
    """
    width = np.size(values["b"])
    shapes = {"W_xh": (width, -1), "b": (-1,), "W_hh": (width, width), "W_hy": (-1, width), "h[0]": (1, width)}
    of = {key: _leaf(np.reshape(values[key], shape)) for key, shape in shapes.items()}
    weights = {"in.weight": of["W_xh"], "in.bias": of["b"], "unit.h": of["W_hh"]}
    parts, state, h = (Project("in", "x", "a", True), Unit("unit", cells.Elman(), ("a",))), of["h[0]"], list[Tensor]()
    for x in torch.tensor_split(_leaf(values["x"]), tuple(range(chunk, len(values["x"]), chunk))):
        h += _scan(parts, {"x": x}, weights, {"unit.h": state}, back=back)["unit.h"]
        state = h[-1].detach()
    words = torch.tensor(values["y"])[:, None] - 1
    losses = [softmax_loss(row, of["W_hy"], _leaf([]), word) for row, word in zip(h, words, strict=True)]
    return _steps("L", losses) | _gradients(torch.stack(losses).sum(), of)


def truncation(values: Values) -> Answers:
    """Return the gradient of the recurrent weight, whole and truncated in both ways."""
    ways = {"dW_hh": {}, "dW_chunks": {"chunk": values["K"]}, "dW_windows": {"back": values["k"]}}
    return {name: simple_unit(values, **way)["dW_hh"] for name, way in ways.items()}


def _attend(config: AttentionConfig, h: Tensor, keys_SK: Tensor, *matrices: Tensor) -> tuple[Tensor, Tensor]:
    """Return the weights and the context of a state that asks the annotations of a sentence."""
    soft = SoftAttention(config, len(h), EncoderSpec(keys_SK.shape[1], len(h), 1, ("h",), True))
    weights = dict(zip(soft.matrices(), matrices, strict=True))
    memory = soft.prepare(keys_SK.unsqueeze(0), torch.tensor([len(keys_SK)]), weights)
    outputs = _scan(soft.parts("h"), {"h": [h]}, weights, memory=memory)
    return outputs["weights"].flatten(), outputs["context"].flatten()


def attention(values: Values) -> Answers:
    """Return the weights, the context, the state and the probabilities of attention with the score "general"."""
    h, keys, *matrices, of_context, of_state, of_words = _leaves(values, "h", "hbar", "W", "W_c", "W_h", "W_s").values()
    alpha, context = _attend(AttentionConfig(), h, keys, *matrices)
    htilde = torch.tanh(linear(context, of_context) + linear(h, of_state))
    found = {"c": context, "htilde": htilde, "p": torch.softmax(linear(htilde, of_words), -1)}
    return _steps("alpha", alpha) | found


def additive(values: Values) -> Answers:
    """Return weights and context of soft attention with the score "concat", and their gradients."""
    of = _leaves(values, "W", "U", "v", "h", "k[1]", "k[2]", "k[3]")
    w_query, w_keys, v, h, *annotations = of.values()
    a, c = _attend(AttentionConfig(score=Concat()), h, torch.stack(annotations), w_query, w_keys, v.unsqueeze(0))
    return {"a": a, "c": c, **_gradients((c * _leaf(values["dc"])).sum(), of)}


def softmax(values: Values) -> Answers:
    """Return the loss of the fused softmax and its gradients."""
    of = _leaves(values, "W", "h")
    loss = softmax_loss(of["h"].unsqueeze(0), of["W"], _leaf([]), torch.tensor([values["y"] - 1]))
    return {"L": loss, **_gradients(loss, of)}


def sgd(values: Values) -> Answers:
    """Return the numbers after a step of gradient descent, which touches the rows of a batch alone."""
    words = ("man", "bites", "dog", "sees")
    table = Parameter(torch.tensor(np.array([values[f"E[{word}]"] for word in words])))
    x_TD = functional.embedding(torch.tensor([0, 1, 0]), table, sparse=True)
    [table.grad] = torch.autograd.grad(x_TD, [table], _leaf([values[f"dx[{t}]"] for t in (1, 2, 3)]))
    Sgd(learning_rate=values["r"]).build_sparse([table]).step()
    return {f"E[{word},+]": row for word, row in zip(words, table, strict=True)}


def clipping(values: Values) -> Answers:
    """Return the clipped gradient."""
    gradient = torch.tensor(values["dW"])
    clip([gradient], global_norm([gradient]), largest_norm=values["c"])
    return {"dW[clipped]": gradient}


def dropout(values: Values) -> Answers:
    """Return what passes a mask, and the gradient of its input."""
    of, mask = _leaves(values, "x"), _leaf([values[f"m[{place}]"] for place in (1, 2, 3, 4)]).detach()
    y = _scan([Mask("drop", "x", "y", "mask")], {"x": [of["x"]], "mask": [mask]}, {})["y"].flatten()
    return {"y": y, **_gradients((y * _leaf(values["dy"])).sum(), of)}


def residual(values: Values) -> Answers:
    """Return the last layer and the gradient of the input, without and with connections around layers."""
    weights, parts = dict[str, Tensor](), list[Part]()
    for name, k in product("pr", range(1, 7)):
        before, a, t, y = f"{name}{k - 1}", f"{name}_a{k}", f"{name}_t{k}", f"{name}{k}"
        parts += [Project(a, before, a, False), Activate(t, (a,), t), Add(y, (t, before) if name == "r" else (t,), y)]
        weights[f"{a}.weight"] = _leaf([[values["w"][k - 1]]])
    of = {f"x_{name}": _leaf(values["x"]) for name in "pr"}
    outputs = _scan(parts, {"p0": [of["x_p"]], "r0": [of["x_r"]]}, weights)
    last = {f"y_{name}[6]": outputs[f"{name}6"].sum() for name in "pr"}
    return last | _gradients(torch.stack([*last.values()]).sum(), of)


def mixture(values: Values) -> Answers:
    """Return the loss of a mixture of two Gaussians and of a label, and their gradients."""
    of = _leaves(values, "what", "mu[1]", "mu[2]", "shat[1]", "shat[2]", "rhat[1]", "rhat[2]", "ehat")
    *parameters, e = (one.reshape(1, -1) for one in of.values())
    loss = mixture_loss(torch.cat(parameters, 1), _leaf([values["x"]]), MixtureShape(2, 2, True, 1e-16))
    pen = label_loss(e, _leaf([[values["lifted"]]]))
    return {"L": loss, "L[pen]": pen, **_gradients(loss + pen, of)}


def crf(values: Values) -> Answers:
    """Return the loss of a linear chain, its gradients and the best tags."""
    of = _leaves(values, "e[1]", "e[2]", "e[3]", "A", "b", "z")
    scores, emissions_TBC = Chain(of.pop("A"), of.pop("b"), of.pop("z")), torch.stack([*of.values()]).unsqueeze(1)
    loss = linear_chain_loss(emissions_TBC, scores, torch.tensor([[0], [1], [0]]), torch.tensor([3]))
    found = _gradients(loss, of | {"A": scores.transitions_CC})
    arrays = (one.detach().numpy() for one in scores)
    y = (best_tags(emissions_TBC.detach().numpy(), np.array([3]), *arrays)[:, 0] + 1).tolist()
    moves = found.pop("dA")
    found |= {f"dA[{i},{j}]": moves[i - 1, j - 1] for i in (1, 2) for j in (1, 2)}
    return {"L": loss, "S": values[f"s[{y[0]},{y[1]},{y[2]}]"], **found}


def products(values: Values) -> Answers:
    """Return the product of all vectors at once."""
    return {"Y": linear(_leaf([values[f"h[{k}]"] for k in (1, 2, 3)]), _leaf(values["W"])).T}


def perplexity_of_text(values: Values) -> Answers:
    """Return the perplexities of a text and its lines, and bits per character."""
    losses, characters = -np.log(values["p"]), values["characters"]
    text = Likelihood(losses.sum(), 7, TextSize(characters, characters, 7))
    lines = {f"PPL[{line}]": perplexity(part.sum(), len(part)) for line, part in ((1, losses[:4]), (2, losses[4:]))}
    return {"PPL": text.perplexity, **lines, "B[character]": text.bits_per_character}


def bleu_of_sentences(values: Values) -> Answers:
    """Return BLEU."""
    return {"BLEU": bleu(values["output"].tolist(), values["reference"].tolist(), language="en").value}


def kneser_ney_of_lines(values: Values) -> Answers:
    """Return the probabilities of an n-gram model, which has single precision."""
    lines = [line.split() for line in values["lines"].tolist()]
    words = ["<pad>", "<unk>", "<s>", "</s>", *sorted({word for line in lines for word in line})]
    ids = np.array([3, *(words.index(word) for line in lines for word in (*line, "</s>"))])
    model = NgramModel(NgramModelConfig(ngram=NgramConfig(order=2)), VocabularyInfo(len(words), 0, 1, 2, 3))
    model.fit(ids, lambda order: None)
    found = Answers()
    for context, place in (("", -1), ("see,", words.index("see")), ("San,", words.index("San"))):
        [log_probs] = model.backoff.log_probs(np.array([[place]]))
        found |= {f"p[{context}{word}]": np.exp(one) for word, one in zip(words, log_probs, strict=True)}
    return {key: one for key, one in found.items() if key in values}


def padding(values: Values) -> Answers:
    """Return cells of padded batches, and rows of a packed one."""
    mixed, found = values["n"].tolist(), Answers()
    for name, lengths in (("m", mixed), ("s", sorted(mixed, reverse=True))):
        found[f"C_{name}"] = sum(pad([[0] * n for n in part]).ids_BT.size for part in (lengths[:4], lengths[4:]))
    return found | {"R": len(rows_of(np.array(lengths[:4]), lengths[0]))}
