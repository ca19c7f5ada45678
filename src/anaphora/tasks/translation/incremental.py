"""Translators that learn new pairs and keep what they know: old pairs in every batch, both kinds held out."""

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import NamedTuple

import torch

from anaphora.data.corpora import PairCorpus
from anaphora.data.pairs import scored_batches
from anaphora.errors import MissingExtraError
from anaphora.evaluation.bleu import Score, bleu, chrf
from anaphora.evaluation.perplexity import perplexity
from anaphora.events import Note, Report
from anaphora.protocols import Batches
from anaphora.run.checkpoint import AVERAGE
from anaphora.run.weights import check_fit, fill
from anaphora.tasks.training_job import TrainingContext, mean_loss, not_skipping
from anaphora.tasks.translation.config import TranslationExperiment
from anaphora.tasks.translation.data import TranslationJob
from anaphora.tasks.translation.replay import OldPairs, ReplayedBatches, shares, with_copy
from anaphora.text.tokenizer import Tokenizer
from anaphora.training.loop import Outcome, Stop, Validate
from anaphora.training.ranks import Ranks

MOST_MEASURED = 1000
"""Pairs of each kind that are translated before and after."""
TOLERATED = 0.3
"""Points that old pairs may lose: in validation, and in the test without a warning."""


class IncrementalJob(TranslationJob):
    """A translator that starts from a trained one, whose pairs are replayed."""

    def __init__(self, experiment: TranslationExperiment, report: Report) -> None:
        """Find and check old and new data; errors as for ``OldPairs`` and ``TranslationJob``."""
        self._old, self._replay = OldPairs(experiment), experiment.start.replay
        super().__init__(experiment, report)

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """SHA-256 of the data by part, old pairs among them."""
        parts = [part.fingerprint for part, _ in self._old.every]
        digest = hashlib.sha256(" ".join([*parts, self._old.first.valid.fingerprint]).encode()).hexdigest()
        return {**super().fingerprints, "old": digest}

    def batches(self, context: TrainingContext, report: Report) -> Batches:
        """Return batches by token budget, old pairs in each."""
        new, old = shares(context.training.batch_tokens, self._replay)
        tokenizers, folder = context.tokenizers, context.encoded
        quiet = not_skipping(report)
        stores = [
            self._encoded(part, tokenizers, with_copy(folder / f"old-{place}", encoded), quiet)
            for place, (part, encoded) in enumerate(self._old.every, 1)
        ]
        return ReplayedBatches(
            self._batched(self.encoded_train(tokenizers, folder / "train", report), tokenizers, new),
            [self._batched(store, tokenizers, old) for store in stores],
            self._of_sentences.training.seed,
        )

    def validation(self, context: TrainingContext, report: Report) -> Validate:
        """Return the loss of both held-out parts, which count alike, however many pairs are in them."""
        of_new, tokenizers = super().validation(context, report), context.tokenizers
        folder, valid = context.encoded / "old-valid", self._old.first.valid
        store = self._encoded(valid, tokenizers, folder, not_skipping(report))
        batches = scored_batches(store, context.training.batch_tokens)

        def validate(model: torch.nn.Module) -> Mapping[str, float]:
            new, old = of_new(model)["loss"], mean_loss(model, batches)
            loss = (new + old) / 2
            return {"loss": loss, "perplexity": perplexity(loss, 1), "old_loss": old, "new_loss": new}

        return validate

    def learn(self, context: TrainingContext, report: Report, stop: Stop, ranks: Ranks) -> Outcome:
        """Update by update, with what held-out pairs are translated to before and after; see ``TrainingJob.learn``."""
        model, tokenizers, run = context.model, context.tokenizers, context.run
        run.keeps_start = True
        before = self._held_out_scores(model, tokenizers) if ranks.first and not run.metrics.lines() else None
        if before:
            before.report_to(report, "before")
        outcome = super().learn(context, report, stop, ranks)
        if ranks.first and outcome.reason != "stopped":
            outcome = self._interpolated(context, outcome, report)
            run.load("best", report).fill(model.eval())
            self._held_out_scores(model, tokenizers).report_to(report, "after", before)
        return outcome

    def _interpolated(self, context: TrainingContext, outcome: Outcome, report: Report) -> Outcome:
        """Mark as the best the weights between old and new that forget no more than is tolerated.

        Interpolation in weight space (WiSE-FT, Wortsman et al. 2022), by what old validation pairs lose. Old are the
        weights that growth began with: those of the run before, with new rows for the tokens that it lacked.
        """
        run, model = context.run, context.model
        if 0 not in run.present() or not outcome.best_update:  # runs of older versions dropped what they began with
            return outcome
        checkpoint, first = run.load(outcome.best_update, report), run.load(0, report)
        check_fit(model, old := first.model, first.path / "model.safetensors")

        def weights(share: float) -> dict[str, torch.Tensor]:
            return {
                name: torch.lerp(old[name], new, share) if new.is_floating_point() else new
                for name, new in checkpoint.model.items()
            }

        @cache
        def score(share: float) -> float:
            fill(model.eval(), weights(share), checkpoint.path)
            return self._score(model, context.tokenizers, self._old.first.valid).value

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
        report(
            Note(
                f"{share:.1%} of the change of the weights is kept, so that old validation pairs lose "
                f"{score(0) - score(share):.2f} points and not {score(0) - score(1):.2f}; the loss of new ones is "
                f"{metrics['new_loss']:.3f} and not {outcome.metrics['new_loss']:.3f}.",
                warning=not share,
            )
        )
        return replace(outcome, metrics=metrics)

    def _held_out_scores(self, model: torch.nn.Module, tokenizers: Mapping[str, Tokenizer]) -> "HeldOutScores":
        return HeldOutScores(
            *(
                {score.name: score.value}
                for of in (self._old.first, self.splits)
                for score in [self._score(model, tokenizers, next(iter(of.tests.values()), of.valid))]
            )
        )

    def _score(self, model: torch.nn.Module, tokenizers: Mapping[str, Tokenizer], corpus: PairCorpus) -> Score:
        """Return BLEU of the first pairs of a corpus, or chrF where the tokeniser that BLEU needs is missing."""
        sources, references = zip(*islice(corpus, MOST_MEASURED), strict=True)
        texts = self.searched(model, tokenizers, sources)
        language, condition = self._of_sentences.data.target, self._of_sentences.evaluation.conditions
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
    """Scores of held-out pairs, by metric."""

    old: Mapping[str, float]
    new: Mapping[str, float]

    def report_to(self, report: Report, when: str, since: "HeldOutScores | None" = None) -> None:
        """Report it and what has changed ``since``, as a warning where old pairs have lost more than is tolerated."""
        old = _changes(self.old, since.old if since else {})
        new = _changes(self.new, since.new if since else {})
        report(Note(f"Held out, {when}: old pairs {old}; new pairs {new}."))
        lost = max(since.old[name] - value for name, value in self.old.items()) if since else 0.0
        if lost > TOLERATED:
            report(
                Note(
                    f"Old pairs have lost {lost:.2f} points: begin again with a larger --replay or a lower "
                    f"training.optimizer.learning_rate, or keep the run before.",
                    warning=True,
                )
            )


def _changes(figures: Mapping[str, float], then: Mapping[str, float]) -> str:
    return ", ".join(
        f"{name} {value:.2f}" + (f" ({value - then[name]:+.2f})" if name in then else "")
        for name, value in figures.items()
    )
