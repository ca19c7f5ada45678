"""A command in a process of its own, which may be killed, hang, or do what it must not."""

import faulthandler
import io
import os
import re
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from anaphora.cli.app import main
from tests.training.toy import count_operations

SECONDS, PROCESSOR_SECONDS = 180.0, 60
"""After which a process is said to hang; the commands of the campaigns take one or two on a machine that is free."""

MEMORY = 4 << 30
"""Bytes of addresses that a process may take beside what it is forked with: each thread of a server reserves many."""

CRASHED = 70
EXECUTED = 99
_EXECUTES = frozenset(
    ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "pickle.find_class")
)
_REACHES = frozenset(("socket.connect", "socket.bind", "urllib.Request"))


_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""What a terminal obeys, instead of showing it; a progress line begins with a carriage return."""


class Fault(Exception):
    """Something that must never happen."""


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str
    operations: int
    """File operations it made, as ``toy.count_operations`` counts them; 0 for one that was killed."""
    seconds: float

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL


def command(
    arguments: list[str | Path], *, kill_at: int = 0, kill_after: float = 0.0, at: Path | None = None
) -> Outcome:
    """Run ``anaphora ARGUMENTS`` in the folder ``at``, killed before a file operation or after seconds if asked to be.

    Raises Fault when it hangs, crashes, executes something or reaches for the network, or exits with a code that is not
    documented.
    """

    def work() -> int:
        if at:
            os.chdir(at)
        return main([str(argument) for argument in arguments])

    return checked(forked(work, kill_at, kill_after), " ".join(map(str, arguments)))


def shown(arguments: list[str | Path], at: Path) -> Outcome:
    """The same of a command whose output people read at a terminal: it must not command the terminal."""
    found = command(arguments, at=at)
    if control := _CONTROLS.search(found.out):
        raise Fault(f"it writes {control[0]!r} to the terminal: {found.out[: control.end()][-200:]!r}")
    return found


def checked(found: Outcome, what: str) -> Outcome:
    last = found.err.splitlines()[-1:]
    faults = {
        "hangs": found.code in (-signal.SIGALRM, -signal.SIGXCPU),
        "executes something": found.code == EXECUTED,
        "has a traceback": "Traceback (most recent call last)" in found.err or found.code == CRASHED,
        f"dies of signal {-found.code}": found.code < 0 and not found.killed,
        f"exits with {found.code}": not found.killed and found.code not in (0, 1, 2, 3),
        "writes control characters to a terminal": _CONTROLS.search(found.err) is not None,
        "complains in no sentence of its own": found.code == 2 and not "".join(last).startswith("anaphora: "),
    }
    for fault, is_so in faults.items():
        if is_so:
            raise Fault(f"{what} {fault}:\n{found.err[-2000:]}")
    return found


def forked(
    work: Callable[[], int],
    kill_at: int = 0,
    kill_after: float = 0.0,
    meanwhile: Callable[[int], object] = lambda child: None,
) -> Outcome:
    """What becomes of ``work`` in a process forked from this one; ``meanwhile`` is called with its number."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as count:
        began = time.monotonic()
        child = os.fork()
        if not child:
            _become(work, out, err, count, kill_at)
        try:
            meanwhile(child)
        except BaseException:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise
        code = _end_of(child, kill_after)
        seconds = time.monotonic() - began
        for file in (out, err, count):
            file.seek(0)
        said, complained = (file.read().decode("utf-8", "backslashreplace") for file in (out, err))
        return Outcome(code, said, complained, int(count.read() or 0), seconds)


def _become(work: Callable[[], int], out: IO[bytes], err: IO[bytes], count: IO[bytes], kill_at: int) -> None:
    leave, write = os._exit, os.write
    code = CRASHED
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False))
        sys.stdout, sys.stderr = (io.TextIOWrapper(io.FileIO(place, "w", closefd=False)) for place in (1, 2))

        def refuse(event: str, arguments: object) -> None:
            if event in _EXECUTES or event in _REACHES:
                write(2, f"{event} {arguments}\n".encode())
                leave(EXECUTED)

        sys.addaudithook(refuse)
        faulthandler.enable(2)
        resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))
        here = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (here + MEMORY,) * 2)
        counted = count_operations(kill_at)
        code = work()
        sys.stdout.flush()
        write(count.fileno(), b"%d" % counted[0])
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        leave(code)


def _end_of(child: int, kill_after: float) -> int:
    """The exit code of a child, killed after so many seconds if they are not 0, and when it hangs by SIGALRM."""
    descriptor = os.pidfd_open(child)
    try:
        if not select.select([descriptor], [], [], kill_after or SECONDS)[0]:
            os.kill(child, signal.SIGKILL if kill_after else signal.SIGALRM)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        os.close(descriptor)
