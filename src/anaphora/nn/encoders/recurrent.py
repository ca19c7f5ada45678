"""The recurrent encoder: a sentence becomes one annotation for each of its positions, and a summary.

An annotation is [backward; forward] of its position, and the summary of a layer is its last state: [backward at the
first word; forward at the last], or one of the two alone. Read in reverse, a sentence a b c `</s>` is c b a `</s>` to
the one direction there is (Sutskever et al. 2014, section 3.3); its annotations still stand in the order of the
sentence, so that alignments and whatever else looks at positions know nothing of it.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from anaphora.kernels.word_tables import Words, rearrange
from anaphora.nn.encoders.encoder import Encoder, EncoderOutput, EncoderSpec
from anaphora.nn.stack import Stack, StackConfig
from anaphora.nn.weights import Start
from anaphora.options import SET, Conflict
from anaphora.protocols import PartDescription


class EncoderConfig(StackConfig):
    """A recurrent encoder."""

    kind: Literal["recurrent"] = "recurrent"
    bidirectional: bool = True
    """True if a second stack reads each layer's input from right to left (Schuster and Paliwal 1997)."""
    reversed: bool = False
    """True if its one direction reads the sentence from its last word to its first, and then `</s>`."""

    sentence_encoding_from: Literal["both", "backward", "forward"] = "both"
    """Directions, of two, whose last states are what a decoder starts from (Bahdanau et al. 2015: backward)."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"reversed": True, "bidirectional": True}, "set one of the two to false"),
        Conflict(
            {"sentence_encoding_from": SET, "bidirectional": False}, "leave it out, or set encoder.bidirectional = true"
        ),
    )

    def build(self, width: int) -> Encoder:
        """Return the encoder over word vectors of ``width``.

        Raises ConfigError where the options do not go together.
        """
        return RecurrentEncoder(self, width)


class RecurrentEncoder(Encoder):
    """Layers of recurrence in one or two directions; a residual connection goes around both directions together."""

    reads_words = True

    def __init__(self, config: EncoderConfig, width: int) -> None:
        """``width`` of the embeddings. Raises ConfigError where the options do not go together."""
        super().__init__()
        self.config = config
        self.directions = ("right_to_left", "left_to_right") if config.bidirectional else ("left_to_right",)
        both = config.size * len(self.directions)
        self._summarised = {"both": slice(0, 2), "backward": slice(0, 1), "forward": slice(1, 2)}[
            config.sentence_encoding_from
        ]
        summary_width = both if config.sentence_encoding_from == "both" else config.size
        self.spec = EncoderSpec(both, summary_width, config.layers, config.cell.state, True)
        single = config.with_options({"layers": 1})
        self.layers = nn.ModuleList(
            nn.ModuleDict(
                {way: Stack(single, width if n == 0 else both, f"encoder.{n}.{way}") for way in self.directions}
            )
            for n in range(config.layers)
        )

    def stack(self, layer: int, way: str) -> Stack:
        """Return the stack of one layer in one direction, ``"left_to_right"`` or ``"right_to_left"``."""
        found = self.get_submodule(f"layers.{layer}.{way}")
        assert isinstance(found, Stack)
        return found

    def forward(self, x_BSD: Tensor | Words, lengths_B: Tensor, targets_B: Tensor | None = None) -> EncoderOutput:
        """Annotations of M = 2 H (or H) numbers for each position."""
        steps = (x_BSD if isinstance(x_BSD, Tensor) else x_BSD.ids_XB1).shape[1]
        x_SBD, summaries = rearrange(x_BSD, lambda block: block.transpose(0, 1)), []
        units_B = lengths_B.to(next(self.parameters()).device)
        turned_SB = _reversed_positions(steps, units_B)
        words_SB = _reversed_positions(steps, units_B - 1)  # all but </s>
        if self.config.reversed:
            x_SBD = rearrange(x_SBD, lambda block: _take(block, words_SB))
        for layer in range(self.config.layers):
            outputs, states = [], []
            for way in self.directions:
                x = x_SBD if way == "left_to_right" else rearrange(x_SBD, lambda block: _take(block, turned_SB))
                scanned = self.stack(layer, way)(x, lengths_B)
                h = scanned.outputs["h"]
                outputs.append(h if way == "left_to_right" else _take(h, turned_SB))
                states.append({name.removeprefix("layer0."): state for name, state in scanned.state.items()})
            both_SBM = torch.cat([h.transpose(0, 1) for h in outputs], -1).transpose(0, 1)  # lies as it is attended to
            adds = self.config.residual and layer > 0
            x_SBD = both_SBM + x_SBD if adds and isinstance(x_SBD, Tensor) else both_SBM
            last = states[self._summarised]
            summaries.append({field: torch.cat([state[field] for state in last], -1) for field in last[0]})
        assert isinstance(x_SBD, Tensor)  # what a layer gave
        if self.config.reversed:
            x_SBD = _take(x_SBD, words_SB)
        return EncoderOutput(x_SBD.transpose(0, 1), summaries)

    def programs(self) -> Mapping[str, Sequence[PartDescription]]:
        """Return the programs of every layer, in each direction."""
        return {
            f"encoder layer {layer}, {way.replace('_', ' ')}": self.stack(layer, way).describe()
            for layer in range(self.config.layers)
            for way in self.directions
        }

    def initialise(self, start: Start, generator: torch.Generator) -> None:
        for layer in range(self.config.layers):
            for way in self.directions:
                self.stack(layer, way).initialise(start, generator)


def _take(x_SBD: Tensor, positions_SB: Tensor) -> Tensor:
    """Return the vectors at other positions of the same sentences, copied whole."""
    rows_R = (positions_SB * x_SBD.shape[1] + torch.arange(x_SBD.shape[1], device=x_SBD.device)).flatten()
    return x_SBD.flatten(0, 1).index_select(0, rows_R).view_as(x_SBD)


def _reversed_positions(steps: int, lengths_B: Tensor) -> Tensor:
    """Return the source of each position of the reversed sentences (S x B); padding stays where it is."""
    positions_S1 = torch.arange(steps, device=lengths_B.device).unsqueeze(1)
    turned_SB = lengths_B - 1 - positions_S1
    return torch.where(turned_SB >= 0, turned_SB, positions_S1)
