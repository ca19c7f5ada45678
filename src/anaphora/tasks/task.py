"""The contract of tasks: all that is particular to one kind of sequence job, in one class."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import torch

from anaphora.data.corpora import PairCorpus, Splits
from anaphora.errors import ConfigError, RunError
from anaphora.events import Report
from anaphora.models import registry as networks
from anaphora.models.registry import Network
from anaphora.options import MAX_COUNT
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.evaluation import Answer, Request
from anaphora.tasks.registry import predictor_module
from anaphora.tasks.runs import Tokenizers as Tokenizers
from anaphora.tasks.runs import TrainedModel as TrainedModel
from anaphora.tasks.training_job import TrainingJob
from anaphora.text.tokenization import AnyTokenizer
from anaphora.text.tokenizer import Tokenizer
from anaphora.text.words import WordTokenizer

Table = dict[str, Any]


class WeightSource(Protocol):
    """Something that new weights start from: another run, a file of word vectors."""

    def load_into(self, model: torch.nn.Module, tokenizers: Tokenizers, report: Report) -> None:
        """Copy what it has into ``model``."""


class Distillation(NamedTuple):
    """Training of smaller models on the outputs of trained ones."""

    student: Callable[[Any], Table]
    """Function from the experiment of a teacher to that of a smaller model."""
    splits: Callable[[Any, Report], Splits[PairCorpus]]
    """The pairs that a teacher's experiment trains, validates and tests on."""
    answers: Callable[[Sequence[Path], Iterable[str], int, Report], Iterator[str]]
    """Outputs of teachers together with a beam; empty for what is no input."""
    measured: Callable[[Sequence[Path], PairCorpus, int, Report], Mapping[str, float]]
    """Metrics, and outputs per second of processor time, of runs together with a beam."""


class GivenData(NamedTuple):
    """The data by whose look an experiment is chosen."""

    paths: Sequence[Path]
    names: Any
    """Names of the splits: see ``data.finding.Names``."""
    languages: tuple[str, str] = ("", "")
    """Source and target, empty where they are not given."""
    text: AnyTokenizer | None = None
    """The [text] table that is taken over, if any."""
    encoding: str = "utf-8"
    """Character encoding of the files, as it was given, unchecked."""
    at_most: int = MAX_COUNT
    """Amount that a translator is sized for at most, whatever there is."""


class SizedExperiment(NamedTuple):
    """An experiment chosen by the look of the data."""

    table: Table
    """Without a ``[data]`` table."""
    data: str
    """Size of the data, for people: "20,000 pairs"."""


class Task(ABC):
    """One kind of model for one kind of sequence job.

    Its attributes name it, its methods do what differs from other tasks. It has no state: an experiment is always an
    argument. Tasks of several kinds of model are several classes with one ``name``.
    """

    name: ClassVar[str]
    """Name in the option ``task`` of an experiment."""
    model: ClassVar[str] = ""
    """Name in the option ``model``; empty for a task with one kind of model."""
    noun: ClassVar[str]
    """Name of its models, with the article: "a translator"."""
    plural: ClassVar[str]
    """Plural name of such models: "translators"."""
    experiment: ClassVar[type[ExperimentBase]]
    """Class of its experiments."""
    network: ClassVar[Network]
    """Network of the task; those of the package stand in ``models.registry``."""
    job_class: ClassVar[type[Any]]
    """Class of ``job``, where that is not written."""
    on_gpu: ClassVar[bool] = True
    """True if its predictor can run on a GPU."""
    own_formats: ClassVar[bool] = False
    """True if its texts are files of formats of its own, whose lines ``evaluate`` is given with their ends."""
    takes: ClassVar[Sequence[str]] = ()
    """The fields of a request that its evaluation has a use for; of ``text`` and ``data``, one stands for the other."""
    see: ClassVar[str] = "see anaphora predict"
    """Hint at its verbs, in messages."""
    next_command: ClassVar[str] = "anaphora evaluate {run}"
    """Use of a trained ``{run}``: a line for a shell that works as it stands."""
    example: ClassVar[str]
    """Python for its card, with ``{path}``."""
    exports: ClassVar[Mapping[str, Callable[[Path, Path, Report], None]]] = {}
    """Writers of files of other programs by name, from the run and the file to write."""
    distillation: ClassVar[Distillation | None] = None
    """Training of smaller models on its outputs, where that is possible."""
    counted: ClassVar[str] = ""
    """Noun of the data that decides its size, in the plural: "pairs"; empty for a task that is not sized by data."""
    tiers: ClassVar[Sequence[tuple[Any, ...]]] = ()
    """Sizes for at most so many of these, the first field of each, from the smallest on; NamedTuples of one class."""

    def job(self, experiment: Any, report: Report) -> TrainingJob:
        """Return the data of an experiment, found and checked, and what training does with it."""
        job: TrainingJob = self.job_class(experiment, report)
        return job

    def build(self, experiment: ExperimentBase, tokenizers: Tokenizers, where: str) -> torch.nn.Module:
        """Return a new network for the vocabularies of ``tokenizers``, its weights zero; ``where`` is for errors.

        Raises ConfigError for options that do not go together, RunError for a side without a vocabulary.
        """
        symbols = {side: tokenizer.symbols for side, tokenizer in tokenizers.items()}
        words = {side: one.vocabulary for side, one in tokenizers.items() if isinstance(one, WordTokenizer)}
        try:
            return networks.build(self.network, experiment, symbols, words)
        except KeyError as error:
            sides = ", ".join(sorted(tokenizers)) or "none"
            raise RunError(
                f"{where}: task '{experiment.task}' needs a vocabulary {error}, but there are: {sides}; "
                f"restore the file or the vocabulary from a copy."
            ) from None

    def outline(self, experiment: ExperimentBase, tokenizers: Tokenizers, where: str) -> torch.nn.Module:
        """Return what ``build`` would, without memory for its weights; errors as for that."""
        with torch.device("meta"):
            return self.build(experiment, tokenizers, where)

    def predictor(self, trained: TrainedModel) -> Any:
        """Return what a person calls, by default from ``make_predictor`` of the module ``predictor`` beside it."""
        return predictor_module(self.name).make_predictor(trained)

    @abstractmethod
    def evaluate(self, paths: Sequence[Path], request: Request, report: Report) -> Answer:
        """Score runs as asked."""

    def tokenizers_of(self, tokenizers: dict[str, Tokenizer], path: Path) -> dict[str, Tokenizer]:
        """Return the vocabularies it needs, out of those of the run ``path``; ConfigError where it has none.

        By default those of a run of pairs, for a network of pairs.
        """
        if "source" not in self.network.sides:
            noun = self.noun.capitalize()
            raise ConfigError(f"{noun} takes no vocabulary from another run, such as {path}: leave start out.")
        if "source" not in tokenizers:
            raise ConfigError(
                f"Pairs of sentences need the vocabularies of both sides, but {path} is a language model: name a run "
                f"of pairs, or leave start out."
            )
        return tokenizers

    def with_runs(self, experiment: Any, parent: Any) -> tuple[Any, Sequence[WeightSource]]:
        """Return an experiment with the options that the runs named in it decide, and what its weights start from.

        ``parent`` is the experiment of the run that it starts from, or None; that run, and files of word vectors, are
        not among the sources of weights.
        """
        return experiment, ()

    def suits(self, data: GivenData) -> bool:
        """True if the data is for the task.

        By default none is, since it looks like that of another task: ``--task`` asks for this one.
        """
        return False

    def choose(self, data: GivenData) -> SizedExperiment:
        """Choose an experiment by the look of the data."""
        raise NotImplementedError

    def describe(self, table: Table, text: AnyTokenizer | None) -> str:
        """Return in words what a table makes."""
        raise NotImplementedError

    def own_text(self, table: Table, settings: Sequence[str], recipe: str) -> tuple[list[str], str]:
        """Return settings that a recipe's table needs for text of one's own, and a note that says why."""
        return [], ""
