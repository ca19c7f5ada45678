"""What the figures were taken on and with."""

import os
import platform
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import torch

import anaphora

_EXTENSIONS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16", "asimd")
"""What decides how fast a processor multiplies, the later the faster."""


@dataclass(frozen=True)
class Machine:
    """One computer, and the versions on it."""

    processor: str
    cores: int
    """That this process may use."""
    extension: str
    memory_gib: float
    load: float
    """Cores that were at work while ours waited."""
    versions: str

    @property
    def busy(self) -> bool:
        """Whether other work went on, so that no figure can be trusted."""
        return self.load > 0.5

    @property
    def slug(self) -> str:
        """As part of a file's name."""
        words = re.sub(r"\((r|tm)\)|cpu|processor|@.*|\d+-core", " ", self.processor.lower())
        return re.sub(r"[^a-z0-9]+", "-", f"{words} {self.extension} {self.cores} cores").strip("-")

    def __str__(self) -> str:
        cores = f"{self.cores} core{'s' if self.cores != 1 else ''} ({self.extension})"
        return f"{self.processor}, {cores}, {self.memory_gib:.0f} GiB; {self.versions}"


def this_machine() -> Machine:
    """The machine that this runs on, as it is now."""
    facts = _read("/proc/cpuinfo")
    named = re.search(r"^model name\s*: (.+)$", facts, re.MULTILINE)
    flags = set(facts.split())
    memory = re.search(r"MemTotal:\s*(\d+)", _read("/proc/meminfo"))
    return Machine(
        processor=named[1].strip() if named else platform.processor() or platform.machine(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        extension=next((name for name in reversed(_EXTENSIONS) if name in flags), "plain"),
        memory_gib=int(memory[1]) / (1 << 20) if memory else 0.0,
        load=_load(),
        versions=f"anaphora {anaphora.__version__} ({_commit()}), torch {torch.__version__}, "
        f"Python {platform.python_version()}",
    )


def _load(seconds: float = 1.0) -> float:
    """Cores at work over so long a wait; where the system does not tell, the mean of the minute before."""
    before = _work_and_rest()
    if not before:
        return os.getloadavg()[0]
    time.sleep(seconds)
    work, rest = (now - then for now, then in zip(_work_and_rest(), before, strict=True))
    return (os.cpu_count() or 1) * work / max(work + rest, 1)


def _work_and_rest() -> tuple[int, ...]:
    """What all cores together have done since the system started, and what they have waited."""
    line = re.match(r"cpu +([\d ]+)", _read("/proc/stat"))
    if not line:
        return ()
    times = [int(field) for field in line[1].split()[:8]]  # the rest is counted among these
    rest = times[3] + times[4]
    return sum(times) - rest, rest


class OtherWork:
    """What other programs do from now on; nothing where the system does not tell."""

    def __init__(self) -> None:
        self._own, self._all = _own_seconds(), _work_and_rest()

    def cores(self) -> float:
        """How many cores they kept at work until now: those at work, without this process and its ended children."""
        if not self._all:
            return 0.0
        work, rest = (now - then for now, then in zip(_work_and_rest(), self._all, strict=True))
        own = (_own_seconds() - self._own) * os.sysconf("SC_CLK_TCK")
        return (os.cpu_count() or 1) * max(work - own, 0.0) / max(work + rest, 1)


def _own_seconds() -> float:
    """Processor time of this process and its ended children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _read(path: str) -> str:
    return Path(path).read_text(encoding="utf-8") if Path(path).is_file() else ""


def _commit() -> str:
    """What is measured: the commit, and whether files differ from it."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=Path(__file__).parent, capture_output=True, text=True
    )
    return done.stdout.strip() or "no commit"
