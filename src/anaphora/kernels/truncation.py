"""Truncated backpropagation through time, where every loss goes back over its own window.

The loss L_t of step t goes back over the steps t - k .. t: the state before step t - k is a constant to it, whatever
it is to other losses. (The other truncation, chunks with a carried state, is a ``scan`` for each chunk, whose losses
all stop at its border.) In a text that is read in chunks, windows reach across their borders: the next chunk computes
the last k steps again.

A gradient that is cut at another place for every loss cannot be one backward pass. But each loss with its window is a
sequence of k + 1 steps by itself, whose first state is known. So the windows become rows of one wide batch: a pass
by itself gives the states before them, and one ``scan`` of k + 1 steps over all of them does the rest.
"Truncation" in ``kernels/README.md`` has the derivation and the cost.
"""

from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from anaphora.kernels.observer import Tensors
from anaphora.kernels.program import Program
from anaphora.kernels.scan import scan


class Windows(NamedTuple):
    """Result of ``scan_windows``."""

    outputs: dict[str, Tensor]
    """Outputs as in ``ScanResult.outputs``, of the steps with a loss."""
    state: dict[str, Tensor]
    """State as in ``ScanResult.state``."""
    earlier: dict[str, Tensor]
    """B x width for each carried signal: its value k steps before the end of each sentence, a constant; the first value
    where there are no k steps. Empty without gradients."""


def scan_windows(
    program: Program,
    inputs: Tensors,
    first: Tensors,
    weights: Tensors,
    memory: Tensors,
    lengths_B: Tensor,
    back: int,
    context: int = 0,
) -> Windows:
    """Scan with the gradient of each step's outputs going back over ``back`` further steps alone.

    All arguments but the last two are those of ``scan``. ``back`` is k: 0 for the step itself and none before it, T or
    more for the whole of backpropagation through time. ``context`` steps at the beginning have no outputs and no loss:
    they are the end of the chunk before, which losses of this one reach. The gradient of a last state is one of
    its last step. Raises ShapeError as ``scan``.
    """
    steps, lengths_B = next(iter(inputs.values())).shape[0], lengths_B.to("cpu")
    if not torch.is_grad_enabled() or back >= steps:
        outputs, state = scan(program, inputs, first, weights, memory, lengths_B)
        earlier = {name: value_BD.detach() for name, value_BD in first.items()} if torch.is_grad_enabled() else {}
        if context:
            outputs = {name: block_TBW[context:] for name, block_TBW in outputs.items()}
        return Windows(outputs, state, earlier)
    every = replace(program, returns=(*dict.fromkeys((*program.returns, *program.carried)),))
    scanned = scan(every, inputs, first, weights, memory, lengths_B)  # in the arithmetic of the windows
    known = {name: torch.cat([value_BD[None], scanned.outputs[name]]).detach() for name, value_BD in first.items()}

    open_TB = torch.arange(context, steps).unsqueeze(1) < lengths_B
    rows_N, sentences_N = open_TB.nonzero(as_tuple=True)  # the window of each loss is a row
    steps_N = rows_N + context
    starts_N = (steps_N - back).clamp(min=0)
    spans_N = steps_N - starts_N + 1
    positions_XN = (starts_N + torch.arange(back + 1).unsqueeze(1)).minimum(steps_N)
    windows = scan(
        program,
        {
            name: _rows(block_TBD.flatten(0, 1), positions_XN * block_TBD.shape[1] + sentences_N)
            for name, block_TBD in inputs.items()
        },
        {name: _before(known[name], value_BD, steps_N - back, sentences_N) for name, value_BD in first.items()},
        weights,
        {name: _rows(tensor, sentences_N) for name, tensor in memory.items()},
        spans_N,
    )
    numbers_N = torch.arange(len(spans_N))
    outputs = {}
    for name, block_XNW in windows.outputs.items():
        nothing_TBW = block_XNW.new_zeros(*open_TB.shape, block_XNW.shape[-1])
        outputs[name] = nothing_TBW.index_put((rows_N, sentences_N), block_XNW[spans_N - 1, numbers_N])
    number_TB = torch.zeros_like(open_TB, dtype=torch.int64).index_put((rows_N, sentences_N), numbers_N)
    sentences_B = torch.arange(len(lengths_B))
    last_B = number_TB[lengths_B - 1 - context, sentences_B]
    cuts_B = (lengths_B - back).clamp(min=0)
    return Windows(
        outputs,
        {name: value_NW[last_B] for name, value_NW in windows.state.items()},
        {name: known_TBH[cuts_B, sentences_B] for name, known_TBH in known.items()},
    )


def _before(known_TBH: Tensor, first_BH: Tensor, cuts_N: Tensor, sentences_N: Tensor) -> Tensor:
    """The state before each window: a constant where step ``cuts_N`` is cut off, the first state where nothing is."""
    constant_NH = known_TBH[cuts_N.clamp(min=0), sentences_N]
    return torch.where((cuts_N < 0).unsqueeze(1), _rows(first_BH, sentences_N), constant_NH)


def _rows(table_RX: Tensor, rows: Tensor) -> Tensor:
    """Return the rows of a table, some of them many times; their gradients are added up in one order on any threads."""
    picked = functional.embedding(rows.to(table_RX.device), table_RX.flatten(1))
    return picked.view(*rows.shape, *table_RX.shape[1:])
