"""The server as a process: real clients, many at once for a minute, none, signals."""

import asyncio
import re
import signal
import socket
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import httpx2
import pytest

from anaphora.cli.app import main
from anaphora.serving.limits import ServingLimits
from anaphora.serving.server import Server, bound
from anaphora.serving.translators import ServedRun
from benchmarks.serving import Client, Load, Served
from tests.serving.conftest import PAIR, RUN, Assemble, running, server_process

pytestmark = pytest.mark.anyio


@pytest.mark.slow
def test_unmodified_clients_get_their_translations(stored: ServedRun) -> None:
    deep_translator = pytest.importorskip("deep_translator")
    libretranslatepy = pytest.importorskip("libretranslatepy")
    [wanted] = [one.text for one in stored.predictor.translate_text(["A man is walking."])]
    with server_process() as (_, address):
        client = libretranslatepy.LibreTranslateAPI(address)
        assert client.translate("A man is walking.", "en", "fr") == wanted
        assert client.languages()[0]["targets"] == ["fr"]
        assert client.detect("A man.")[0]["language"] == "en"
        deep = deep_translator.LibreTranslator(source="en", target="fr", api_key="any", custom_url=address)
        assert deep.translate("A man is walking.") == wanted


@pytest.mark.slow
def test_at_sigterm_what_is_in_work_is_answered_and_the_process_ends_with_0() -> None:
    answers: list[httpx2.Response] = []
    with server_process() as (process, address):
        texts = [f"A man and {number} dogs. " * 100 for number in range(ServingLimits().texts)]
        body = {"q": [text[:1500] for text in texts], **PAIR}
        thread = threading.Thread(
            target=lambda: answers.append(httpx2.post(f"{address}translate", json=body, timeout=60))
        )
        thread.start()
        while not re.search(r"^anaphora_waiting_texts [1-9]", httpx2.get(f"{address}metrics").text, re.MULTILINE):
            assert thread.is_alive(), "answered before it was seen in work"
        process.send_signal(signal.SIGTERM)
        thread.join()
        assert process.wait(30) == 0
    assert answers[0].status_code == 200


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([RUN, "--port", "TAKEN"], "cannot be used: Address already in use"),
        ([RUN.parent / "kinds-2" / "aligner", "--port", "0"], "should be a translator, but is an aligner"),
        ([RUN, RUN, "--port", "0"], "Two of the runs translate en to fr"),
        ([], "Give the run folders"),
        ([RUN, "--learn"], "--learn belongs to --memory"),
        ([RUN, "--adapt"], "--adapt belongs to --memory"),
        ([RUN, "--memory", "--adapt", "--shortlist"], "--adapt may write any word of known translations"),
        ([RUN, "--neighbours", "--port", "0"], "the training data of"),
        *(([RUN, "--proxy", one], "--proxy should be an address or a network") for one in ("*", "10.0.0.1/8")),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_sentence(
    arguments: list[object],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)  # where no training data is
    with bound("127.0.0.1", 0) as taken:
        taken.listen()
        port = str(taken.getsockname()[1])
        assert main(["serve", *(port if one == "TAKEN" else str(one) for one in arguments)]) == 2
    said = capsys.readouterr().err
    assert message in said and len(said.splitlines()) == 1


SECONDS = 0.3
WHOLE = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST /%b HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connected(assemble: Assemble) -> AsyncIterator[Streams]:
    """A connection to a running server whose clients have ``SECONDS`` to send something."""
    async with running(assemble(limits=ServingLimits(upload=SECONDS))) as (_, address):
        streams = await asyncio.open_connection(*address)
        yield streams
        streams[1].close()


@asynccontextmanager
async def asked(assemble: Assemble, size: int, times: int = 1) -> AsyncIterator[tuple[Server, socket.socket]]:
    """A server asked for a document of ``size`` bytes, and the client, whose system takes few bytes ahead of it."""
    app = assemble(limits=ServingLimits(download=SECONDS))
    token = app.state.service.downloads.add("a.po", bytes(size))
    async with running(app) as (server, address):
        with closing(socket.socket()) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 14)
            client.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(client, address)
            await loop.sock_sendall(client, WHOLE.replace(b"health", b"download_file/" + token.encode()) * times)
            yield server, client


async def read(client: socket.socket, pause: float, most: int) -> bytes:
    """What a client reads, piece by piece with pauses, until the server closes or there are ``most`` bytes."""
    found = b""
    with suppress(ConnectionError):
        while len(found) < most and (piece := await asyncio.get_running_loop().sock_recv(client, 1 << 15)):
            found += piece
            await asyncio.sleep(pause)
    return found


async def answer_to(streams: Streams, first: bytes, then: bytes = b"") -> bytes:
    """What comes until the server closes, where ``then`` is sent again and again after ``first``."""

    async def trickle() -> None:
        with suppress(OSError):
            while then:
                await asyncio.sleep(SECONDS / 8)
                writer.write(then)

    reader, writer = streams
    writer.write(first)
    trickling = asyncio.create_task(trickle())
    async with asyncio.timeout(8 * SECONDS):
        found = b""
        with suppress(ConnectionError):
            while piece := await reader.read(1 << 16):
                found += piece
    trickling.cancel()
    return found


@pytest.mark.parametrize(
    ("first", "then", "status"),
    [
        (b"", b"", b""),
        (b"GET", b"", b""),
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\n", b"X: y\r\n", b""),
        (WHOLE + b"GET /", b"x", b"HTTP/1.1 200"),
        (POST % b"translate", b" ", b"HTTP/1.1 408"),
        (POST % b"languages", b" ", b"HTTP/1.1 405"),
    ],
    ids=["silent", "begun", "headers", "second-request", "body", "unread-body"],
)
async def test_an_endless_request_is_cut_off(assemble: Assemble, first: bytes, then: bytes, status: bytes) -> None:
    async with connected(assemble) as streams:
        answer = await answer_to(streams, first, then)
    assert answer[: len(b"HTTP/1.1 200")] == status


@pytest.mark.parametrize(("size", "times"), [(1 << 22, 1), (60_000, 1), (10_000, 200)])
async def test_a_client_that_never_reads_an_answer_is_cut_off(assemble: Assemble, size: int, times: int) -> None:
    async with asked(assemble, size, times) as (server, client), asyncio.timeout(8 * SECONDS):
        state = server.server_state
        while not state.total_requests or state.connections or state.tasks:
            await asyncio.sleep(SECONDS / 8)
        assert 0 < len(await read(client, 0, size * times)) < size * times


async def test_a_client_that_reads_an_answer_slowly_gets_all_of_it(assemble: Assemble) -> None:
    async with asked(assemble, 1 << 23) as (_, client):
        begin, found = time.monotonic(), b""
        while time.monotonic() < begin + 4 * SECONDS:
            found += await read(client, SECONDS / 8, 1)
        found += await read(client, 0, (1 << 23) - len(found))
    assert len(found) >= 1 << 23


async def test_a_connection_is_kept_for_requests_that_come_in_time(assemble: Assemble) -> None:
    async with connected(assemble) as (reader, writer):
        for _ in range(4):
            await asyncio.sleep(SECONDS / 2)
            writer.write(WHOLE)
            assert b"200 OK" in await reader.readuntil(b"}")


def test_answers_are_sent_without_waiting_for_the_client_to_acknowledge_their_headers() -> None:
    with bound("127.0.0.1", 0) as address:  # asyncio sends at once on sockets that are said to be TCP
        assert address.proto == socket.IPPROTO_TCP


@pytest.mark.slow
def test_for_a_minute_sixty_four_clients_get_right_answers_from_the_same_memory(stored: ServedRun) -> None:
    texts = [f"A man and {number} dogs are walking." for number in range(50)]
    wanted = [one.text for one in stored.predictor.translate_text(texts)]
    with server_process("--quiet") as (process, address):
        served = Served(process.pid, address)
        load = Load(served, texts)
        before = load.run(64, 10)  # any status but 200 ends a client with an error
        after = load.run(64, 50)
        assert (before.wrong, after.wrong) == (0, 0)
        with Client(address) as client:
            assert [client.translated(text) for text in texts] == wanted
        assert len(after.waits) > 64
        assert after.megabytes < before.megabytes + 20


@pytest.mark.slow
def test_nothing_is_computed_while_nobody_asks() -> None:
    with server_process("--quiet") as (process, address):
        served = Served(process.pid, address)
        with Client(address) as client:
            client.translated("A man is walking.")
        time.sleep(1)
        before = served.processor_seconds
        time.sleep(3)
        assert served.processor_seconds - before < 0.1


@pytest.mark.slow
def test_only_programs_on_this_machine_can_connect_unless_it_is_told_otherwise() -> None:
    with server_process("--quiet") as (process, address):
        port = int(address.rstrip("/").rpartition(":")[2])
        listening = [
            line.split()[1]
            for table in ("tcp", "tcp6")
            for line in Path(f"/proc/{process.pid}/net/{table}").read_text().splitlines()[1:]
            if line.split()[3] == "0A" and int(line.split()[1].rpartition(":")[2], 16) == port
        ]
        assert listening == [f"0100007F:{port:04X}"]
