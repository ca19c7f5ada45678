"""What predictors of real-valued sequences share: arrays or a file of them in, one answer for each out, in order."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar, Unpack

from anaphora.data.vector_batches import given_vectors
from anaphora.formats.arrays import Floats
from anaphora.formats.labelled import read_vectors
from anaphora.kernels.runtime import Runtime
from anaphora.prediction.limits import Streaming, Watch
from anaphora.prediction.stream import answers

Answer = TypeVar("Answer")


class VectorPredictor(ABC, Generic[Answer]):
    """Sequences in, an ``Answer`` for each out."""

    def __init__(self, width: int, runtime: Runtime) -> None:
        """``width`` is that of the vectors of training."""
        self._width, self._runtime = width, runtime

    def predict(self, sequences: Sequence[Any]) -> list[Answer]:
        """The answer for each sequence: an array, steps x width, or width for one vector.

        Raises DataError for vectors of another width than those of training, and for numbers that are not finite.
        """
        return list(self.predict_stream(sequences))

    def predict_file(self, path: Path, **streaming: Unpack[Streaming]) -> Iterator[Answer]:
        """The same for the sequences of an array file: see ``formats.labelled.read_vectors``."""
        return self._predicted(read_vectors(path), **streaming)

    def predict_stream(self, sequences: Iterable[Any], **streaming: Unpack[Streaming]) -> Iterator[Answer]:
        """The same for sequences as they come, in order."""
        return self._predicted(((f"Sequence {number}", one) for number, one in enumerate(sequences, 1)), **streaming)

    @abstractmethod
    def _answer(self, rows: Sequence[Floats], watch: Watch, answered: Callable[[int], None]) -> Iterable[Answer]:
        """See ``prediction.stream.Batcher``."""

    def _predicted(self, named: Iterable[tuple[str, Any]], **streaming: Unpack[Streaming]) -> Iterator[Answer]:
        def read(one: tuple[str, Any], number: int) -> Floats:
            return given_vectors(*one, self._width)

        return answers(named, read, self._answer, task="predict", unit="sequences", runtime=self._runtime, **streaming)
