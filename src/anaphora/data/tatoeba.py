"""Sentence pairs of Tatoeba, split so that no sentence of one part occurs in another, on either side.

Pairs that share a sentence, whatever its case and signs, belong to one group; a hash of the group's name says which
part all of it goes to. A fortieth is kept out of both.
"""

import hashlib
import re
import unicodedata
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from anaphora.errors import DataError

_PARTS = 1000
_VALID_FROM, _TRAIN_FROM = 25, 40
"""Bounds among a thousand hashes: those from 40 are for training, from 25 for validation; the others are kept out."""

_WORDS = re.compile(r"\w+")


def read_archive(path: Path, member: str, most: int) -> list[tuple[str, str]]:
    """Return the pairs of a text of two columns in a zip archive; columns after the second are left out.

    Raises DataError for an archive that is damaged, lacks ``member``, or unpacks to more than ``most`` bytes.
    """
    try:
        with ZipFile(path) as archive, archive.open(member) as stream:
            text = stream.read(most + 1)
    except (OSError, EOFError, BadZipFile, zlib.error, KeyError, ValueError, NotImplementedError) as error:
        raise DataError(f"{path} should be a zip archive with {member} in it, but: {error}.") from None
    if len(text) > most:
        raise DataError(f"{member} in {path} should have at most {most:,} bytes, but has more: fetch it again.")
    rows = (line.split("\t") for line in text.decode("utf-8", "replace").split("\n"))
    return [(row[0], row[1].removesuffix("\r")) for row in rows if len(row) > 1]


def split(pairs: Sequence[tuple[str, str]]) -> Mapping[str, list[tuple[str, str]]]:
    """Return the pairs of ``train`` and ``valid``, each in the order in which they came.

    A group is called by the first of its normalised sentences in code-point order (``e:`` or ``f:`` in front); the
    first 8 hexadecimal digits of the SHA-256 of that name, modulo 1000, choose the part.
    """
    groups = _Groups()
    for english, french in pairs:
        groups.join(*_names(english, french))
    splits: dict[str, list[tuple[str, str]]] = {"train": [], "valid": []}
    for english, french in pairs:
        name = groups.name(_names(english, french)[0])
        place = int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) % _PARTS
        if place >= _VALID_FROM:
            splits["train" if place >= _TRAIN_FROM else "valid"].append((english, french))
    return splits


def write_lines(pairs: Sequence[tuple[str, str]]) -> Iterator[bytes]:
    """Return the lines of a file of two columns."""
    return (f"{english}\t{french}\n".encode() for english, french in pairs)


class _Groups:
    """Names that were joined, directly or by way of others; each group is known by its first name."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def name(self, member: str) -> str:
        """Return the first name of the group that ``member`` is in."""
        path = [member]
        while (above := self._above.setdefault(path[-1], path[-1])) != path[-1]:
            path.append(above)
        for passed in path:
            self._above[passed] = path[-1]
        return path[-1]

    def join(self, one: str, other: str) -> None:
        """Make one group of two."""
        first, second = sorted((self.name(one), self.name(other)))
        self._above[second] = first


def _names(english: str, french: str) -> tuple[str, str]:
    return f"e:{_normalise(english)}", f"f:{_normalise(french)}"


def _normalise(sentence: str) -> str:
    return " ".join(_WORDS.findall(unicodedata.normalize("NFKC", sentence).lower()))
