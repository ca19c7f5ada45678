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
from pathlib import Path
from typing import Any, BinaryIO

from anaphora.errors import DataError
from anaphora.events import Note, Progress, Report

_CHUNK = 1 << 16
_PATIENCE = 30.0
"""Seconds without a byte before an answer is given up."""

_ADVICE = "try again, or get the files elsewhere and pass --from FOLDER"


class Download:
    """One file to fetch, and its beginning, which is kept between calls."""

    def __init__(self, address: str, path: Path, most: int, task: str) -> None:
        """Bytes are appended to ``path``; ``path`` with ``.json`` after it names the address that they are of.

        An answer of more than ``most`` bytes is refused; ``task`` is the name of its progress.
        """
        self.address, self.path, self._most, self._task = address, path, most, task
        self._label = path.with_name(path.name + ".json")

    def begin(self, version: str) -> None:
        """Take note of what the bytes to come belong to."""
        self._label.write_text(json.dumps({"address": self.address, "version": version}), encoding="utf-8")

    @property
    def version(self) -> str:
        """The version of the address that is here in part, or nothing if that is not known."""
        try:
            label = json.loads(self._label.read_bytes())
            return str(label["version"]) if label["address"] == self.address else ""
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.is_file() else 0

    def remove(self) -> None:
        """Leave nothing behind."""
        self.path.unlink(missing_ok=True)
        self._label.unlink(missing_ok=True)

    def fetch(self, report: Report) -> bool:
        """Bring the whole of the address, going on where it stands; True if it was put together from pieces.

        A connection that breaks is opened again for as long as every answer brings something. Raises DataError when
        the address cannot be had or gives too much; what can be resumed stays for the next call.
        """
        pieces = self.size > 0
        try:
            while True:
                before = self.size
                total, ended = self._attempt(report)
                if self.size == total if total else ended:  # an answer without its size can be judged by its sum alone
                    return pieces
                here = f"{self.address} broke off after {self.size:,}{f' of {total:,}' if total else ''} bytes"
                if self.size <= before:
                    raise DataError(
                        f"{here}: run the same again to go on, or get the files elsewhere and pass --from FOLDER."
                    )
                report(Note(f"{here} and is being resumed."))
                pieces = True
        except DataError:
            if not (self.size and self.version):
                self.remove()
            raise

    def _attempt(self, report: Report) -> tuple[int, bool]:
        """Take what one answer gives; the size that the whole should have, 0 if unknown, and whether it ended."""
        version = self.version
        if not version:
            self.remove()
        request = urllib.request.Request(
            self.address, headers={"User-Agent": "anaphora", "Accept-Encoding": "identity"}
        )
        if self.size:
            request.add_header("Range", f"bytes={self.size}-")
            request.add_header("If-Range", version)
        try:
            with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
                start, total = _extent(answer, self.size)
                if start == 0:
                    self.remove()
                    self.begin(_version(answer))
                with self.path.open("ab") as out:
                    return total, self._take(answer, out, total, report)
        except urllib.error.HTTPError as error:
            if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and self.size:
                self.remove()
                return self._attempt(report)
            raise DataError(f"{self.address} answers {error.code} {error.reason}: {_ADVICE}.") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            raise DataError(f"{self.address} cannot be fetched ({reason}): {_ADVICE}.") from None

    def _take(self, answer: Any, out: BinaryIO, total: int, report: Report) -> bool:
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
            if done > self._most:
                out.truncate(0)
                raise DataError(f"{self.address} gives more than the {self._most:,} bytes it should: {_ADVICE}.")
            out.write(chunk)
            report(Progress(self._task, done, total, "bytes"))


def _extent(answer: Any, have: int) -> tuple[int, int]:
    """Return the place where an answer begins, and the size of the whole (0 if it does not say)."""
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
