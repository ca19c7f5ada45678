"""What a translator that learns new pairs was trained on before: found again, and encoded already."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from anaphora.data.corpora import PairCorpus, Splits
from anaphora.errors import ConfigError, DataError
from anaphora.events import silent
from anaphora.tasks.pairs import pair_splits
from anaphora.tasks.runs import experiment_of
from anaphora.tasks.translation.config import TranslationExperiment
from anaphora.tasks.work import TRAIN


class OldPairs:
    """The pairs of the run that an experiment starts from, and of those that it started from in turn."""

    def __init__(self, experiment: TranslationExperiment) -> None:
        """Find and check them.

        Raises ConfigError where that run is no translator of the same languages, DataError where its data is gone.
        """
        self._path = Path(experiment.start.run)
        older = experiment_of(self._path)
        if not isinstance(older, TranslationExperiment):
            raise ConfigError(
                f"start.replay draws from the pairs of a translator of sentences, but {self._path} is a run of the "
                f"task '{older.task}': name another run, or leave start out."
            )
        then, now = (f"from '{one.data.source}' to '{one.data.target}'" for one in (older, experiment))
        if then != now:
            raise ConfigError(
                f"{self._path} translates {then}, but the new pairs are {now}: give pairs of its languages, or replay "
                f"none of its own (--replay 0)."
            )
        self.splits = self._found(older)
        self._before = OldPairs(older) if older.start.replay else None

    @property
    def every(self) -> Iterator[tuple[PairCorpus, Path]]:
        """The training split of each run, the newest first, with the folder where the run has it encoded."""
        yield self.splits.train, self._path / TRAIN
        if self._before:
            yield from self._before.every

    @property
    def first(self) -> Splits[PairCorpus]:
        """The splits of the run that started from nothing, whose held-out pairs are the old ones."""
        return self._before.first if self._before else self.splits

    def _found(self, older: TranslationExperiment) -> Splits[PairCorpus]:
        try:
            return pair_splits(older, silent)
        except DataError as error:
            raise DataError(
                f"The pairs that {self._path} was trained on cannot be drawn from while it learns new ones. {error} "
                f"Put them back; or give old and new pairs as --data, with --replay 0."
            ) from None


def lent(encoded: Path, folder: Path) -> Path:
    """``folder`` with a copy of what another run has ``encoded``, if anything; it is checked when it is opened."""
    if encoded.is_dir() and not folder.exists():
        shutil.copytree(encoded, folder)
    return folder
