"""The scores of a run: measured, and kept in its folder and on its card, each with how it came about."""

import hashlib
import json
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from anaphora.data.corpora import Splits
from anaphora.errors import RunError
from anaphora.events import Note, Report, silent
from anaphora.run.checkpoint import name_of
from anaphora.run.logs import Evaluation, Metric
from anaphora.tasks.evaluation import Answer, Request, ScoredRuns, one_run, own_splits
from anaphora.tasks.runs import experiment_of, load, open_run
from anaphora.tasks.task import Task
from anaphora.version import VERSION

_Item = TypeVar("_Item")


class DigestedText(Generic[_Item]):
    """The lines or pairs of a text, passed on once as they are read, and a digest of what was read."""

    def __init__(self, text: Iterable[_Item]) -> None:
        """``text`` may be a stream that can be read but once."""
        self._text, self._digest = text, hashlib.sha256()
        self.languages: tuple[str, str] = getattr(text, "languages", ("", ""))
        """Those of pairs, where they are known."""

    def __iter__(self) -> Iterator[_Item]:
        for item in self._text:
            self._digest.update(json.dumps(item).encode() + b"\n")
            yield item

    @property
    def fingerprint(self) -> str:
        """SHA-256 of what was read so far, whatever kind of file it came from."""
        return self._digest.hexdigest()


def score_run(
    path: Path,
    texts: Callable[[Any], Mapping[str, Any]],
    score: Callable[[Any, Any], Any],
    metrics: Callable[[Any], tuple[Metric, ...]],
    request: Request,
    report: Report,
) -> ScoredRuns:
    """Return the scores of the best checkpoint of a run, which keeps them where ``request`` says so.

    ``texts`` gives, for the predictor of the run, what is scored by split, with its ``fingerprint``; ``score`` the
    scores of one of them, and ``metrics`` what a run folder keeps of these. A full disk is no reason to lose them.
    """
    experiment = experiment_of(path)
    run = open_run(path, experiment)
    which = run.load("best", report).which  # by its name: training may choose another meanwhile
    model = load(path, which, precision=request.precision)
    if hasattr(model, "experiment"):
        model.experiment = experiment  # with its data, which predictions alone know nothing of
    read = texts(model)
    results = {part: score(model, text) for part, text in read.items()}
    digests = {part: text.fingerprint for part, text in read.items()}
    if request.keep:
        date = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            for part, found in results.items():
                run.evaluations.append(Evaluation(date, part, name_of(which), VERSION, metrics(found), digests[part]))
            run.write_card(run.validation(which), report)
        except RunError as error:
            report(Note(str(error), warning=True))
    return ScoredRuns(str(run.path), results, digests)


class ScoredTask(Task):
    """A task whose runs are scored one at a time, each text by itself."""

    text_options: ClassVar[str] = "--data"
    """The options that give another text than those of the run."""
    takes: ClassVar[Sequence[str]] = ("data",)
    """Data or text, and columns beside these, among others."""

    @abstractmethod
    def splits(self, experiment: Any, report: Report = silent) -> Splits[Any]:
        """Return the splits of an experiment."""

    def read_requested(self, experiment: Any, request: Request) -> Mapping[str, Any]:
        """Return the text that is requested, by its name; empty for the splits of the run."""
        return {}

    def text_to_score(self, model: Any, text: Any) -> Any:
        """Return a text, with its ``fingerprint``, as it is scored, by default a corpus as it is."""
        return text

    @abstractmethod
    def score(self, model: Any, text: Any, request: Request, report: Report) -> Any:
        """Return the scores of a predictor on a text."""

    def metrics(self, scores: Any) -> tuple[Metric, ...]:
        """Return the metrics that a run folder keeps."""
        return scores.metrics()  # type: ignore[no-any-return]

    def evaluate(self, paths: Sequence[Path], request: Request, report: Report) -> Answer:
        """Score one run on the text that is requested, or on ``own_splits``; the run keeps the scores.

        Raises ConfigError for what its model has no use for, and errors as for ``given`` and ``score``.
        """
        path = one_run(paths, self.noun)
        without = {"columns"} if request.data is None and request.text is None else {"text"} if request.data else ()
        request.refuse(path, self.noun, [name for name in self.takes if name not in without])
        experiment = experiment_of(path)
        found = self.read_requested(experiment, request) or own_splits(
            path, experiment, self.splits, self.text_options, report
        )

        def texts(model: Any) -> Mapping[str, Any]:
            return {name: self.text_to_score(model, text) for name, text in found.items()}

        score = partial(self.score, request=request, report=report)
        return Answer([score_run(path, texts, score, self.metrics, request, report)])
