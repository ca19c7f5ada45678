"""A run folder as a process sees it that trains along while another one writes."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from anaphora.events import Report, silent
from anaphora.run.checkpoint import CheckpointName
from anaphora.run.folder import Run
from anaphora.run.metrics import MetricsLog


class RunReplica(Run):
    """Reads like any run; what training writes is left to the process that holds the lock."""

    def __init__(self, *args: Any) -> None:
        """Use ``open``."""
        super().__init__(*args)
        self.metrics = _SilentLog(self.metrics.path)

    def lock(self) -> AbstractContextManager[None]:
        """The other process has it."""
        return nullcontext()

    def mark_best(self, which: CheckpointName) -> None:
        """The other process does."""

    def write_card(self, scores: Mapping[str, float], report: Report = silent) -> None:
        """The other process does."""

    def rewind(self, update: int) -> None:
        """The other process does."""


class _SilentLog(MetricsLog):
    def append(self, line: Mapping[str, Any]) -> None:
        """The other process does."""
