"""Public corpora that ``anaphora fetch`` knows: where they lie, what they should be, and under which licence.

Addresses name a commit, so that what lies there never changes.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class RemoteFile:
    """One text file of a corpus."""

    name: str
    bytes: int
    """Bytes of the text, as it lies in the data folder afterwards."""
    sha256: str
    """The same."""
    packed_bytes: int = 0
    """Bytes of the download, if that is gzipped."""
    packed_sha256: str = ""
    """The same."""
    address: str = ""
    """Address to fetch it from, gzipped or not; empty for what is made from an archive."""


@dataclass(frozen=True)
class PairArchive:
    """A zip archive of sentence pairs that are split here (``data/tatoeba.py``)."""

    address: str
    member: str
    """The file in it that holds the pairs."""
    most: int
    """Bytes that neither the archive nor its text go beyond; each part is known by its own sum."""


@dataclass(frozen=True)
class KnownCorpus:
    """A corpus and what a person should know before using it."""

    about: str
    licence: str
    files: tuple[RemoteFile, ...]
    origin: PairArchive | None = None
    """The archive that the files are made from; None where each has its own address."""

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)


def _corpus(about: str, licence: str, files: list[Any], address: str = "", origin: Any = None) -> KnownCorpus:
    known = (RemoteFile(**facts, address=address.format(facts["name"])) for facts in files)
    return KnownCorpus(about, licence, tuple(known), PairArchive(**origin) if origin else None)


CORPORA: Mapping[str, KnownCorpus] = {
    name: _corpus(**facts)
    for name, facts in tomllib.loads(Path(__file__).with_name("corpora.toml").read_text(encoding="utf-8")).items()
}
