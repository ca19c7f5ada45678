"""XML from anywhere, parsed by expat: no entity is expanded and nothing is fetched."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from anaphora.errors import DataError
from anaphora.files import NESTING
from anaphora.formats.lines import LONGEST, read_unpacked


def guard(parser: expat.XMLParserType, name: str) -> expat.XMLParserType:
    """Return the parser, which refuses to declare an entity and to leave out one that is not declared.

    A document type that lies elsewhere is passed over; ``name`` is what errors call the file.
    """

    def declared(*_: Any) -> None:
        raise DataError(f"{name}:{parser.CurrentLineNumber} declares an entity, which is never expanded: remove it.")

    def unknown(entity: str, *_: Any) -> None:
        raise DataError(
            f"{name}:{parser.CurrentLineNumber} has the entity &{entity}; that it does not declare: write the "
            f"character itself."
        )

    parser.EntityDeclHandler = declared
    parser.SkippedEntityHandler = unknown
    return parser


def feed(parser: expat.XMLParserType, pieces: Iterable[bytes], name: str) -> Iterator[int]:
    """Parse the pieces of the file ``name``, yielding after each one how many bytes were read, and once at the end.

    Raises DataError, with the line, for what is no XML, and for a tag of more than ``LONGEST`` bytes.
    """
    read, ended = 0, False
    try:
        for piece in pieces:
            read += len(piece)
            parser.Parse(piece, False)
            if read - parser.CurrentByteIndex > LONGEST:
                raise DataError(f"{name}:{parser.CurrentLineNumber} has markup of more than {LONGEST:,} bytes.")
            yield read
        ended = True
        parser.Parse(b"", True)
        yield read
    except expat.ExpatError as error:
        if ended and read:
            raise DataError(f"{name}:{error.lineno} is no XML (it ends before its last tag): get all of it.") from None
        raise DataError(f"{name}:{error.lineno} is no XML ({expat.ErrorString(error.code)}): correct it.") from None


LARGEST = 1 << 26
"""Bytes of the longest document that is read."""


@dataclass
class Element:
    """One element, when it ends; those inside of it have ended before."""

    name: str
    """Without the prefix of a namespace."""
    attributes: Mapping[str, str]
    line: int
    """Number of its first line, from 1."""
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Text of its own, without that of elements inside."""
        return "".join(self.pieces)


def xml_elements(path: Path) -> Iterator[Element]:
    """Yield the elements of a file, gzipped or not, in the order in which they end.

    Raises DataError, with the line, for what is no XML, declares entities, is nested deeper than ``files.NESTING`` or
    longer than ``LARGEST``; and as ``formats.lines.read_unpacked`` does.
    """
    parser = guard(expat.ParserCreate(), str(path))
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
    for read in feed(parser, read_unpacked(path), str(path)):
        if read > LARGEST:
            raise DataError(f"{path} is longer than {LARGEST:,} bytes: split it.")
        yield from ended
        ended.clear()
