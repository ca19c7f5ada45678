"""How large the gradients of a network are on the text that it was trained on: the root of the mean square of each.

The squares are those of the gradients of a segment's summed loss (Krause, Kahembwe, Murray and Renals 2018). Some
segments are read side by side, and their gradients come as one sum: in a trained network they are about zero in the
mean and agree by chance alone, so that the square of the sum is about the sum of the squares.
"""

from collections.abc import Iterable
from itertools import islice
from typing import cast

import torch
from torch import Tensor, nn

from anaphora.errors import DataError
from anaphora.evaluation.windows import blocks, rows_of_text
from anaphora.nn.device import device_of
from anaphora.protocols import Carry, TextModel
from anaphora.wording import counted

ROWS = 32
"""Segments side by side, at most."""

STRETCH = 100
"""Segments that a state is carried over, at most."""

FOUND_ON = 200_000
"""Predictions of the text that are looked at, at most."""


def gradient_sizes(model: TextModel, tokens: Iterable[int], before: int, steps: int) -> tuple[Tensor, ...]:
    """The size of the gradient of each of ``weights_of(model)``, over segments of this many predictions of a text.

    ``model`` is in evaluation mode. Raises DataError for a text that is shorter than a segment.
    """
    network = cast(nn.Module, model)
    weights, device = weights_of(network), device_of(network)
    squares, count = [torch.zeros_like(weight) for weight in weights], 0
    for ids_N in blocks(islice(tokens, FOUND_ON), before, ROWS * STRETCH * steps):
        rows = min(ROWS, (len(ids_N) - 1) // steps)
        carry: Carry | None = None
        for place, ids_RL in enumerate(_side_by_side(ids_N, rows, steps)):
            with torch.enable_grad():
                loss, carry = model(rows_of_text(ids_RL, torch.full((rows,), place > 0)).to(device), carry)
                gradients = torch.autograd.grad(loss.sum, weights)
            torch._foreach_addcmul_(squares, gradients, gradients)
            count += rows
    if not count:
        raise DataError(
            f"The training text has fewer than {counted(steps, 'prediction')}: lower steps, or take the rule 'sgd'."
        )
    return tuple((square / count).sqrt() for square in squares)


def weights_of(network: nn.Module) -> list[Tensor]:
    """What is learnt of a network, without what is empty."""
    return [weight for weight in network.parameters() if weight.numel()]


def _side_by_side(ids_N: Tensor, rows: int, steps: int) -> list[Tensor]:
    """The segments of ``rows`` equal stretches of a block, one after the other, each after the token before it."""
    if not rows:
        return []
    length = (len(ids_N) - 1) // rows
    stretches_RL = ids_N.unfold(0, length + 1, length)[:rows]
    return list(stretches_RL.unfold(1, steps + 1, steps).unbind(1))
