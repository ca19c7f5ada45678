"""Networks of real-valued sequences: pen strokes, signals.

    prediction   layers of recurrence that read vector t - 1 and predict vector t (Graves 2013, section 4)
    synthesis    the same with a text, which attention moves over: handwriting from letters (section 5)

What is read is D numbers, scaled by the data's mean and deviation, and where there are pen strokes the flag of a stroke
that ends. What is predicted has one flag more: whether the sequence ends there.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self, cast

import torch
from torch import Tensor

from anaphora.batch import Batch, Values
from anaphora.config import Config
from anaphora.errors import ShapeError
from anaphora.inference import values as networks
from anaphora.inference.values import ValueState
from anaphora.kernels.densities import ValuePredictions
from anaphora.nn.attention import AnyAttention, WindowAttention
from anaphora.nn.decoder import CONFLICTS, Decoder, DecoderConfig
from anaphora.nn.device import array_of, device_of
from anaphora.nn.embedding import Embedding, EmbeddingConfig
from anaphora.nn.encoders import AnyEncoder
from anaphora.nn.encoders.recurrent import EncoderConfig
from anaphora.nn.fusion import NoFusion
from anaphora.nn.outputs.values import AnyValueOutput, MixtureDensity, ValueOutput
from anaphora.nn.stack import Stack, StackConfig
from anaphora.nn.vectors import VectorsConfig
from anaphora.nn.weights import AnyStart, Network, Orthogonal
from anaphora.options import Conflict, other_than
from anaphora.protocols import Array, Carry, Loss, PartDescription, VocabularyInfo


class ValuesConfig(VectorsConfig):
    """The vectors of a sequence, as the training split has them, which may be points of a pen; kept in the run."""

    kind: Literal["auto", "strokes", "vectors"] = "auto"
    """Points of a pen as offsets, two numbers each, or vectors as they are; "auto": by the data."""

    @property
    def resolved(self) -> bool:
        return self.kind != "auto" and super().resolved

    def outline(self) -> Self:
        """Return the options as resolved; before the data says what its vectors are, those of a pen."""
        return self if self.size else self.with_options({"kind": "strokes", "size": 2})

    @property
    def pen(self) -> int:
        """1 where a flag tells the end of a stroke, else 0."""
        return int(self.kind == "strokes")


class PredictionConfig(Config):
    """The tables of a prediction network."""

    values: ValuesConfig = ValuesConfig()
    """The vectors of the data."""
    recurrence: StackConfig = StackConfig()
    """Recurrent layers."""
    output: AnyValueOutput = MixtureDensity()
    """Output layer."""
    initializer: AnyStart = Orthogonal()
    """Initial weights."""


class SynthesisConfig(Config):
    """The tables of a synthesis network."""

    values: ValuesConfig = ValuesConfig()
    """The vectors of the data."""
    embedding: EmbeddingConfig = EmbeddingConfig(size=32)
    """Vectors of characters."""
    encoder: AnyEncoder = EncoderConfig(size=32)
    """Encoder of the text."""
    decoder: DecoderConfig = DecoderConfig(initial_state="zero", input_feeding_from="context")
    """Decoder: it reads vectors and the context of attention."""
    attention: AnyAttention = WindowAttention(kind="gaussian-window")
    """Attention over the text."""
    output: AnyValueOutput = MixtureDensity()
    """Output layer."""
    initializer: AnyStart = Orthogonal()
    """Initial weights."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        *CONFLICTS,
        Conflict(
            {"decoder.scheduled_sampling.kind": other_than("none")},
            "it draws words, and there are none; leave decoder.scheduled_sampling out",
        ),
    )


class ValueNetwork(Network, ABC):
    """A network that predicts vectors; one at a time, for sampling, as those of ``inference.values`` do over arrays."""

    output: ValueOutput

    @torch.inference_mode()
    def start(self, batch: Batch) -> ValueState:
        start: ValueState = cast(Any, super()).start(batch.to(device_of(self)))
        return start

    @torch.inference_mode()
    def advance(self, before: ValueState, x_BX: Array) -> tuple[Array, ValueState]:
        states_BH, after = cast(Any, super()).advance(before, torch.from_numpy(x_BX).to(device_of(self)))
        return array_of(states_BH), after

    @abstractmethod
    def _states(self, batch: Batch) -> Tensor:
        """Return the states that vectors are predicted from, having read those before them; T x B x H."""

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        """Return the loss of a batch, one prediction a vector; nothing is carried."""
        return self.output.loss(self._states(batch), batch.targets, batch.supervision), {}

    def predict(self, batch: Batch) -> ValuePredictions:
        """Predict each true vector; puts the model into evaluation mode."""
        self.eval()
        with torch.inference_mode():
            return self.output.predict(self._states(batch.to(device_of(self))), batch.targets)


class PredictionNetwork(ValueNetwork, networks.PredictionNetwork):  # type: ignore[misc]
    """A stack of recurrent layers over vectors. Batches have ``Values`` as inputs and targets."""

    def __init__(self, config: PredictionConfig) -> None:
        """The network with all weights 0."""
        super().__init__()
        self.config = config
        values = config.values.outline()
        width = values.size + values.pen
        self.recurrence = Stack(config.recurrence, width, "recurrence")
        self.output = config.output.build(config.recurrence.size, values.size, values.pen + 1)

    def programs(self) -> Mapping[str, Sequence[PartDescription]]:
        """Return the parts of a step: see ``protocols.ProgramModel``."""
        return {"recurrence": self.recurrence.describe()}

    def _states(self, batch: Batch) -> Tensor:
        if not isinstance(batch.inputs, Values):
            raise ShapeError("A prediction network needs a batch whose inputs are Values.")
        x_TBD = batch.inputs.values_BTD.transpose(0, 1)
        states_TBH: Tensor = self.recurrence(x_TBD, batch.inputs.lengths_B).outputs["h"]
        return states_TBH


class SynthesisNetwork(ValueNetwork, networks.SynthesisNetwork):  # type: ignore[misc]
    """A decoder of vectors with attention over a text. Batches have ``Ids`` as inputs and ``Values`` as targets."""

    def __init__(self, config: SynthesisConfig, text: VocabularyInfo) -> None:
        """The network with all weights 0. Raises ConfigError where the options do not go together."""
        super().__init__()
        self.config, self.symbols = config, text
        values = config.values.outline()
        self._width = values.size + values.pen
        self.embedding = Embedding(config.embedding, text.size, "text")
        self.encoder = config.encoder.build(config.embedding.size)
        self.decoder = Decoder(config.decoder, config.attention, self._width, self.encoder.spec, NoFusion())
        self.output = config.output.build(config.decoder.readout_width, values.size, values.pen + 1)

    def programs(self) -> Mapping[str, Sequence[PartDescription]]:
        """Return the parts of the steps of encoder and decoder: see ``protocols.ProgramModel``."""
        return {**self.encoder.programs(), "decoder": self.decoder.describe()}

    def encode(self, batch: Batch) -> ValueState:
        text = batch.input_ids
        x_SBD = self.embedding.vectors(text.ids_BT.T)
        encoded = self.encoder(x_SBD.transpose(0, 1), text.lengths_B)
        return ValueState(
            self.decoder.prepare(encoded, text.lengths_B), self.decoder.initial_state(encoded, text.lengths_B)
        )

    def _states(self, batch: Batch) -> Tensor:
        if not isinstance(batch.targets, Values):
            raise ShapeError("A synthesis network needs a batch whose targets are Values.")
        memory, state = self.encode(batch)
        true_TBX = batch.targets.values_BTD.transpose(0, 1)[..., : self._width]
        x_TBX = torch.cat([torch.zeros_like(true_TBX[:1]), true_TBX[:-1]])
        states_TBH: Tensor = self.decoder(x_TBX, batch.targets.lengths_B, state, memory)["o"]
        return states_TBH
