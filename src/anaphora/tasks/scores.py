"""The scores of a run: measured, and kept in its folder and on its card, each with how it came about."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from anaphora.errors import RunError
from anaphora.events import Note, Report
from anaphora.run import Run
from anaphora.run.checkpoint import CheckpointName, name_of
from anaphora.run.logs import Evaluation, Metric
from anaphora.tasks.evaluation import Request, Results, Scored
from anaphora.tasks.runs import experiment_of, load, open_run
from anaphora.version import VERSION

_Item = TypeVar("_Item")


class Digested(Generic[_Item]):
    """The lines or pairs of a text, passed on once as they are read, and a digest of what was read."""

    def __init__(self, text: Iterable[_Item]) -> None:
        """``text`` may be a stream that can be read but once."""
        self._text, self._digest = text, hashlib.sha256()

    def __iter__(self) -> Iterator[_Item]:
        for item in self._text:
            self._digest.update(json.dumps(item).encode() + b"\n")
            yield item

    @property
    def fingerprint(self) -> str:
        """SHA-256 of what was read so far, whatever kind of file it came from."""
        return self._digest.hexdigest()


class Fingerprinted(Protocol):
    """A corpus, or a text that was read."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of it."""


_Text = TypeVar("_Text", bound=Fingerprinted)


def scored(
    path: Path,
    texts: Callable[[Any], Mapping[str, _Text]],
    score: Callable[[Any, _Text], Any],
    metrics: Callable[[Any], tuple[Metric, ...]],
    request: Request,
    report: Report,
) -> Scored:
    """The scores of the best checkpoint of a run, which keeps them where ``request`` says so.

    ``texts`` gives, for the predictor of the run, what is scored by split, ``score`` the scores of one of them, and
    ``metrics`` what a run folder keeps of these.
    """
    run = open_run(path, experiment_of(path))
    which = run.load("best", report).which  # by its name: training may choose another meanwhile
    model = load(path, which, precision=request.precision)
    read = texts(model)
    results = {part: score(model, text) for part, text in read.items()}
    return kept(run, which, results, read, metrics, request, report)


def kept(
    run: Run,
    which: CheckpointName,
    results: Results,
    texts: Mapping[str, Fingerprinted],
    metrics: Callable[[Any], tuple[Metric, ...]],
    request: Request,
    report: Report,
) -> Scored:
    """The scores of checkpoint ``which`` as for ``scored``; a full disk is no reason to lose them."""
    digests = {part: text.fingerprint for part, text in texts.items()}
    if request.keep:
        date = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            for part, found in results.items():
                run.evaluations.append(Evaluation(date, part, name_of(which), VERSION, metrics(found), digests[part]))
            run.write_card(run.validation(which), report)
        except RunError as error:
            report(Note(str(error), warning=True))
    return Scored(str(run.path), results, digests)
