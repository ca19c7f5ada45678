"""Truncated backpropagation through time, where every loss goes back over a window of its own.

The loss L_t of step t goes back over the steps t - k .. t: the state before step t - k is a constant to it, whatever
it is to other losses. (The other truncation, chunks with a carried state, is a ``scan`` for each chunk, whose losses
all stop at its border.)

A gradient that is cut at another place for every loss cannot be one walk back. But each loss with its window is a
sequence of k + 1 steps by itself, whose first state is known. So the windows become rows of one wide batch: a walk
by itself gives the states before them, and one ``scan`` of k + 1 steps over all of them does the rest.
"Truncation" in ``kernels/README.md`` has the derivation and the cost.
"""

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional

from anaphora.kernels.observer import Tensors
from anaphora.kernels.program import Program
from anaphora.kernels.scan import Scanned, scan


def scan_windows(
    program: Program, inputs: Tensors, first: Tensors, weights: Tensors, memory: Tensors, lengths_B: Tensor, back: int
) -> Scanned:
    """What ``scan`` gives, with the gradient of each step's outputs going back over ``back`` further steps alone.

    All arguments but the last are those of ``scan``. ``back`` is k: 0 for the step itself and none before it, T or more
    for the whole of backpropagation through time. What is asked of a sentence's last state is asked of its last step.
    Raises ShapeError as ``scan``.
    """
    steps, lengths_B = next(iter(inputs.values())).shape[0], lengths_B.to("cpu")
    if not torch.is_grad_enabled() or back >= steps:
        return scan(program, inputs, first, weights, memory, lengths_B)
    every = replace(program, returns=(*dict.fromkeys((*program.returns, *program.carried)),))
    walked = scan(every, inputs, first, weights, memory, lengths_B)  # in the arithmetic of the windows
    states = {name: block_TBH.detach() for name, block_TBH in walked.outputs.items()}

    open_TB = torch.arange(steps).unsqueeze(1) < lengths_B
    steps_N, sentences_N = open_TB.nonzero(as_tuple=True)  # the window of each loss is a row
    starts_N = (steps_N - back).clamp(min=0)
    spans_N = steps_N - starts_N + 1
    positions_XN = (starts_N + torch.arange(back + 1).unsqueeze(1)).minimum(steps_N)
    windows = scan(
        program,
        {
            name: _rows(block_TBD.flatten(0, 1), positions_XN * block_TBD.shape[1] + sentences_N)
            for name, block_TBD in inputs.items()
        },
        {name: _before(states[name], value_BD, steps_N - back, sentences_N) for name, value_BD in first.items()},
        weights,
        {name: _rows(tensor, sentences_N) for name, tensor in memory.items()},
        spans_N,
    )
    rows_N = torch.arange(len(spans_N))
    outputs = {}
    for name, block_XNW in windows.outputs.items():
        nothing_TBW = block_XNW.new_zeros(*open_TB.shape, block_XNW.shape[-1])
        outputs[name] = nothing_TBW.index_put((steps_N, sentences_N), block_XNW[spans_N - 1, rows_N])
    row_TB = torch.zeros_like(open_TB, dtype=torch.int64).index_put((steps_N, sentences_N), rows_N)
    last_B = row_TB[lengths_B - 1, torch.arange(len(lengths_B))]
    return Scanned(outputs, {name: value_NW[last_B] for name, value_NW in windows.state.items()})


def _before(states_TBH: Tensor, first_BH: Tensor, cuts_N: Tensor, sentences_N: Tensor) -> Tensor:
    """The state before each window: a constant where step ``cuts_N`` is cut off, the first state where nothing is."""
    known_TBH = torch.cat([first_BH.detach().unsqueeze(0), states_TBH[:-1]])
    constant_NH = known_TBH[cuts_N.clamp(min=0), sentences_N]
    return torch.where((cuts_N < 0).unsqueeze(1), _rows(first_BH, sentences_N), constant_NH)


def _rows(table_RX: Tensor, rows: Tensor) -> Tensor:
    """The rows of a table, some of them many times; their gradients are added up in one order on any threads."""
    picked = functional.embedding(rows.to(table_RX.device), table_RX.flatten(1))
    return picked.view(*rows.shape, *table_RX.shape[1:])
