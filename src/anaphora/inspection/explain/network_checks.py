"""Answers of lessons about units, attention, outputs and training, by the kernels."""

from collections.abc import Mapping
from itertools import chain, product
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import Parameter, functional

from anaphora.inspection.explain.checks import Values, leaf
from anaphora.inspection.explain.formula import Formulas, term_of
from anaphora.kernels import cells
from anaphora.kernels.densities import MixtureShape
from anaphora.kernels.linear import linear
from anaphora.kernels.losses import label_loss
from anaphora.kernels.mixture import mixture_loss
from anaphora.kernels.outputs.linear_chain import Chain, linear_chain_loss
from anaphora.kernels.outputs.viterbi import best_tags
from anaphora.kernels.parts import Activate, Add, Mask, Part, Project, Unit
from anaphora.kernels.program import Program
from anaphora.kernels.scan import scan
from anaphora.kernels.scores import Concat
from anaphora.kernels.softmax import softmax_loss
from anaphora.nn.attention import AttentionConfig, SoftAttention
from anaphora.nn.encoders.encoder import EncoderSpec
from anaphora.training.clipping import clip, global_norm
from anaphora.training.rules import Sgd

Answers = dict[str, Any]


def gradients(loss: Tensor, of: Mapping[str, Tensor]) -> Answers:
    """Return the gradients of leaves by the keys of lessons."""
    return {f"d{key}": one for key, one in zip(of, torch.autograd.grad(loss, [*of.values()]), strict=True)}


def run_unit(values: Values, unit: Mapping[str, Any]) -> Answers:
    """Return the states of a unit, and the gradients of all that it was given.

    Args:
        values: numbers of the lesson.
        unit: ``cell`` and its ``options``; keys of the numbers that are its ``inputs`` (without them, ``steps`` of
            zeros), its ``first`` states and its ``weights``, of several one above the other; keys of its ``states``
            by field, step by step; formulas of the gradients that ``arrive`` at some of them.
    """
    cell = getattr(cells, unit["cell"])(**unit.get("options", {}))
    inputs, first, named = unit.get("inputs", []), unit["first"], unit["weights"]
    of = {key: leaf(np.atleast_2d(values[key])) for key in chain(inputs, first.values(), *named.values())}
    weights = {name: torch.cat([of[key] for key in keys]) for name, keys in named.items()}
    for name in {"in.bias", *(f"unit.{vector}" for vector in cell.vectors)} & weights.keys():
        weights[name] = weights[name].flatten()
    start = {f"unit.{field}": of[key] for field, key in first.items()}
    x = [of[key] for key in inputs] or [torch.zeros_like(start["unit.h"])] * unit["steps"]
    projected = [Project("in", "x", "a", "in.bias" in weights)] if inputs else []
    program = Program((*projected, Unit("unit", cell, ("a",))), tuple(start))
    given = {"x" if inputs else "a": torch.stack(x)}
    outputs = scan(program, given, start, weights, {}, torch.tensor([len(x)])).outputs
    of_fields = unit["states"].items()
    found = {key: outputs[f"unit.{field}"][t, 0] for field, keys in of_fields for t, key in enumerate(keys)}
    if arriving := unit.get("arrive"):
        formulas = Formulas(dict(values))
        arrived = {state: leaf(term_of(formulas.evaluate(text, {})).value) for state, text in arriving.items()}
        found |= gradients(torch.stack([(one * found[state]).sum() for state, one in arrived.items()]).sum(), of)
    return {key: one for key, one in found.items() if key in values}


def softmax(values: Values) -> Answers:
    """Return the loss of the fused softmax and its gradients."""
    of, y = {key: leaf(values[key]) for key in "Wh"}, torch.tensor([values["y"] - 1])
    loss = softmax_loss(of["h"].unsqueeze(0), of["W"], leaf([]), y)
    return {"L": loss, **gradients(loss, of)}


def additive(values: Values) -> Answers:
    """Return weights and context of soft attention with the score "concat", and their gradients."""
    of = {key: leaf(values[key]) for key in ("W", "U", "v", "h", "k[1]", "k[2]", "k[3]")}
    w_query, w_keys, v, h, *annotations = of.values()
    soft = SoftAttention(AttentionConfig(score=Concat()), 2, EncoderSpec(3, 2, 1, ("h",), True))
    weights = dict(zip(soft.matrices(), (w_query, w_keys, v.unsqueeze(0)), strict=True))
    memory = soft.prepare(torch.stack(annotations).unsqueeze(0), torch.tensor([3]), weights)
    program = Program(soft.parts("h"), ("weights", "context"))
    outputs = scan(program, {"h": h.reshape(1, 1, -1)}, {}, weights, memory, torch.tensor([1])).outputs
    loss = (outputs["context"] * leaf(values["dc"])).sum()
    return {"a": outputs["weights"], "c": outputs["context"], **gradients(loss, of)}


def sgd(values: Values) -> Answers:
    """Return the numbers after a step of gradient descent, which touches the rows of a batch alone."""
    words = ("man", "bites", "dog", "sees")
    table = Parameter(torch.tensor(np.array([values[f"E[{word}]"] for word in words])))
    x_TD = functional.embedding(torch.tensor([0, 1, 0]), table, sparse=True)
    [table.grad] = torch.autograd.grad(x_TD, [table], leaf([values[f"dx[{t}]"] for t in (1, 2, 3)]))
    Sgd(learning_rate=values["r"]).build_sparse([table]).step()
    return {f"E[{word},+]": row for word, row in zip(words, table, strict=True)}


def clipping(values: Values) -> Answers:
    """Return the clipped gradient."""
    gradient = torch.tensor(values["dW"])
    clip([gradient], global_norm([gradient]), largest_norm=values["c"])
    return {"dW[clipped]": gradient}


def dropout(values: Values) -> Answers:
    """Return what passes a mask, and the gradient of its input."""
    x, mask = leaf(values["x"]), leaf([values[f"m[{place}]"] for place in (1, 2, 3, 4)]).detach()
    program = Program((Mask("drop", "x", "y", "mask"),), ("y",))
    rows = {"x": x.reshape(1, 1, -1), "mask": mask.reshape(1, 1, -1)}
    y = scan(program, rows, {}, {}, {}, torch.tensor([1])).outputs["y"].flatten()
    return {"y": y, **gradients((y * leaf(values["dy"])).sum(), {"x": x})}


def residual(values: Values) -> Answers:
    """Return the last layer and the gradient of the input, without and with connections around layers."""
    weights, parts = dict[str, Tensor](), list[Part]()
    for name, k in product("pr", range(1, 7)):
        before, a, t, y = f"{name}{k - 1}", f"{name}_a{k}", f"{name}_t{k}", f"{name}{k}"
        parts += [Project(a, before, a, False), Activate(t, (a,), t), Add(y, (t, before) if name == "r" else (t,), y)]
        weights[f"{a}.weight"] = leaf([[values["w"][k - 1]]])
    of = {f"x_{name}": leaf([[[values["x"]]]]) for name in "pr"}
    given = {"p0": of["x_p"], "r0": of["x_r"]}
    outputs = scan(Program(tuple(parts), ("p6", "r6")), given, {}, weights, {}, torch.tensor([1])).outputs
    return {f"y_{name}[6]": outputs[f"{name}6"] for name in "pr"} | gradients(
        outputs["p6"].sum() + outputs["r6"].sum(), of
    )


def mixture(values: Values) -> Answers:
    """Return the loss of a mixture of two Gaussians and of a label, and their gradients."""
    keys = "what", "mu[1]", "mu[2]", "shat[1]", "shat[2]", "rhat[1]", "rhat[2]", "ehat"
    of = {key: leaf(values[key]) for key in keys}
    *parameters, e = (one.reshape(1, -1) for one in of.values())
    loss = mixture_loss(torch.cat(parameters, 1), leaf([values["x"]]), MixtureShape(2, 2, True, 1e-16))
    pen = label_loss(e, leaf([[values["lifted"]]]))
    return {"L": loss, "L[pen]": pen, **gradients(loss + pen, of)}


def crf(values: Values) -> Answers:
    """Return the loss of a linear chain, its gradients and the best tags."""
    emissions_TBC, scores = leaf([[values[f"e[{t}]"]] for t in (1, 2, 3)]), Chain(*(leaf(values[key]) for key in "Abz"))
    loss = linear_chain_loss(emissions_TBC, scores, torch.tensor([[0], [1], [0]]), torch.tensor([3]))
    de_TBC, dmoves_CC = torch.autograd.grad(loss, (emissions_TBC, scores.transitions_CC))
    arrays = (one.detach().numpy() for one in scores)
    tags_TB = best_tags(emissions_TBC.detach().numpy(), np.array([3]), *arrays) + 1
    steps = {f"de[{t}]": de_TBC[t - 1] for t in (1, 2, 3)} | {f"y[{t}]": tags_TB[t - 1] for t in (1, 2, 3)}
    return {"L": loss, **steps, **{f"dA[{i},{j}]": dmoves_CC[i - 1, j - 1] for i in (1, 2) for j in (1, 2)}}


def products(values: Values) -> Answers:
    """Return the product of all vectors at once."""
    return {"Y": linear(leaf([values[f"h[{k}]"] for k in (1, 2, 3)]), leaf(values["W"])).T}
