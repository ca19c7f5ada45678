"""Replay: pairs that a translator was trained on before, found again, and batches of new pairs with old ones in each.

A network so learns the new without losing what it knows.
"""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from anaphora.batch import Batch, Ids, pad
from anaphora.data.buckets import shuffled
from anaphora.data.columns import Integers
from anaphora.data.corpora import PairCorpus, Splits
from anaphora.data.example_batches import LazyBatches
from anaphora.data.pairs import PairBatches
from anaphora.errors import ConfigError, DataError
from anaphora.events import silent
from anaphora.tasks.runs import experiment_of
from anaphora.tasks.training_job import TRAIN, pair_splits
from anaphora.tasks.translation.config import TranslationExperiment


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
        """Yield the training split of each run, the newest first, with the folder where the run has it encoded."""
        yield self.splits.train, self._path / TRAIN
        if self._before:
            yield from self._before.every

    @property
    def first(self) -> Splits[PairCorpus]:
        """Splits of the run that started from nothing, whose held-out pairs are the old ones."""
        return self._before.first if self._before else self.splits

    def _found(self, older: TranslationExperiment) -> Splits[PairCorpus]:
        try:
            return pair_splits(older, silent)
        except DataError as error:
            raise DataError(
                f"The pairs that {self._path} was trained on cannot be drawn from while it learns new ones. {error} "
                f"Put them back; or give old and new pairs as --data, with --replay 0."
            ) from None


def with_copy(folder: Path, encoded: Path) -> Path:
    """Return ``folder`` with a copy of the store that another run has in ``encoded``, if any; opening it checks it."""
    if encoded.is_dir() and not folder.exists():
        shutil.copytree(encoded, folder)
    return folder


_DRAWN, _SHUFFLED = 2, 3
"""Purposes of orders, beside those of ``data.buckets``."""

_Place = tuple[LazyBatches, int]


def shares(batch_tokens: int, replay: float) -> tuple[int, int]:
    """Return the tokens of a batch for new and for old pairs, a fraction ``replay`` for old ones; at least one each."""
    old = min(max(1, round(batch_tokens * replay)), max(1, batch_tokens - 1))
    return max(1, batch_tokens - old), old


class ReplayedBatches:
    """Batches of new pairs with a batch of old pairs in each (rehearsal); implements ``protocols.Batches``.

    An epoch has every new pair once, and as many batches of old pairs as of new ones, others in every epoch. Batches of
    long pairs meet batches of long pairs, so that there is little padding.
    """

    def __init__(self, new: PairBatches, old: Sequence[PairBatches], seed: int) -> None:
        """The sizes of batches of ``new`` and ``old`` decide the share of each; see ``shares``."""
        self._new, self._old, self._seed = new, old, seed

    def epoch(self, number: int) -> Sequence[Batch]:
        """Return the batches of epoch ``number``, a pure function of it, the seed and the pairs."""
        new, olds = self._new.epoch(number), [old.epoch(number) for old in self._old]
        every = [(old, place) for old in olds for place in range(len(old))]
        drawn = shuffled(len(every), self._seed, number, _DRAWN)
        chosen = [every[drawn[place % len(every)]] for place in range(len(new))]
        own = [(new, place) for place in range(len(new))]
        # a batch of few rows has long ones
        meeting = list(zip(sorted(own, key=_rows), sorted(chosen, key=_rows), strict=True))
        order = shuffled(len(meeting), self._seed, number, _SHUFFLED)
        return LazyBatches(list(order.reshape(-1, 1)), partial(_met, meeting))


def _rows(place: _Place) -> int:
    return len(place[0].places[place[1]])


def _met(meeting: Sequence[tuple[_Place, _Place]], place: Integers) -> Batch:
    (new, own), (old, other) = meeting[int(place[0])]
    return joined(new[own], old[other])


def joined(first: Batch, second: Batch) -> Batch:
    """Return the rows of two batches of pairs in one, from long targets to short; ids are those of either corpus."""
    lengths_B = torch.cat([first.target_ids.lengths_B, second.target_ids.lengths_B])
    order_B = torch.argsort(lengths_B, descending=True, stable=True)
    return replace(
        first,
        inputs=_joined(first.input_ids, second.input_ids, order_B),
        targets=_joined(first.target_ids, second.target_ids, order_B),
        example_ids_B=torch.cat([first.example_ids_B, second.example_ids_B])[order_B],
        carry_mask_B=torch.cat([first.carry_mask_B, second.carry_mask_B])[order_B],
    )


def _joined(first: Ids, second: Ids, order_B: torch.Tensor) -> Ids:
    rows = [
        ids_T[:length]
        for ids in (first, second)
        for ids_T, length in zip(ids.ids_BT.numpy(), ids.lengths_B.tolist(), strict=True)
    ]
    return pad([rows[place] for place in order_B.tolist()])
