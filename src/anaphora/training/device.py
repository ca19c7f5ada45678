"""Where a network is trained: on the processor, or on a GPU."""

from dataclasses import replace
from typing import Literal

import torch

from anaphora.errors import ConfigError
from anaphora.protocols import Batch, Sequence

Device = Literal["cpu", "cuda"]


def device_for(name: Device) -> torch.device:
    """The device of that name; on a GPU, products of single precision are made so from here on, and not rounded.

    Raises ConfigError where torch finds no GPU.
    """
    if name == "cuda":
        if not torch.cuda.is_available():
            raise ConfigError(
                f'training.device = "cuda" needs a GPU, but torch {torch.__version__} finds none that it can use: set '
                f'training.device = "cpu", or install a torch that was built for your GPU.'
            )
        torch.backends.cudnn.allow_tf32 = False
    return torch.device(name)


def placed(batch: Batch, device: torch.device) -> Batch:
    """The batch with all that a network computes with on a device.

    Lengths and numbers stay on the processor: they decide what is done.
    """
    if device.type == "cpu":
        return batch
    return replace(
        batch,
        inputs=_placed(batch.inputs, device),
        targets=None if batch.targets is None else _placed(batch.targets, device),
        continues_B=batch.continues_B.to(device),
        links_BTS=None if batch.links_BTS is None else batch.links_BTS.to(device),
    )


def _placed(sequence: Sequence, device: torch.device) -> Sequence:
    return replace(
        sequence,
        ids_BT=sequence.ids_BT.to(device),
        weights_B=None if sequence.weights_B is None else sequence.weights_B.to(device),
        words_C=None if sequence.words_C is None else sequence.words_C.to(device),
    )
