"""The data and the validation of a describer."""

from collections.abc import Mapping, Sequence
from typing import cast

import torch

from anaphora.data.caption_batches import CaptionBatches
from anaphora.data.captioned import CaptionCorpus, CaptionSplits, caption_splits
from anaphora.data.columns import Integers
from anaphora.data.ragged import token_counts
from anaphora.data.store import TextStore, text_store
from anaphora.errors import ConfigError
from anaphora.evaluation.descriptions import description_scores
from anaphora.evaluation.perplexity import perplexity
from anaphora.events import Report, silent
from anaphora.kernels.runtime import Runtime
from anaphora.models.describer import Describer
from anaphora.nn.device import device_of
from anaphora.tasks.describe.config import DescriberExperiment
from anaphora.tasks.describe.predictor import DescriberPredictor
from anaphora.tasks.work import Begun, UpdatingWork, mean_loss
from anaphora.text.tokenizer import Tokenizer
from anaphora.training.loop import Validate


def splits_of(experiment: DescriberExperiment, report: Report = silent) -> CaptionSplits:
    """The splits of an experiment; errors as for ``data.captioned.caption_splits``."""
    return caption_splits(experiment.data.paths(), experiment.data.names, report)


def settled(experiment: DescriberExperiment, splits: CaptionSplits) -> DescriberExperiment:
    """The experiment with the size of the grids of its data; ConfigError where it names another."""
    shape, encoder = splits.features.shape._asdict(), experiment.encoder
    for name, size in shape.items():
        if getattr(encoder, name) not in (0, size):
            raise ConfigError(
                f"encoder.{name} is {getattr(encoder, name)}, but the features have {size}: set encoder.{name} = "
                f"{size}, or leave it out."
            )
    return experiment.with_options({f"encoder.{name}": size for name, size in shape.items()})


class DescriberWork(UpdatingWork):
    """Captioned images, and how well they are described."""

    _experiment: DescriberExperiment
    splits: CaptionSplits

    def __init__(self, experiment: DescriberExperiment, report: Report) -> None:
        """Find and check the data; every number of the features is read."""
        self.splits = splits_of(experiment, report)
        self._experiment = settled(experiment, self.splits)
        self._features = self.splits.features.verify()

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """SHA-256 of the captions by split, and of the features."""
        return {**super().fingerprints, "features": self._features}

    @property
    def longest(self) -> int:
        """The longest caption or grid."""
        encoder = self._experiment.encoder
        return max(self._experiment.data.max_length + 1, encoder.rows * encoder.columns)

    def counts(self, begun: Begun, report: Report) -> Integers:
        """How often each token, and ``</s>``, is in the training captions."""
        symbols = begun.tokenizers["text"].symbols
        counts_V = token_counts(self._store(self.splits.train, begun, "train", report).ids, symbols.size)
        counts_V[symbols.eos] -= 1  # what the first caption begins after
        return counts_V

    def batches(self, begun: Begun, report: Report) -> CaptionBatches:
        return self._batches(self.splits.train, begun, "train", begun.training.seed, report)

    def validation(self, begun: Begun, report: Report) -> Validate:
        """The loss of the validation split; BLEU and exact match of its images where one of them decides."""
        batches = self._batches(self.splits.valid, begun, "valid", 0, report).epoch(1)

        def validate(model: torch.nn.Module) -> Mapping[str, float]:
            loss = mean_loss(model, batches)
            figures = {"loss": loss, "perplexity": perplexity(loss, 1)}
            if begun.training.metric in ("bleu", "exact_match"):
                figures |= self._searched(cast(Describer, model), begun.tokenizers["text"])
            return figures

        return validate

    def _searched(self, model: Describer, tokenizer: Tokenizer) -> Mapping[str, float]:
        corpus = self.splits.valid
        predictor = DescriberPredictor(model, tokenizer, self._experiment, Runtime.inference(device_of(model)))
        references = corpus.references()
        beam = self._experiment.evaluation.validation_beam
        found = predictor.predict([corpus.features[image] for image in references], beam=beam)
        texts: Sequence[str] = [description.text for description in found]
        scores = description_scores(texts, list(references.values()), language=self._experiment.data.language)
        return {"bleu": scores.bleu.value, "exact_match": scores.exact_match}

    def _batches(self, corpus: CaptionCorpus, begun: Begun, split: str, seed: int, report: Report) -> CaptionBatches:
        return CaptionBatches(
            corpus,
            self._store(corpus, begun, split, report),
            begun.tokenizers["text"].symbols,
            batch_tokens=begun.training.batch_tokens,
            seed=seed,
            longest=self._experiment.data.max_length,
            report=report,
        )

    def _store(self, corpus: CaptionCorpus, begun: Begun, split: str, report: Report) -> TextStore:
        return text_store(corpus, begun.tokenizers["text"], begun.encoded / split, report=report)
