"""Known corpora into the data folder: downloaded or copied, unpacked, checked, and only then put in place."""

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from anaphora.data import tatoeba
from anaphora.data.catalogue import CORPORA, KnownCorpus, PairArchive, RemoteFile
from anaphora.data.corpora import file_digests
from anaphora.data.download import Download
from anaphora.errors import DataError, refuse_os_errors
from anaphora.events import Note, Report, silent
from anaphora.formats.lines import read_unpacked, replacing
from anaphora.wording import unknown

AGAIN = "fetch it from where it was published"
"""Remedy for a file that is another than it should be."""


def data_home() -> Path:
    """Return the folder of fetched corpora: ``$ANAPHORA_DATA``, or ``anaphora`` in the user's cache folder."""
    given = os.environ.get("ANAPHORA_DATA")
    if given:
        return Path(given).expanduser()
    if sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "anaphora"


def corpus_folder(name: str, *, corpora: Mapping[str, KnownCorpus] = CORPORA) -> Path:
    """Return the folder of a corpus that was fetched; DataError with the command that fetches it when it was not."""
    folder = data_home() / name
    missing = [file.name for file in known_corpus(name, corpora).files if not (folder / file.name).is_file()]
    if missing:
        raise DataError(f"The corpus {name} should be in {folder}, but is not: run  anaphora fetch {name}  first.")
    return folder


def fetch(
    name: str, source: Path | None = None, *, report: Report = silent, corpora: Mapping[str, KnownCorpus] = CORPORA
) -> Path:
    """Bring a known corpus into the data folder and return its folder; what is there and whole is left alone.

    A download that breaks off is resumed, by the next call if need be. With ``source`` the files are taken from
    that folder, or from its subfolder ``name``, gzipped or not, and nothing is downloaded. Raises DataError for an
    unknown name, a file that cannot be had, and one that is not what it should be.
    """
    corpus = known_corpus(name, corpora)
    folder = data_home() / name
    with refuse_os_errors(f"The data folder {folder} cannot be made (", "): set ANAPHORA_DATA."):
        folder.mkdir(parents=True, exist_ok=True)
    missing = []
    for file in corpus.files:
        if _is_whole(folder / file.name, file):
            report(Note(f"{folder / file.name} is here already."))
        else:
            missing.append(file)
    if not missing:
        return folder
    if source is not None:
        for file in missing:
            local = _local(source, name, file)
            _write_verified(read_unpacked(local), folder / file.name, file, str(local))
            report(Note(f"{folder / file.name} is copied and checked."))
    elif isinstance(corpus.origin, PairArchive):
        _fetch_archive(name, corpus.origin, missing, folder, report)
    else:
        for file in missing:
            _fetch_file(name, file, folder, report)
    return folder


def known_corpus(name: str, corpora: Mapping[str, KnownCorpus] = CORPORA) -> KnownCorpus:
    """Return the entry of a corpus; raise DataError for an unknown name."""
    if name not in corpora:
        raise DataError(unknown("The corpus", name, corpora))
    return corpora[name]


def _local(source: Path, name: str, file: RemoteFile) -> Path:
    for folder in (source / name, source):
        for candidate in (folder / file.name, folder / f"{file.name}.gz"):
            if candidate.is_file():
                return candidate
    raise DataError(f"{file.name} or {file.name}.gz of the corpus {name} is not in {source / name} or {source}.")


def _is_whole(place: Path, file: RemoteFile) -> bool:
    return place.is_file() and place.stat().st_size == file.bytes and file_digests([place]) == [file.sha256]


def _fetch_file(name: str, file: RemoteFile, folder: Path, report: Report) -> None:
    part, most = folder / f"{file.name}.part", file.packed_bytes or file.bytes

    def put() -> None:
        if file.packed_sha256 and file_digests([part]) != [file.packed_sha256]:
            raise DataError(f"{file.address} should have sha256 {file.packed_sha256[:12]}..., but has not: {AGAIN}.")
        _write_verified(read_unpacked(part), folder / file.name, file, file.address)

    _download_and(put, Download(file.address, part, most, f"fetching {name}/{file.name}"), report)
    report(Note(f"{folder / file.name} is fetched and checked."))


def _fetch_archive(name: str, archive: PairArchive, files: Sequence[RemoteFile], folder: Path, report: Report) -> None:
    part = folder / f"{archive.address.rpartition('/')[2]}.part"

    def put() -> None:
        report(Note(f"The pairs of {archive.address} are split into {' and '.join(file.name for file in files)}."))
        parts = tatoeba.split(tatoeba.read_archive(part, archive.member, archive.most))
        for file in files:
            pairs = parts[file.name.removesuffix(".tsv")]
            _write_verified(tatoeba.write_lines(pairs), folder / file.name, file, archive.address)

    _download_and(put, Download(archive.address, part, archive.most, f"fetching {name}"), report)
    report(Note(f"{', '.join(str(folder / file.name) for file in files)}: fetched and checked."))


def _download_and(put: Callable[[], None], wanted: Download, report: Report) -> None:
    """Download, then ``put`` in place; what came in pieces and does not fit is downloaded once more, whole."""
    for last in (False, True):
        in_pieces = wanted.fetch(report)  # what an interrupted download leaves can be resumed
        try:
            return put()
        except DataError:
            if last or not in_pieces:
                raise
            report(Note(f"The pieces of {wanted.address} do not fit together; it is fetched again.", warning=True))
        finally:
            wanted.remove()


def _write_verified(text: Iterable[bytes], place: Path, file: RemoteFile, origin: str) -> None:
    """Write ``text`` into ``place``, which changes only when it is the right one."""
    digest = hashlib.sha256()
    size = 0
    with replacing(place) as out:
        for chunk in text:
            size += len(chunk)
            if size > file.bytes:  # stop before a harmful archive fills the disk
                break
            digest.update(chunk)
            out.write(chunk)
        if size != file.bytes or digest.hexdigest() != file.sha256:
            raise DataError(f"{origin} holds another text than {file.name} (by size or sha256): {AGAIN}.")
