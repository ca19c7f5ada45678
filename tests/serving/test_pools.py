"""Threads of the server: none waits for another, each request has a deadline, and abandoned work ends."""

import asyncio
import re
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Lock
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from anaphora.memory import Memory, Segment
from anaphora.serving.actions import Service
from anaphora.serving.limits import ServingLimits
from anaphora.serving.translators import ServedRun
from tests.serving.conftest import PAIR, Assemble, Serve, client_of, running

pytestmark = pytest.mark.anyio

HEAD = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
Ask = Callable[[httpx2.AsyncClient], Any]


def html(count: int) -> list[Ask]:
    pieces = [f"<p>A man {number} <b>is</b> walking.</p>" for number in range(count)]
    return [lambda client: client.post("/translate", json={"q": pieces, "format": "html", **PAIR})]


def catalogues(count: int) -> list[Ask]:
    def ask(number: int) -> Ask:
        content = HEAD + "".join(f'msgid "A dog {number} {place}."\nmsgstr ""\n\n' for place in range(20))
        files = {"file": ("app.po", content.encode())}
        return lambda client: client.post("/translate_file", data=PAIR, files=files)

    return [ask(number) for number in range(count)]


def others(count: int) -> list[Ask]:
    texts = [f"A man {number}." for number in range(8)]
    page = {"file": ("a.html", b"<html><p>Two dogs <i>run</i>.</p><p>A man.</p></html>")}
    lines = {"file": ("a.txt", "\n".join(texts).encode())}
    asked: list[Ask] = [
        lambda client: client.post("/translate", json={"q": texts, "memory": True, **PAIR}),
        lambda client: client.post("/translate", json={"q": texts[0], **PAIR, "source": "auto"}),
        lambda client: client.post("/detect", json={"q": texts}),
        lambda client: client.post("/suggest", json={"q": texts[0], "s": "Un homme.", **PAIR}),
        lambda client: client.post("/neighbours", json={"q": texts[0], "s": "Un homme.", **PAIR}),
        lambda client: client.get("/tmserver/en/fr/unit/A man."),
        lambda client: client.post("/translate_file", data=PAIR, files=page),
        lambda client: client.post("/translate_file", data=PAIR, files=lines),
    ]
    return asked * count


@pytest.mark.matrix
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "asked",
    [html(128), catalogues(24), html(6) * 8, html(3) * 4 + catalogues(4) + others(2)],
    ids=["many-pieces", "many-catalogues", "requests-of-pieces", "all"],
)
async def test_any_mixture_of_requests_is_answered_with_few_threads(
    assemble: Assemble, remembering: ServedRun, memory: Memory, asked: list[Ask], threads: int
) -> None:
    memory.add([Segment("A man 1.", "Un homme 1.")], "a.tmx")
    app = assemble([remembering._replace(nearest=lambda text, translation: [])], learns=True)
    app.state.service.documents = ThreadPoolExecutor(threads)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(threads))
    async with running(app) as (_, address), client_of(address) as client:
        answers = [*await asyncio.gather(*(ask(client) for ask in asked)), await client.get("/health/ready")]
    assert [one.status_code for one in answers] == [200] * (len(asked) + 1)


@pytest.mark.parametrize("asked", others(1)[1:] + catalogues(1) + html(1))
async def test_every_request_has_a_deadline(
    assemble: Assemble, remembering: ServedRun, monkeypatch: pytest.MonkeyPatch, asked: Ask
) -> None:
    goes = Event()

    def wait(*arguments: Any, **others: Any) -> list[Any]:
        goes.wait(10)
        return []

    for name in ("find", "exact", "fuzzy", "confirm"):
        monkeypatch.setattr(Memory, name, wait)
    app = assemble(
        [remembering._replace(nearest=wait)], ServingLimits(deadline=0.3, document_deadline=0.3), learns=True
    )
    monkeypatch.setattr(app.state.service.detector, "detect", wait)
    async with running(app) as (_, address), client_of(address) as client:
        begin = time.monotonic()
        status = (await asked(client)).status_code
        assert status == 504 and time.monotonic() - begin < 3
        goes.set()


def test_one_request_looks_at_training_pairs_at_a_time(serve: Serve, stored: ServedRun) -> None:
    looking, most = 0, 0
    counting, two = Lock(), Event()

    def nearest(text: str, translation: str) -> list[list[dict[str, Any]]]:
        nonlocal looking, most
        with counting:
            looking += 1
            most = max(most, looking)
            if looking > 1:
                two.set()
        two.wait(0.05)
        with counting:
            looking -= 1
        return []

    client = serve([stored._replace(nearest=nearest)])
    with ThreadPoolExecutor(4) as clients:
        asked = {"q": "A man.", "s": "Un homme.", **PAIR}
        answers = list(clients.map(lambda _: client.post("/neighbours", json=asked).status_code, range(4)))
    assert answers == [200] * 4 and most == 1


def test_a_server_without_a_free_thread_is_not_ready(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    client, goes = serve(), Event()
    assert client.get("/health/ready").status_code == 200

    async def occupy() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        asyncio.get_running_loop().run_in_executor(None, goes.wait)

    client.portal.call(occupy)  # type: ignore[union-attr]
    assert client.get("/health/ready").status_code == 503
    goes.set()
    assert client.get("/health/ready").status_code == 200


@pytest.mark.matrix
@pytest.mark.parametrize("behind", [b"", b"GET /", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 5])
@pytest.mark.parametrize("name", ["a.txt", "a.po", "a.html"])
async def test_a_document_ends_when_its_client_goes(
    assemble: Assemble, stored: ServedRun, name: str, behind: bytes
) -> None:
    lines = [f"A man and {number} dogs are walking." for number in range(1_000)]
    content = {
        "a.txt": "\n".join(lines),
        "a.po": HEAD + "\n".join(f'msgid "{line}"\nmsgstr ""\n' for line in lines),
        "a.html": "<html>" + "".join(f"<p>{line}</p>" for line in lines),
    }[name]
    fields = (("file", f'"; filename="{name}', content), ("source", "", "en"), ("target", "", "fr"))
    form = "".join(
        f'--b\r\nContent-Disposition: form-data; name="{field}{more}"\r\n\r\n{value}\r\n'
        for field, more, value in fields
    )
    body = f"{form}--b--\r\n".encode()
    head = (
        "POST /translate_file HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    app = assemble()
    service: Service = app.state.service

    def texts() -> float:
        page = service.metrics.page(0).decode()
        return float(re.search(r"^anaphora_batch_texts_sum (\S+)", page, re.MULTILINE)[1])  # type: ignore[index]

    async with running(app) as (_, address):
        _, writer = await asyncio.open_connection(*address)
        writer.write(head.encode() + body + behind)
        while texts() < 60:
            await asyncio.sleep(0.01)
        writer.close()
        await asyncio.sleep(0.5)
        assert service.batching.waiting == 0
        before = texts()
        await asyncio.sleep(0.3)
        assert before == texts() < len(lines)


LONG = "A man is walking. " * 400


def test_a_text_of_a_document_has_the_limit_of_any_text(client: TestClient) -> None:
    for name, content in (("a.txt", f"A man.\n{LONG}\n"), ("a.po", f'{HEAD}msgid "{LONG}"\nmsgstr ""\n')):
        answer = client.post("/translate_file", data=PAIR, files={"file": (name, content.encode())})
        assert answer.status_code == 400 and "exceeds text limit (5000)" in answer.json()["error"]


@pytest.mark.parametrize("drain", [1, 10])
async def test_a_server_that_stops_ends_what_it_has_begun_or_refuses_it(
    assemble: Assemble, remembering: ServedRun, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, drain: int
) -> None:
    begun, confirm = Event(), Memory.confirm

    def slow(memory: Memory, segment: Segment) -> int | None:
        begun.set()
        time.sleep(1.5)
        return confirm(memory, segment)

    monkeypatch.setattr(Memory, "confirm", slow)
    app = assemble([remembering], learns=True, limits=ServingLimits(drain=drain))
    async with running(app) as (server, address), client_of(address) as client:
        asked = asyncio.create_task(client.post("/suggest", json={"q": "A dog.", "s": "Un chien.", **PAIR}))
        await asyncio.to_thread(begun.wait)
        server.handle_exit(signal.SIGTERM, None)
        answer = await asked
    assert (answer.status_code, answer.headers.get("Retry-After")) == ((200, None) if drain > 1 else (503, "5"))
    with Memory(tmp_path) as memory:
        assert len(memory) == 1


async def test_a_document_that_could_not_be_fetched_is_refused(assemble: Assemble) -> None:
    app = assemble()
    async with running(app) as (_, address), client_of(address) as client:
        app.state.service.stopping = True
        [answer] = await asyncio.gather(*(ask(client) for ask in catalogues(1)))
    assert answer.status_code == 503 and "stopping" in answer.json()["error"]
