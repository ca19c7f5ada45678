"""Request and answer of an evaluation, whatever the task."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

from anaphora.data.corpora import Corpus, Splits
from anaphora.data.directions import split_directions
from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.adaptation import Adaptation, Static
from anaphora.evaluation.significance import Comparison
from anaphora.events import Note, Report
from anaphora.formats.table_columns import chosen_columns
from anaphora.kernels.backends import InferencePrecision
from anaphora.prediction.options import SearchOptions

if TYPE_CHECKING:
    from anaphora.tasks.base import AnyExperiment, ExperimentBase


class Text(NamedTuple):
    """Lines of text, perhaps a stream, which are read once."""

    name: str
    """Name as scores call it."""
    lines: Iterable[str]


@dataclass(frozen=True)
class Request:
    """Request of an evaluation; a task says which fields it takes. Without a text, test splits are scored.

    A field is annotated with its words in errors.
    """

    pairs: Annotated[tuple[Path, Path] | None, "--source and --reference"] = None
    """A text to translate and its reference."""
    text: Annotated[Text | None, "--text"] = None
    """A text to predict."""
    data: Annotated[Path | None, "--data"] = None
    """Labelled data, in a format that the task trains on."""
    search: Annotated[SearchOptions, "a beam, a length penalty, candidates, known words or replaced unknown words"] = (
        field(default_factory=SearchOptions)
    )
    adaptation: Annotated[Adaptation, "a neural cache or dynamic evaluation"] = field(default_factory=Static)
    """Adaptation of a language model to the text that it has read."""
    ensemble: Annotated[bool, "--ensemble"] = False
    """True if several runs are scored as one."""
    mean: Annotated[str, "--mean"] = ""
    """Mean of the predictions of several runs."""
    fusion: Annotated[tuple[Path, float] | None, "--language-model"] = None
    """A run of a language model, and how much it counts beside a translator."""
    precision: Annotated[InferencePrecision, "--precision"] = "fp32"
    """Precision of matrix products."""
    details: Annotated[bool, "--details"] = False
    """True if groups of sentences are scored too."""
    sentences: Annotated[bool, "--output"] = False
    """True if every sentence is scored too."""
    keep: bool = True
    """True if scores are added to the run folders."""
    to: Annotated[str, "--to"] = ""
    """Language that is translated into, of a translator of several."""
    columns: Annotated[tuple[int | str, ...], "--columns"] = ()
    """The columns of a table that are read, in place of those of training."""

    def reading(self, experiment: "AnyExperiment") -> "AnyExperiment":
        """Return the experiment with the columns that are asked for."""
        return experiment.with_options(chosen_columns(self.columns)) if self.columns else experiment

    def refuse(self, path: Path, noun: str, taken: Sequence[str]) -> None:
        """ConfigError where more is asked than the model in ``path``, which is ``noun``, has a use for."""
        for option in fields(self):
            if option.name in (*taken, "keep") or getattr(self, option.name) == getattr(_NOTHING, option.name):
                continue
            [words] = cast(Any, option.type).__metadata__
            raise ConfigError(f"{path} is {noun}, which has no use for {words}: leave it out.")


_NOTHING = Request()


Results = Mapping[str, Any]
"""Scores by split: ``str`` of them is for people, their method ``json`` for ``json.dumps``.

Those whose metrics are sums over the segments of the text, so that those of two runs can be tested, have a method
``segment_metrics``.
"""


class ScoredRuns(NamedTuple):
    """One run, or several as one, and its scores."""

    name: str
    results: Results
    digests: Mapping[str, str] = {}
    """SHA-256 of each split."""
    means: Mapping[str, float] = {}
    """Means of metrics over the splits, where these are of several pairs of languages."""

    def json(self) -> dict[str, Any]:
        found = {"run": self.name, "splits": {split: result.json() for split, result in self.results.items()}}
        return found | ({"mean": dict(self.means)} if self.means else {})


class Answer(NamedTuple):
    """Result of an evaluation: scores run by run, and of two runs how they compare by split."""

    scored: Sequence[ScoredRuns]
    compared: Mapping[str, Sequence[Comparison]] = {}


def check_found(path: Path, experiment: "ExperimentBase", options: str) -> None:
    """DataError where the data that a run was begun with has moved; ``options`` give other text."""
    for file in experiment.data.files:
        if not Path(split_directions(file)[1]).exists():
            raise DataError(
                f"{path} was begun with the data in {file}, but that is no longer there: put it back, or give a text "
                f"with {options}."
            )


def own_splits(
    path: Path,
    experiment: "ExperimentBase",
    find: Callable[[Any, Report], Splits[Corpus]],
    options: str,
    report: Report,
) -> Mapping[str, Corpus]:
    """Return the test splits of a run's data by name; without one its validation split, with a Note.

    ``find`` gives the splits of its experiment. Errors as for ``check_found``.
    """
    check_found(path, experiment, options)
    splits = find(experiment, report)
    if splits.tests:
        return splits.tests
    report(
        Note(
            f"The data of the run has no test split, so its validation split is scored. It was used to choose the best "
            f"checkpoint: expect lower scores on new text, which you can give with {options}."
        )
    )
    parts = getattr(splits.valid, "members", ())
    return {part.name: part for part in parts} or {"validation": splits.valid}


def one_run(paths: Sequence[Path], noun: str) -> Path:
    """Return the one run; ConfigError where there are several, of a model that is scored alone."""
    if len(paths) > 1:
        raise ConfigError(f"{paths[0]} is {noun}, which is evaluated by itself: name one run.")
    return paths[0]
