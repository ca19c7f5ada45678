"""Content of ``state.json``: checked like any other input before anything is restored from it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field

from anaphora.files import DamagedError
from anaphora.run.manifest import Record

Count = Annotated[int, Field(ge=0, le=1 << 53)]
Positive = Annotated[int, Field(ge=1, le=1 << 53)]


class SavedCursor(Record):
    """See ``Cursor``; checkpoints of the first versions know nothing of going back."""

    update: Count
    epoch: Positive
    position: Count
    epoch_of_update: Positive
    skipped: Count
    skipped_in_row: Count
    fallbacks: Count = 0
    rate_factor: float = Field(1.0, gt=0, le=1)


class SavedBest(Record):
    """See ``BestCheckpoint``."""

    update: Count
    metrics: Mapping[str, float]
    since: Count


class SavedSchedule(Record):
    """Of schedules that look at validations; None for the others."""

    rate: Annotated[float, Field(ge=0)] | None = None
    waited: Count | None = None


class SavedAverage(Record):
    """Of a mean of the weights (``training/averaging.py``); None where there is none of its kind."""

    count: Count | None = None
    costs: list[float] | None = None
    triggered: bool | None = None


class SavedState(Record):
    """See ``TrainingState``."""

    cursor: SavedCursor
    schedule: SavedSchedule
    optimizer: SavedAverage = SavedAverage()
    best: SavedBest
    due: SavedBest | None = None
    """None in checkpoints that told it not apart from ``best``."""
    seconds: float = Field(ge=0)

    @classmethod
    def parse(cls, state: Mapping[str, Any], update: int, metric: str, path: Path) -> Self:
        """Return the state of the checkpoint of ``update``, whose best validation has ``metric``; else DamagedError."""
        saved = cls.checked(state, path, "a training")
        if saved.cursor.update != update:
            raise DamagedError(f"{path} describes update {saved.cursor.update}, but was saved after update {update}.")
        for name, best in (("best", saved.best), ("due", saved.due or saved.best)):
            if best.update > update or (best.update and metric not in best.metrics):
                raise DamagedError(
                    f"{path} does not describe a training: {name!r} should be a validation up to update {update} with "
                    f"{metric}, but is of update {best.update} with {', '.join(best.metrics) or 'nothing'}."
                )
        return saved
