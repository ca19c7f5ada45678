"""A server of files in this process."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeVar

Server = TypeVar("Server", bound=ThreadingHTTPServer)


class QuietHandler(BaseHTTPRequestHandler):
    """Answers without a log."""

    def log_message(self, format: str, *arguments: object) -> None:
        pass

    def send_body(self, body: bytes) -> None:
        """Send the rest of an answer to a client that may have gone."""
        self.end_headers()
        try:
            self.wfile.write(body)
        except ConnectionError:
            self.close_connection = True


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Serve until the end of the block."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
