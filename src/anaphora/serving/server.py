"""An application at an address, until it is told to stop."""

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, ClassVar

import h11
import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from anaphora.errors import ConfigError
from anaphora.serving.actions import Service
from anaphora.serving.limits import ServingLimits

_AHEAD = 1 << 16
"""Bytes that a client may send of its next requests while one is in work."""
_BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 5\r\nConnection: close\r\n\r\n"


class Connection(H11Protocol):
    """A connection that ends where its client does not go on.

    It closes unless a request begins, its headers whole, within ``limits.upload`` seconds of the last answer: uvicorn's
    own deadline is for silence, which a byte now and then puts off forever. It is cut off where its client takes less
    of an answer in ``limits.download`` seconds than ``limits.pace`` asks for, which uvicorn would wait for. Beyond
    ``most`` connections the one that waits longest for a request of its client is cut off, and the new one where none
    waits.
    """

    limits: ClassVar[ServingLimits]
    most: ClassVar[int]
    _since = 0.0
    """When it was made, or the answer before was sent."""
    _deadline: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None
    _unsent = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # writing pauses wherever a byte waits for the client
        self._since = self.loop.time()
        self._wait()
        if len(self.connections) > self.most:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._awaits_request():
            if len(self.conn.trailing_data[0]) > _AHEAD:
                self.transport.abort()
            self.flow.resume_reading()  # or nobody would see that the client goes
        self._wait()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; where an answer was begun, there is no place for another."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()
        cycle: Any = self.cycle
        if cycle and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()

    def _should_upgrade(self) -> bool:
        return False  # and not a warning each time

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._look_again()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._end_look()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_wait()
        self._end_look()
        super().connection_lost(exc)

    def _awaits_request(self) -> bool:
        """True if no request of its client is there as a whole."""
        cycle: Any = self.cycle  # None until the first request
        return cycle is None or cycle.response_complete or cycle.more_body

    def _make_room(self) -> None:
        self.logger.warning("More than %d connections at once", self.most)
        open_ones = (one for one in self.connections if isinstance(one, Connection) and not one.transport.is_closing())
        oldest = min((one for one in open_ones if one._awaits_request()), key=lambda one: one._since)
        if oldest is self:
            self.transport.write(_BUSY)
        oldest.transport.close()

    def _wait(self) -> None:
        cycle: Any = self.cycle
        if cycle and not cycle.response_complete:
            self._end_wait()
        elif self._deadline is None or self._deadline.cancelled():
            self._deadline = self.loop.call_later(self.limits.upload, self.transport.close)

    def _end_wait(self) -> None:
        if self._deadline:
            self._deadline.cancel()

    def _look(self) -> None:
        if self.transport.get_write_buffer_size() <= self._unsent - self.limits.download * self.limits.pace:
            self._look_again()
        else:
            self.transport.abort()  # closing would wait for the client

    def _look_again(self) -> None:
        self._unsent = self.transport.get_write_buffer_size()
        self._stalled = self.loop.call_later(self.limits.download, self._look)

    def _end_look(self) -> None:
        if self._stalled:
            self._stalled.cancel()


def connections(of: ServingLimits) -> type[Connection]:
    """Connections of a server with these limits."""

    class Limited(Connection):
        limits = of
        most = of.connections

    with suppress(ImportError):  # Windows has no such limit
        import resource

        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if files != resource.RLIM_INFINITY:
            Limited.most = min(of.connections, files // 4)
    return Limited


_STOPS = (signal.SIGINT, signal.SIGTERM)
_UNSENT = 1 << 14
"""Bytes of an answer that the system holds unsent: with more, a client could read for long and not be seen to."""
_ACCEPTED = 8
"""Connections that are taken at once: those beyond the limit are closed only after that."""
_BACKLOG = 1_024
"""Connections that the system holds until they are taken."""


class Server(uvicorn.Server):
    """Stops at SIGINT or SIGTERM once what is in work is done, at a second one at once."""

    def __init__(self, app: Starlette, service: Service, listening: Callable[[], None]) -> None:
        """``listening`` is called once requests are taken."""
        super().__init__(
            uvicorn.Config(
                app,
                http=connections(service.limits),
                forwarded_allow_ips=list(service.proxies),
                backlog=_ACCEPTED,
                log_config=None,  # its log of requests would hold query strings, with text and keys
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=int(service.limits.drain),
            )
        )
        self._service, self._listening = service, listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to take requests, and say so."""
        await super().startup(sockets)
        for one in sockets or []:
            one.listen(_BACKLOG)
        self._listening()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain at the first signal, end at the second."""
        self.force_exit = self.should_exit
        self.should_exit = self._service.stopping = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take the signals, without raising them again afterwards."""
        before: dict[int, Any] = {one: signal.signal(one, self.handle_exit) for one in _STOPS}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)


def bound(host: str, port: int) -> socket.socket:
    """Return a socket at an address; ``port`` 0 takes any that is free. Raises ConfigError where it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends answers at once (TCP_NODELAY) on sockets that are said to be TCP
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):  # Windows has none
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT)
    try:
        found.bind((host, port))
    except (OSError, OverflowError) as error:
        found.close()
        why = getattr(error, "strerror", None) or error
        raise ConfigError(f"{host}, port {port} cannot be used: {why}; give another --port or --host.") from None
    return found
