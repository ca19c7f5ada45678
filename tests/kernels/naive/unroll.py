"""The second reading of ``scan.py``: a stack and a decoder unrolled over time, one step after another.

Layout as in ``scan``: time first (T x B x width); weights named ``part.matrix`` and shaped output x input, so that
``W x`` of the papers is ``x @ W.T`` on rows. Parts: ``input0``, ``layer0``, ``input1``, .. from the bottom up; ``feed``
and ``context`` lead o_{t-1} and c_t into the bottom layer; ``attention``; ``combine_context`` and ``combine_state``.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.cells import Cell
from anaphora.kernels.cells.recorded import State
from anaphora.kernels.naive.parts import unit
from anaphora.kernels.naive.units import normalise
from tests.kernels.naive.attention import CARRIED, AttentionOptions, attention

Tensors = Mapping[str, Tensor]
Readout = Literal["tanh", "maxout", "none"]
Step = tuple[dict[str, Tensor], dict[str, Tensor]]
"""Outputs of a step, and the state after it."""


class Unrolled(NamedTuple):
    """Result of an unrolled network, with the names and shapes of ``native.ScanResult``."""

    outputs: dict[str, Tensor]
    state: dict[str, Tensor]


# Networks: the same steps for each t; a sentence that has ended keeps its state and puts out zero.


def stack(
    cell: Cell,
    x_TBD: Tensor,
    lengths_B: Tensor,
    first: Tensors,
    weights: Tensors,
    masks: Tensors | None = None,
    residual: bool = False,
) -> Unrolled:
    """Recurrent layers on each other; writes ``h``, the output of the topmost.

    ``masks`` has T x B x H under ``mask0``, ``mask1``, .. for each layer with dropout on its way up, and under
    ``recurrent0``, .. for each layer with dropout of its recurrent state. With ``norm0.gain`` among the weights the
    layers are normalised.
    """

    def step(t: int, state: Tensors) -> Step:
        at_t = {name: mask_TBH[t] for name, mask_TBH in (masks or {}).items()}
        new, top_BH = _layers(cell, [x_TBD[t]], state, weights, at_t, residual)
        return {"h": top_BH}, new

    return _unroll(step, lengths_B, first, len(x_TBD))


def decoder(
    cell: Cell,
    looking: AttentionOptions | None,
    query: Literal["previous", "between", "current", "never"],
    x_TBD: Tensor,
    memory_BSM: Tensor,
    lengths_B: Tensor,
    positions_B: Tensor,
    first: Tensors,
    weights: Tensors,
    masks: Tensors | None = None,
    residual: bool = False,
    readout: Readout = "tanh",
    read: Literal["current", "previous"] = "current",
    language_TBL: Tensor | None = None,
    words_BSE: Tensor | None = None,
) -> Unrolled:
    """Return the decoder; writes ``o`` and, with attention, its ``weights``.

    ``looking`` are the options of attention by a score; None is the window of Graves 2013. ``query`` "current": Luong
    et al. 2015, section 3; "previous": Bahdanau et al. 2015, section 3.1, with the context as one more input of the
    bottom unit; "between": Sennrich et al. 2017, section 3.2, the conditional GRU, with the first transition of the
    bottom layer under the name ``ask``. With ``feed.weight`` among the weights, o_{t-1} is another input (input
    feeding), or c_{t-1} where the state begins with a ``context``; with ``combine_word.weight`` the embedding is a term
    of o_t. Where ``query`` is "never" there is no score: step t has position t of the memory as its context, or the
    last one, for as much as there are weights for one; a summary is a single one (Cho et al. 2014, appendix A.1.2).
    ``readout`` makes o_t of its terms, ``read`` is the state among them (Bahdanau et al. 2015, appendix A.2.2), and
    ``language_TBL`` the states of a language model that it is fused with (Gulcehre et al. 2015, section 4.2). ``masks``
    has dropout ready: ``mask0``, .. for what goes from layer to layer, ``recurrent0``, .. for the recurrent states,
    ``mask`` for o. ``words_BSE`` are the word vectors of a lexical model, whose h_t^lex stands behind o_t (Nguyen and
    Chiang 2018, section 4). With residual connections the query and the state that is read are the sum above the top
    layer.
    """
    top = f"layer{_height(weights) - 1}.h"
    look = partial(_look, looking, memory_BSM, positions_B, weights)

    def step(t: int, state: Tensors) -> Step:
        at_t = {name: mask_TBR[t] for name, mask_TBR in (masks or {}).items()}
        inputs, before = [x_TBD[t]], state[top]
        carried = {name: state[name] for name in CARRIED if name in state}
        if "feed.weight" in weights:
            inputs.append(state["o"] if "o" in state else state["context"])
        if query == "previous":
            c_BM, a_BS, carried = look(before, carried)
        if query == "never":
            c_BM = memory_BSM[:, min(t, memory_BSM.shape[1] - 1)]
        if query in ("previous", "never") and "context.weight" in weights:
            inputs.append(c_BM)
        if query == "between":
            asking = _first_half(cell, inputs, state, weights, at_t)
            c_BM, a_BS, carried = look(asking[0], carried)
            state = {**state, **dict(zip((f"layer0.{field}" for field in cell.state), asking, strict=True))}
            inputs = [c_BM]
        new, h_BH = _layers(cell, inputs, state, weights, at_t, residual, two_transitions=query == "between")
        if query == "current":
            c_BM, a_BS, carried = look(h_BH, carried)
        terms = {"combine_context": c_BM, "combine_state": before if read == "previous" else h_BH}
        terms |= {"combine_word": x_TBD[t]} | ({} if language_TBL is None else {"combine_language": language_TBL[t]})
        o_BR = _read_out(h_BH, terms, weights, readout) * at_t.get("mask", 1)
        lexical = [] if words_BSE is None else [_predict_by_words(a_BS, words_BSE, weights["lexical.layer"])]
        outputs = {"o": torch.cat([o_BR, *lexical], -1)} | ({} if query == "never" else {"weights": a_BS})
        return outputs, new | carried | {name: fed for name, fed in (("o", o_BR), ("context", c_BM)) if name in state}

    return _unroll(step, lengths_B, first, len(x_TBD))


def _look(
    looking: AttentionOptions | None,
    memory_BSM: Tensor,
    positions_B: Tensor,
    weights: Tensors,
    query_BQ: Tensor,
    carried: dict[str, Tensor],
) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    """Attention, its context scaled by a gate where there are weights for one (beta of Xu et al. 2015)."""
    own, gate = _of("attention" if looking else "window", weights), _of("context_gate", weights)
    c_BM, a_BS, new = attention(looking, query_BQ, memory_BSM, positions_B, own, carried)
    return (_let_through(c_BM, query_BQ, gate) if gate else c_BM), a_BS, dict(new)


def _let_through(s_BL: Tensor, by_BQ: Tensor, weights: Tensors) -> Tensor:
    """g s with g = sigm(v' q + b), where q decides what is let through."""
    v_Q, b = weights["weight"][0], weights["bias"]
    return torch.stack([s_L / (1 + torch.exp(-(v_Q @ q_Q + b))) for s_L, q_Q in zip(s_BL, by_BQ, strict=True)])


def _predict_by_words(a_BS: Tensor, words_BSE: Tensor, W_EE: Tensor) -> Tensor:
    """h^lex = tanh(W c) + c of c = tanh(sum_s a(s) f_s)."""
    sums = [sum(a * f_E for a, f_E in zip(a_S, f_SE, strict=True)) for a_S, f_SE in zip(a_BS, words_BSE, strict=True)]
    c_BE = torch.tanh(torch.stack(sums))  # type: ignore[arg-type]
    return torch.tanh(c_BE @ W_EE.T) + c_BE


def _read_out(h_BH: Tensor, terms: Tensors, weights: Tensors, readout: Readout) -> Tensor:
    """o_t, of those terms that there are weights for, side by side."""
    if readout == "none":
        return h_BH
    if "combine_language" in terms:
        language_BL = terms["combine_language"]
        terms = {**terms, "combine_language": _let_through(language_BL, language_BL, _of("gate", weights))}
    read = [part for part in terms if f"{part}.weight" in weights]
    W_u = torch.cat([weights[f"{part}.weight"] for part in read], dim=1)
    u = torch.cat([terms[part] for part in read], dim=-1)
    t = u @ W_u.T + weights.get("combine_context.bias", weights.get("combine_state.bias", 0))
    return torch.tanh(t) if readout == "tanh" else torch.maximum(t[:, 0::2], t[:, 1::2])


def _layers(
    cell: Cell,
    inputs: list[Tensor],
    state: Tensors,
    weights: Tensors,
    masks: Tensors,
    residual: bool,
    two_transitions: bool = False,
) -> tuple[dict[str, Tensor], Tensor]:
    """Return one step of every layer; the bottom one sees all ``inputs`` side by side, [y_t; o_{t-1}; c_t].

    With ``two_transitions``, where ``_first_half`` was before, c_t alone.
    """
    bottom = ("context",) if two_transitions else ("input0", "feed", "context")
    W = torch.cat([weights[f"{part}.weight"] for part in bottom if f"{part}.weight" in weights], dim=1)
    x = torch.cat(inputs, dim=-1)
    new: dict[str, Tensor] = {}
    for layer in range(_height(weights)):
        W = weights[f"input{layer}.weight"] if layer else W
        a_BG = x @ W.T + weights.get("context.bias" if two_transitions and not layer else f"input{layer}.bias", 0)
        if f"norm{layer}.gain" in weights:
            a_BG = normalise(a_BG, weights[f"norm{layer}.gain"]) + weights.get(f"norm{layer}.bias", 0)
        names = [f"layer{layer}.{field}" for field in cell.state]
        before = tuple(state[name] for name in names)
        after = unit(cell, a_BG, before, _of(f"layer{layer}", weights), masks.get(f"recurrent{layer}"))
        new.update(zip(names, after, strict=True))
        h = after[0] * masks.get(f"mask{layer}", 1)
        x = h + x if residual and layer else h
    return new, x


def _first_half(cell: Cell, inputs: list[Tensor], state: Tensors, weights: Tensors, masks: Tensors) -> State:
    """Return the bottom layer's first transition: it sees [y_t; o_{t-1}]."""
    W = torch.cat([weights[f"{part}.weight"] for part in ("input0", "feed") if f"{part}.weight" in weights], dim=1)
    a_BG = torch.cat(inputs, dim=-1) @ W.T + weights.get("input0.bias", 0)
    if "norm_ask.gain" in weights:
        a_BG = normalise(a_BG, weights["norm_ask.gain"]) + weights.get("norm_ask.bias", 0)
    before = tuple(state[f"layer0.{field}"] for field in cell.state)
    return unit(cell, a_BG, before, _of("ask", weights), masks.get("ask"))


def _unroll(step: Callable[[int, Tensors], Step], lengths_B: Tensor, first: Tensors, steps: int) -> Unrolled:
    """Return the loop over time."""
    state, every_step = dict(first), []
    for t in range(steps):
        outputs, new = step(t, state)
        still_there_B1 = (t < lengths_B).unsqueeze(1)
        every_step.append({name: torch.where(still_there_B1, value, 0) for name, value in outputs.items()})
        state = {name: torch.where(still_there_B1, new[name], state[name]) for name in state}
    return Unrolled({name: torch.stack([at_t[name] for at_t in every_step]) for name in every_step[0]}, state)


def _height(weights: Tensors) -> int:
    """Return the number of layers."""
    return sum(name.startswith("input") and name.endswith(".weight") for name in weights)


def _of(part: str, weights: Tensors) -> dict[str, Tensor]:
    """Return the weights of one part under their short names."""
    return {name.removeprefix(part + "."): weight for name, weight in weights.items() if name.startswith(part + ".")}
