"""Every command and every block of Python of README.md and the pages below docs runs, on the small data of ``scratch``."""

import json
import os
import re
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.docs import scratch
from tests.docs.pages import ROOT, Item, items, pages
from tests.docs.scratch import Scratch
from tests.docs.server import write_programs

NOT_RUN = {
    # beginning of a command: why it does not run here
    "git clone": "needs the network",
    "make": "installs",
    "pip install": "installs",
}

SECONDS = 120
"""That a command may take."""


@dataclass
class Failure:
    item: Item
    code: object
    output: str

    def __str__(self) -> str:
        last = "\n        ".join(self.output.strip().splitlines()[-4:])
        return f"{self.item}\n        exit code {self.code}: {last}"


class Programs:
    """The programs of a path on which ``anaphora`` and ``python`` are those of this checkout, with small trainings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        write_programs(folder / "bin", folder / "socket")
        self.environment = {
            "PATH": f"{folder / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": "1",
            "MPLBACKEND": "agg",
            "ANAPHORA_DATA": str(folder / "stock" / "corpora"),
        }

    def start(self, place: Path, command: list[str], **streams: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(command, cwd=place, env=self.environment, text=True, **streams)

    def run(self, place: Path, text: str) -> tuple[object, str]:
        """Run a command of a page; return its exit code and what it printed."""
        command = ["bash", "-o", "pipefail", "-c", text]
        with self.start(place, command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            try:
                output, _ = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                return f"none after {SECONDS} s", ""
            return process.returncode, output

    def run_or_fail(self, place: Path, text: str) -> None:
        code, output = self.run(place, text)
        assert code == 0, f"{text}\n{output}"


class Page:
    """A page that is run in a folder of its own."""

    def __init__(self, place: Path, programs: Programs, stock: Scratch) -> None:
        self.place, self.programs, self.stock = place, programs, stock
        self.servers = ExitStack()
        self.port = 0
        self.blocks: subprocess.Popen[str] | None = None
        self.known: set[str] = set()
        place.mkdir(parents=True)

    def run(self, found: list[Item]) -> list[Failure]:
        with self.servers:
            failures = []
            for item in found:
                self.stock.prepare(self.place, item.text)
                began = time.monotonic()
                code, output = self.run_block(item.text) if item.language == "python" else self.run_command(item.text)
                if time.monotonic() - began > 3:
                    print(f"{time.monotonic() - began:.1f} s {item}", file=sys.stderr)
                if code != 0:
                    failures.append(Failure(item, code, output))
            return failures

    def run_command(self, text: str) -> tuple[object, str]:
        if text.startswith("anaphora serve ") and "--new-key" not in text:
            return self.start_server(text)
        return self.programs.run(self.place, text.replace("localhost:5000", f"localhost:{self.port}"))

    def start_server(self, text: str) -> tuple[object, str]:
        """Start a server in the place of one before; return when it answers."""
        self.servers.close()
        with socket.socket() as free:
            free.bind(("localhost", 0))
            self.port = free.getsockname()[1]
        log = self.place / "server.log"
        command = f"exec anaphora {text.removeprefix('anaphora ').partition('  #')[0]} --port {self.port}"
        with log.open("w") as stream:
            server = self.programs.start(self.place, ["bash", "-c", command], stdout=stream, stderr=stream)
        self.servers.callback(server.wait)
        self.servers.callback(server.terminate)
        for _ in range(10 * SECONDS):
            if server.poll() is not None:
                return server.returncode, log.read_text()
            try:
                connection = HTTPConnection("localhost", self.port, timeout=SECONDS)
                connection.request("GET", "/languages")
                with closing(connection):
                    return int(connection.getresponse().status != 200), log.read_text()
            except OSError:
                time.sleep(0.1)
        return "none", log.read_text()

    def run_block(self, text: str) -> tuple[object, str]:
        """Run a block of Python in the namespace of the page's earlier ones."""
        if self.blocks is None:
            log = self.servers.enter_context((self.place / "blocks.log").open("w"))
            self.blocks = self.programs.start(self.place, ["python", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
            self.servers.callback(self.blocks.__exit__, None, None, None)
        needed = self.undefined(text)
        self.stock.prepare(self.place, needed)
        assert self.blocks.stdin is not None and self.blocks.stdout is not None
        self.blocks.stdin.write(json.dumps(needed + text) + "\n")
        self.blocks.stdin.flush()
        output = json.loads(self.blocks.stdout.readline() or '"The process ended."')
        return int(bool(output)), output

    def undefined(self, text: str) -> str:
        """Return definitions of the names that a block needs and that no block of the page defines."""
        names = re.findall(r"\b\w+\b", text)
        self.known |= set(re.findall(r"^(?:    )*(\w+)(?:, \w+)* = |(?:as|import|for) (\w+)", text, re.M))
        lines = [f"{name} = {value}\n" for name, value in scratch.EXAMPLES.items() if name in names and name not in self.known]
        return "import anaphora, numpy\n" + "".join(lines) if lines else ""


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[Programs]:
    found = Programs(tmp_path)
    command = [sys.executable, "-m", "tests.docs.server", str(tmp_path / "socket")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        yield found
        server.kill()
    print("processor", resource.getrusage(resource.RUSAGE_CHILDREN))


@pytest.mark.slow
def test_every_command_and_block_of_python_runs(programs: Programs, tmp_path: Path) -> None:
    stock = Scratch(tmp_path / "stock", programs.run_or_fail)

    def run(page: Path) -> list[Failure]:
        name = str(page.relative_to(ROOT))
        found = [item for item in items(name, page.read_text(encoding="utf-8")) if not item.text.startswith(tuple(NOT_RUN))]
        return Page(tmp_path / "pages" / name, programs, stock).run(found)

    only = os.environ.get("PAGES", "").split()
    chosen = [page for page in pages() if not only or page.stem in only]
    with ThreadPoolExecutor(1) as pool:
        failures = [failure for found in pool.map(run, chosen) for failure in found]
    assert not failures, "\n" + "\n".join(map(str, failures))
