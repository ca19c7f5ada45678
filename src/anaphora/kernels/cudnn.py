"""The third reading of a stack, taken on GPUs: whole layers of a unit that torch has, which are cuDNN's there.

It reads the same program as ``scan.py``, layer by layer instead of step by step; what stands between the layers,
dropout and residual sums, is torch's. Nothing in it needs a GPU: on a processor torch's layers compute the same, so
that this reading is held to the others on every machine. The gradient is torch's own, or cuDNN's, and products are made
in the type of the tensors, whatever ``precision`` asks for.
"""

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import torch
from torch import Tensor

from anaphora.kernels.cells import Cell, Elman, Gru, Lstm
from anaphora.kernels.parts import Add, Mask, Project, SentenceMask, Unit, is_previous
from anaphora.kernels.program import Program
from anaphora.kernels.tensor_rows import TensorRows

warnings.filterwarnings("ignore", message="RNN module weights are not part of single contiguous chunk")

Tensors = Mapping[str, Tensor]


@cache
def suits(program: Program) -> bool:
    """True if all units of a program are torch's, each after its own projection, with its state for itself."""
    units = [part for part in program.parts if isinstance(part, Unit)]
    others = [part for part in program.parts if not isinstance(part, Unit)]
    projected = {part.target for part in others if isinstance(part, Project)}
    inside = projected | {f"{unit.name}.{field}" for unit in units for field in unit.cell.state if field != "h"}
    seen = {*program.returns, *(read for part in others for read in part.reads)}
    return (
        bool(units)
        and all(_torch_layer(unit.cell) and not _has_more(unit) and unit.inputs[0] in projected for unit in units)
        and all(isinstance(part, Project | Mask | SentenceMask | Add) for part in others)
        and inside.isdisjoint(seen)
        and not any(is_previous(read) for read in seen)
    )


def layers(
    program: Program, inputs: Tensors, first: Tensors, weights: Tensors, memory: Tensors, lengths_B: Tensor
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Outputs and last state of a program that ``suits``: all arguments, and what comes back, as for ``scan``."""
    signals, state = dict(inputs), dict[str, Tensor]()
    steps, device = next(iter(inputs.values())).shape[0], next(iter(weights.values())).device
    rows = TensorRows(lengths_B, steps, device)
    projections = {part.target: part for part in program.parts if isinstance(part, Project)}
    for part in program.parts:
        match part:
            case Unit():
                projection = projections[part.inputs[0]]
                x_TBD = signals[projection.source]
                before = [first[f"{part.name}.{field}"] for field in part.cell.state]
                h_TBH, last = _layer(part.cell, x_TBD, rows, before, _weights(part, projection, weights))
                signals[f"{part.name}.h"] = h_TBH
                state |= {f"{part.name}.{field}": last_BH for field, last_BH in zip(part.cell.state, last, strict=True)}
            case Mask():
                signals[part.target] = signals[part.source] * signals[part.mask]
            case SentenceMask():
                signals[part.target] = signals[part.source] * memory[f"{part.name}.mask"]
            case Add():
                signals[part.target] = sum((signals[name] for name in part.inputs[1:]), signals[part.inputs[0]])
    return {name: signals[name] for name in program.returns}, {name: state[name] for name in program.carried}


def _has_more(unit: Unit) -> bool:
    """True if anything comes between a unit and its matrices, or into its state, that torch's layers lack."""
    return unit.masked or unit.normalised or unit.conditioned or bool(unit.before) or len(unit.inputs) > 1


def _torch_layer(cell: Cell) -> Callable[..., Any] | None:
    """Return the function under torch's module for a unit; None for a unit that it lacks."""
    match cell:
        case Lstm():
            return torch.lstm
        case Gru(reset="after", update="keep"):
            return torch.gru
        case Elman(activation="tanh"):
            return torch.rnn_tanh
        case Elman(activation="relu"):
            return torch.rnn_relu
    return None


def _weights(unit: Unit, projection: Project, weights: Tensors) -> list[Tensor]:
    """Return in torch's order both matrices, and both biases where there is one; their blocks stand as ours do.

    cuDNN copies them into one stretch of memory at every call, of which torch would warn each time.
    """
    into_GD, back_GH = weights[f"{projection.name}.weight"], weights[f"{unit.name}.h"]
    inside_H = weights.get(f"{unit.name}.bias")
    if not projection.bias and inside_H is None:
        return [into_GD, back_GH]
    outside_G, inside_G = into_GD.new_zeros(2, len(into_GD)).unbind()
    if projection.bias:
        outside_G = weights[f"{projection.name}.bias"]
    if inside_H is not None:
        inside_G = torch.cat([inside_G[len(inside_H) :], inside_H])
    return [into_GD, back_GH, outside_G, inside_G]


def _layer(
    cell: Cell, x_TBD: Tensor, rows: TensorRows, before: list[Tensor], weights: list[Tensor]
) -> tuple[Tensor, list[Tensor]]:
    """Return its output at every step (T x B x H, zero past the end of a sentence), and the last of each field."""
    run = _torch_layer(cell)
    assert run is not None
    first = [field_BH.index_select(0, rows.order_B).unsqueeze(0) for field_BH in before]
    options = (len(weights) > 2, 1, 0.0, torch.is_grad_enabled(), False)  # biased, layers, dropout, training, both ways
    state = first if len(first) > 1 else first[0]
    if rows.whole:  # nothing to leave out: a faster way of cuDNN
        h_TBH, *last = run(x_TBD, state, weights, *options, False)
        return h_TBH, [field_1BH[0] for field_1BH in last]
    h_RH, *last = run(rows.of_batch(x_TBD), torch.tensor(rows.active), state, weights, *options)
    return rows.to_batch(h_RH), [field_1BH[0].index_select(0, rows.back_B) for field_1BH in last]
