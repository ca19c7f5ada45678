"""A server in this process of one file, by ranges if it knows them."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FileServer(ThreadingHTTPServer):
    """A file and the behaviour of its server, and what was asked of it."""

    body = b""
    version: dict[str, str]
    chunked = False
    """True if answers come in chunks, their size untold."""
    cut = 0
    """Bytes after which an answer breaks off; 0 for never."""
    ranges = True
    lies = ""
    """A Content-Range that is not the one asked for."""
    asked: list[str]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/file"


class _Answers(BaseHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        """Keep no log."""

    def do_GET(self) -> None:
        server: Any = self.server
        server.asked.append(self.headers.get("Range", "whole"))
        start, body = 0, server.body
        found = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        same = self.headers.get("If-Range") in server.version.values()
        if self.path != "/file":
            self.send_error(404)
            return
        if found and server.ranges and same:
            start = int(found[1])
            if start >= len(body):
                self.send_error(416)
                return
            self.send_response(206)
            self.send_header("Content-Range", server.lies or f"bytes {start}-{len(body) - 1}/{len(body)}")
        else:
            self.send_response(200)
        for name, value in server.version.items():
            self.send_header(name, value)
        if server.chunked and not found:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"%x\r\n" % len(body) + body[: server.cut])
            self.close_connection = True
            return
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        end = min(len(body), start + server.cut) if server.cut else len(body)
        try:
            self.wfile.write(body[start:end])
        except ConnectionError:  # the client has gone
            self.close_connection = True


@contextmanager
def serving(body: bytes) -> Iterator[FileServer]:
    """Serve ``body`` until the end of the block."""
    with FileServer(("127.0.0.1", 0), _Answers) as server:
        server.body, server.version, server.asked = body, {"ETag": '"one"'}, []
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
