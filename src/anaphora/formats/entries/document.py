"""A whole file with gaps, and the same file with them filled and every other byte as it was."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path

from anaphora.errors import DataError
from anaphora.formats.entries.encoded import PEEKED, Encoding
from anaphora.formats.entries.entry import OTHER_LANGUAGES, Edit, Entry, Gap, edited, one_line
from anaphora.formats.entries.kinds import READERS
from anaphora.formats.entries.short_tags import short_tagged
from anaphora.formats.lines import unpacked

LONGEST = 1 << 27
"""Bytes of the longest file that is written back, which is held in memory."""
MARKUP = frozenset(("tmx", "xliff", "html"))
"""Kinds that can write any character in any encoding."""
CODED = frozenset(("xliff", "html"))
"""Kinds whose inline codes stand between the texts of a sentence."""
REPLACED = frozenset(("subtitles", "html"))
"""Kinds in which a translation takes the place of its source."""


class Document:
    """A file that may lack translations."""

    def __init__(self, content: bytes, name: str, kind: str, languages: tuple[str, str]) -> None:
        """Of the bytes of a file that messages call ``name``; ``languages`` are those of source and target.

        Raises DataError as ``kinds.read_entries``, and for bytes that the encoding would not give back.
        """
        self.kind, self.name = kind, name
        self._encoding = Encoding(content[:PEEKED], name, kind)
        self._content = b"".join(self._encoding.decoded([content]))
        if self._encoding.encoded(self._content) != content:
            raise DataError(f"{name} has bytes that {self._encoding.codec} would write otherwise: convert it to UTF-8.")
        self._reader = READERS[kind](self.name, languages)
        self.entries: list[Entry] = list(self._reader.read([self._content]))
        """All of its entries, in their order."""

    @classmethod
    def read(cls, path: Path, kind: str, languages: tuple[str, str]) -> "Document":
        """A file, gzipped or not. Raises DataError as above, and for one of more than ``LONGEST`` bytes."""
        content = bytearray()
        for piece in unpacked(path):
            content += piece
            if len(content) > LONGEST:
                raise DataError(f"{path} has more than {LONGEST:,} bytes: split it.")
        return cls(bytes(content), str(path), kind, languages)

    @property
    def is_foreign(self) -> bool:
        """Whether entries are in other languages, and none in those of source and target."""
        ours = any(entry.gap or not entry.skipped for entry in self.entries)
        return not ours and any(entry.skipped == OTHER_LANGUAGES for entry in self.entries)

    def takes(self, text: str) -> bool:
        """Whether its encoding has all characters of a text, or a way to write them."""
        return self.kind in MARKUP or not self._encoding.lacks(text)

    def sentences(self, gap: Gap) -> list[str]:
        """What is to be translated in a gap, on a line each: the texts of its runs with short tags for the codes."""
        if self.kind == "subtitles":  # whose codes and speakers are text to others
            return [one_line(self._between(gap.runs[0].begin, gap.runs[-1].end))]
        flows = [list(runs) for _, runs in groupby(gap.runs, key=lambda run: run.flow)]
        if self.kind not in CODED:
            return [one_line("".join(run.text for run in runs)) for runs in flows]
        return [short_tagged(self._between, runs) for runs in flows]

    def _between(self, begin: int, end: int) -> str:
        """The file from one place of its runs to another."""
        return self._page[begin:end] if self._page else self._content[begin:end].decode(errors="ignore")

    @cached_property
    def _page(self) -> str:
        """An HTML page, whose places count characters; empty for other kinds."""
        return self._content.decode() if self.kind == "html" else ""

    def filled(self, translations: Mapping[int, Sequence[str]]) -> bytes:
        """The file with translations, by the number of the entry a text for every run of its gap.

        Without any, it is the file as it was.
        """
        edits: list[Edit] = []
        for number, texts in translations.items():
            gap = self.entries[number].gap
            assert gap is not None
            edits += gap.fill(self._content, texts)
        if edits:
            edits += self._reader.declared(self._content)
        replaced = "xmlcharrefreplace" if self.kind in MARKUP else "strict"
        return self._encoding.encoded(edited(self._content, edits), replaced)
