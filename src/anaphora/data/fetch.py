"""Known corpora into the data folder: downloaded or copied, unpacked, checked, and only then put in place."""

import hashlib
import http.client
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from anaphora.config import nearest
from anaphora.data.catalogue import CORPORA, KnownCorpus, RemoteFile
from anaphora.errors import DataError
from anaphora.events import Note, Progress, Report, silent
from anaphora.formats.lines import unpacked
from anaphora.formats.replacing import replacing

_CHUNK = 1 << 16
_PATIENCE = 30.0
"""Seconds without a byte before a download is given up."""


def data_home() -> Path:
    """Where fetched corpora lie: ``$ANAPHORA_DATA``, or ``anaphora`` in the user's cache folder."""
    given = os.environ.get("ANAPHORA_DATA")
    if given:
        return Path(given).expanduser()
    if sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "anaphora"


def corpus_folder(name: str, *, corpora: Mapping[str, KnownCorpus] = CORPORA) -> Path:
    """The folder of a corpus that was fetched; DataError with the command that fetches it when it was not."""
    folder = data_home() / name
    missing = [file.name for file in _known(name, corpora).files if not (folder / file.name).is_file()]
    if missing:
        raise DataError(f"The corpus {name} should be in {folder}, but is not: run  anaphora fetch {name}  first.")
    return folder


def fetch(
    name: str,
    source: Path | None = None,
    *,
    report: Report = silent,
    corpora: Mapping[str, KnownCorpus] = CORPORA,
) -> Path:
    """Bring a known corpus into the data folder and return its folder; what is there and whole is left alone.

    With ``source`` the files are taken from that folder, or from its subfolder ``name``, gzipped or not, and nothing is
    downloaded. Raises DataError for an unknown name, a file that cannot be had, and one that is not what it should be.
    """
    corpus = _known(name, corpora)
    folder = data_home() / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"The data folder {folder} cannot be made ({error.strerror}): set ANAPHORA_DATA.") from None
    for file in corpus.files:
        place = folder / file.name
        if _is_whole(place, file):
            report(Note(f"{place} is here already."))
        elif source is not None:
            _put(_local(source, name, file), place, file)
            report(Note(f"{place} is copied and checked."))
        else:
            part = folder / f"{file.name}.part"
            try:
                _download(file, part, f"fetching {name}/{file.name}", report)
                _put(part, place, file)
            finally:
                part.unlink(missing_ok=True)
            report(Note(f"{place} is fetched and checked."))
    return folder


def _known(name: str, corpora: Mapping[str, KnownCorpus]) -> KnownCorpus:
    if name not in corpora:
        known = ", ".join(sorted(corpora))
        raise DataError(f"The corpus '{name}' is unknown. Known corpora: {known}.{nearest(name, corpora)}")
    return corpora[name]


def _local(source: Path, name: str, file: RemoteFile) -> Path:
    for folder in (source / name, source):
        for candidate in (folder / file.name, folder / f"{file.name}.gz"):
            if candidate.is_file():
                return candidate
    raise DataError(
        f"{file.name} or {file.name}.gz of the corpus {name} should be in {source / name} or {source}, but is in "
        f"neither."
    )


def _is_whole(place: Path, file: RemoteFile) -> bool:
    if not place.is_file() or place.stat().st_size != file.bytes:
        return False
    with place.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest() == file.sha256


def _put(origin: Path, place: Path, file: RemoteFile) -> None:
    """Unpack ``origin`` into ``place``, which changes only when the text is the right one."""
    digest = hashlib.sha256()
    size = 0
    with replacing(place) as out:
        for chunk in unpacked(origin):
            size += len(chunk)
            if size > file.bytes:  # stop before a harmful archive fills the disk
                break
            digest.update(chunk)
            out.write(chunk)
        if size != file.bytes or digest.hexdigest() != file.sha256:
            raise DataError(
                f"{file.name} should have {file.bytes:,} bytes and sha256 {file.sha256[:12]}..., but {origin} holds "
                f"another text: fetch it from where it was published."
            )


def _download(file: RemoteFile, part: Path, task: str, report: Report) -> None:
    """The bytes of an address into ``part``, as they come."""
    advice = "try again, or get the files elsewhere and pass --from FOLDER"
    request = urllib.request.Request(file.address, headers={"User-Agent": "anaphora"})
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer, part.open("wb") as out:
            total = int(answer.headers.get("Content-Length") or 0)
            done = 0
            while chunk := answer.read(_CHUNK):
                done += len(chunk)
                out.write(chunk)
                report(Progress(task, done, total, "bytes"))
                if done > file.bytes + _CHUNK:  # packed or not, no more can belong to the text
                    raise DataError(f"{file.address} gives more than the {file.bytes:,} bytes it should: {advice}.")
            if total and done != total:
                raise DataError(f"{file.address} broke off after {done:,} of {total:,} bytes: {advice}.")
    except urllib.error.HTTPError as error:
        raise DataError(f"{file.address} answers {error.code} {error.reason}: {advice}.") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise DataError(f"{file.address} cannot be fetched ({reason}): {advice}.") from None
