"""A trained transducer of vectors: real-valued sequences in, such as the strokes of a pen, their texts out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from anaphora.data.traces import read_traces
from anaphora.data.vector_batches import given_vectors, prediction_batches
from anaphora.events import Report, silent
from anaphora.formats.arrays import Floats
from anaphora.formats.labelled_vectors import read_vectors
from anaphora.formats.traces import Trace, ink
from anaphora.kernels.runtime import Runtime
from anaphora.models.vector_transducer import VectorTransducer
from anaphora.prediction.limits import UNLIMITED, Limits, Watch
from anaphora.prediction.running import ON_CPU
from anaphora.prediction.searching import writer
from anaphora.prediction.stream import answers
from anaphora.search.beam import beam as beam_search
from anaphora.search.ranking import Ranking
from anaphora.tasks.transduce.config import VectorTransductionExperiment
from anaphora.tasks.transduce.predictor import Transduction
from anaphora.text.symbols import SymbolTokenizer

_BUDGET = 4000
"""Vectors of a batch."""
_SHORTEST = 10
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

    def predict(self, sequences: Sequence[Any], *, beam: int | None = None) -> list[Transduction]:
        """The text of each sequence: an array of steps x width, or of a pen its strokes, each a list of points x, y.

        Raises DataError for vectors of another width than those of training, and for numbers that are not finite.
        """
        return list(self.predict_stream(sequences, beam=beam))

    def predict_file(
        self, path: Path, *, beam: int | None = None, limits: Limits = UNLIMITED, report: Report = silent
    ) -> Iterator[Transduction]:
        """The same for the sequences of a file (see ``data.traces``), or of one ``.npy`` file."""
        if path.name.lower().endswith(".npy"):
            found: Iterator[Trace] = (
                Trace(place, values_TD.astype(np.float64), None) for place, values_TD in read_vectors(path)
            )
        else:
            found = read_traces(path)
        return self.predict_stream(found, beam=beam, limits=limits, report=report)

    def predict_stream(
        self,
        sequences: Iterable[Any],
        *,
        beam: int | None = None,
        limits: Limits = UNLIMITED,
        report: Report = silent,
    ) -> Iterator[Transduction]:
        """The same for sequences as they come, in order, or ``Trace``s; raises StoppedError as ``limits`` say."""
        evaluation = self.experiment.evaluation
        size, ranking = beam or evaluation.beam, Ranking(evaluation.length_penalty)

        def answer(rows: Sequence[Floats], watch: Watch, answered: Callable[[int], None]) -> Iterable[Transduction]:
            stepper = writer(self.model.stepper(), self.target.symbols, watch)
            found: dict[int, Transduction] = {}
            for batch in prediction_batches(rows, _BUDGET):
                numbers = batch.example_ids_B.tolist()
                bounds = [len(rows[number]) + _SHORTEST for number in numbers]
                hypotheses = beam_search(stepper, batch, size=size, max_length=bounds, n=size, ranking=ranking)
                for number, of_one in zip(numbers, hypotheses, strict=True):
                    best, *others = (Transduction(self.target.decode(one.ids), one.score) for one in of_one)
                    found[number] = replace(best, alternatives=tuple(others))
                answered(len(found))
            return (found[number] for number in range(len(rows)))

        return answers(
            sequences,
            self._read,
            answer,
            task="predict",
            unit="sequences",
            runtime=self._runtime,
            limits=limits,
            report=report,
        )

    def _read(self, given: Any, number: int) -> Floats:
        """The scaled vectors of a sequence, and the flags of its pen."""
        if not isinstance(given, Trace):
            place = f"Sequence {number}"
            if self._scale.pen:
                given = ink(place, given)
            else:
                given = Trace(place, given_vectors(place, given, len(self._scale.mean_D)).astype(np.float64), None)
        return self._scale.encoded(given).astype(np.float32)
