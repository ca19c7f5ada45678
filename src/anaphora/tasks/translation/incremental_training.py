"""Incremental training: a translator learns new pairs and keeps what it knows.

Old pairs, found again where the run before had them, are in every batch; both kinds are held out.
"""

import hashlib
import shutil
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from anaphora.batch import Batch, Ids, pad
from anaphora.data.buckets import shuffle
from anaphora.data.columns import Integers
from anaphora.data.corpora import PairCorpus, Splits
from anaphora.data.example_batches import LazyBatches
from anaphora.data.pairs import PairBatches, scored_batches
from anaphora.errors import ConfigError, DataError, MissingExtraError
from anaphora.evaluation.bleu import Score, bleu, chrf
from anaphora.evaluation.perplexity import perplexity
from anaphora.events import Note, Report, silent
from anaphora.protocols import Batches
from anaphora.run.checkpoint import AVERAGE
from anaphora.run.weights import as_tensors, check_fit, fill
from anaphora.tasks.runs import experiment_of
from anaphora.tasks.training_job import TRAIN, TrainingContext, mean_loss, not_skipping, pair_splits
from anaphora.tasks.translation.config import TranslationExperiment
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.training import TranslationJob
from anaphora.training.loop import Outcome, Stop, Validate
from anaphora.training.ranks import Ranks

MOST_MEASURED = 1000
"""Pairs of each kind that are translated before and after."""
TOLERATED = 0.3
"""Points that old pairs may lose: in validation, and in the test without a warning."""
_DRAWN, _SHUFFLED = 2, 3
"""Purposes of orders, beside those of ``data.buckets``."""

_Place = tuple[LazyBatches, int]


class IncrementalJob(TranslationJob):
    """A translator that starts from a trained one, whose pairs are replayed."""

    def __init__(self, experiment: TranslationExperiment, report: Report) -> None:
        """Find and check old and new data; errors as for ``old_runs`` and ``TranslationJob``."""
        self._old = old_runs(experiment)
        self._first = self._old[-1].splits
        super().__init__(experiment, report)

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """SHA-256 of the data by part, old pairs among them."""
        parts = [run.splits.train for run in self._old] + [self._first.valid]
        digest = hashlib.sha256(" ".join(part.fingerprint for part in parts).encode()).hexdigest()
        return {**super().fingerprints, "old": digest}

    def batches(self, context: TrainingContext, report: Report) -> Batches:
        """Return batches by token budget, old pairs in each."""
        new, old = shares(context.training.batch_tokens, self._experiment.start.replay)
        tokenizers, quiet, olds = context.tokenizers, not_skipping(report), list[PairBatches]()
        for place, run in enumerate(self._old, 1):
            folder, encoded = context.encoded / f"old-{place}", run.path / TRAIN
            if encoded.is_dir() and not folder.exists():
                shutil.copytree(encoded, folder)  # opening it checks it
            olds.append(self._batches_of(self._encode(run.splits.train, tokenizers, folder, quiet), tokenizers, old))
        train = self.encoded_train(tokenizers, context.encoded / "train", report)
        return ReplayedBatches(self._batches_of(train, tokenizers, new), olds, self._experiment.training.seed)

    def validation(self, context: TrainingContext, report: Report) -> Validate:
        """Return the loss of both held-out parts, which count alike, however many pairs are in them."""
        of_new, tokenizers = super().validation(context, report), context.tokenizers
        folder, valid = context.encoded / "old-valid", self._first.valid
        store = self._encode(valid, tokenizers, folder, not_skipping(report))
        batches = scored_batches(store, context.training.batch_tokens)

        def validate(model: torch.nn.Module) -> Mapping[str, float]:
            new, old = of_new(model)["loss"], mean_loss(model, batches)
            loss = (new + old) / 2
            return {"loss": loss, "perplexity": perplexity(loss, 1), "old_loss": old, "new_loss": new}

        return validate

    def learn(self, context: TrainingContext, report: Report, stop: Stop, ranks: Ranks) -> Outcome:
        """Update by update, with what held-out pairs are translated to before and after; see ``TrainingJob.learn``."""
        run, translator = context.run, self.translator(context.model, context.tokenizers, ())
        run.keeps_start = True
        before = self._held_out_scores(translator) if ranks.first and not run.metrics.lines() else None
        if before:
            before.report_to(report, "before")
        outcome = super().learn(context, report, stop, ranks)
        if ranks.first and outcome.reason != "stopped":
            outcome = self._interpolate(context, outcome, report)
            run.load("best", report).fill(context.model.eval())
            self._held_out_scores(translator).report_to(report, "after", before)
        return outcome

    def _interpolate(self, context: TrainingContext, outcome: Outcome, report: Report) -> Outcome:
        """Mark as the best the weights between old and new that forget no more than is tolerated.

        Interpolation in weight space (WiSE-FT, Wortsman et al. 2022), by what old validation pairs lose. Old are the
        weights that growth began with: those of the run before, with new rows for the tokens that it lacked.
        """
        run, model, translator = context.run, context.model, self.translator(context.model, context.tokenizers, ())
        if 0 not in run.present() or not outcome.best_update:  # runs of older versions dropped what they began with
            return outcome
        checkpoint, first = run.load(outcome.best_update, report), run.load(0, report)
        check_fit(model, first.model, first.path / "model.safetensors")
        old, best = as_tensors(first.model), as_tensors(checkpoint.model)

        def weights(share: float) -> dict[str, torch.Tensor]:
            return {
                name: torch.lerp(old[name], new, share) if new.is_floating_point() else new
                for name, new in best.items()
            }

        @cache
        def score(share: float) -> float:
            fill(model.eval(), weights(share), checkpoint.path)
            return self._score(translator, self._first.valid).value

        share = largest_share(lambda share: score(0) - score(share) <= TOLERATED)
        if share == 1:
            return outcome
        fill(model, tensors := weights(share), checkpoint.path)
        with torch.no_grad():
            metrics = self.validation(context, report)(model)
        state = {"averaged": [0, outcome.best_update], "share": share, "validation": dict(metrics)}
        run.save(outcome.best_update, tensors, {}, state, average=True, report=report)
        run.mark_best(AVERAGE)
        run.write_card(metrics, report)
        text = (
            f"{share:.1%} of the change of the weights is kept, so that old validation pairs lose "
            f"{score(0) - score(share):.2f} points and not {score(0) - score(1):.2f}; the loss of new ones is "
            f"{metrics['new_loss']:.3f} and not {outcome.metrics['new_loss']:.3f}."
        )
        report(Note(text, warning=not share))
        return replace(outcome, metrics=metrics)

    def _held_out_scores(self, translator: TranslationPredictor) -> "HeldOutScores":
        held_out = (next(iter(of.tests.values()), of.valid) for of in (self._first, self.splits))
        return HeldOutScores(*(self._score(translator, corpus) for corpus in held_out))

    def _score(self, translator: TranslationPredictor, corpus: PairCorpus) -> Score:
        """Return BLEU of the first pairs of a corpus, or chrF where the tokeniser that BLEU needs is missing."""
        sources, references = zip(*islice(corpus, MOST_MEASURED), strict=True)
        texts = self.outputs(translator, sources)
        language, condition = self._experiment.data.target, self._experiment.evaluation.conditions
        try:
            return bleu(texts, references, language=language, condition=condition)
        except MissingExtraError:
            return chrf(texts, references, language=language, condition=condition)


def largest_share(tolerable: Callable[[float], bool]) -> float:
    """Return the largest share, in eighths, that is ``tolerable``, as smaller ones are taken to be; 0 for none."""
    if tolerable(1):
        return 1
    return (7 - bisect_left(range(1, 8), True, key=lambda left: tolerable(1 - left / 8))) / 8


class HeldOutScores(NamedTuple):
    """Scores of held-out pairs."""

    old: Score
    new: Score

    def report_to(self, report: Report, when: str, since: "HeldOutScores | None" = None) -> None:
        """Report it and what has changed ``since``, as a warning where old pairs have lost more than is tolerated."""
        before = since or (None, None)
        old, new = (
            f"{now.name} {now.value:.2f}" + (f" ({now.value - then.value:+.2f})" if then else "")
            for now, then in zip(self, before, strict=True)
        )
        report(Note(f"Held out, {when}: old pairs {old}; new pairs {new}."))
        lost = since.old.value - self.old.value if since else 0.0
        if lost > TOLERATED:
            text = (
                f"Old pairs have lost {lost:.2f} points: begin again with a larger --replay or a lower "
                f"training.optimizer.learning_rate, or keep the run before."
            )
            report(Note(text, warning=True))


class OldRun(NamedTuple):
    """A run whose pairs are replayed."""

    path: Path
    splits: Splits[PairCorpus]


def old_runs(experiment: TranslationExperiment) -> list[OldRun]:
    """Find and check the run that an experiment starts from, and those that it started from in turn.

    The last one started from nothing: its held-out pairs are the old ones. Raises ConfigError where one is no
    translator of the same two languages, DataError where its data is gone.
    """
    path = Path(experiment.start.run)
    older = experiment_of(path)
    if not isinstance(older, TranslationExperiment):
        raise ConfigError(
            f"start.replay draws from the pairs of a translator of sentences, but {path} is a run of the "
            f"task '{older.task}': name another run, or leave start out."
        )
    if len(older.data.directions) > 1:
        raise ConfigError(
            f"{path} translates several pairs of languages, which cannot be replayed: leave --replay out, and give the "
            f"data of all pairs to keep, each with its pair in front (--data SOURCE-TARGET=FILE)."
        )
    then, now = (f"from '{one.data.source}' to '{one.data.target}'" for one in (older, experiment))
    if then != now:
        raise ConfigError(
            f"{path} translates {then}, but the new pairs are {now}: give pairs of its languages, or replay "
            f"none of its own (--replay 0)."
        )
    try:
        splits = pair_splits(older.to_grow(), silent)
    except DataError as error:
        raise DataError(
            f"The pairs that {path} was trained on cannot be drawn from while it learns new ones. {error} "
            f"Put them back; or give old and new pairs as --data, with --replay 0."
        ) from None
    return [OldRun(path, splits), *(old_runs(older) if older.start.replay else ())]


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
        drawn = shuffle(len(every), self._seed, number, _DRAWN)
        chosen = [every[drawn[place % len(every)]] for place in range(len(new))]
        own = [(new, place) for place in range(len(new))]
        # a batch of few rows has long ones
        meeting = list(zip(sorted(own, key=_rows), sorted(chosen, key=_rows), strict=True))
        order = shuffle(len(meeting), self._seed, number, _SHUFFLED)
        return LazyBatches(list(order.reshape(-1, 1)), partial(_join_at, meeting))


def _rows(place: _Place) -> int:
    return len(place[0].places[place[1]])


def _join_at(meeting: Sequence[tuple[_Place, _Place]], place: Integers) -> Batch:
    (new, own), (old, other) = meeting[int(place[0])]
    return join(new[own], old[other])


def join(first: Batch, second: Batch) -> Batch:
    """Return the rows of two batches of pairs in one, from long targets to short; ids are those of either corpus."""
    lengths_B = np.concatenate([first.target_ids.lengths_B, second.target_ids.lengths_B])
    order_B = np.argsort(-lengths_B, kind="stable")

    def rows(*sides: Ids) -> Ids:
        pairs = (zip(one.ids_BT, one.lengths_B.tolist(), strict=True) for one in sides)
        found = [ids_T[:length] for ids_T, length in chain(*pairs)]
        return pad([found[place] for place in order_B.tolist()])

    return replace(
        first,
        inputs=rows(first.input_ids, second.input_ids),
        targets=rows(first.target_ids, second.target_ids),
        example_ids_B=np.concatenate([first.example_ids_B, second.example_ids_B])[order_B],
        carry_mask_B=np.concatenate([first.carry_mask_B, second.carry_mask_B])[order_B],
    )
