"""A trained describer: features of images in, sentences about them out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np
import numpy.typing as npt

from anaphora.batch import Batch
from anaphora.data.example_batches import padded_width
from anaphora.data.features import Features, GridShape, array_files, grid_of
from anaphora.data.fields.field import Field
from anaphora.data.fields.grid import Grid
from anaphora.data.fields.tokens import Tokens
from anaphora.formats.arrays import Floats
from anaphora.kernels.runtime import Runtime
from anaphora.options import with_known_names
from anaphora.prediction.limits import UNLIMITED, Limits, Streaming
from anaphora.prediction.predictor import WritingPredictor
from anaphora.search.hypothesis import Hypothesis

_BATCH = 64
"""Images that are searched side by side."""


@dataclass(frozen=True)
class Description:
    """A sentence about an image."""

    text: str
    score: float
    """ln p of the sentence, ``</s>`` included."""
    finished: bool
    """True if it was closed by ``</s>``, and not cut for its length."""
    image: str = ""
    """The file name of the image as its features have it, without folders; empty for features without one."""
    pieces: tuple[str, ...] = ()
    """The tokens of the sentence, with ``</s>`` when it is finished."""
    weights: npt.NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    """Attention, tokens x rows x columns of the grid; None without attention."""
    alternatives: tuple["Description", ...] = ()
    """Other sentences that the beam finished, best first."""

    def json(self) -> dict[str, Any]:
        """Return everything but the attention, for ``json.dumps``."""
        found: dict[str, Any] = {"image": self.image, "text": self.text, "score": self.score}
        return found | {"alternatives": [other.text for other in self.alternatives]}

    def __str__(self) -> str:
        return f"{self.image}\t{self.text}" if self.image else self.text


class DescriberPredictor(WritingPredictor[Description]):
    """A trained describer."""

    unit, activity = "images", "describe"
    reads_arrays = True

    def __init__(
        self, model: Any, fields: Sequence[Field[Any]], experiment: Any, runtime: Runtime | None = None
    ) -> None:
        super().__init__(model, fields, experiment, runtime)
        self.shape = cast(Grid, self.field).shape
        """The size of a grid."""
        self.batch_size = _BATCH * padded_width(self.shape.positions)
        self.attends_to_grid = bool(experiment.attention.kind != "none")
        """True if its descriptions have attention."""

    @staticmethod
    def fields(experiment: Any, tokenizers: Mapping[str, Any]) -> tuple[Field[Any], Field[Any]]:
        encoder = experiment.encoder
        grid = Grid("image", GridShape(encoder.rows, encoder.columns, encoder.width))
        return grid, Tokens("text", tokenizers["text"], lambda caption: caption.text)

    @with_known_names
    def predict(
        self, features: Sequence[npt.ArrayLike], *, beam: int | None = None, limits: Limits = UNLIMITED
    ) -> list[Description]:
        """Return a sentence for each image, given as rows x columns x width, positions x width, or width alone.

        Raises DataError for features of another size or with a number that is not finite.
        """
        return list(self.predict_stream(features, beam=beam, limits=limits))

    @with_known_names
    def predict_stream(
        self, features: Iterable[npt.ArrayLike], *, beam: int | None = None, **streaming: Unpack[Streaming]
    ) -> Iterator[Description]:
        """Yield the same for images as they come, in order."""

        def read(array: npt.ArrayLike, number: int) -> tuple[str, str, Floats]:
            place = f"Image {number}"
            return "", place, grid_of(np.asarray(array), self.shape, place)

        return self._stream(features, read, self._writer(beam, self._longest), **streaming)

    @with_known_names
    def predict_file(
        self, path: str | Path, *, beam: int | None = None, **streaming: Unpack[Streaming]
    ) -> Iterator[Description]:
        """Yield a sentence for each image in an array file, or in those of a folder, with the name of the image.

        Raises DataError as ``data.features``, and for features of another size.
        """
        path = Path(path)
        found = Features(array_files(path) if path.is_dir() else [path])

        def read(image: str, number: int) -> tuple[str, str, Floats]:
            place = f"{path}, image '{image}',"
            return found.file(image), place, grid_of(found[image], self.shape, place)

        return self._stream(list(found), read, self._writer(beam, self._longest), **streaming)

    def _longest(self, batch: Batch) -> int:
        return int(self.experiment.data.max_length) + 1

    def _finish(self, kept: str, found: Description | None) -> Description:
        assert found is not None
        return replace(found, image=kept)

    def _text(self, found: Hypothesis) -> Description:
        return Description(
            text=self.targets.tokenizer.decode(found.ids),
            score=found.score,
            finished=found.finished,
            pieces=self._pieces(found),
            weights=None if found.weights is None else found.weights.reshape(-1, self.shape.rows, self.shape.columns),
        )


make_predictor = DescriberPredictor.of
