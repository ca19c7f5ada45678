"""One experiment: a TOML text, checked in every key, as one frozen object.

This is the only place that knows every part's options. A file's tables are the parts themselves: ``[encoder]`` belongs
to the encoder's class, ``[training]`` to the loop's. What a file leaves out has its default; ``to_toml`` writes it all.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

import tomli_w
from pydantic import model_validator

from anaphora.config import Config, unknown
from anaphora.errors import ConfigError
from anaphora.evaluation.config import TranslationEvaluation
from anaphora.experiment.data_table import PairData, TextData, own_files, refuse_parts, with_whole_paths
from anaphora.experiment.ineffective_options import (
    refuse_ineffective,
    refuse_lone_residual,
    refuse_search,
    refuse_two_triggers,
    refuse_updates,
)
from anaphora.experiment.overrides import explaining_leftovers, override, read_table
from anaphora.models.alignment.aligner import AlignerModelConfig
from anaphora.models.feed_forward import FeedForwardLanguageModelConfig
from anaphora.models.interpolation.model import InterpolationModelConfig
from anaphora.models.language_model import LanguageModelConfig
from anaphora.models.ngram.model import NgramModelConfig
from anaphora.models.translator import TranslatorConfig
from anaphora.run import Run
from anaphora.run.folder import EXPERIMENT
from anaphora.text.language import is_unspaced
from anaphora.text.units import Bpe, Character, TextConfig, Word
from anaphora.training.config import TrainingConfig


class StartConfig(Config):
    """The runs whose weights or vocabulary a new one starts from."""

    run: str = "none"
    """Its folder; "none" starts from random weights."""
    vocabulary: Literal["keep", "extend", "only"] = "keep"
    """Whether its vocabulary is kept, or extended by the units of the new text that it has not; "only" takes the
    vocabulary alone and no weights: for a language model of what a translator writes, that of the target side."""
    encoder: str = "none"
    """The run of a language model of the source, whose layers and word vectors the encoder of a translator starts from;
    "none" draws them at random."""

    @model_validator(mode="after")
    def _of_a_run(self) -> Self:
        if self.run == "none" and self.vocabulary != "keep":
            raise ValueError(f"has vocabulary = '{self.vocabulary}' of no run: name one in start.run, or leave it out.")
        return self


class ExperimentBase(Config):
    """What every experiment has."""

    format: Literal[1] = 1
    """The format of this file."""
    text: TextConfig = Bpe()
    """What a text is cut into."""
    training: TrainingConfig = TrainingConfig()
    """How the network is trained."""
    start: StartConfig = StartConfig()
    """What training starts from."""

    @model_validator(mode="after")
    def _frozen_vectors_stay(self) -> Self:
        if getattr(getattr(self, "embedding", None), "frozen", False) and self.training.optimizer.weight_decay:
            raise ValueError(
                "training.optimizer.weight_decay would shrink the vectors that embedding.frozen keeps as they are: set "
                "the one to 0, or the other to false."
            )
        return self

    @model_validator(mode="after")
    def _encoder_starts_once(self) -> Self:
        if self.start.encoder == "none":
            return self
        if not isinstance(self, TranslationExperiment):
            raise ValueError("start.encoder is for translators, which alone have an encoder: leave it out.")
        if self.start.run != "none" and self.start.vocabulary != "only":
            raise ValueError(
                "start.encoder has no effect, since start.run gives an encoder that has learnt: leave it out."
            )
        return self

    def to_toml(self) -> str:
        """The whole experiment, defaults included; reading it gives an equal one."""
        return tomli_w.dumps(self.tables())

    def tables(self) -> dict[str, Any]:
        """The same as nested tables."""
        return self.model_dump()


class TranslationExperiment(TranslatorConfig, ExperimentBase):
    """A translator."""

    task: Literal["translate"]
    """What is learnt."""
    data: PairData = PairData()
    """Where pairs of sentences come from."""
    evaluation: TranslationEvaluation = TranslationEvaluation()
    """How translations are scored."""

    @model_validator(mode="after")
    def _known_metric(self) -> Self:
        return _decided_by(self, {"loss": "lower", "perplexity": "lower", "bleu": "higher"})

    @model_validator(mode="after")
    def _words_between_spaces(self) -> Self:
        if self.evaluation.conditions == "moses-lowercase" and is_unspaced(self.data.target):
            raise ValueError(
                f"evaluation.conditions = 'moses-lowercase' counts what stands between spaces, which "
                f"'{self.data.target}' is written without: set it to 'raw'."
            )
        return self

    @model_validator(mode="after")
    def _fused_once_it_has_learnt(self) -> Self:
        if self.fusion.kind != "none" and (self.start.run == "none" or self.start.vocabulary == "only"):
            raise ValueError(
                "fusion.kind = 'deep' keeps all of a translator but its readout and output as they are: give it one "
                "that has learnt, with its weights (train --from RUN, start.run)."
            )
        return self

    @model_validator(mode="after")
    def _vectors_come_from_one_place(self) -> Self:
        vectors = self.embedding
        if self.start.encoder != "none" and (vectors.files if vectors.shared else "source" in vectors.files):
            raise ValueError(
                "start.encoder gives vectors of source units, and so does a file that embedding names for them: keep "
                "one of the two."
            )
        return self

    @model_validator(mode="after")
    def _links_between_words(self) -> Self:
        if self.guide.kind == "file" and getattr(self.text, "rare", "none") == "posall":
            raise ValueError("text.rare 'posall' puts places between the words that guide.file links: learn the links.")
        return self

    @model_validator(mode="after")
    def _links_of_one_cut(self) -> Self:
        if self.text.sampling_option and self.guide.kind != "none":
            raise ValueError(
                f"text.{self.text.sampling_option} cuts sentences differently every epoch, but guide links fixed "
                f"units: leave out one of the two."
            )
        return self


class AlignerExperiment(AlignerModelConfig, ExperimentBase):
    """Word links, counted; of ``[training]`` it has use for the seed and threads alone."""

    task: Literal["align"]
    """What is learnt."""
    data: PairData = PairData()
    """Where pairs of sentences come from."""
    text: TextConfig = Word(size=1_000_000, lowercase=True)
    """What a text is cut into."""

    @model_validator(mode="after")
    def _words_as_they_are(self) -> Self:
        return _cut_as_it_is(self, "an aligner")

    @model_validator(mode="after")
    def _counted_anew(self) -> Self:
        if self.start.run != "none":
            raise ValueError("an aligner starts from no other run: let it learn from the old text and the new one.")
        return self


class LanguageModelExperiment(ExperimentBase):
    """What every language model has."""

    task: Literal["language-model"]
    """What is learnt."""
    model: str
    """The kind of model."""
    data: TextData = TextData()
    """Where running text comes from."""
    text: TextConfig = Character()
    """What a text is cut into."""

    @model_validator(mode="after")
    def _known_metric(self) -> Self:
        return _decided_by(self, {"loss": "lower", "perplexity": "lower", "bits_per_character": "lower"})

    @model_validator(mode="after")
    def _running_text_has_no_longest(self) -> Self:
        if self.data.longest and getattr(self, "reads", "stream") == "stream":
            raise ValueError("data.longest leaves out sentences, but this model reads running text: leave it out.")
        return self

    @model_validator(mode="after")
    def _rate_follows_once(self) -> Self:
        reduction = self.training.reduction
        if self.data.windows == "random" and reduction in ("sum", "sum_per_sentence"):
            raise ValueError(
                f"data.windows = 'random' lets the learning rate follow the length of a window, but training.reduction "
                f"= '{reduction}' does so already: set it to 'mean_per_token'."
            )
        return self

    @model_validator(mode="after")
    def _words_as_they_are(self) -> Self:
        return _cut_as_it_is(self, "a language model")


class RecurrentExperiment(LanguageModelConfig, LanguageModelExperiment):
    """A language model that reads with a recurrent network."""

    model: Literal["recurrent"] = "recurrent"
    """The kind of model."""

    @model_validator(mode="after")
    def _lines_are_not_cut(self) -> Self:
        usual = TextData()
        if self.reads == "sentences" and (self.data.steps, self.data.windows) != (usual.steps, usual.windows):
            raise ValueError(
                "data.steps and data.windows say where running text is cut, but reads = 'sentences' takes every line "
                "whole: leave them out (data.steps = 100), or set reads = 'stream'."
            )
        return self

    @model_validator(mode="after")
    def _there_are_changes(self) -> Self:
        if self.recurrence.change_penalty and self.reads == "stream" and self.data.steps == 1:
            raise ValueError(
                "recurrence.change_penalty is for changes from step to step, but data.steps = 1 cuts between any two: "
                "leave it out, or take longer steps."
            )
        return self


class WindowExperiment(FeedForwardLanguageModelConfig, LanguageModelExperiment):
    """A language model that sees a fixed number of symbols."""

    model: Literal["window"]
    """The kind of model."""


class NgramExperiment(NgramModelConfig, LanguageModelExperiment):
    """A language model that was counted; of ``[training]`` it has use for the seed and threads alone."""

    model: Literal["ngram"]
    """The kind of model."""
    text: TextConfig = Word()
    """What a text is cut into."""

    @model_validator(mode="after")
    def _counted_anew(self) -> Self:
        if self.start.run != "none" and self.start.vocabulary != "only":
            raise ValueError("a count model starts from no other run: count the old text and the new one together.")
        return self


class MixtureExperiment(InterpolationModelConfig, LanguageModelExperiment):
    """A mixture of runs, its weights fitted to the validation part; it has use for ``[training]`` no more than counts.

    What its text is cut into is what its runs were trained with.
    """

    model: Literal["mixture"]
    """The kind of model."""

    @model_validator(mode="after")
    def _of_its_runs(self) -> Self:
        if self.start.run != "none":
            raise ValueError("a mixture starts from the runs in mixture.runs: leave start.run out.")
        return self


AnyExperiment = TypeVar("AnyExperiment", bound=ExperimentBase)
PairExperiment = TranslationExperiment | AlignerExperiment
"""What is learnt from pairs of sentences."""
FittedExperiment = NgramExperiment | MixtureExperiment | AlignerExperiment
"""What is counted in one go, not trained update by update."""
Experiment = PairExperiment | RecurrentExperiment | WindowExperiment | NgramExperiment | MixtureExperiment

KINDS: Mapping[str, Mapping[str, tuple[str, type[Experiment]]]] = {
    "translate": {"": ("translators", TranslationExperiment)},
    "language-model": {
        "recurrent": ("recurrent language models", RecurrentExperiment),
        "window": ("window language models", WindowExperiment),
        "ngram": ("count models", NgramExperiment),
        "mixture": ("mixtures", MixtureExperiment),
    },
    "align": {"": ("aligners", AlignerExperiment)},
}
"""Every experiment, by its task and the name that ``model`` gives it (none for a task of one kind), and what people
call its models."""


def read_experiment(
    text: str,
    where: str,
    settings: Iterable[str] = (),
    *,
    data: Sequence[Path] = (),
    source: str = "",
    target: str = "",
    start: StartConfig | None = None,
) -> Experiment:
    """The experiment in a TOML ``text`` that came from ``where``, with ``settings`` such as ``training.epochs=5``.

    ``data`` takes the place of the files in the ``[data]`` table, or of its corpus and the names of its parts;
    ``source`` and ``target`` replace the languages. ``start`` takes the place of the ``[start]`` table. Settings come
    last. Raises ConfigError with one sentence.
    """
    table = read_table(text, where)
    if data:
        table["data"] = own_files(table.get("data"), data)
    if start is not None:
        table["start"] = start.model_dump()
    languages = [f'data.{side}="{code}"' for side, code in (("source", source), ("target", target)) if code]
    if languages and table.get("task") == "language-model":
        raise ConfigError(f"{where} is no task of two languages, as --source and --target are for: leave them out.")
    settings = list(settings)
    with explaining_leftovers(settings, where):
        experiment = parse(with_whole_paths(override(table, [*languages, *settings])), where)
    refuse_parts(experiment.data, where)
    refuse_two_triggers(experiment.training, where)
    if isinstance(experiment, TranslationExperiment):
        refuse_two_vocabularies(experiment, where)
        refuse_ineffective(experiment, experiment.data.longest, where)
        refuse_search(experiment.evaluation, experiment.training, where)
    if isinstance(experiment, RecurrentExperiment):
        refuse_lone_residual("recurrence", experiment.recurrence, where)
    if isinstance(experiment, FittedExperiment):
        refuse_updates(experiment.training, experiment.data, where)
    return experiment


def refuse_two_vocabularies(experiment: TranslationExperiment, where: str) -> None:
    """Raise ConfigError where sides with a vocabulary each, perhaps of one size, would share a table of vectors."""
    text = experiment.text
    if experiment.embedding.shared and not text.one_vocabulary:
        remedy = "words have one for each, so" if isinstance(text, Word) else "set text.joint = true, or"
        if experiment.start.vocabulary == "only":
            remedy = "that run has one for each, so"
        raise ConfigError(
            f"{where}: embedding.shared needs one vocabulary for both sides: {remedy} set embedding.shared = false."
        )


def begun_with(run: Run) -> Experiment:
    """The experiment that a run was begun with; ConfigError with one sentence."""
    return parse(run.experiment, str(run.path / EXPERIMENT))


def parse(table: Mapping[str, Any], where: str) -> Experiment:
    """The experiment in a table that came from ``where``; ConfigError with one sentence."""
    task = table.get("task")
    if not isinstance(task, str):
        raise ConfigError(f"{where}: task is missing. Known: {', '.join(sorted(KINDS))}.")
    if task not in KINDS:
        raise ConfigError(f"{where}: {unknown('task', task, KINDS)}")
    kinds = KINDS[task]
    usual = next(iter(kinds))
    kind = table.get("model", usual) if usual else usual
    if not isinstance(kind, str) or kind not in kinds:
        raise ConfigError(f"{where}: {unknown('model', str(kind), kinds)}")
    _, experiment = kinds[kind]
    return experiment.parse(table, where, [other for kinds in KINDS.values() for _, other in kinds.values()])


def _cut_as_it_is(experiment: AnyExperiment, kind: str) -> AnyExperiment:
    """The experiment, if its words are not annotated by those of a source and are always cut alike; else ValueError."""
    if getattr(experiment.text, "rare", "none") != "none":
        raise ValueError(f"text.rare says where the rare words of a translation come from, but this is {kind}.")
    if experiment.text.sampling_option:
        # what is counted is read once, and running text is carried from window to window, which another cut would move
        raise ValueError(
            f"text.{experiment.text.sampling_option} cuts the sentences of translators differently every epoch, but "
            f"this is {kind}."
        )
    return experiment


def _decided_by(experiment: AnyExperiment, figures: Mapping[str, str]) -> AnyExperiment:
    """The experiment, if the figure that decides its training is one that validation gives; else ValueError."""
    training = experiment.training
    if training.metric not in figures:
        raise ValueError(unknown("training.metric", training.metric, figures))
    if training.better != figures[training.metric]:
        raise ValueError(
            f"training.better is '{training.better}', but for training.metric '{training.metric}' "
            f"it should be '{figures[training.metric]}'."
        )
    return experiment
