"""XML from anywhere, parsed by expat: no entity is expanded and nothing is fetched."""

from collections.abc import Iterable, Iterator
from typing import Any
from xml.parsers import expat

from anaphora.errors import DataError
from anaphora.formats.lines import LONGEST


def guarded(parser: expat.XMLParserType, name: str) -> expat.XMLParserType:
    """The parser, which refuses to declare an entity and to leave out one that is not declared.

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
