"""A translator that spells lines backwards, and what happens to the processes that it runs in."""

import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.bulk.folder import Identity
from anaphora.bulk.worker import Refuse, Translate
from anaphora.errors import DataError

IDENTITY = Identity("model", "options", 5)


@dataclass(frozen=True)
class Backwards:
    """Loads the translator in each worker; its files are in ``folder``."""

    folder: Path
    pause: float = 0.0
    """Seconds that a worker waits at each line."""
    kill_at: int = 0
    """The first worker dies before this operation on files, from 1."""
    refuses_to_load: bool = False
    dies_loading: bool = False
    most_bytes: int = 0
    """Bytes that fit into a file."""

    def __call__(self) -> Translate:
        (self.folder / "pids").open("a").write(f"{os.getpid()}\n")
        if self.refuses_to_load:
            raise DataError("It refuses to load.")
        if self.dies_loading:
            _die()
        if self.most_bytes:
            import resource

            resource.setrlimit(resource.RLIMIT_FSIZE, (self.most_bytes, self.most_bytes))
        if self.kill_at and self._first("counting"):
            _dying_at(self.kill_at)
        return self._translate

    def _translate(self, lines: Sequence[str], first: int, refuse: Refuse) -> list[str]:
        return [self._one(line, number, refuse) for number, line in enumerate(lines, first)]

    def _one(self, line: str, number: int, refuse: Refuse) -> str:
        time.sleep(self.pause)
        if "kill" in line or ("once" in line and self._first(line)):
            _die()
        if "raise" in line:
            raise ValueError("it is raised")
        if "two lines" in line:
            return "two\nlines"
        if "refuse" in line:
            refuse(number, f"Line {number} is refused.")
            return ""
        return line[::-1]

    def _first(self, name: str) -> bool:
        """Whether no process of this folder has asked for that name before."""
        try:
            (self.folder / name).open("x").close()
        except FileExistsError:
            return False
        return True

    def workers(self) -> list[int]:
        """The processes of all workers so far."""
        pids = self.folder / "pids"
        return [int(line) for line in pids.read_text().split()] if pids.exists() else []


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _dying_at(operation: int) -> None:
    """Let this process die before that operation on files from now on."""
    left = operation

    def counting(call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if not left:
                _die()
            return call(*given, **named)

        return counted

    for name in ("open", "write", "fsync", "replace"):
        setattr(os, name, counting(getattr(os, name)))
