"""One connection of a client, closed where no request comes or no answer is taken."""

import asyncio
from contextlib import suppress
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

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
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.limits.upload, self.transport.close)

    def _end_wait(self) -> None:
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None

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
            self._stalled = None


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
