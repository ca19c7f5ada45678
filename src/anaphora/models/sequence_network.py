"""Networks that answer from the annotations of a sequence, without a search: classifiers and taggers."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from anaphora.batch import Batch, Ids, Values
from anaphora.nn.encoders.encoder import Encoder, EncoderOutput
from anaphora.nn.vectors import VectorScale
from anaphora.nn.weights import Network
from anaphora.protocols import PartDescription


class SequenceNetwork(Network):
    """An encoder over vectors, or what a subclass makes of tokens."""

    encoder: Encoder
    scale: VectorScale
    """Scale of networks of vectors."""

    def vectors(self, batch: Batch) -> tuple[Tensor, Ids | Values]:
        """Return the input of the encoder, B x S x D, and the rows that it is made of.

        Vectors are scaled; networks of tokens override this. ShapeError for a batch of anything else.
        """
        return self.scale.scale(batch.inputs)

    def encode(self, batch: Batch) -> tuple[EncoderOutput, Ids | Values]:
        """Return the annotations and sentence encodings, and the rows that they are of."""
        x_BSD, rows = self.vectors(batch)
        return self.encoder(x_BSD, rows.lengths_B), rows

    def programs(self) -> Mapping[str, Sequence[PartDescription]]:
        """Return the parts of each step of the encoder; puts the model into evaluation mode."""
        self.eval()
        return self.encoder.programs()
