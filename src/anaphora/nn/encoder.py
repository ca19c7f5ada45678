"""The recurrent encoder: a sentence becomes one annotation for each of its positions, and a summary."""

from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from anaphora.nn.stack import RecurrentConfig, Stack
from anaphora.nn.weights import Start


class EncoderConfig(RecurrentConfig):
    """A recurrent encoder."""

    kind: Literal["recurrent"] = "recurrent"
    """The kind of encoder."""
    bidirectional: bool = True
    """Whether a second stack reads each layer's input from right to left (Schuster and Paliwal 1997)."""


class Encoded(NamedTuple):
    """What an encoder makes of a batch."""

    annotations_BSM: Tensor
    """[backward; forward] at each position; zero behind the end of a sentence."""
    summaries: list[dict[str, Tensor]]
    """For each layer its last state by field, B x M: [backward at the first word; forward at the last]."""


class Encoder(nn.Module):
    """Layers of recurrence in one or two directions; a residual connection goes around both directions together."""

    def __init__(self, config: EncoderConfig, width: int) -> None:
        """``width`` of the embeddings."""
        super().__init__()
        self.config = config
        self.directions = ("right_to_left", "left_to_right") if config.bidirectional else ("left_to_right",)
        self.width = config.size * len(self.directions)
        single = config.model_copy(update={"layers": 1})
        self.layers = nn.ModuleList(
            nn.ModuleDict(
                {way: Stack(single, width if n == 0 else self.width, f"encoder.{n}.{way}") for way in self.directions}
            )
            for n in range(config.layers)
        )

    def stack(self, layer: int, way: str) -> Stack:
        """The walk of one layer in one direction, ``"left_to_right"`` or ``"right_to_left"``."""
        found = self.get_submodule(f"layers.{layer}.{way}")
        assert isinstance(found, Stack)
        return found

    def forward(self, x_BSD: Tensor, lengths_B: Tensor) -> Encoded:
        """Annotations of M = 2 H (or H) numbers for each position."""
        x_SBD, summaries = x_BSD.transpose(0, 1), []
        turned_SB1 = _turned(x_SBD.shape[0], lengths_B.to(x_SBD.device)).unsqueeze(-1)
        for layer in range(self.config.layers):
            outputs, states = [], []
            for way in self.directions:
                x = x_SBD if way == "left_to_right" else x_SBD.take_along_dim(turned_SB1, 0)
                scanned = self.stack(layer, way)(x, lengths_B)
                h = scanned.outputs["h"]
                outputs.append(h if way == "left_to_right" else h.take_along_dim(turned_SB1, 0))
                states.append({name.removeprefix("layer0."): last for name, last in scanned.state.items()})
            both_SBM = torch.cat(outputs, -1)
            x_SBD = both_SBM + x_SBD if self.config.residual and layer else both_SBM
            summaries.append({field: torch.cat([state[field] for state in states], -1) for field in states[0]})
        return Encoded(x_SBD.transpose(0, 1), summaries)

    def initialise(self, start: Start, generator: torch.Generator) -> None:
        """Fill the weights with what training starts from."""
        for layer in range(self.config.layers):
            for way in self.directions:
                self.stack(layer, way).initialise(start, generator)


def _turned(steps: int, lengths_B: Tensor) -> Tensor:
    """Where each position of the sentences read backwards comes from (S x B); padding stays where it is."""
    positions_S1 = torch.arange(steps, device=lengths_B.device).unsqueeze(1)
    turned_SB = lengths_B - 1 - positions_S1
    return torch.where(turned_SB >= 0, turned_SB, positions_S1)
