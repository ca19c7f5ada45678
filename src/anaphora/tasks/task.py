"""What a task is: everything particular to one kind of sequence job, in one value."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch

from anaphora.data.corpora import PairCorpus, Splits
from anaphora.errors import ConfigError
from anaphora.events import Report
from anaphora.kernels.runtime import Runtime
from anaphora.models.registry import Network
from anaphora.prediction.running import ON_CPU
from anaphora.run import Checkpoint
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.evaluation import Answer, Request
from anaphora.tasks.work import Work
from anaphora.text.tokenization import AnyTokenizer
from anaphora.text.tokenizer import Tokenizer

Tokenizers = Mapping[str, Tokenizer]
Table = dict[str, Any]


class Trained(NamedTuple):
    """What a run folder holds, read and put together."""

    path: Path
    experiment: ExperimentBase
    model: torch.nn.Module
    """In evaluation mode."""
    tokenizers: Tokenizers
    """By side."""
    runtime: Runtime = ON_CPU
    """How its predictor runs."""


class Giver(Protocol):
    """Something that new weights start from: another run, a file of word vectors."""

    def give(self, model: torch.nn.Module, tokenizers: Tokenizers, report: Report) -> None:
        """Copy what it has into ``model``."""


def by_data(found: Callable[[Any], Any], settled: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """For ``Kind.complete``: an experiment ``settled`` by the splits that are ``found``, unless it is."""
    return lambda experiment, parent: experiment if experiment.is_settled else settled(experiment, found(experiment))


class Teaching(NamedTuple):
    """How smaller models learn what trained ones answer."""

    student: Callable[[Any], Table]
    """From the experiment of a teacher: that of a smaller model."""
    splits: Callable[[Any, Report], Splits[PairCorpus]]
    """The pairs that a teacher's experiment trains, validates and tests on."""
    answers: Callable[[Sequence[Path], Iterable[str], int, Report], Iterator[str]]
    """What teachers answer together with a beam; empty for what is no input."""
    measured: Callable[[Sequence[Path], PairCorpus, int, Report], Mapping[str, float]]
    """Metrics, and outputs per second of processor time, of runs together with a beam."""


@dataclass(frozen=True)
class Kind:
    plural: str
    """Plural name of such models: "translators"."""
    experiment: type[ExperimentBase]
    """The class of its experiments."""
    network: Network
    """Its network; those of the package stand in ``models.registry``."""
    work: Callable[[Any, Report], Work]
    """What is done with its data, from an experiment; raises for data that is not what it should be."""
    on_gpu: bool = True
    """Whether its predictor can run on a GPU."""
    complete: Callable[[Any, Any], Any] = lambda experiment, parent: experiment
    """From an experiment and the one of the run it starts from (or None): what other runs that it names say."""
    givers: Callable[[Any, Any], Sequence[Giver]] = lambda experiment, parent: ()
    """From the same: what its weights start from besides ``start.run`` and files of word vectors."""
    weights_of_runs: Callable[[Any, Checkpoint], Mapping[str, float]] = lambda experiment, checkpoint: {}
    """From an experiment and its checkpoint: what each of the runs in it counts, for ``anaphora info``."""
    next_command: str = ""
    """What to do with a trained ``{run}``, where it differs from the task's."""
    example: str = ""
    """Python for its card, with ``{path}``, where it differs from the task's."""
    teaching: Teaching | None = None
    """How smaller models of it are trained on its outputs, where they can be."""
    exports: Mapping[str, Callable[[Path, Path, Report], None]] = field(default_factory=dict)
    """Files of other programs that such a run can be written as, by name: from the run and the file to write."""


class Sized(NamedTuple):
    """An experiment chosen by the look of the data."""

    table: Table
    """Without a ``[data]`` table."""
    data: str
    """What was counted, for people: "20,000 pairs"."""


class Sizing(NamedTuple):
    """How a task chooses an experiment by the look of the data."""

    choose: Callable[[Sequence[Path], Any, tuple[str, str], AnyTokenizer | None], Sized]
    """From paths, the names of splits, the languages, and the [text] table that is taken over, if any."""
    describe: Callable[[Table, AnyTokenizer | None], str]
    """What a table makes, in words."""
    counted: str
    """What decides the size, in the plural: "pairs"."""
    tiers: Sequence[tuple[Any, ...]]
    """Sizes for at most so many of these, the first field of each, from the smallest on; NamedTuples of one class."""
    suits: Callable[[Sequence[Path], Any, bool], bool] = lambda data, names, languages_given: False
    """Whether data at these paths, whose splits are called so, is for the task; the last says whether languages were
    given. By default none is, since it looks like that of another task: ``--task`` asks for this one."""


@dataclass(frozen=True)
class Task:
    """One kind of sequence job."""

    name: str
    """As ``task`` of an experiment says it."""
    noun: str
    """Name of its models, with the article: "a translator"."""
    kinds: Mapping[str, Kind]
    """By the name that ``model`` gives them, the usual one first; a task of one kind has the empty name alone."""
    predictor: Callable[[Trained], Any]
    """What a person calls, from a trained run."""
    see: str
    """Its verbs: "see anaphora translate"."""
    next_command: str
    """What to do with a trained ``{run}``: a line for a shell that works as it stands."""
    example: str
    """Python for its card, with ``{path}``."""
    tokenizers_of: Callable[[dict[str, Tokenizer], Path], dict[str, Tokenizer]]
    """The vocabularies it needs, out of those of another run; ConfigError where that has them not."""
    evaluate: Callable[[Sequence[Path], Request, Report], Answer]
    """Score runs as asked."""
    own_formats: bool = False
    """Whether its texts are files of formats of its own, whose lines ``evaluate`` is given with their ends."""
    inspected: Callable[[Any], Any] = lambda predictor: predictor
    """From its predictor: what inspection looks into; see ``prediction.examples``."""
    open_file: Callable[[Path], Any] | None = None
    """The predictor in a file of another program, for the endings of ``registry.FILES``."""
    sizing: Sizing | None = None
    """How it is sized by the data, where it can be."""
    own_text: Callable[[Table, Sequence[str], str], tuple[list[str], str]] = lambda table, settings, recipe: ([], "")
    """From a recipe's table, the settings and its name: settings for text of one's own, and a note that says why."""

    def kind_of(self, experiment: ExperimentBase) -> Kind:
        return self.kinds[experiment.kind]


def both_sides(tokenizers: dict[str, Tokenizer], path: Path) -> dict[str, Tokenizer]:
    """The tokenizers of source and target, for ``Task.tokenizers_of``."""
    if "source" not in tokenizers:
        raise ConfigError(
            f"Pairs of sentences need the vocabularies of both sides, but {path} is a language model: name a run of "
            f"pairs, or leave start out."
        )
    return tokenizers


def no_vocabulary(noun: str) -> Callable[[dict[str, Tokenizer], Path], dict[str, Tokenizer]]:
    """For ``Task.tokenizers_of`` of a task that takes none over; ``noun`` is that of the task."""

    def refuse(tokenizers: dict[str, Tokenizer], path: Path) -> dict[str, Tokenizer]:
        raise ConfigError(f"{noun.capitalize()} takes no vocabulary from another run, such as {path}: leave start out.")

    return refuse
