"""A predictor of values as they come: a field encodes them, a network or a search answers batches of them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, Unpack

from anaphora.batch import Batch
from anaphora.data.example_batches import Side, prediction_batches
from anaphora.data.fields.field import Field
from anaphora.data.ragged import Ragged
from anaphora.kernels.runtime import Runtime
from anaphora.prediction.limits import Streaming, Watch
from anaphora.prediction.stream import answers

Found = TypeVar("Found")


class FieldPredictor(Generic[Found]):
    """Values in, answers out, in order and independent of one another."""

    unit = "texts"
    """Noun of its values, in the plural, for progress."""
    activity = "predict"
    """Name of its work, for progress."""
    batch_size = 8000
    """Positions of a batch."""

    def __init__(self, field: Field[Any], runtime: Runtime) -> None:
        """``field`` encodes the inputs."""
        self.field, self._runtime = field, runtime

    def _stream(
        self,
        items: Iterable[Any],
        read: Callable[[Any, int], tuple[Any, str, Any]],
        answer: Callable[[Batch, Watch], Iterable[Found]],
        finish: Callable[[Any, Found | None], Any] = lambda kept, found: found,
        **streaming: Unpack[Streaming],
    ) -> Iterator[Any]:
        """Yield the answer for each item; no more than two windows of items are held (``prediction.stream``).

        Args:
            items: as they come.
            read: returns what ``finish`` needs of an item, its place, for errors, and the value that the field encodes;
                raises DataError or TypeError for an item that is refused.
            answer: returns what is found for each row of a batch.
            finish: makes the answer of an item and of what was found for it, None for a value without a position.
            streaming: as for ``prediction.stream.answers``.
        """

        def encoded(item: Any, number: int) -> tuple[Any, Ragged]:
            kept, place, value = read(item, number)
            return kept, self.field.encode([value], lambda _: place)

        def answered(window: Sequence[tuple[Any, Ragged]], watch: Watch, count: Callable[[int], None]) -> Iterable[Any]:
            inputs = Side.of(self.field, [rows for _, rows in window])
            found: dict[int, Found] = {}
            for batch in prediction_batches(inputs, self.batch_size):
                watch.check()
                found.update(zip(batch.example_ids_B.tolist(), answer(batch, watch), strict=True))
                count(len(found))
            return [finish(kept, found.get(row)) for row, (kept, _) in enumerate(window)]

        return answers(items, encoded, answered, task=self.activity, unit=self.unit, runtime=self._runtime, **streaming)
