"""The data and the validation of a language model: running text as windows, and what it costs to predict it."""

import math
from collections.abc import Mapping
from pathlib import Path

import torch

from anaphora.data.corpora import Parts, TextCorpus
from anaphora.data.ragged import Integers, unit_counts
from anaphora.data.sentences import TextSentences
from anaphora.data.sources import text_parts
from anaphora.data.store import TextStore, text_store
from anaphora.data.windows import TextWindows
from anaphora.evaluation.perplexity import perplexity
from anaphora.events import Report, Skipped
from anaphora.experiment.schema import LanguageModelExperiment, RecurrentExperiment
from anaphora.experiment.work import Work, data_paths, mean_loss
from anaphora.protocols import Batches
from anaphora.run import Run
from anaphora.text import units
from anaphora.text.coder import TextCoder
from anaphora.training.config import TrainingConfig
from anaphora.training.loop import Validate


class LanguageModelWork(Work):
    """A language model's experiment, its data found: see ``work.Work``."""

    def __init__(self, experiment: LanguageModelExperiment, report: Report) -> None:
        """Find and check the data; errors as for ``data.sources.text_parts``."""
        self._experiment = experiment
        self._parts = language_model_parts(experiment, report)

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """SHA-256 of the data by part."""
        return {"train": self._parts.train.fingerprint, "valid": self._parts.valid.fingerprint}

    def learn_vocabulary(self, report: Report) -> dict[str, TextCoder]:
        """The coder of the text."""
        experiment = self._experiment
        languages = {"text": experiment.data.language}
        return units.fit(experiment.text, {"text": self._parts.train.lines}, report, languages=languages)

    @property
    def longest(self) -> int:
        """Predictions of a window, or of the longest sentence."""
        return self._experiment.data.longest if self._of_sentences else self._experiment.data.steps

    @property
    def _of_sentences(self) -> bool:
        return isinstance(self._experiment, RecurrentExperiment) and self._experiment.reads == "sentences"

    def counts(self, coders: Mapping[str, TextCoder], folder: Path, report: Report) -> Integers:
        """Every unit of the text but the first is predicted."""
        train = text_store(self._parts.train, coders["text"], folder, report=report)
        return unit_counts(train.ids[1:], coders["text"].symbols.size)

    def batches(self, coders: Mapping[str, TextCoder], folder: Path, batch_tokens: int, report: Report) -> Batches:
        """Windows over as many streams as ``batch_tokens`` have room for, or sentences of like length."""
        data, training = self._experiment.data, self._experiment.training
        train = text_store(self._parts.train, coders["text"], folder, report=report)
        if self._of_sentences:
            sentences = TextSentences(
                train, coders["text"].symbols, batch_tokens=batch_tokens, seed=training.seed, longest=data.longest
            )
            if sentences.left_out:
                text = f"lines with more than {data.longest} units were left out of {self._parts.train.name}"
                report(Skipped(text, sentences.left_out))
            return sentences
        steps = data.steps
        seed = training.seed if data.windows == "random" else None
        # a text shorter than a batch fills fewer streams, each with a window at least
        rows = max(1, min(batch_tokens, len(train.ids) - 1) // steps)
        return TextWindows(train, rows=rows, steps=steps, seed=seed)

    def validation(
        self, coders: Mapping[str, TextCoder], run: Run, training: TrainingConfig, report: Report
    ) -> Validate:
        """What it costs to predict the validation text."""
        valid = text_store(self._parts.valid, coders["text"], run.path / "encoded" / "valid", report=report)
        batches: Batches
        if self._of_sentences:
            batches = TextSentences(valid, coders["text"].symbols, batch_tokens=training.batch_tokens, seed=0)
        else:
            steps = self._experiment.data.steps
            # a short text keeps a few windows a stream, so that the state has something to carry
            rows = max(1, min(training.batch_tokens, len(valid.ids) // 4) // steps)
            batches = TextWindows(valid, rows=rows, steps=steps)

        def validate(model: torch.nn.Module) -> Mapping[str, float]:
            return figures_of(mean_loss(model, batches.epoch(1)), valid)

        return validate


def language_model_parts(experiment: LanguageModelExperiment, report: Report) -> Parts[TextCorpus]:
    """The training, validation and test parts that an experiment names."""
    data = experiment.data
    return text_parts(data_paths(data), train=data.train, valid=data.valid, test=data.test, report=report)


def figures_of(loss: float, store: TextStore) -> Mapping[str, float]:
    """What a mean loss in nats a prediction says of an encoded text."""
    bits = loss * (len(store.ids) - 1) / math.log(2)
    return {"loss": loss, "perplexity": perplexity(loss, 1), "bits_per_character": bits / store.characters}
