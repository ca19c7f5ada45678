"""An application at an address, until it is told to stop."""

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn
from starlette.applications import Starlette

from anaphora.errors import ConfigError
from anaphora.serving.actions import Service
from anaphora.serving.connection import connections

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
        """The first signal drains, the second ends."""
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
    """A socket at an address; ``port`` 0 takes any that is free. Raises ConfigError where it cannot be had."""
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
