"""Dynamic evaluation: a network continues to learn from the text that it predicts.

The text is read in segments. Each is predicted with the weights W learnt so far, then these move down the gradient g of
its summed loss, and back towards those of the trained network, W_0:

    W  <-  W - rate g / s + decay r (W_0 - W)

(Mikolov et al. 2010; decay and both scales: Krause, Kahembwe, Murray and Renals 2018.) By the rule "sgd" s and
r are 1. By "rms" every weight has its own scale, from the size q of its gradients in training, the root of their
mean square (``gradient_sizes``):

    s = q + epsilon mean(q)        r = min(q / mean(q), 1 / decay)

Both means are over all weights of the network. Told in units of it, one epsilon suits networks of all sizes; in the
paper it is a number by itself. It all happens to a copy: neither the network nor its run changes.
"""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import islice
from typing import cast

import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view
from torch import Tensor, nn

from anaphora.errors import DataError
from anaphora.evaluation.adaptation import Dynamic
from anaphora.evaluation.stream import LogProbs, blocks, rows_of_text, windows
from anaphora.protocols import Array, Carry, TextModel
from anaphora.wording import inflect

ROWS = 32
"""Segments side by side, at most."""

STRETCH = 100
"""Segments that a state is carried over, at most."""

FOUND_ON = 200_000
"""Predictions of the text that are looked at, at most."""


def gradient_sizes(model: TextModel, tokens: Iterable[int], before: int, steps: int) -> tuple[Tensor, ...]:
    """The size of the gradient of each of ``weights_of(model)``, over segments of this many predictions of a text.

    ``model`` is in evaluation mode. Raises DataError for a text that is shorter than a segment.

    The squares are those of the gradients of a segment's summed loss (Krause, Kahembwe, Murray and Renals 2018). Some
    segments are read side by side, and their gradients come as one sum: in a trained network they are about zero in the
    mean and agree by chance alone, so that the square of the sum is about the sum of the squares.
    """
    network = cast(nn.Module, model)
    weights = weights_of(network)
    squares, count = [torch.zeros_like(weight) for weight in weights], 0
    for ids_N in blocks(islice(tokens, FOUND_ON), before, ROWS * STRETCH * steps):
        rows = min(ROWS, (len(ids_N) - 1) // steps)
        carry: Carry | None = None
        for place, ids_RL in enumerate(_side_by_side(ids_N, rows, steps)):
            with torch.enable_grad():
                loss, carry = network(rows_of_text(ids_RL, np.full(rows, place > 0)), carry)
                gradients = torch.autograd.grad(loss.sum, weights)
            torch._foreach_addcmul_(squares, gradients, gradients)
            count += rows
    if not count:
        raise DataError(
            f"The training text has fewer than {inflect(steps, 'prediction')}: lower steps, or take the rule 'sgd'."
        )
    return tuple((square / count).sqrt() for square in squares)


def weights_of(network: nn.Module) -> list[Tensor]:
    """Return the trained parameters of a network, without empty ones."""
    return [weight for weight in network.parameters() if weight.numel()]


def _side_by_side(ids_N: Array, rows: int, steps: int) -> list[Array]:
    """The segments of ``rows`` equal stretches of a block, one after the other, each after the token before it."""
    if not rows:
        return []
    length = (len(ids_N) - 1) // rows
    stretches_RL = sliding_window_view(ids_N, length + 1)[::length][:rows]
    return [stretches_RL[:, place : place + steps + 1] for place in range(0, length + 1 - steps, steps)]


RATES = {"sgd": (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03), "rms": (0.0001, 0.0003, 0.0006, 0.001, 0.002, 0.004)}
"""Rates that each rule tries where none is given."""

TRIED_ON = 5_000
"""Predictions of the validation text that rates are tried on, at most."""


def dynamic_log_probs(
    model: TextModel, tokens: Iterable[int], before: int, dynamic: Dynamic, sizes: Sequence[Tensor] = ()
) -> LogProbs:
    """Yield the tokens of a text and ln p of each before it was learnt from: as ``stream.stream_log_probs``.

    ``sizes`` are those of gradients in training, which the rule "rms" alone has (``gradient_sizes``).
    """
    learning = deepcopy(cast(nn.Module, model)).eval()
    weights = weights_of(learning)
    move = _Move(weights, dynamic, sizes)
    network, carry = cast(TextModel, learning), cast("Carry | None", None)
    for window in windows(tokens, before, dynamic.steps):
        log_probs_BT, _ = network.target_log_probs(window, carry)
        with torch.enable_grad():
            loss, carry = learning(window, carry)
            gradients = torch.autograd.grad(loss.sum, weights)
        move(gradients)
        yield window.target_ids.ids_BT[0], log_probs_BT[0]


def fitted_dynamic(
    model: TextModel, tokens: Iterable[int], before: int, dynamic: Dynamic, sizes: Sequence[Tensor] = ()
) -> Dynamic:
    """The options with the learning rate under which the start of a text is most probable, where it is not given."""
    if dynamic.learning_rate:
        return dynamic
    begin = list(islice(tokens, TRIED_ON))
    tried = [replace(dynamic, learning_rate=rate) for rate in RATES[dynamic.rule]]
    nats = [-sum(float(some.sum()) for _, some in dynamic_log_probs(model, begin, before, one, sizes)) for one in tried]
    # a rate that is too high ends in no number, which is never the least
    return min(zip(tried, nats, strict=True), key=lambda one: one[1] if one[1] == one[1] else torch.inf)[0]


class _Move:
    """The update of the weights."""

    def __init__(self, weights: list[Tensor], dynamic: Dynamic, sizes: Sequence[Tensor]) -> None:
        self._weights, self._dynamic = weights, dynamic
        self._trained = [weight.detach().clone() for weight in weights] if dynamic.decay else []
        mean = sum(float(size.sum(dtype=torch.float64)) for size in sizes) / sum(weight.numel() for weight in weights)
        self._scales = [size + dynamic.epsilon * mean for size in sizes]
        self._ways_back = [(size * (dynamic.decay / mean)).clamp(max=1) for size in sizes]

    @torch.no_grad()
    def __call__(self, gradients: tuple[Tensor, ...]) -> None:
        """Back towards the trained weights, and down the gradient at those before."""
        if self._trained:
            torch._foreach_lerp_(self._weights, self._trained, self._ways_back or self._dynamic.decay)
        if self._scales:
            gradients = torch._foreach_div(gradients, self._scales)
        torch._foreach_add_(self._weights, gradients, alpha=-self._dynamic.learning_rate)
