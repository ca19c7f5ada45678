"""Transduction of real-valued sequences: the vectors of a signal, or the strokes of a pen, in; their texts out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np
import torch

from anaphora.batch import Batch
from anaphora.batch import Values as PaddedValues
from anaphora.data.example_batches import ExampleBatches
from anaphora.data.example_store import ExampleStore
from anaphora.data.fields.field import Field
from anaphora.data.fields.tokens import Tokens
from anaphora.data.fields.values import Values, written_in
from anaphora.data.fields.vectors import finite_vectors
from anaphora.data.traces import TraceCorpus, read_traces, trace_corpus
from anaphora.events import Report
from anaphora.formats.labelled import read_vectors
from anaphora.formats.traces import Trace, ink
from anaphora.kernels.runtime import Runtime
from anaphora.models.registry import NETWORKS
from anaphora.models.vector_transducer import VectorTransducer
from anaphora.nn.device import device_of
from anaphora.options import with_known_names
from anaphora.prediction.limits import Streaming, Watch
from anaphora.prediction.predictor import FieldPredictor
from anaphora.prediction.running import ON_CPU
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.ranking import Ranking
from anaphora.search.request import SearchRequest
from anaphora.search.search import search
from anaphora.tasks.evaluation import Answer, Request, one_run, own_splits
from anaphora.tasks.field_task import Fields
from anaphora.tasks.runs import experiment_of
from anaphora.tasks.scores import scored
from anaphora.tasks.task import Tokenizers, Trained
from anaphora.tasks.trace import ValueTask
from anaphora.tasks.training_job import mean_loss
from anaphora.tasks.transduce.config import VectorTransductionExperiment
from anaphora.tasks.transduce.data import scores_of
from anaphora.tasks.transduce.evaluation import TransductionScores, transduction_scores
from anaphora.tasks.transduce.predictor import Transduction
from anaphora.text.symbols import SymbolTokenizer
from anaphora.training.loop import Validate

SHORTEST = 10
"""Symbols that any text may have; others may have as many as their sequence has vectors."""


class VectorTransducerPredictor(FieldPredictor[Transduction]):
    """A trained transducer of vectors: real-valued sequences in, such as the strokes of a pen, their texts out."""

    unit = "sequences"
    batch_size = 4000
    reads_arrays = True

    def __init__(
        self,
        model: VectorTransducer,
        target: SymbolTokenizer,
        experiment: VectorTransductionExperiment,
        runtime: Runtime = ON_CPU,
    ) -> None:
        """``experiment`` is the resolved one that the model was trained by."""
        super().__init__(Values("values", experiment.scale), runtime)
        self.model, self.target, self.experiment = model, target, experiment

    @property
    def attends(self) -> bool:
        """True if it has attention."""
        return self.model.decoder.attention is not None

    @with_known_names
    def predict(
        self, sequences: Sequence[Any], *, beam: int | None = None, attention: bool = False
    ) -> list[Transduction]:
        """Return the text of each sequence: an array of steps x width, or strokes of a pen, each a list of points x, y.

        With ``attention``, texts have their ``pieces`` and ``weights``. Raises DataError for vectors of another width
        than those of training, and for numbers that are not finite.
        """
        return list(self.predict_stream(sequences, beam=beam, attention=attention))

    @with_known_names
    def predict_file(
        self, path: Path, *, beam: int | None = None, attention: bool = False, **streaming: Unpack[Streaming]
    ) -> Iterator[Transduction]:
        """Yield the same for the sequences of a file (see ``data.traces``), or of one ``.npy`` file."""
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
        """Yield the same for sequences as they come, in order, or ``Trace``s."""
        evaluation = self.experiment.evaluation
        size, ranking, stepper = beam or evaluation.beam, Ranking(evaluation.length_penalty), self.model.stepper()

        def written(batch: Batch, watch: Watch) -> Iterator[Transduction]:
            request = SearchRequest(
                max_length=[length + SHORTEST for length in cast(PaddedValues, batch.inputs).lengths_B.tolist()],
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

        return self._stream(sequences, self._read, written, **streaming)

    def _written(self, found: Hypothesis) -> Transduction:
        text = self.target.decode(found.ids)
        if found.weights is None:
            return Transduction(text, found.score)
        end = [self.target.symbols.eos] if found.finished else []
        pieces = tuple(self.target.pieces([*found.ids, *end]))
        return Transduction(text, found.score, pieces=pieces, weights=found.weights.numpy())

    def _read(self, given: Any, number: int) -> tuple[None, str, Trace]:
        """Return a sequence that a caller gave."""
        place, scale = f"Sequence {number}", self.experiment.scale
        if isinstance(given, Trace):
            return None, given.place, given
        if scale.pen:
            return None, place, ink(place, given)
        return None, place, Trace(place, finite_vectors(place, given).astype(np.float64), None)


class VectorTransduction(ValueTask):
    """A sequence of vectors in, a string out."""

    name, model = "transduce", "vectors"
    noun, plural = "a transducer", "transducers of vectors"
    experiment, network = VectorTransductionExperiment, NETWORKS["vector-transducer"]
    see = "see anaphora predict"
    next_command = "anaphora evaluate {run}"
    example = 'transducer = anaphora.load("{path}")\nprint(transducer.predict([vectors])[0].text)'
    side = "target"

    def fields(self, experiment: Any, tokenizers: Tokenizers, splits: Any = None) -> Fields:
        """Return the sequence, and its text."""
        return Fields(Values("values", experiment.scale), self.text_field(tokenizers))

    def sized_by(self, fields: Fields) -> Sequence[Field[Any]]:
        return [*fields]

    def validation(
        self, experiment: Any, corpus: Any, fields: Fields, store: ExampleStore, batches: ExampleBatches
    ) -> Validate:
        """Return loss, accuracy and symbol error rate of the validation split."""
        every, target = batches.epoch(1), cast(SymbolTokenizer, cast(Tokens, fields.targets).tokenizer)
        beam, answers = experiment.evaluation.validation_beam, [[trace.text] for trace in corpus.examples()]

        def validate(model: torch.nn.Module) -> Mapping[str, float]:
            runtime = Runtime.inference(device_of(model))
            predictor = VectorTransducerPredictor(cast(VectorTransducer, model), target, experiment, runtime)
            found = predictor.predict_stream(corpus.examples(), beam=beam)
            scores = scores_of([one.text for one in found], answers, target)
            loss = mean_loss(model, every)
            return {"loss": loss, "accuracy": scores.accuracy, "symbol_error_rate": scores.symbol_error_rate}

        return validate

    def predictor(self, trained: Trained) -> VectorTransducerPredictor:
        experiment = cast(VectorTransductionExperiment, trained.experiment)
        model, symbols = cast(VectorTransducer, trained.model), cast(SymbolTokenizer, trained.tokenizers["target"])
        return VectorTransducerPredictor(model, symbols, experiment, trained.runtime)

    def evaluate(self, paths: Sequence[Path], request: Request, report: Report) -> Answer:
        """Return the scores of one run on given sequences or on ``splits_to_score``; kept in the run.

        Raises ConfigError for what a transducer has no use for.
        """
        path = one_run(paths, self.noun)
        experiment = cast(VectorTransductionExperiment, experiment_of(path))
        request.refuse(path, self.noun, ("data", "search", "sentences"))
        if request.data is not None:
            splits: Mapping[str, TraceCorpus] = {request.data.name: trace_corpus(request.data)}
        else:
            splits = own_splits(path, experiment, self.splits, "--data", report)
        beam = request.search.beam or experiment.evaluation.beam

        def score(model: VectorTransducerPredictor, corpus: TraceCorpus) -> TransductionScores:
            traces = list(corpus.examples())
            texts = list(map(written_in, traces))
            found = model.predict_stream(traces, beam=beam, report=report)
            outputs = {trace.place: (one.text, [text]) for trace, text, one in zip(traces, texts, found, strict=True)}
            return transduction_scores(outputs, model.target, experiment.evaluation.without, f"beam {beam}")

        return Answer([scored(path, lambda model: splits, score, TransductionScores.metrics, request, report)])
