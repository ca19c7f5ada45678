"""Networks that write a text over what is no text: an encoder of their inputs, and a decoder of tokens."""

from typing import Protocol

from anaphora.models.encoder_decoder import EncoderDecoder
from anaphora.nn.attention import AnyAttention
from anaphora.nn.decoder import Decoder, DecoderConfig
from anaphora.nn.embedding import Embedding, EmbeddingConfig
from anaphora.nn.encoders.encoder import Encoder
from anaphora.nn.fusion import NoFusion
from anaphora.nn.outputs import AnyOutput
from anaphora.nn.weights import AnyStart, initialise_all
from anaphora.protocols import VocabularyInfo


class WriterConfig(Protocol):
    """The tables that every such network has."""

    @property
    def embedding(self) -> EmbeddingConfig: ...
    @property
    def decoder(self) -> DecoderConfig: ...
    @property
    def attention(self) -> AnyAttention: ...
    @property
    def output(self) -> AnyOutput: ...
    @property
    def initializer(self) -> AnyStart: ...


class Writer(EncoderDecoder):
    """Word vectors, an encoder, a decoder and an output layer; a subclass encodes its inputs."""

    language_model = None

    def __init__(self, config: WriterConfig, encoder: Encoder, text: VocabularyInfo) -> None:
        """The network with all weights 0; ConfigError where the options do not go together."""
        super().__init__()
        self.symbols, self.attention, self._start = text, config.attention, config.initializer
        self.embedding = Embedding(config.embedding, text.size, "words")
        self.encoder = encoder
        self.decoder = Decoder(config.decoder, config.attention, config.embedding.size, encoder.spec, NoFusion())
        self.output = config.output.build(self.embedding, config.decoder.readout_width, text)

    def initialise(self, seed: int) -> None:
        initialise_all((self.embedding, self.encoder, self.decoder, self.output), self._start, seed)

    @property
    def written(self) -> Embedding:
        """Its only one."""
        return self.embedding
