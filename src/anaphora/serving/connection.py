"""One connection of a client, closed where no request comes or no answer is taken."""

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from anaphora.serving.limits import ServingLimits


class Connection(H11Protocol):
    """A connection that ends where its client does not go on.

    It closes unless a request begins, its headers whole, within ``limits.upload`` seconds of the last answer: uvicorn's
    own deadline is for silence, which a byte now and then puts off forever. It is cut off where nothing more of an
    answer could be sent for ``limits.download`` seconds, which uvicorn would wait for.
    """

    limits: ClassVar[ServingLimits]
    _deadline: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None
    _unsent = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # writing pauses wherever a byte waits for the client
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait()

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

    def _wait(self) -> None:
        cycle: Any = self.cycle  # None until the first request
        if cycle and not cycle.response_complete:
            self._end_wait()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.limits.upload, self.transport.close)

    def _end_wait(self) -> None:
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None

    def _look(self) -> None:
        if self.transport.get_write_buffer_size() < self._unsent:
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

    return Limited
