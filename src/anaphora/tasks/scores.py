"""Scores kept in a run folder and on its card, each with how it came about."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Generic, TypeVar

from anaphora.errors import RunError
from anaphora.events import Note, Report
from anaphora.run import Run
from anaphora.run.checkpoint import CheckpointName, name_of
from anaphora.run.evaluations import Evaluation, Figure
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
    def digest(self) -> str:
        """SHA-256 of what was read so far, whatever kind of file it came from."""
        return self._digest.hexdigest()


def keep_scores(
    run: Run,
    which: CheckpointName,
    scores: Mapping[str, tuple[Figure, ...]],
    digests: Mapping[str, str],
    report: Report,
) -> None:
    """Add the scores of checkpoint ``which``, by split, to the folder; a full disk is no reason to lose them.

    ``digests`` are those of the texts.
    """
    date = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        for part, figures in scores.items():
            run.evaluations.append(Evaluation(date, part, name_of(which), VERSION, figures, digests[part]))
        run.write_card(run.validation(which), report)
    except RunError as error:
        report(Note(str(error), warning=True))
