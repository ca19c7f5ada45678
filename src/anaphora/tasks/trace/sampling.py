"""Sequences drawn from a network, one vector at a time.

Every draw is a function of (seed, row, step) from a counter-based generator (Philox: Salmon et al. 2011), so that a
row is the same whatever is drawn beside it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from anaphora.batch import Batch
from anaphora.formats.traces import Floats
from anaphora.models.values import ValueNetwork
from anaphora.nn.device import device_of
from anaphora.nn.outputs.values import Draws
from anaphora.prediction.limits import Watch


class Sampled(NamedTuple):
    """One sequence that was drawn."""

    values_TX: Floats
    """Scaled vectors with all their flags."""
    ended: bool
    """True if the network ended it, before the greatest length."""


@torch.inference_mode()
def sample(
    network: ValueNetwork,
    batch: Batch,
    read_PX: Floats,
    lengths: Sequence[int],
    watch: Watch,
    *,
    bias: float,
    seed: int,
) -> list[Sampled]:
    """A sequence for each row of ``batch``, of ``lengths`` vectors at most.

    ``read_PX`` are the vectors that every row has read before the first draw, P x (D + pen), at least the one that
    sequences begin with. A higher ``bias`` draws nearer to what is most probable (Graves 2013, section 5.4).
    """
    device, pen = device_of(network), network.output.flags - 1
    state = network.start(batch)
    rows, size = batch.example_ids_B.tolist(), network.output.size
    for vector_X in read_PX:
        x_BX = torch.from_numpy(vector_X.astype(np.float32)).to(device).expand(len(rows), -1)
        states_BH, _, state = network.advance(state, x_BX)
    drawn: list[Tensor] = []
    ends = list(lengths)
    for step in range(max(lengths)):
        watch.check()
        draws = _draws(seed, rows, step, size, pen + 1, device)
        values_BX = network.output.drawn(states_BH, draws, bias)
        drawn.append(values_BX)
        for row in torch.nonzero(values_BX[:, -1]).flatten().tolist():
            ends[row] = min(ends[row], step + 1)
        if step + 1 >= max(ends):
            break
        states_BH, _, state = network.advance(state, values_BX[:, : size + pen].float())
    whole_BTX = torch.stack(drawn, 1).cpu().numpy()
    return [Sampled(whole_TX[:end], bool(whole_TX[end - 1, -1])) for whole_TX, end in zip(whole_BTX, ends, strict=True)]


def _draws(seed: int, rows: Sequence[int], step: int, size: int, flags: int, device: torch.device) -> Draws:
    generators = [
        np.random.Generator(
            np.random.Philox(key=np.array([seed, row], np.uint64), counter=np.array([0, 0, 0, step], np.uint64))
        )
        for row in rows
    ]
    uniform = torch.from_numpy(np.stack([generator.random(1 + flags) for generator in generators])).to(device)
    normal = torch.from_numpy(np.stack([generator.standard_normal(size) for generator in generators])).to(device)
    return Draws(uniform[:, 0], normal, uniform[:, 1:])
