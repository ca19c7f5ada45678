"""Training of language models: running text as windows, sentences or counts, and the loss of the validation text."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from anaphora.data.columns import Column, Integers
from anaphora.data.corpora import Splits, TextCorpus
from anaphora.data.ragged import token_counts
from anaphora.data.running_text import TextSentences, TextWindows, encoded_text
from anaphora.data.sources import text_splits
from anaphora.errors import ConfigError
from anaphora.evaluation.perplexity import perplexity
from anaphora.evaluation.stream import stream_components, stream_loss
from anaphora.events import Note, RemarkedMetrics, Report, Skipped
from anaphora.inference.interpolation.cache import ComponentPredictions
from anaphora.inference.interpolation.weights import fitted_weights, interpolate
from anaphora.models.interpolation.model import MEMBERS, Interpolation, InterpolationConfig
from anaphora.models.ngram.model import NgramModel
from anaphora.prediction.runtime import runtime_for_validation
from anaphora.protocols import Batches
from anaphora.run import Run
from anaphora.tasks.data_table import CUTS
from anaphora.tasks.language_model.config import InterpolationExperiment, LanguageModelExperiment
from anaphora.tasks.language_model.predictor import LanguageModelPredictor
from anaphora.tasks.runs import experiment_of, load_trained
from anaphora.tasks.training_job import FittingJob, TrainingContext, TrainingJob, UpdatingJob, mean_loss, report_unknown
from anaphora.text.tokenizer import Tokenizer
from anaphora.training.loop import Validate
from anaphora.wording import inflect

_SAMPLE = 80
"""Tokens of the text that is written at each validation."""
_SHOWN = 100
"""Characters of it that are shown, at most."""


class TextJob(TrainingJob):
    """An experiment over running text."""

    _experiment: LanguageModelExperiment
    splits: Splits[TextCorpus]

    def __init__(self, experiment: LanguageModelExperiment, report: Report) -> None:
        """Find and check the data; errors as for ``data.sources.text_splits``."""
        self._experiment, self.splits = experiment, language_model_splits(experiment, report)

    def ids(self, split: str, context: TrainingContext, report: Report) -> Column:
        """Return the text of a split, "train" or "valid", as ids."""
        text = getattr(self.splits, split)
        folder, threads = context.encoded / split, context.training.threads
        return encoded_text(text, context.tokenizers["text"], folder, threads=threads, report=report)

    def metrics(self, loss: float, ids: Column) -> Mapping[str, float]:
        """Return what a mean loss in nats a prediction of the validation text says; ``ids`` are those of the text."""
        characters = sum(len(line) + 1 for line in self.splits.valid)
        bits = loss * (len(ids) - 1) / math.log(2)
        return {"loss": loss, "perplexity": perplexity(loss, 1), "bits_per_character": bits / characters}


class LanguageModelJob(TextJob, UpdatingJob):
    """A network that predicts text: see ``training_job``."""

    @property
    def longest(self) -> int:
        """Predictions of a window, or of the longest sentence."""
        data = self._experiment.data
        return data.steps if self._experiment.reads_stream else data.max_length

    def counts(self, context: TrainingContext, report: Report) -> Integers:
        """Return how often each token is predicted: every one of the text but the first."""
        return token_counts(self.ids("train", context, report)[1:], context.tokenizers["text"].symbols.size)

    def batches(self, context: TrainingContext, report: Report) -> Batches:
        """Return windows over as many streams as a batch has room for, or sentences of like length."""
        data, training = self._experiment.data, context.training
        train = self.ids("train", context, report)
        if not self._experiment.reads_stream:
            symbols = context.tokenizers["text"].symbols
            sentences = TextSentences(
                train, symbols, batch_tokens=training.batch_tokens, seed=training.seed, longest=data.max_length
            )
            if sentences.left_out:
                longer = inflect(data.max_length, "token")
                text = f"lines with more than {longer} were left out of {self.splits.train.name}"
                report(Skipped(text, sentences.left_out))
            return sentences
        seed = training.seed if data.windows == "random" else None
        # a text shorter than a batch fills fewer streams, each with a window at least
        count = training.batches_an_update
        rows = max(1, min(training.batch_tokens, (len(train) - 1) // count) // data.steps)
        return TextWindows(train, rows=rows, steps=data.steps, seed=seed, micro_batches=count)

    def validation(self, context: TrainingContext, report: Report) -> Validate:
        """Return the loss of the validation text, and a sample of what the model writes."""
        symbols, batch_tokens = context.tokenizers["text"].symbols, context.training.batch_tokens
        valid = self.ids("valid", context, report)
        report_unknown(valid, symbols, context.run, report)
        batches: Batches
        if self._experiment.reads_stream:
            steps = self._experiment.data.steps
            # a short text keeps a few windows a stream, so that the state has something to carry
            rows = max(1, min(batch_tokens, len(valid) // 4) // steps)
            batches = TextWindows(valid, rows=rows, steps=steps)
        else:
            batches = TextSentences(valid, symbols, batch_tokens=batch_tokens, seed=0)

        def validate(model: torch.nn.Module) -> Mapping[str, float]:
            metrics = self.metrics(mean_loss(model, batches.epoch(1)), valid)
            writer = LanguageModelPredictor(
                cast(Any, model), context.tokenizers["text"], runtime=runtime_for_validation(model)
            )
            sample = writer.generate(length=_SAMPLE, temperature=0.8, seed=context.training.seed).text
            return RemarkedMetrics(metrics, f'Sample: "{" ".join(sample.split())[:_SHOWN]}".')

        return validate


class NgramJob(FittingJob, TextJob):
    """A model that counts n-grams in one go."""

    def fit(self, context: TrainingContext, report: Report) -> Mapping[str, float]:
        model = cast(NgramModel, context.model)
        train, valid = self.ids("train", context, report), self.ids("valid", context, report)
        report_unknown(valid, context.tokenizers["text"].symbols, context.run, report)
        guessed: list[int] = []
        model.fit(train, guessed.append, report, folder=context.encoded)
        if guessed:
            which = f"{guessed[0]}-grams" if len(guessed) == 1 else f"{guessed[0]}- to {guessed[-1]}-grams"
            report(Note(f"The text is too small to estimate the discounts of its {which}: 0.5, 1 and 1.5 are used."))
        nats, predictions = stream_loss(model, valid[1:].tolist(), int(valid[0]))
        return self.metrics(nats / predictions, valid)


def language_model_splits(experiment: LanguageModelExperiment, report: Report) -> Splits[TextCorpus]:
    """Return the splits of an experiment; errors as for ``data.sources.text_splits``."""
    return text_splits(experiment.data.paths(), experiment.data.names, report=report)


def interpolation_table(runs: Sequence[Path], *, cache: bool = False) -> dict[str, Any]:
    """Return the tables of an experiment that mixes ``runs``, on the data of the first.

    Raises RunError for what is no run, ConfigError for a run that is no language model.
    """
    found = {
        name: value for name, value in _read_experiment(str(runs[0])).data.model_dump().items() if name not in CUTS
    }
    mixture = {"runs": [str(run.absolute()) for run in runs], "cache": "counts" if cache else "none"}
    return {"task": "language-model", "model": "interpolation", "data": found, "interpolation": mixture}


def with_members(experiment: InterpolationExperiment) -> InterpolationExperiment:
    """Return the experiment with what its runs are, and with their tokenizer.

    Raises as ``interpolation_table``, and ConfigError for an experiment with its own tokenizer.
    """
    if experiment.text != InterpolationExperiment.model_fields["text"].default:
        raise ConfigError("An interpolation uses the tokenizer of its runs: leave [text] out.")
    begun = [_read_experiment(run) for run in experiment.interpolation.runs]
    # the tables of each network, and which kind it is
    members = tuple({name: one.tables()[name] for name in MEMBERS[one.model].model_fields} for one in begun)
    table = experiment.interpolation.model_dump() | {"members": members}
    mixture = InterpolationConfig.parse(table, "interpolation")
    return experiment.with_options({"interpolation": mixture, "text": begun[0].text})


class InterpolationJob(FittingJob, TextJob):
    """An interpolation whose weights are fitted in one go."""

    _experiment: InterpolationExperiment

    def learn_vocabulary(self, report: Report) -> dict[str, Tokenizer]:
        """Return the tokenizer that all runs share; ConfigError when they do not."""
        first, *others = self._experiment.interpolation.runs
        tokenizers = Run.open(Path(first)).tokenizers()
        for other in others:
            tokenizer = Run.open(Path(other)).tokenizers()["text"]
            if tokenizer.fingerprint != tokenizers["text"].fingerprint:
                raise ConfigError(
                    f"Interpolation needs one vocabulary, but that of {other} ({tokenizer.symbols.size:,} tokens) is "
                    f"not that of {first} ({tokenizers['text'].symbols.size:,}): train one of them with the "
                    f"data and the [text] of the other."
                )
        return tokenizers

    def fit(self, context: TrainingContext, report: Report) -> Mapping[str, float]:
        mixture = cast(Interpolation, context.model)
        members = cast(torch.nn.ModuleList, mixture.members)
        for place, path in enumerate(self._experiment.interpolation.runs):
            members[place] = load_trained(Path(path), "best", report).model
        valid = self.ids("valid", context, report)
        found = list(stream_components(mixture, valid[1:].tolist(), int(valid[0])))
        sources = ComponentPredictions(*(np.concatenate(parts, axis=1) for parts in zip(*found, strict=True)))
        mixture.weights.copy_(torch.from_numpy(fitted_weights(*sources)))
        shares = zip(self._experiment.interpolation.component_names, mixture.weights.tolist(), strict=True)
        report(Note("Weights: " + ", ".join(f"{name} {weight:.4f}" for name, weight in shares)))
        loss = -float(interpolate(*sources, mixture.weights_K).mean())
        return self.metrics(loss, valid)


def _read_experiment(run: str) -> LanguageModelExperiment:
    path = Path(run)
    begun = experiment_of(path)
    if not isinstance(begun, LanguageModelExperiment):
        raise ConfigError(
            f"An interpolation is made of language models, but the task of {path} is {begun.task!r}: leave it out."
        )
    if isinstance(begun, InterpolationExperiment):
        raise ConfigError(
            f"{path} is an interpolation itself: name its runs, {' and '.join(begun.interpolation.runs)}."
        )
    if not begun.reads_stream:
        raise ConfigError(f"An interpolation reads running text, but {path} is a model of sentences: leave it out.")
    return begun
