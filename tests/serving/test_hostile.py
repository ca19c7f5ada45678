"""Clients that break the protocol, open many connections or lie about who they are."""

import asyncio
import json
import logging
import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from anaphora.serving.keys import FAILURES, new_key, read_keys
from anaphora.serving.limits import ServingLimits
from anaphora.serving.log import LogLines
from anaphora.serving.server import connections
from anaphora.tasks.translation.translation import Translation
from tests.serving.conftest import PAIR, Assemble, client_of, running

pytestmark = pytest.mark.anyio

HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
CHUNKED = b"%b HTTP/1.1\r\nHost: %b\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n"


@pytest.fixture
def log() -> Iterator[list[str]]:
    """The lines of the log."""
    lines: list[str] = []
    logging.getLogger().addHandler(handler := LogLines(lines.append))
    yield lines
    logging.getLogger().removeHandler(handler)


async def read(address: tuple[str, int], *pieces: bytes) -> bytes:
    """What a server answers to pieces that come one after the other."""
    reader, writer = await asyncio.open_connection(*address)
    found = b""
    with suppress(ConnectionError, TimeoutError):
        async with asyncio.timeout(3):
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.1)
            while piece := await reader.read(1 << 16):
                found += piece
    writer.close()
    return found


@pytest.mark.parametrize(
    ("line", "host", "status"),
    [
        (b"POST /languages", b"localhost", b"405"),
        (b"POST /translate", b"evil.example", b"403"),
        (b"POST /translate_file", b"localhost", b"400"),
    ],
)
async def test_a_malformed_body_leaves_one_line_whether_it_was_answered_before_or_not(
    assemble: Assemble, log: list[str], line: bytes, host: bytes, status: bytes
) -> None:
    head = CHUNKED % (line, host)
    bodies = (b"zz\r\n", b"\x00\xff\r\n\r\n", b"5\r\nabcdefgh", b"-1\r\n\r\n", b"2\r\n{}zz\r\n")
    pieces = [given for body in bodies for given in ((head, body), (head + body,))]
    async with running(assemble()) as (_, address):
        answers = await asyncio.gather(*(read(address, *given) for given in pieces))
        after = await read(address, HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
    for answer in answers:
        assert answer.split()[1:2] in ([status], [b"400"]) and answer.count(b"HTTP/1.1") == 1
    assert b'{"status": "ok"}' in after
    assert log == ["Invalid HTTP request received."]


@asynccontextmanager
async def crowded(address: tuple[str, int], first: bytes, count: int) -> AsyncIterator[list[asyncio.StreamReader]]:
    """Many connections that send something and then wait."""
    with ExitStack() as opened:
        readers = []
        for _ in range(count):
            reader, writer = await asyncio.open_connection(*address)
            opened.callback(writer.close)
            writer.write(first)
            readers.append(reader)
        await asyncio.sleep(0.2)
        yield readers


@pytest.mark.parametrize(
    "first",
    [b"GET /he", HEALTH, b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"],
    ids=["line", "answered", "body"],
)
async def test_waiting_connections_make_room_for_others(assemble: Assemble, log: list[str], first: bytes) -> None:
    async with running(assemble(limits=ServingLimits(connections=8))) as (server, address):
        async with crowded(address, first, 20), client_of(address) as client:
            answers = [await client.post("/translate", json={"q": "A man.", **PAIR}) for _ in range(2)]
        assert len(server.server_state.connections) <= 8
    assert [one.status_code for one in answers] == [200] * 2
    assert log == ["More than 8 connections at once"]


async def test_connections_in_work_are_kept_and_new_ones_are_told_so(assemble: Assemble) -> None:
    app = assemble(limits=ServingLimits(connections=4))
    goes = asyncio.Event()

    async def wait(*arguments: object) -> list[Any]:
        await goes.wait()
        return [Translation("", 0.0, True)]

    async with running(app) as (_, address):
        app.state.service.batching.translate = wait
        body = json.dumps({"q": ["A man."], **PAIR}).encode()
        asked = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
        async with crowded(address, asked, 4) as readers:
            refused = await read(address)
            goes.set()
            answers = [await reader.readuntil(b"}") for reader in readers]
    assert all(b"200 OK" in one for one in answers)
    assert refused.startswith(b"HTTP/1.1 503")


@pytest.mark.parametrize(
    ("header", "named"),
    [("10.0.0.{}", True), ("10.0.0.{}, 127.0.0.1", True), ("spoofed, 10.0.0.{}", True), ("10.0.0.{}", False)],
)
async def test_only_named_proxies_name_clients(assemble: Assemble, tmp_path: Path, header: str, named: bool) -> None:
    key = new_key(tmp_path / "keys", "a")
    app = assemble(keys=read_keys(tmp_path / "keys"), proxies=["127.0.0.0/8"] if named else [])
    async with running(app) as (_, address), client_of(address) as client:

        async def ask(key: str, number: int) -> int:
            headers = {"Authorization": f"Bearer {key}", "X-Forwarded-For": header.format(number)}
            return (await client.get("/languages", headers=headers)).status_code

        statuses = [await ask("wrong", number) for number in range(FAILURES + 1)]
        statuses += [await ask("wrong", 1) for _ in range(FAILURES)] + [await ask(key, 1)]
    if named:
        assert statuses == [403] * 2 * FAILURES + [429, 200]
    else:
        assert statuses == [403] * FAILURES + [429] * (FAILURES + 1) + [200]


HOSTILE = (
    *("A\0man", "<p a='\0'>A man</p>", "<a " * 1_000, "<!--", "<![CDATA[", "&#0;", "<p>\x0b\x1b</p>", "\ufeff"),
    *("\u2028", "<script>", "</", "<?php", "\ufffe<p>", "&#xd800;", "/.."),
)


FILES = {
    "txt": "{}",
    "page": "<!doctype html><html>{}",
    "po": 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "{}"\nmsgstr ""\n',
    "xlf": "<xliff><file><body><trans-unit><source>{}</source></trans-unit></body></file></xliff>",
}


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:9]))
def test_hostile_text_is_translated_or_refused(learning: TestClient, text: str) -> None:
    answers = [learning.get(f"/tmserver/en/fr/unit/{quote(text, safe='')}")]
    for ending, content in FILES.items():
        file = (f"a.{ending}", content.format(text).encode())
        answers.append(learning.post("/translate_file", data=PAIR, files={"file": file}))
    for format_ in ("text", "html"):
        answers.append(learning.post("/translate", json={"q": ["A.", text], "format": format_, **PAIR}))
    for path in ("suggest", "detect", "neighbours"):
        answers.append(learning.post(f"/{path}", json={"q": text, "s": text, **PAIR}))
    assert {answer.status_code for answer in answers} <= {200, 400}


def test_lines_of_one_kind_are_written_once_and_tracebacks_left_out() -> None:
    lines: list[str] = []
    logger = logging.Logger("libraries")
    logger.addHandler(LogLines(lines.append))
    for number in range(1_000):
        try:
            raise RuntimeError("secret")
        except RuntimeError:
            logger.exception("Something failed\nsocket %d", number)
        logger.warning("Something else")
    logger.info("Nothing")
    assert [line.split(":")[0] for line in lines] == ["Something failed", "Something else"]
    assert "RuntimeError at" in lines[0] and "secret" not in lines[0]


def test_a_process_with_few_files_has_few_connections() -> None:
    files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, files[1]))
    assert connections(ServingLimits()).most == 32
    resource.setrlimit(resource.RLIMIT_NOFILE, files)
