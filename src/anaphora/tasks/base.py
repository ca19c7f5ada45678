"""Base of every experiment, whatever its task: text, data, training and start; and how options are refused."""

from collections.abc import Mapping
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

import tomli_w
from pydantic import Field, model_validator

from anaphora.config import Config
from anaphora.options import SET, Conflict, other_than
from anaphora.tasks.data_table import CUTS, DataConfig
from anaphora.text.tokenization import AnyTokenizer, Bpe
from anaphora.training.best_checkpoint import Better
from anaphora.training.config import TrainingConfig
from anaphora.wording import unknown

AnyExperiment = TypeVar("AnyExperiment", bound="ExperimentBase")


TextConfig = Annotated[AnyTokenizer, Field(discriminator="tokenizer")]
"""The ``[text]`` table."""

_PRETRAINED: dict[str, Any] = {"start.encoder": other_than("none")}
_CHOSEN = ("training.batch_tokens", "training.micro_batches")
"""Options that are chosen when a run is begun, where they are 0."""


class StartConfig(Config):
    """The runs whose weights or vocabulary a new one starts from."""

    run: str = "none"
    """Its folder; "none" starts from random weights."""
    vocabulary: Literal["keep", "extend", "only"] = "keep"
    """Its vocabulary is kept, or extended by the tokens of the new text that it lacks; "only" takes the vocabulary
    alone and no weights: for a language model of what a translator writes, that of the target side."""
    replay: float = Field(0.0, ge=0, lt=1)
    """Fraction of each batch, in tokens, that is drawn from the pairs that ``run`` was trained on, so that they are not
    forgotten; 0 draws none. For translators of sentences (docs/reference/growing.md)."""
    encoder: str = "none"
    """The run of a language model, whose layers and word vectors the encoder of a translator, classifier or tagger
    starts from; "none" draws them at random."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"vocabulary": SET, "run": "none"}, "name a run, or leave it out"),
        Conflict({"replay": SET, "run": "none"}, "name the run whose pairs are drawn, or leave it out"),
        Conflict({"replay": SET, "vocabulary": "only"}, "there is nothing to keep without its weights; leave it out"),
    )

    @property
    def gives_weights(self) -> bool:
        """True if the weights of ``run`` are taken over, and not its vocabulary alone."""
        return self.run != "none" and self.vocabulary != "only"


def _reads_vectors_of_files(experiment: Any) -> bool:
    """True if an encoder reads word vectors that a file gives."""
    files = experiment.vector_files
    return experiment.encoder_side in files or bool(files and getattr(experiment.embedding, "shared", False))


class ExperimentBase(Config):
    """Base of every experiment; the folder of a task adds its own tables.

    >>> experiment = anaphora.read_experiment('task = "language-model"', "mine.toml", data=[Path("book.txt")])
    >>> isinstance(experiment, anaphora.ExperimentBase), experiment.training.epochs
    (True, 10)
    """

    metrics: ClassVar[Mapping[str, Better]] = {"loss": "lower", "perplexity": "lower"}
    """The validation metrics that may decide which checkpoint is the best, and which values of each are better."""
    chosen_by_data: ClassVar[tuple[str, ...]] = ()
    """Options that the training split decides, once, where nobody does: tables with ``resolved``, or values that are
    then "auto", 0 or empty."""
    resegments: ClassVar[bool] = False
    """True if its text may be segmented differently every epoch."""
    encoder_side: ClassVar[str] = ""
    """The side of the vocabulary that its encoder reads, "source" or "text"; empty where it has no encoder of text."""
    places: ClassVar[tuple[str, ...]] = ("data.files",)
    """The options that say where files lie, which may lie elsewhere when training is resumed."""
    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            {"training.optimizer.weight_decay": SET, "embedding.frozen": True},
            "it would shrink the vectors that are kept as they are; set the one to 0, or the other to false",
        ),
        Conflict(
            lambda experiment: experiment.start.encoder != "none" and not experiment.encoder_side,
            "start.encoder is for models with an encoder of text, but this one has none: leave it out",
        ),
        Conflict(
            lambda experiment: experiment.start.encoder != "none" and experiment.start.gives_weights,
            "start.encoder has no effect, since start.run gives an encoder that has learnt: leave it out",
        ),
        Conflict(
            lambda experiment: experiment.start.encoder != "none" and _reads_vectors_of_files(experiment),
            "start.encoder gives vectors of tokens, and so does a file that embedding names: keep one of the two",
        ),
        Conflict(
            _PRETRAINED | {"embedding.kind": other_than("table")},
            'it gives a table of word vectors; leave it out, or set embedding.kind = "table"',
        ),
        Conflict(
            _PRETRAINED | {"encoder.kind": other_than("recurrent")},
            'it gives layers of recurrence; leave it out, or set encoder.kind = "recurrent"',
        ),
        Conflict(
            _PRETRAINED | {"encoder.reversed": True},
            "it gives a forward encoder; set encoder.reversed = false, or leave start.encoder out",
        ),
        Conflict(
            _PRETRAINED | {"encoder.bidirectional": True, "encoder.layers": lambda count: count > 1},
            "it fits the bottom layer alone, since those above read both ways; set encoder.layers = 1, or "
            "encoder.bidirectional = false",
        ),
        Conflict(
            lambda experiment: experiment.start.replay and not experiment.replays,
            "start.replay (--replay) is for translators of sentences in one direction, without links, annotated rare "
            "words, synthetic pairs or fusion: set it to 0",
        ),
    )

    format: Literal[2] = 2
    """The format of this file."""
    task: str
    """Name of the task."""
    data: DataConfig
    """Source of the text."""
    text: TextConfig = Bpe()
    """Tokenizer."""
    training: TrainingConfig = TrainingConfig()
    """Options of the training."""
    start: StartConfig = StartConfig()
    """Parent run or vectors that training starts from."""

    @model_validator(mode="after")
    def _decided_by_a_known_metric(self) -> Self:
        if self.training.metric not in self.metrics:
            raise ValueError(unknown("training.metric", self.training.metric, self.metrics))
        return self

    @property
    def better(self) -> Better:
        """Direction in which the metric that decides is better."""
        return self.metrics[self.training.metric]

    @property
    def kind(self) -> str:
        """The kind of model, of a task that has several; empty otherwise."""
        return str(getattr(self, "model", ""))

    @property
    def vector_files(self) -> Mapping[str, str]:
        """Files that word vectors start from, by side."""
        return getattr(getattr(self, "embedding", None), "files", {})

    @property
    def is_resolved(self) -> bool:
        """True if nothing is left to be chosen by the data."""
        return not any(map(self._leaves_open, self.chosen_by_data))

    @property
    def extends_vocabulary(self) -> bool:
        """True if a vocabulary taken over may be extended by the new text."""
        return True

    @property
    def replays(self) -> bool:
        """True if it may learn from the data of the run that it starts from, beside its own."""
        return False

    def to_grow(self) -> Self:
        """Return the experiment without what a run that replays the data of this one cannot have."""
        return self

    def for_trial(self) -> Self:
        """Return the experiment as a short trial on a sample of its data runs it."""
        return self

    def resume(self, begun: Self) -> Self:
        """The experiment with what was chosen once, when its run was ``begun``: start, vocabulary, open options."""
        text = begun.text if begun.start.vocabulary == "only" else self.text
        chosen = {key: attrgetter(key)(begun) for key in (*_CHOSEN, *self.chosen_by_data) if self._leaves_open(key)}
        return self.with_options({"start": begun.start, "text": text, **chosen})

    def _leaves_open(self, key: str) -> bool:
        value = attrgetter(key)(self)
        return not value.resolved if hasattr(value, "resolved") else value in ("auto", 0, ())

    def to_toml(self) -> str:
        """Return the whole experiment, defaults included; reading it gives an equal one."""
        return tomli_w.dumps(self.tables())

    def tables(self) -> dict[str, Any]:
        """Return the same as nested tables."""
        return self.model_dump()


def segmented_alike(kind: str) -> tuple[Conflict, ...]:
    """The conflicts of a model that takes its text as it is, and segments it alike every time; ``kind`` says which."""
    return (
        Conflict(
            {"text.rare": other_than("none")},
            f"it is for the rare words of a translation, but this is {kind}; leave it out",
        ),
        # what is counted is read once, and running text is carried from window to window
        Conflict(
            lambda experiment: experiment.text.sampling_option,
            f"text.{{table.text.sampling_option}} segments the sentences of translators differently every epoch, but "
            f"this is {kind}: leave it out",
        ),
    )


_OF_FITTING = ("seed", "threads")
"""Options of ``[training]`` for a model that is fitted in one go."""

FITTED_CONFLICTS = (
    *(
        Conflict({f"training.{name}": SET}, "it is for updates, but this model is fitted in one go; leave it out", True)
        for name in TrainingConfig.model_fields
        if name not in _OF_FITTING
    ),
    *(
        Conflict({f"data.{name}": SET}, "it says where gradients are cut, but this model has none; leave it out", True)
        for name in CUTS
    ),
)
"""Conflicts of a model fitted in one go, as a person wrote it: it makes no updates."""


class FittedExperiment(ExperimentBase):
    """An experiment without updates, written without the options that are for them."""

    def tables(self) -> dict[str, Any]:
        """Return all options that have an effect, as nested tables."""
        tables = super().tables()
        tables["training"] = {name: tables["training"][name] for name in _OF_FITTING}
        tables["data"] = {name: value for name, value in tables["data"].items() if name not in CUTS}
        return tables
