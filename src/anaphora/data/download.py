"""One file over HTTP: what broke off is resumed, in the same call or in a later one.

A download grows in a ``.part`` file, beside which a small file says which version of which address it belongs to. The
server is asked for the rest of just that version (RFC 9110: Range, If-Range); one that knows no ranges, or has another
version by now, sends the whole, and the part is begun again.
"""

import http.client
import json
import re
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from anaphora.errors import DataError
from anaphora.events import Note, Progress, Report

_CHUNK = 1 << 16
_PATIENCE = 30.0
"""Seconds without a byte before an answer is given up."""

_ADVICE = "try again, or get the files elsewhere and pass --from FOLDER"


@dataclass(frozen=True)
class Download:
    """File to fetch, and how large it may be."""

    address: str
    most: int
    """Bytes; an answer of more is refused."""
    task: str
    """Name of its progress."""


class PartFile:
    """The beginning of a download, kept between calls."""

    def __init__(self, path: Path) -> None:
        """``path`` grows; ``path`` with ``.json`` after it says what it is the beginning of."""
        self.path = path
        self._label = path.with_name(path.name + ".json")

    def begin(self, address: str, version: str) -> None:
        """Take note of what the bytes to come belong to."""
        self._label.write_text(json.dumps({"address": address, "version": version}), encoding="utf-8")

    def version(self, address: str) -> str:
        """The version of ``address`` that is here in part, or nothing if that is not known."""
        try:
            label = json.loads(self._label.read_bytes())
            return str(label["version"]) if label["address"] == address else ""
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.is_file() else 0

    def remove(self) -> None:
        """Leave nothing behind."""
        self.path.unlink(missing_ok=True)
        self._label.unlink(missing_ok=True)


def download(wanted: Download, part: PartFile, report: Report) -> bool:
    """Bring the whole of an address into ``part``, going on where it stands; whether it was put together from pieces.

    A connection that breaks is opened again for as long as every answer brings something. Raises DataError when the
    address cannot be had or gives too much; what can be resumed stays in ``part`` for the next call.
    """
    pieces = part.size > 0
    try:
        while True:
            before = part.size
            total, ended = _attempt(wanted, part, report)
            if part.size == total if total else ended:  # an answer without its size can be judged by its sum alone
                return pieces
            here = f"{wanted.address} broke off after {part.size:,}{f' of {total:,}' if total else ''} bytes"
            if part.size <= before:
                raise DataError(
                    f"{here}: run the same again to go on, or get the files elsewhere and pass --from FOLDER."
                )
            report(Note(f"{here} and is being resumed."))
            pieces = True
    except DataError:
        if not (part.size and part.version(wanted.address)):
            part.remove()
        raise


def _attempt(wanted: Download, part: PartFile, report: Report) -> tuple[int, bool]:
    """Take what one answer gives; the size that the whole should have, 0 if unknown, and whether the answer ended."""
    version = part.version(wanted.address)
    if not version:
        part.remove()
    request = urllib.request.Request(wanted.address, headers={"User-Agent": "anaphora", "Accept-Encoding": "identity"})
    if part.size:
        request.add_header("Range", f"bytes={part.size}-")
        request.add_header("If-Range", version)
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
            start, total = _extent(answer, part.size)
            if start == 0:
                part.remove()
                part.begin(wanted.address, _version(answer))
            with part.path.open("ab") as out:
                ended = _take(wanted, answer, out, total, report)
            return total, ended
    except urllib.error.HTTPError as error:
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and part.size:
            part.remove()
            return _attempt(wanted, part, report)
        raise DataError(f"{wanted.address} answers {error.code} {error.reason}: {_ADVICE}.") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise DataError(f"{wanted.address} cannot be fetched ({reason}): {_ADVICE}.") from None


def _take(wanted: Download, answer: Any, out: BinaryIO, total: int, report: Report) -> bool:
    """True if the answer was taken to its end, and did not break off."""
    done = out.tell()
    while True:
        try:
            chunk = answer.read(_CHUNK)
        except (OSError, http.client.HTTPException):
            return False  # what came is kept
        if not chunk:
            return True
        done += len(chunk)
        if done > wanted.most:
            out.truncate(0)
            raise DataError(f"{wanted.address} gives more than the {wanted.most:,} bytes it should: {_ADVICE}.")
        out.write(chunk)
        report(Progress(wanted.task, done, total, "bytes"))


def _extent(answer: Any, have: int) -> tuple[int, int]:
    """Return where an answer begins, and the size of the whole (0 if it does not say)."""
    if answer.status == http.HTTPStatus.PARTIAL_CONTENT:
        found = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", answer.headers.get("Content-Range", ""))
        if found is None or int(found[1]) != have:
            raise ValueError(f"the server sent another part than the one from byte {have:,}")
        return have, int(found[2])
    return 0, int(answer.headers.get("Content-Length") or 0)


def _version(answer: Any) -> str:
    """Return the version for If-Range: a strong entity tag, else the date of the last change."""
    tag = str(answer.headers.get("ETag", ""))
    return tag if tag and not tag.startswith("W/") else str(answer.headers.get("Last-Modified", ""))
