"""Connections of clients that send nothing, never end what they send, or do not read what they are sent."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, suppress

import pytest
from starlette.applications import Starlette

from anaphora.serving.limits import ServingLimits
from anaphora.serving.server import Server, bound
from tests.serving.conftest import running

SECONDS = 0.4
WHOLE = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST /%b HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Assemble = Callable[..., Starlette]


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
def test_a_client_that_never_ends_its_request_is_cut_off(
    assemble: Assemble, first: bytes, then: bytes, status: bytes
) -> None:
    async def met() -> bytes:
        async with connected(assemble) as streams:
            return await answer_to(streams, first, then)

    assert asyncio.run(met())[: len(b"HTTP/1.1 200")] == status


@pytest.mark.parametrize(("size", "times"), [(1 << 22, 1), (60_000, 1), (10_000, 200)])
def test_a_client_that_never_reads_an_answer_is_cut_off(assemble: Assemble, size: int, times: int) -> None:
    async def met() -> bytes:
        async with asked(assemble, size, times) as (server, client), asyncio.timeout(8 * SECONDS):
            while (
                not server.server_state.total_requests or server.server_state.connections or server.server_state.tasks
            ):
                await asyncio.sleep(SECONDS / 8)
            return await read(client, 0, size * times)

    assert 0 < len(asyncio.run(met())) < size * times


def test_a_client_that_reads_an_answer_slowly_gets_all_of_it(assemble: Assemble) -> None:
    async def met() -> bytes:
        async with asked(assemble, 1 << 23) as (_, client):
            begin, found = time.monotonic(), b""
            while time.monotonic() < begin + 4 * SECONDS:
                found += await read(client, SECONDS / 8, 1)
            return found + await read(client, 0, (1 << 23) - len(found))

    assert len(asyncio.run(met())) >= 1 << 23


def test_a_connection_is_kept_for_requests_that_come_in_time(assemble: Assemble) -> None:
    async def met() -> list[bytes]:
        found = []
        async with connected(assemble) as (reader, writer):
            for _ in range(4):
                await asyncio.sleep(SECONDS / 2)
                writer.write(WHOLE)
                found.append(await reader.readuntil(b"}"))
        return found

    assert all(b"200 OK" in one for one in asyncio.run(met()))


def test_answers_are_sent_without_waiting_for_the_client_to_acknowledge_their_headers() -> None:
    async def met() -> int:
        options = asyncio.Queue[int]()

        def accepted(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connection = writer.get_extra_info("socket")
            options.put_nowait(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        address = bound("127.0.0.1", 0)
        async with await asyncio.start_server(accepted, sock=address):
            _, writer = await asyncio.open_connection(*address.getsockname())
            writer.close()
            return await options.get()

    assert asyncio.run(met())
