"""The folder of shards beside an output: what is finished stays there until all of it is joined.

    shards.json    what translates, and how long shards are
    0000000.txt    translations of the first shard
    0000000.json   its note, written after them: a shard without one is not finished
    lock           held by the process that hands out shards

Every file is written whole and renamed. Several workers write different shards; if two of them, one left by a killed
process, write the same shard, they write the same bytes.
"""

import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from anaphora import files
from anaphora.bulk.shard import RefusedLine, Shard
from anaphora.errors import DataError, RunError, refuse_os_errors
from anaphora.files import DamagedError
from anaphora.formats.lines import packed_by_name, replacing

_IDENTITY = "shards.json"
_MOST_NOTED = 1 << 26
"""Bytes of the largest note that is read."""


class Identity(NamedTuple):
    """Everything that the translations of a shard depend on, beside its lines."""

    model: str
    """SHA-256 of the checkpoints."""
    options: str
    """SHA-256 of the search options."""
    lines: int
    """Lines of a shard at most."""

    @property
    def digest(self) -> str:
        """A SHA-256 of all."""
        return files.sha256(json.dumps(self).encode())

    def differing(self, other: Mapping[str, object]) -> str:
        """Return the differences from ``other``, in words; nothing where they are the same."""
        words = {"model": "another model", "options": "other search options", "lines": "shards of another length"}
        return " and ".join(words[name] for name, value in self._asdict().items() if other.get(name) != value)


class TranslationResult(NamedTuple):
    """Result of a text."""

    lines: int
    refused: list[RefusedLine]
    """Lines that were left empty, in order."""


class ShardNote(NamedTuple):
    """Note about the translations of a shard, in a file of JSON beside them."""

    number: int
    first: int
    lines: int
    begin: int
    """The first byte of its lines in the text, as UTF-8 with line feeds alone."""
    end: int
    """The byte after the last."""
    source: str
    """SHA-256 of those bytes."""
    size: int
    """Bytes of the translations."""
    translations: str
    """SHA-256 of the translations."""
    made_by: str
    """Identity of the translator."""
    refused: tuple[RefusedLine, ...]


class ShardFolder:
    """The finished shards of one output."""

    def __init__(self, path: Path, identity: Identity) -> None:
        """Nothing is made or read yet."""
        self.path = path
        self._made_by = identity.digest
        self._identity = identity

    def make(self) -> None:
        """Make the folder if it is not there; DataError where that is impossible."""
        with refuse_os_errors(f"The folder {self.path} for shards cannot be made: "):
            self.path.mkdir(exist_ok=True)

    def claim(self) -> None:
        """Note in a folder without shards what will make them; RunError where another has its shards there.

        Raises DataError where the disk will not take the note.
        """
        path = self.path / _IDENTITY
        try:
            if not (path.exists() and self.has_shards()):
                files.replace_durably(path, files.json_bytes(files.seal(self._identity._asdict())))
        except OSError as error:
            raise DataError(f"{path} cannot be written: {error.strerror}; {files.remedy(error)}.") from None
        there = files.read_json(path)
        if not files.is_sealed(there):
            raise DamagedError(f"{path} was changed after it was written: remove its folder to begin again.")
        if differing := self._identity.differing(there):
            raise RunError(
                f"{self.path} has shards of {differing}: remove it to translate everything again, or name another "
                f"output."
            )

    def has_shards(self) -> bool:
        """True if there is any finished shard, of whatever model."""
        return any(self.path.glob("[0-9]*.json"))

    def find(self, shard: Shard) -> ShardNote | None:
        """Return the note of a shard that is finished, None for one that is missing or damaged.

        RunError for another's.
        """
        try:
            return self._read(shard.number, shard)[0]
        except DamagedError:
            return None

    def keep(self, shard: Shard, translations: Sequence[str], refused: Iterable[RefusedLine]) -> None:
        """Write the translations of a shard, then its note; DataError where the disk will not take them."""
        source, content = shard.source, "".join(f"{line}\n" for line in translations).encode()
        text = shard.number, shard.first, len(shard.lines), shard.begin, shard.begin + len(source), files.sha256(source)
        note = ShardNote(*text, len(content), files.sha256(content), self._made_by, tuple(refused))
        try:
            files.replace_durably(self._text(shard.number), content)
            files.replace_durably(self._note(shard.number), files.json_bytes(files.seal(note._asdict())))
        except FileNotFoundError:
            raise DataError(
                f"The folder {self.path} for shards is not there on {platform.node()}, where shard {shard.number} was "
                f"translated: put the output on a disk that all workers share."
            ) from None
        except OSError as error:
            raise DataError(
                f"Shard {shard.number} cannot be written into {self.path}: {error.strerror}; {files.remedy(error)}."
            ) from None

    def join(self, count: int, output: Path) -> TranslationResult:
        """Write the translations of the first ``count`` shards to a file in order, whole or not at all.

        Raises RunError for a shard that is missing or damaged, DataError where the
        output cannot be written.
        """
        lines, refused = 0, list[RefusedLine]()
        with replacing(output) as plain, packed_by_name(output, plain) as stream:
            for number in range(count):
                try:
                    found, content = self._read(number)
                except DamagedError as error:
                    raise RunError(
                        f"Shard {number} of {count} is lost, and has to be translated again: {error}"
                    ) from None
                stream.write(content)
                lines += found.lines
                refused += found.refused
        return TranslationResult(lines, refused)

    def remove(self) -> None:
        """Remove the folder with everything in it, as far as that is possible."""
        with suppress(OSError):
            files.remove(self.path)

    def _read(self, number: int, shard: Shard | None = None) -> tuple[ShardNote, bytes]:
        """Return a note and the translations; DamagedError where one of them is not what was written.

        RunError where the note is not that of ``shard``, or made by another translator.
        """
        path = self._note(number)
        table = files.read_json(path, _MOST_NOTED)
        if not files.is_sealed(table) or table.keys() != {*ShardNote._fields, "sha256"}:
            raise DamagedError(f"{path} was changed after it was written: its content does not fit its own SHA-256.")
        del table["sha256"]
        found = ShardNote(**table | {"refused": tuple(RefusedLine(*one) for one in table["refused"])})
        if shard and found.made_by != self._made_by:
            raise RunError(
                f"{path} is a shard of another model or of other search options: remove its folder to translate "
                f"everything again, or name another output."
            )
        if shard and found.source != files.sha256(shard.source):
            raise RunError(
                f"{path} is of a text with other lines {found.first:,} to {found.first + found.lines - 1:,}: restore "
                f"that text, or remove the folder to translate everything again."
            )
        content = files.read_exactly(self._text(number), found.size)
        if files.sha256(content) != found.translations:
            raise DamagedError(f"{self._text(number)} was changed after it was written: its SHA-256 differs.")
        return found, content

    def _text(self, number: int) -> Path:
        return self.path / f"{number:07}.txt"

    def _note(self, number: int) -> Path:
        return self.path / f"{number:07}.json"
