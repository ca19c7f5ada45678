"""A server with every pool of one thread, under requests that no honest client sends: it answers, or says why not.

It never hangs, never answers with a fault of its own, writes no traceback, and little into its log.
"""

import json
import os
import re
import resource
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from functools import partial
from hashlib import sha256
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from random import Random

from anaphora.cli.app import main
from anaphora.serving import server
from anaphora.serving.server import bound
from tests.faults.folders import trained
from tests.faults.processes import Fault, checked, forked
from tests.faults.tasks import AIDED

SECONDS = 90.0
"""Within which every request is answered, on a machine that is busy."""
LOG = 1 << 16
FILES = 128
KEY = "correct horse"
CATALOGUE = b'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n' + b"".join(
    b'msgid "%b"\nmsgstr ""\n\n' % text for text in (b"adf beg", b"beh")
)
PIECES = (
    "adf", "<p>beg <b>cdh</b></p>", "<!-- a", "&nbsp;&lt;", "<a title=\"<?= $x ?>\">adf</a>", "\0", "</p></p>", "<br>",
    "<span style=\\\"a\\\">beg</span>", "<script>a < b</script>", "<![CDATA[a]]>", "&#0;&#xd800;", 
    "<p lang='de'>ab</p>", "<", "\x1b[2J", "<div>" * 60, "\u2028", "\ud800", "12", "{name}",
)  # fmt: skip
BODIES = (
    b"", b"{", b"[]", b"null", b'{"q": 1}', b'{"q": ["a", null]}', b"\xff\xfe", b"[" * 50_000, b'{"q": "\\ud800"}',
    b"--x\r\n", b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n', b"q=%ff&source=%00", b"\0" * 5000,
    b'{"q": "\\u0000", "source": "en", "target": "fr", "format": "html"}', b'{"q": "a", "source": "en", "target": [] }',
)  # fmt: skip
KINDS = (
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "multipart/form-data",
)


class _Client:
    """Someone who sends requests to a port, and demands a decent answer to each."""

    def __init__(self, port: int, random: Random) -> None:
        self.port, self.random = port, random

    def ask(self, method: str, path: str, body: bytes = b"", kind: str = "application/json", **headers: str) -> int:
        """Send a request; returns the status, or 0 where the server closed the connection."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)) as connection:
            try:
                given = {"Content-Type": kind, "Authorization": f"Bearer {KEY}", **headers}
                connection.request(method, path, body or None, given)
                answer = connection.getresponse()
                content = answer.read()
            except TimeoutError:
                raise Fault(f"{method} {path} of {body[:300]!r} is not answered within {SECONDS:g} s") from None
            except (HTTPException, ConnectionError):
                return 0
        if answer.status >= 500 and answer.status not in (503, 504):
            raise Fault(f"{method} {path} of {body[:300]!r} is answered with {answer.status}: {content[:300]!r}")
        return answer.status

    def translate(self, q: object, **more: object) -> int:
        return self.ask("POST", "/translate", json.dumps({"q": q, "source": "en", "target": "fr", **more}).encode())

    def upload(self, name: str, content: bytes) -> int:
        return self.ask("POST", "/translate_file", _form(name, content), "multipart/form-data; boundary=x")

    def raw(self, content: bytes) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), SECONDS)
        connection.sendall(content)
        return connection


def _form(name: str, content: bytes) -> bytes:
    fields = {"source": b"en", "target": b"fr", f'file"; filename="{name}': content}
    parts = (f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode() for name in fields)
    return b"".join(b"%b%b\r\n" % pair for pair in zip(parts, fields.values(), strict=True)) + b"--x--\r\n"


def _posted(path: str, body: bytes, kind: str, *headers: str) -> bytes:
    lines = (f"POST {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Type: {kind}", f"Authorization: Bearer {KEY}")
    return "\r\n".join((*lines, f"Content-Length: {len(body)}", *headers, "", "")).encode() + body


def _six_strings(client: _Client) -> None:
    several = ["".join(client.random.choices(PIECES, k=client.random.randint(1, 4))) for _ in range(6)]
    if client.translate(several, format="html") not in (200, 400):
        raise Fault(f"{several} are not translated")


def _eight_catalogues(client: _Client) -> None:
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda number: client.upload(f"{number}.po", CATALOGUE), range(8)))
    if set(statuses) - {200, 503}:
        raise Fault(f"eight catalogues at once are answered with {statuses}")


def _malformed(client: _Client) -> None:
    for body in client.random.choices(BODIES, k=4):
        path = client.random.choice(["/translate", "/translate_file", "/detect", "/suggest", "/neighbours", "/nothing"])
        client.ask("POST", path, body, client.random.choice(KINDS))


def _answered_early(client: _Client) -> None:
    """What is refused before its body has come, or while it comes in an order that is none."""
    half = _posted("/nothing", b"x" * 5000, "text/plain", "Expect: 100-continue")
    wrong = (
        half[:-4000],
        half.replace(b"127.0.0.1", b"elsewhere.example"),
        half.replace(b"Content-Length: 5000", b"Transfer-Encoding: chunked") + b"zz\r\n\r\n",
        half.replace(b"Content-Length: 5000", b"Content-Length: -1"),
        half + b"\x00\x01 no request \r\n\r\n",
        _posted("/translate", b"5\r\nabcde\r\nX", "application/json", "Transfer-Encoding: chunked"),
        b"\x16\x03\x01\x02\x00\x01",
    )
    for content in client.random.choices(wrong, k=3):
        with client.raw(content) as connection, suppress(OSError):
            connection.settimeout(1)
            connection.recv(1 << 12)
            connection.sendall(b"x" * 100)


def _aborted(client: _Client) -> None:
    """Uploads and documents of clients that go away, in the middle or before they are answered."""
    document = _posted("/translate_file", _form("a.po", CATALOGUE), "multipart/form-data; boundary=x")
    for _ in range(8):
        sent = client.random.choice([document, document[: client.random.randrange(len(document))]])
        client.raw(sent).close()


def _wrong_keys(client: _Client) -> None:
    for number in range(12):
        client.ask("POST", "/detect", b'{"q": "adf"}', Authorization=f"Bearer {number}")
    if (status := client.translate("adf")) not in (200, 503):
        raise Fault(f"the right key is answered with {status} after wrong ones")


def _idle(client: _Client) -> None:
    """More connections than the server may have open, on which nothing is said, or half a line."""
    with ExitStack() as idle:
        for _ in range(FILES + 30):
            with suppress(OSError):
                idle.enter_context(client.raw(client.random.choice([b"", b"GET /hea"])))
        time.sleep(3)


def _long_line(client: _Client) -> None:
    client.upload("a.txt", b"adf beg " * 100_000)


ATTACKS: tuple[Callable[[_Client], None], ...] = (
    _six_strings, _six_strings, _eight_catalogues, _malformed, _answered_early, _aborted, _wrong_keys, _idle,
    _long_line,
)  # fmt: skip


def trial(random: Random) -> str:
    whole = trained(AIDED)
    attacks = random.sample(ATTACKS, 3)
    has_keys, pool = random.random() < 0.5, random.choice([1, 1, 4])
    with tempfile.TemporaryDirectory() as folder, bound("127.0.0.1", 0) as listener:
        place = shutil.copytree(whole.place, Path(folder) / "place")
        (place / "keys").write_text(f"weblate sha256:{sha256(KEY.encode()).hexdigest()}\n")
        listener.listen(256)
        clients = [_Client(listener.getsockname()[1], Random(random.random())) for _ in range(len(attacks) + 1)]
        arguments = ["serve", "run", "--memory", "--shortlist", *(["--keys", "keys"] if has_keys else [])]

        def meanwhile(child: int) -> None:
            listener.close()  # the child has it still: where that ends, nobody listens
            with ThreadPoolExecutor(len(attacks)) as together:
                for done in [together.submit(*pair) for pair in zip(attacks, clients[1:], strict=True)]:
                    done.result()
            _recovered(clients[0])
            os.kill(child, signal.SIGTERM)

        what = f"a server with pools of {pool} under {', '.join(attack.__name__.strip('_') for attack in attacks)}"
        try:
            ended = checked(forked(partial(_serve, place, arguments, listener, pool), meanwhile=meanwhile), what)
        except Fault as fault:
            raise Fault(f"{what}: {fault}") from None
    if ended.code:
        raise Fault(f"{what} ends with {ended.code}: {ended.err[-2000:]}")
    if len(ended.err) > LOG:
        raise Fault(f"{what} writes {len(ended.err):,} bytes into its log: {ended.err[-2000:]}")
    if found := re.search(r"^.* 500 \d+ ms$", ended.err, re.MULTILINE):
        raise Fault(f"{what} makes a mistake: {ended.err[max(0, found.start() - 500) : found.end()]}")
    return "servers"


def _serve(place: Path, arguments: list[str], listener: socket.socket, pool: int) -> int:
    """What the process of the server does: all pools of threads that it makes are of one size."""
    os.chdir(place)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
    make = ThreadPoolExecutor.__init__
    ThreadPoolExecutor.__init__ = lambda self, workers=None, *others, **named: make(self, pool, *others, **named)  # type: ignore[method-assign, misc]
    server.bound = lambda host, port: listener
    return main(arguments)


def _recovered(client: _Client) -> None:
    """It is ready and translates, within the time that an answer may take."""
    deadline = time.monotonic() + SECONDS
    while client.ask("GET", "/health/ready") != 200 or client.translate("adf") != 200:
        if time.monotonic() > deadline:
            raise Fault(f"it translates nothing any more, {SECONDS:g} s after that")
        time.sleep(0.2)
