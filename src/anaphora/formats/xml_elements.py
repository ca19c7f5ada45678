"""Elements of XML files from anywhere: no entity is expanded, nothing is fetched, and nesting and size are bounded."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from anaphora.errors import DataError
from anaphora.files import NESTING
from anaphora.formats.lines import unpacked
from anaphora.formats.safe_xml import feed, guarded

LONGEST = 1 << 26
"""Bytes of the longest document that is read."""


@dataclass
class Element:
    """One element, when it ends; those inside of it have ended before."""

    name: str
    """Without the prefix of a namespace."""
    attributes: Mapping[str, str]
    line: int
    """Where it begins, from 1."""
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its own text, without that of elements inside."""
        return "".join(self.pieces)


def xml_elements(path: Path) -> Iterator[Element]:
    """The elements of a file, gzipped or not, in the order in which they end.

    Raises DataError, with the line, for what is no XML, declares entities, is nested deeper than ``files.NESTING`` or
    longer than ``LONGEST``; and as ``formats.lines.unpacked`` does.
    """
    parser = guarded(expat.ParserCreate(), str(path))
    open_elements: list[Element] = []
    ended: list[Element] = []

    def begin(name: str, attributes: dict[str, str]) -> None:
        if len(open_elements) >= NESTING:
            raise DataError(f"{path}:{parser.CurrentLineNumber} is nested deeper than {NESTING} elements: is it ink?")
        open_elements.append(Element(name.rpartition(":")[2], attributes, parser.CurrentLineNumber))

    def text(data: str) -> None:
        if open_elements:
            open_elements[-1].pieces.append(data)

    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda name: ended.append(open_elements.pop())
    parser.CharacterDataHandler = text
    for read in feed(parser, unpacked(path), str(path)):
        if read > LONGEST:
            raise DataError(f"{path} is longer than {LONGEST:,} bytes: split it.")
        yield from ended
        ended.clear()
