"""A server in this process, and one in a process of its own."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

pytest.importorskip("starlette", reason="needs the extra 'serve'")

from starlette.applications import Starlette
from starlette.testclient import TestClient

from anaphora.memory import Memory
from anaphora.serving.actions import Service
from anaphora.serving.app import application
from anaphora.serving.keys import Key
from anaphora.serving.limits import ServingLimits
from anaphora.serving.server import Server, bound
from anaphora.serving.translators import ServedRun, Translators

RUN = Path(__file__).resolve().parents[1] / "runs" / "format-2"
"""A stored translator from English to French."""
PAIR = {"source": "en", "target": "fr"}

Assemble = Callable[..., Starlette]
Serve = Callable[..., TestClient]


@pytest.fixture
def anyio_backend() -> str:
    """What runs the tests that are coroutines."""
    return "asyncio"


@pytest.fixture(scope="session")
def stored() -> ServedRun:
    """The stored translator."""
    return next(iter(Translators.load([RUN])))


@pytest.fixture(scope="session")
def assemble(stored: ServedRun) -> Assemble:
    """The application that serves the stored translator, or others."""

    def assembled(
        translators: Sequence[ServedRun] = (),
        limits: ServingLimits = ServingLimits(),  # noqa: B008  (a frozen value)
        keys: Sequence[Key] = (),
        lines: list[str] | None = None,
        **others: Any,
    ) -> Starlette:
        service = Service(Translators(translators or [stored]), keys, limits, **others)
        app = application(service, (lambda line: None) if lines is None else lines.append)
        app.state.service = service
        return app

    return assembled


@contextmanager
def serving(assemble: Assemble) -> Iterator[Serve]:
    """Start a server of what is assembled, in this process; a client of it is returned."""
    with ExitStack() as running:

        def start(*arguments: Any, **settings: Any) -> TestClient:
            app = assemble(*arguments, **settings)
            client = TestClient(app, base_url="http://localhost:5000", raise_server_exceptions=False)
            return running.enter_context(client)

        yield start


@pytest.fixture
def serve(assemble: Assemble) -> Iterator[Serve]:
    """Start a server until the end of the test."""
    with serving(assemble) as start:
        yield start


@pytest.fixture(scope="session")
def client(assemble: Assemble) -> Iterator[TestClient]:
    """A client of the server of the stored translator, which all tests share."""
    with serving(assemble) as start:
        yield start()


@pytest.fixture
def learning(serve: Serve, remembering: ServedRun) -> TestClient:
    """A client of a server that learns into the memory, and finds no training pairs."""
    return serve([remembering._replace(nearest=lambda text, translation: [])], learns=True)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """An empty memory."""
    with Memory(tmp_path, create=True) as memory:
        yield memory


@pytest.fixture
def remembering(stored: ServedRun, memory: Memory, tmp_path: Path) -> Iterator[ServedRun]:
    """The stored translator with a memory that it learns into."""
    with Memory(tmp_path) as learning:
        yield stored._replace(memory=memory, learning=learning)


@asynccontextmanager
async def running(app: Starlette) -> AsyncIterator[tuple[Server, tuple[str, int]]]:
    """A server in this process, and its address."""
    listening = asyncio.Event()
    server = Server(app, app.state.service, listening.set)
    with bound("127.0.0.1", 0) as address:
        task = asyncio.create_task(server.serve([address]))
        await listening.wait()
        yield server, address.getsockname()
        server.should_exit = True
        await task


@asynccontextmanager
async def client_of(address: tuple[str, int]) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of a server at an address."""
    async with httpx2.AsyncClient(base_url=f"http://{address[0]}:{address[1]}", timeout=60) as client:
        yield client


@contextmanager
def server_process(*arguments: str, run: Path = RUN) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """``anaphora serve`` of the stored translator, or of another, at a free port: the process and its address."""
    command = [sys.executable, "-m", "anaphora", "serve", str(run), "--port", "0", *arguments]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        try:
            line = next(line for line in process.stderr if " at http" in line)
            yield process, line.split(" at ")[1].strip()
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    run = shutil.copytree(RUN, tmp_path_factory.mktemp("runs") / "run")
    with Memory(run, create=True):
        pass
    with server_process("--quiet", "--memory", "--learn", run=run) as (_, found):
        yield found


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """The page, opened; at the end nothing was asked of another host, and no error was shown in the console."""
    made = browser.new_page()
    errors: list[str] = []
    asked: list[str] = []
    made.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    made.on("pageerror", lambda error: errors.append(str(error)))
    made.on("request", lambda request: asked.append(request.url))
    made.goto(address)
    made.wait_for_selector("#to option[value=fr]", state="attached")
    yield made
    # but for a request that a test aborts, and one that is refused
    assert [error for error in errors if "net::ERR_FAILED" not in error and "(Bad Request)" not in error] == []
    assert all(url.startswith((address, "data:")) for url in asked)
    made.close()
