"""A predictor of values as they come: a field encodes them, a network or a search answers batches of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, Self, TypeVar, Unpack, cast

from anaphora.batch import Batch
from anaphora.data.example_batches import Side, prediction_batches
from anaphora.data.fields.field import Field
from anaphora.data.fields.vectors import finite_vectors
from anaphora.data.ragged import Ragged
from anaphora.formats.labelled_vectors import read_vectors
from anaphora.kernels.runtime import Runtime
from anaphora.prediction.limits import Count, Streaming, Watch
from anaphora.prediction.runtime import runtime_for
from anaphora.prediction.stream import answers, by_row
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.ranking import Ranking
from anaphora.search.request import SearchRequest
from anaphora.search.search import search

Found = TypeVar("Found")


class FieldPredictor(Generic[Found]):
    """Values in, answers out, in order and independent of one another."""

    unit = "texts"
    """Noun of its values, in the plural, for progress."""
    activity = "predict"
    """Name of its work, for progress."""
    batch_size = 8000
    """Positions of a batch."""
    reads_arrays = False
    """True if its values are arrays, and not texts."""

    def __init__(
        self, model: Any, fields: Sequence[Field[Any]], experiment: Any, runtime: Runtime | None = None
    ) -> None:
        """``fields`` are those of inputs and targets, ``experiment`` the resolved one that ``model`` was trained by."""
        self.model, self.experiment, self.runtime = model, experiment, runtime or runtime_for()
        self.field: Any
        self.targets: Any
        self.field, self.targets = fields

    @staticmethod
    def fields(experiment: Any, tokenizers: Mapping[str, Any]) -> tuple[Field[Any], Field[Any]]:
        """Return the fields of inputs and targets that an experiment asks for."""
        raise NotImplementedError

    @classmethod
    def of(cls, trained: Any) -> Self:
        """Return the predictor of a ``TrainedModel``."""
        fields = cls.fields(trained.experiment, trained.tokenizers)
        return cls(trained.model, fields, trained.experiment, trained.runtime)

    def _answer(self, batch: Batch, watch: Watch) -> Iterable[Found]:
        """Return what is found for each row of a batch."""
        raise NotImplementedError

    def _finish(self, kept: Any, found: Found | None) -> Any:
        """Return the answer for an item: what was found, or None for a value without a position."""
        return found

    def _stream(
        self,
        items: Iterable[Any],
        read: Callable[[Any, int], tuple[Any, str, Any]],
        answer: Callable[[Batch, Watch], Iterable[Found]] | None = None,
        **streaming: Unpack[Streaming],
    ) -> Iterator[Any]:
        """Yield the answer for each item; no more than two windows of items are held (``prediction.stream``).

        Args:
            items: as they come.
            read: returns what ``_finish`` needs of an item, its place, for errors, and the value that the field
                encodes; raises DataError or TypeError for an item that is refused.
            answer: in place of ``_answer``.
            streaming: as for ``prediction.stream.answers``.
        """
        answer = answer or self._answer

        def encoded(item: Any, number: int) -> tuple[Any, Ragged]:
            kept, place, value = read(item, number)
            return kept, self.field.encode([value], lambda _: place)

        def answered(window: Sequence[tuple[Any, Ragged]], watch: Watch, count: Count) -> Iterable[Any]:
            inputs = Side.of(self.field, [rows for _, rows in window])
            batches = prediction_batches(inputs, self.batch_size)
            found = by_row(batches, lambda batch: answer(batch, watch), watch, count)
            return [self._finish(kept, found.get(row)) for row, (kept, _) in enumerate(window)]

        return answers(items, encoded, answered, task=self.activity, unit=self.unit, runtime=self.runtime, **streaming)


class WritingPredictor(FieldPredictor[Found]):
    """A predictor that writes texts by beam search, as the table ``evaluation`` of its experiment says."""

    def _text(self, found: Hypothesis) -> Found:
        """Return a text that was found."""
        raise NotImplementedError

    def _pieces(self, found: Hypothesis) -> tuple[str, ...]:
        """Return the tokens of a text, with ``</s>`` where it is finished."""
        tokenizer = self.targets.tokenizer
        return tuple(tokenizer.pieces([*found.ids, *([tokenizer.symbols.eos] if found.finished else [])]))

    def _writer(
        self, beam: int | None, longest: Callable[[Batch], int | list[int]], *, attention: bool = True
    ) -> Callable[[Batch, Watch], Iterator[Found]]:
        """Return an ``answer`` for ``_stream``, whose texts have as many tokens as ``longest`` says at most."""
        evaluation, stepper = self.experiment.evaluation, self.model.stepper()
        size = beam or evaluation.beam

        def answer(batch: Batch, watch: Watch) -> Iterator[Found]:
            request = SearchRequest(
                max_length=longest(batch),
                beam=size,
                n=size,
                ranking=Ranking(evaluation.length_penalty),
                banned_tokens=self.targets.tokenizer.symbols.unwritten,
                attention=attention,
                check=watch.check,
            )
            for hypotheses in search(stepper, batch, request):
                best, *others = map(self._text, hypotheses)
                yield replace(cast(Any, best), alternatives=tuple(others))

        return answer


class VectorPredictor(FieldPredictor[Found]):
    """A predictor of sequences of vectors."""

    unit = "sequences"
    reads_arrays = True
    by_step = False
    """True if it answers the steps of a sequence one by one."""

    def predict(self, sequences: Sequence[Any]) -> list[Any]:
        """Return the answer for each sequence: an array, steps x width, or width for one vector.

        Raises DataError for vectors of another width than those of training, and for numbers that are not finite.
        """
        return list(self.predict_stream(sequences))

    def predict_stream(self, sequences: Iterable[Any], **streaming: Unpack[Streaming]) -> Iterator[Any]:
        """Yield the same for sequences as they come, in order."""
        named = ((f"Sequence {number}", one) for number, one in enumerate(sequences, 1))
        return self._stream(named, _vectors, **streaming)

    def predict_file(self, path: Path, **streaming: Unpack[Streaming]) -> Iterator[Any]:
        """Yield the same for the sequences of a file: see ``formats.labelled_vectors.read_vectors``."""
        return self._stream(read_vectors(path, steps=self.by_step), _vectors, **streaming)


def _vectors(named: tuple[str, Any], number: int) -> tuple[None, str, Any]:
    place, values = named
    return None, place, finite_vectors(place, values)
