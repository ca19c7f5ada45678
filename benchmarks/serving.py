"""How many sentences a server translates in a second, and how long clients wait.

    python -m benchmarks.serving RUN... --text FILE --seconds 30
    python -m benchmarks.serving RUN --text FILE --peer "PYTHON benchmarks/peers/ctranslate2_serve.py"

Starts ``anaphora serve`` with the runs, measures the start up to the first answer and the memory then, and lets 1, 8
and 64 clients translate one line of FILE after the other by one run after the other, each over a connection of its own.
Every answer is compared with the one that a line got first. A peer is a command that serves likewise; it is measured in
turns with ours. Seconds of the clock mean something on a quiet machine alone; the load of the machine and the server's
processor time are printed beside them.
"""

import argparse
import http.client
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import count
from pathlib import Path
from threading import Thread
from typing import NamedTuple
from urllib.parse import urlsplit

from anaphora.formats.lines import read_lines
from benchmarks.machine import this_machine

CLIENTS = (1, 8, 64)
_TICKS = os.sysconf("SC_CLK_TCK")


class Served(NamedTuple):
    """A process that serves."""

    pid: int
    address: str

    @property
    def processor_seconds(self) -> float:
        """What it has used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    @property
    def megabytes(self) -> float:
        """Its memory now."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1e3


@contextmanager
def serving(command: Sequence[str]) -> Iterator[Served]:
    """A server that says its address on standard error, until the block ends."""
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = next(line for line in process.stderr if " at http" in line)
        try:
            yield Served(process.pid, line.split(" at ")[1].strip())
        finally:
            process.send_signal(signal.SIGTERM)


class Client(AbstractContextManager["Client"]):
    """One connection to a server, until the block ends."""

    def __init__(self, address: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
        languages = json.loads(self._asked("GET", "/languages"))
        self.pairs = [(one["code"], target) for one in languages for target in one["targets"]]

    def __exit__(self, *error: object) -> None:
        self._connection.close()

    def translated(self, text: str, pair: tuple[str, str] | None = None) -> str:
        """The translation of a text, by the first run if not told otherwise."""
        source, target = pair or self.pairs[0]
        fields = {"q": text, "source": source, "target": target}
        return str(json.loads(self._asked("POST", "/translate", fields))["translatedText"])

    def _asked(self, method: str, path: str, fields: object = None) -> bytes:
        body = None if fields is None else json.dumps(fields)
        self._connection.request(method, path, body, {"Content-Type": "application/json"})
        response = self._connection.getresponse()
        content = response.read()
        if response.status != http.client.OK:
            raise RuntimeError(f"status {response.status}: {content!r}")
        return content


class Measured(NamedTuple):
    """What became of requests."""

    clients: int
    seconds: float
    """That all of them took together."""
    waits: list[float]
    """Seconds of each, sorted."""
    wrong: int
    """Answers that were not those of before."""
    processor_seconds: float
    """Of the server."""
    megabytes: float
    """Of the server afterwards."""

    def __str__(self) -> str:
        """The cells of a table."""
        done = len(self.waits)
        p50, p99 = (1000 * self.waits[min(done - 1, int(share * done))] for share in (0.5, 0.99))
        processor = 1000 * self.processor_seconds / done
        rate = f"{done / self.seconds:.1f} | {p50:.0f} | {p99:.0f} | {processor:.1f}"
        return f"{self.clients} | {rate} | {self.wrong} | {self.megabytes:.0f}"


class Load:
    """Clients that ask at once."""

    def __init__(self, served: Served, lines: Sequence[str]) -> None:
        self._served, self._lines, self._known = served, lines, dict[tuple[str, tuple[str, str]], str]()
        self._seconds, self._wrong = list[float](), 0

    def run(self, clients: int, seconds: float) -> Measured:
        """Let so many clients ask for so many seconds."""
        self._seconds, self._wrong = [], 0
        turns, end = count(), time.monotonic() + seconds
        used, begin = self._served.processor_seconds, time.monotonic()
        threads = [Thread(target=self._ask, args=(turns, end)) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        passed, used = time.monotonic() - begin, self._served.processor_seconds - used
        return Measured(clients, passed, sorted(self._seconds), self._wrong, used, self._served.megabytes)

    def _ask(self, turns: "count[int]", end: float) -> None:
        with Client(self._served.address) as client:
            while time.monotonic() < end:
                turn = next(turns)
                line, pair = self._lines[turn % len(self._lines)], client.pairs[turn % len(client.pairs)]
                begin = time.monotonic()
                found = client.translated(line, pair)
                self._seconds.append(time.monotonic() - begin)
                self._wrong += self._known.setdefault((line, pair), found) != found


def main() -> None:
    """Print what is measured."""
    parser = argparse.ArgumentParser()
    parser.add_argument("runs", nargs="+", metavar="RUN")
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--peer", type=shlex.split, help="command that starts another server")
    given = parser.parse_args()
    lines = [line for line in read_lines(given.text) if line.strip()]
    print(f"{this_machine()}; {this_machine().load:.1f} cores at work before, {os.getloadavg()[0]:.1f} waiting")
    ours = [sys.executable, "-m", "anaphora", "serve", *given.runs, "--port", "0", "--quiet"]
    with ExitStack() as running:
        loads = {}
        for name, command in {"anaphora": ours, **({"peer": given.peer} if given.peer else {})}.items():
            begin = time.monotonic()
            served = running.enter_context(serving(command))
            with Client(served.address) as client:
                client.translated(lines[0])
            used = f"{time.monotonic() - begin:.1f} s, {served.processor_seconds:.1f} s of processor time"
            print(f"{name}: start to first answer: {used}; {served.megabytes:.0f} MB")
            loads[name] = Load(served, lines)
        print("server | clients | requests/s | p50 ms | p99 ms | processor ms per request | wrong | MB")
        for clients in CLIENTS:
            for name, load in loads.items():
                print(name, load.run(clients, given.seconds), sep=" | ", flush=True)


if __name__ == "__main__":
    main()
