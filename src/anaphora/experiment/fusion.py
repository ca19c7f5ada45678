"""The language model that a translator is fused with (``[fusion]``): a run, whose weights are taken over."""

from pathlib import Path
from typing import cast

import torch

from anaphora.errors import ConfigError
from anaphora.events import Note, Report
from anaphora.experiment.schema import Experiment, RecurrentExperiment, TranslationExperiment, parse
from anaphora.models.translator import Translator
from anaphora.nn.embedding import EmbeddingConfig
from anaphora.nn.fusion import DeepFusion, FrozenLanguageModelConfig
from anaphora.nn.stack import RecurrentConfig
from anaphora.run import Run
from anaphora.run.loading import load_coders
from anaphora.run.weights import fill, tensors_of
from anaphora.text.coder import TextCoder

IN_SEARCH = "or let it have its say in search alone (anaphora translate --language-model)"


class LanguageModelRun:
    """The run of a language model, for one experiment."""

    def __init__(self, experiment: TranslationExperiment, fusion: DeepFusion) -> None:
        """Open it; RunError when it is none, ConfigError when it has no states over a table of word vectors."""
        self._path = Path(fusion.run)
        self._run = Run.open(self._path)
        begun = parse(self._run.experiment, str(self._path / "experiment.toml"))
        if not isinstance(begun, RecurrentExperiment):
            kind = f"model = '{begun.model}'" if begun.task == "language-model" else f"task = '{begun.task}'"
            raise ConfigError(
                f"Deep fusion reads the states of a recurrent language model, but {self._path} has {kind}: name "
                f"another run, {IN_SEARCH}."
            )
        if not isinstance(begun.embedding, EmbeddingConfig):
            raise ConfigError(
                f"Deep fusion needs a language model with a table of word vectors, but those of {self._path} are "
                f"composed from characters: name another run, {IN_SEARCH}."
            )
        layers = {name: getattr(begun.recurrence, name) for name in RecurrentConfig.model_fields}
        model = FrozenLanguageModelConfig(
            reads=begun.reads, embedding=begun.embedding, recurrence=RecurrentConfig(**layers)
        )
        fusion = fusion.model_copy(update={"model": model})
        self.experiment = experiment.model_copy(update={"fusion": fusion})
        """The experiment, which now says what the language model is."""

    def give(self, model: torch.nn.Module, target: TextCoder, report: Report) -> None:
        """Copy the weights of its best checkpoint into a translator into ``target``; ConfigError for other units."""
        own = load_coders(self._run)["text"]
        if own.fingerprint != target.fingerprint:
            raise ConfigError(
                f"Fusion needs a language model of the translator's target vocabulary ({target.symbols.size:,} units), "
                f"but {self._path} has another ({own.symbols.size:,}): train it with --from RUN --vocabulary only, RUN "
                f"being the translator."
            )
        checkpoint = self._run.load("best", report)
        language_model = cast(Translator, model).language_model
        assert language_model is not None
        kept = {name: checkpoint.model[name] for name in tensors_of(language_model)}
        fill(language_model, kept, checkpoint.path / "model.safetensors")
        report(Note(f"Its language model is {checkpoint.path.name} of {self._path}."))


def language_model_run(experiment: Experiment, parent: Experiment | None) -> LanguageModelRun | None:
    """The run of the language model of a new experiment, unless there is none, or ``parent`` has the same one in it."""
    if not isinstance(experiment, TranslationExperiment) or not isinstance(experiment.fusion, DeepFusion):
        return None
    if isinstance(parent, TranslationExperiment) and parent.fusion == experiment.fusion:
        return None
    return LanguageModelRun(experiment, experiment.fusion)


def as_begun(experiment: Experiment, begun: Experiment) -> Experiment:
    """An experiment that is gone on with, which says what its language model is as ``begun`` does."""
    if not isinstance(experiment, TranslationExperiment) or not isinstance(begun, TranslationExperiment):
        return experiment
    if not isinstance(experiment.fusion, DeepFusion) or not isinstance(begun.fusion, DeepFusion):
        return experiment
    fusion = experiment.fusion.model_copy(update={"model": begun.fusion.model})
    return experiment.model_copy(update={"fusion": fusion})
