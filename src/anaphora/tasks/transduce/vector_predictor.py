"""A trained transducer of vectors: real-valued sequences in, such as the strokes of a pen, their texts out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from anaphora.batch import Batch
from anaphora.data.traces import read_traces
from anaphora.data.vector_batches import given_vectors, prediction_batches
from anaphora.formats.arrays import Floats
from anaphora.formats.labelled import read_vectors
from anaphora.formats.traces import Trace, ink
from anaphora.kernels.runtime import Runtime
from anaphora.models.vector_transducer import VectorTransducer
from anaphora.options import with_known_names
from anaphora.prediction.limits import Streaming, Watch
from anaphora.prediction.running import ON_CPU
from anaphora.prediction.stream import answers, by_row
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.ranking import Ranking
from anaphora.search.request import SearchRequest
from anaphora.search.search import search
from anaphora.tasks.transduce.config import VectorTransductionExperiment
from anaphora.tasks.transduce.predictor import Transduction
from anaphora.text.symbols import SymbolTokenizer

_BUDGET = 4000
"""Vectors of a batch."""
SHORTEST = 10
"""Symbols that any text may have; others may have as many as their sequence has vectors."""


class VectorTransducerPredictor:
    """A trained transducer of vectors."""

    def __init__(
        self,
        model: VectorTransducer,
        target: SymbolTokenizer,
        experiment: VectorTransductionExperiment,
        runtime: Runtime = ON_CPU,
    ) -> None:
        """``experiment`` is the settled one that the model was trained by."""
        self.model, self.target, self.experiment, self._runtime = model, target, experiment, runtime
        self._scale = experiment.scale

    @property
    def attends(self) -> bool:
        """Whether it has attention."""
        return self.model.decoder.attention is not None

    @with_known_names
    def predict(
        self, sequences: Sequence[Any], *, beam: int | None = None, attention: bool = False
    ) -> list[Transduction]:
        """The text of each sequence: an array of steps x width, or of a pen its strokes, each a list of points x, y.

        With ``attention``, texts have their ``pieces`` and ``weights``. Raises DataError for vectors of another width
        than those of training, and for numbers that are not finite.
        """
        return list(self.predict_stream(sequences, beam=beam, attention=attention))

    @with_known_names
    def predict_file(
        self, path: Path, *, beam: int | None = None, attention: bool = False, **streaming: Unpack[Streaming]
    ) -> Iterator[Transduction]:
        """The same for the sequences of a file (see ``data.traces``), or of one ``.npy`` file."""
        if path.name.lower().endswith(".npy"):
            found: Iterator[Trace] = (
                Trace(place, values_TD.astype(np.float64), None) for place, values_TD in read_vectors(path)
            )
        else:
            found = read_traces(path)
        return self.predict_stream(found, beam=beam, attention=attention, **streaming)

    @with_known_names
    def predict_stream(
        self,
        sequences: Iterable[Any],
        *,
        beam: int | None = None,
        attention: bool = False,
        **streaming: Unpack[Streaming],
    ) -> Iterator[Transduction]:
        """The same for sequences as they come, in order, or ``Trace``s."""
        evaluation = self.experiment.evaluation
        size, ranking = beam or evaluation.beam, Ranking(evaluation.length_penalty)

        def answer(rows: Sequence[Floats], watch: Watch, answered: Callable[[int], None]) -> Iterable[Transduction]:
            stepper = self.model.stepper()

            def written(batch: Batch) -> Iterator[Transduction]:
                bounds = [len(rows[number]) + SHORTEST for number in batch.example_ids_B.tolist()]
                request = SearchRequest(
                    max_length=bounds,
                    beam=size,
                    n=size,
                    ranking=ranking,
                    banned_tokens=self.target.symbols.unwritten,
                    attention=attention,
                    check=watch.check,
                )
                for of_one in search(stepper, batch, request):
                    best, *others = map(self._written, of_one)
                    yield replace(best, alternatives=tuple(others))

            return by_row(prediction_batches(rows, _BUDGET), written, watch, answered).values()

        return answers(
            sequences, self._read, answer, task="predict", unit="sequences", runtime=self._runtime, **streaming
        )

    def _written(self, found: Hypothesis) -> Transduction:
        text = self.target.decode(found.ids)
        if found.weights is None:
            return Transduction(text, found.score)
        end = [self.target.symbols.eos] if found.finished else []
        pieces = tuple(self.target.pieces([*found.ids, *end]))
        return Transduction(text, found.score, pieces=pieces, weights=found.weights.numpy())

    def _read(self, given: Any, number: int) -> Floats:
        """The scaled vectors of a sequence, and the flags of its pen."""
        if not isinstance(given, Trace):
            place = f"Sequence {number}"
            if self._scale.pen:
                given = ink(place, given)
            else:
                given = Trace(place, given_vectors(place, given, len(self._scale.mean_D)).astype(np.float64), None)
        return self._scale.encoded(given).astype(np.float32)
