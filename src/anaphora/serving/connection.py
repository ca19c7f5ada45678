"""One connection of a client, closed where no request comes."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


def connections(seconds: float) -> type[H11Protocol]:
    """Connections that close unless a request begins, its headers whole, within ``seconds`` of the last answer."""

    class Connection(H11Protocol):
        """uvicorn's own deadline is for silence between requests: a byte now and then puts it off forever."""

        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._end_wait()
            super().connection_lost(exc)

        def _wait(self) -> None:
            cycle: Any = self.cycle  # None until the first request
            if cycle and not cycle.response_complete:
                self._end_wait()
            elif self._deadline is None:
                self._deadline = self.loop.call_later(seconds, self.transport.close)

        def _end_wait(self) -> None:
            if self._deadline:
                self._deadline.cancel()
                self._deadline = None

    return Connection
