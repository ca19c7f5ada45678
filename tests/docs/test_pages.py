"""Every command and block of Python of README.md and the pages below docs runs, on the small data of ``scratch``."""

import ast
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.docs import scratch
from tests.docs.pages import Item, items, items_in_tables
from tests.docs.scratch import Scratch
from tests.docs.server import write_programs
from tests.site import ROOT, pages

NOT_RUN = {
    # beginning of a command: why it does not run here
    "git clone": "needs the network",
    "make": "installs, and measures for long",
    "pip install": "installs",
    "torchrun": "takes seconds to start each process; see tests/training/test_ranks.py",
    "RAY_ADDRESS": "needs a cluster; see tests/bulk",
    "tensorboard": "serves the scalars of training until it is stopped",
}

SECONDS = 120
"""That a command may take."""


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
        return subprocess.Popen(command, cwd=place, env=self.environment, text=True, start_new_session=True, **streams)

    def run(self, place: Path, text: str) -> tuple[object, str]:
        """Run a command of a page, with a line to read; return its exit code and what it printed."""
        command = ["bash", "-o", "pipefail", "-c", text]
        with self.start(
            place, command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            try:
                output, _ = process.communicate("The old man sees a cat.\n", timeout=SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return f"none after {SECONDS} s", ""
            return process.returncode, output

    def run_or_fail(self, place: Path, text: str) -> None:
        code, output = self.run(place, text)
        if code != 0:
            raise RuntimeError(f"{output.rstrip()}\n({text})")


class Page:
    """A page that is run in a folder of its own."""

    def __init__(self, place: Path, programs: Programs, stock: Scratch) -> None:
        self.place, self.programs, self.stock = place, programs, stock
        self.server, self.opened = ExitStack(), ExitStack()
        self.port = 0
        self.blocks: subprocess.Popen[str] | None = None
        self.known: set[str] = set()
        place.mkdir(parents=True)

    def run(self, found: list[Item]) -> list[str]:
        with self.server, self.opened:
            failures = []
            for item in found:
                try:
                    self.stock.prepare(self.place, item.text)
                    run = self.run_block if item.language == "python" else self.run_command
                    code, output = run(item.text)
                except RuntimeError as error:  # of a run of the tables
                    code, output = "none", str(error)
                if code != 0:
                    last = "\n    ".join(output.strip().splitlines()[-4:])
                    failures.append(f"{item}\n  exit code {code}\n    {last}")
            return failures

    def run_command(self, text: str) -> tuple[object, str]:
        if text.startswith("anaphora serve ") and "--new-key" not in text:
            return self.start_server(text)
        return self.programs.run(self.place, text.replace("localhost:5000", f"localhost:{self.port}"))

    def start_server(self, text: str) -> tuple[object, str]:
        """Stop the server before, start another, and return when it answers."""
        self.server.close()
        with socket.socket() as free:
            free.bind(("localhost", 0))
            self.port = free.getsockname()[1]
        log = self.place / "server.log"
        command = f"exec anaphora {text.removeprefix('anaphora ').partition('  #')[0]} --port {self.port}"
        with log.open("w") as stream:
            server = self.programs.start(self.place, ["bash", "-c", command], stdout=stream, stderr=stream)
        self.server.callback(server.wait)
        self.server.callback(server.terminate)
        for _ in range(10 * SECONDS):
            if server.poll() is not None:
                return server.returncode, log.read_text()
            with suppress(OSError), socket.create_connection(("localhost", self.port)):
                return 0, ""
            time.sleep(0.1)
        return "none", log.read_text()

    def run_block(self, text: str) -> tuple[object, str]:
        """Run a block of Python in the namespace of the page's earlier ones."""
        if self.blocks is None:
            log = self.opened.enter_context((self.place / "blocks.log").open("w"))
            self.blocks = self.programs.start(
                self.place, ["python", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
            )
            self.opened.callback(self.blocks.__exit__, None, None, None)
        defined = self.undefined(text)
        self.stock.prepare(self.place, " ".join(defined.values()))
        assert self.blocks.stdin is not None and self.blocks.stdout is not None
        self.blocks.stdin.write(json.dumps([defined, text]) + "\n")
        self.blocks.stdin.flush()
        output = json.loads(self.blocks.stdout.readline() or '"The process ended."')
        return int(bool(output)), output

    def undefined(self, text: str) -> dict[str, str]:
        """Return the names of ``EXAMPLES`` that a block uses and that no block of the page so far defines."""
        used = {
            node.id: type(node.ctx) for node in reversed(list(ast.walk(ast.parse(text)))) if isinstance(node, ast.Name)
        }
        self.known |= {name for name, context in used.items() if context is ast.Store}
        return {name: value for name, value in scratch.EXAMPLES.items() if name in used and name not in self.known}


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


@pytest.mark.slow
def test_every_command_and_block_of_python_runs(programs: Programs, tmp_path: Path) -> None:
    stock = Scratch(tmp_path / "stock", programs.run_or_fail)

    def run(page: Path) -> list[str]:
        name = str(page.relative_to(ROOT))
        text = page.read_text(encoding="utf-8")
        found = [item for item in items(name, text) if not item.text.startswith(tuple(NOT_RUN))]
        found += items_in_tables(name, text) if page.parent.name == "course" else []
        return Page(tmp_path / "pages" / name, programs, stock).run(found)

    with ThreadPoolExecutor(2) as pool:
        failures = [failure for found in pool.map(run, pages()) for failure in found]
    assert not failures, "\n".join(["", *failures])


def test_every_command_is_read_and_every_reason_is_needed() -> None:
    found = [item for page in pages() for item in items(page.name, page.read_text(encoding="utf-8"))]
    assert [str(item) for item in found if not item.language] == [], "write them in indented blocks, or fences of sh"
    assert {start for start in NOT_RUN if not any(item.text.startswith(start) for item in found)} == set()


def test_commands_are_read_as_a_shell_reads_them() -> None:
    page = """
    anaphora train a \\
        --run b   # why

```sh
echo 'one
two' | anaphora score a
```
```console
$ X=1 anaphora info a
anaphora info b
```
```text
anaphora info c
anaphora info [RUN]
```
    a file
"""
    found = [(item.line, item.text, item.language) for item in items("page", page)]
    assert found == [
        (2, "anaphora train a \\\n    --run b   # why", "sh"),
        (6, "echo 'one\ntwo' | anaphora score a", "sh"),
        (10, "X=1 anaphora info a", "sh"),
        (14, "anaphora info c", ""),
    ]
