"""Dynamic evaluation: a network goes on learning from the text that it predicts.

The text is read in segments. Each is predicted with the weights W learnt so far, then these move down the gradient g of
its summed loss, and back towards those of the trained network, W_0:

    W  <-  W - rate g
    W  <-  W + decay (W_0 - W)

(Mikolov et al. 2010; the decay, without their scaling of either line: Krause et al. 2018.) It all happens to a copy:
neither the network nor its run changes.
"""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from itertools import islice
from typing import Literal, cast

import torch
from pydantic import Field
from torch import Tensor, nn

from anaphora.config import Config
from anaphora.evaluation.windows import windows
from anaphora.protocols import Carry, TextModel

RATES = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03)
"""What is tried where the rate is not given."""

TRIED_ON = 5_000
"""Predictions of the validation text that rates are tried on, at most."""


class Dynamic(Config):
    """The network goes on learning from the text."""

    kind: Literal["dynamic"] = "dynamic"
    """The kind's name."""
    rate: float = Field(0.0, ge=0)
    """How far a segment's gradient moves the weights; 0 takes what suits the validation part best."""
    steps: int = Field(20, ge=1)
    """Predictions of a segment."""
    decay: float = Field(0.0, ge=0, le=1)
    """How far the weights go back towards the trained ones after each segment."""

    def __str__(self) -> str:
        back = f", decay {self.decay:g}" if self.decay else ""
        return f"dynamic evaluation by {self.steps} predictions, rate {self.rate:g}{back}"


def dynamic_log_probs(
    model: TextModel, units: Iterable[int], before: int, dynamic: Dynamic
) -> Iterator[tuple[Tensor, Tensor]]:
    """The units of a text and ln p of each before it was learnt from: as ``stream.stream_log_probs``."""
    learning = deepcopy(cast(nn.Module, model)).eval()
    weights: list[Tensor] = [weight for weight in learning.parameters() if weight.numel()]
    trained = [weight.detach().clone() for weight in weights] if dynamic.decay else []
    network, carry = cast(TextModel, learning), cast("Carry | None", None)
    for window in windows(units, before, dynamic.steps):
        assert window.targets is not None
        with torch.no_grad():
            log_probs_BT, _ = network.target_log_probs(window, carry)
        with torch.enable_grad():
            loss, carry = network(window, carry)
            gradients = torch.autograd.grad(loss.sum, weights)
        with torch.no_grad():
            torch._foreach_add_(weights, gradients, alpha=-dynamic.rate)
            if trained:
                torch._foreach_lerp_(weights, trained, dynamic.decay)
        yield window.targets.ids_BT[0], log_probs_BT[0]


def fitted_dynamic(model: TextModel, units: Iterable[int], before: int, dynamic: Dynamic) -> Dynamic:
    """The options with the rate under which the begin of a text is likeliest, where it is not given."""
    if dynamic.rate:
        return dynamic
    begin = list(islice(units, TRIED_ON))
    tried = [dynamic.model_copy(update={"rate": rate}) for rate in RATES]
    nats = [-sum(float(some.sum()) for _, some in dynamic_log_probs(model, begin, before, one)) for one in tried]
    # a rate that is too high ends in no number, which is never the least
    return min(zip(tried, nats, strict=True), key=lambda one: one[1] if one[1] == one[1] else torch.inf)[0]
