"""XML with the places of its text: elements as they begin and end, the text runs and inline codes of some of them.

No entity is expanded, nothing is fetched, and depth and size are bounded (``formats.safe_xml``).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar
from xml.parsers import expat

from anaphora.errors import DataError
from anaphora.formats.entries.entry import Code, Content, Edit, Entry, Put, Reader, Run, apply_edits, close_code
from anaphora.formats.lines import LONGEST
from anaphora.formats.safe_xml import feed, guard

_DEPTH = 256
"""Levels of elements; files of real projects have 70."""
_ATTRIBUTE = re.compile(rb"""(?<=\s)([^\s=/>]++)\s*+=\s*+(?:"[^"]*+"|'[^']*+')""")
_START = re.compile(rb"""<[^\s/>"'=]+(?:\s+[^\s=/>]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*/?>""")

Attributes = Mapping[str, str]

_CLOSED_BY = {"bpt": "ept", "bx": "ex", "sc": "ec", "sm": "em"}
"""Inline elements that open what another one closes."""
_REFERENCES = ("startRef", "rid", "i", "id")
"""Attributes by the first of which the two know each other."""


class Markup(Reader):
    """Elements of one file, one after the other; a subclass makes entries of them.

    Elements are known by their local name, and only those with the prefix of the root element are seen.
    """

    natives: ClassVar[frozenset[str]] = frozenset()
    """Inline elements that hold code of another format."""
    flow: ClassVar[str] = "sub"
    """The element inside of native code that holds text again."""
    _segment: tuple[int, str, int, int, int] | None
    """Depth, id, place, first run and first code of the segment that is open."""

    def __init__(self, name: str, languages: tuple[str, str]) -> None:
        super().__init__(name, languages)
        self.entries: list[Entry] = []
        """Those that are whole, until they are taken."""
        self.stack: list[str] = []
        """Names of the elements that are open, empty for those of another prefix."""
        self._parser = guard(expat.ParserCreate("utf-8"), name)
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._prefix: str | None = None
        self.qualified = ""
        """Name of the element that began last, with its prefix."""
        self._depth = 0  # of the element whose content is gathered; 0 for none
        self._started = 0

    @property
    def line(self) -> int:
        """Line of the parser."""
        return self._parser.CurrentLineNumber

    def tag(self, name: str) -> bytes:
        """Return the start tag of a new element, with the prefix of the others."""
        return f"<{self._prefix}:{name}>".encode() if self._prefix else f"<{name}>".encode()

    def begins(self, name: str, attributes: Attributes, at: int) -> bool:
        """Take the begin of an element; return True if its content is to be gathered."""
        raise NotImplementedError

    def ends(self, name: str, content: Content | None, at: int) -> None:
        """Take the end of an element, with its content if that was to be gathered; by default nothing follows."""

    def is_protected(self, name: str, attributes: Attributes) -> bool:
        """True if an inline element keeps its text as it is."""
        return False

    def segment_id(self, name: str, attributes: Attributes) -> str | None:
        """Return the id of an inline element that is a segment; None for any other."""
        return None

    def read(self, pieces: Iterable[bytes]) -> Iterator[Entry]:
        for _ in self.parse(pieces):
            yield from self.entries
            self.entries.clear()

    def parse(self, pieces: Iterable[bytes]) -> Iterator[int]:
        """Go through a file in UTF-8, a piece a step; errors as for ``read``."""
        return feed(self._parser, pieces, self.name)

    def _begin(self, qualified: str, attributes: Attributes) -> None:
        prefix, _, name = qualified.rpartition(":")
        if self._prefix is None:
            self._prefix = prefix
        if prefix != self._prefix:
            name = ""
        self.qualified = qualified
        if len(self.stack) >= _DEPTH:
            raise DataError(f"{self.name}:{self.line} is nested deeper than {_DEPTH} elements: flatten it.")
        self.stack.append(name)
        at = self._parser.CurrentByteIndex
        if self._depth:
            self._close_run(at)
            around, is_seen = self._inline[-1], not self._hidden
            self._inline.append(self._mode(name, attributes))
            identifier = self.segment_id(name, attributes)
            self._opened.append(None)
            if around is not None and is_seen:
                is_fixed = identifier is not None or attributes.get("canReorder", "yes") != "yes"
                is_pair = self._inline[-1] == around
                pair = f"<{at}" if is_pair else _reference(name, attributes)
                self._codes.append(Code(at, at, around, pair, is_pair or name in _CLOSED_BY, is_fixed))
                self._opened[-1] = self._codes[-1] if is_pair else None
            if self._segment is None and identifier is not None:
                self._segment = len(self.stack), identifier, at, len(self._runs), len(self._codes)
        elif self.begins(name, attributes, at):
            self._gather(at)

    def _end(self, _: str) -> None:
        at, name = self._parser.CurrentByteIndex, self.stack[-1]
        content = None
        if self._depth:
            self._close_run(at)
            if len(self.stack) > self._depth:
                if self._segment is not None and len(self.stack) == self._segment[0]:
                    identifier, begin, first, code = self._segment[1:]
                    codes = (*self._codes[code:], Code(at, at))
                    self._segments.append((identifier, Content(begin, at, tuple(self._runs[first:]), codes)))
                    self._segment = None
                self._close_code(at)
                self.stack.pop()
                return
            segments = dict(self._segments)
            are_apart = len(segments) == len(self._segments) and "" not in segments
            codes = (*self._codes, Code(at, at))
            content = Content(self._started, at, tuple(self._runs), codes, segments if are_apart else {})
            self._depth = 0
            for handler in _INSIDE:
                setattr(self._parser, handler, None)
        self.ends(name, content, at)
        self.stack.pop()

    def _gather(self, at: int) -> None:
        self._depth, self._started = len(self.stack), at
        self._runs: list[Run] = []
        self._codes: list[Code] = []
        self._opened: list[Code | None] = []  # the tag of each open element; None where that is one code
        self._pieces: list[str] = []
        self._open = -1
        self._inline: list[int | None] = [0]  # the flow of each open element, None inside of native code
        self._flows = self._length = 0
        self._hidden: set[str] = set()
        self._segments: list[tuple[str, Content]] = []
        self._segment = None
        self._parser.CharacterDataHandler = self._text
        self._parser.StartCdataSectionHandler = self._cdata
        self._parser.CommentHandler = self._parser.ProcessingInstructionHandler = self._other

    def _mode(self, name: str, attributes: Attributes) -> int | None:
        if name == self.flow and self._inline[-1] is None:
            self._flows += 1
            return self._flows
        if name == "sm" and self.is_protected(name, attributes):
            self._hidden.add(attributes.get("id", ""))
        if name == "em":
            self._hidden.discard(attributes.get("startRef", ""))
        return None if name in self.natives or self.is_protected(name, attributes) else self._inline[-1]

    def _text(self, data: str) -> None:
        if self._inline[-1] is None or self._hidden:
            return
        self._length += len(data)
        if self._length > LONGEST:
            raise DataError(f"{self.name}:{self.line} has a text of more than {LONGEST:,} characters: break it up.")
        if self._open < 0:
            self._open = self._parser.CurrentByteIndex
        self._pieces.append(data)

    def _cdata(self) -> None:
        if self._open < 0 and self._inline[-1] is not None and not self._hidden:
            self._open = self._parser.CurrentByteIndex

    def _other(self, *_: str) -> None:
        self._close_run(self._parser.CurrentByteIndex)

    def _close_code(self, at: int) -> None:
        """Take the end of an inline element: its own code where the element has texts or codes."""
        flow, opened = self._inline.pop(), self._opened.pop()
        around = self._inline[-1]
        if opened is not None:
            close_code(self._codes, self._runs, opened, at)
        elif flow is not None and not (flow == around and self._hidden):
            self._codes.append(Code(at, at, flow, fixed=flow == around))  # if so, it began where texts are protected

    def _close_run(self, at: int) -> None:
        if self._open >= 0:
            if self._pieces:
                self._runs.append(Run(self._open, at, "".join(self._pieces), self._inline[-1] or 0))
            self._pieces, self._open = [], -1


_INSIDE = ("CharacterDataHandler", "StartCdataSectionHandler", "CommentHandler", "ProcessingInstructionHandler")


def _reference(name: str, attributes: Attributes) -> str:
    """Return what an inline element has in common with the one that it opens or closes; empty for any other."""
    other = _CLOSED_BY.get(name, name if name in _CLOSED_BY.values() else "")
    references = (attributes[key] for key in _REFERENCES if key in attributes)
    return f"{other} {next(references, '')}" if other else ""


def start_tag(content: bytes, begin: int) -> bytes:
    """Return the start tag, or empty-element tag, at a place."""
    found = _START.match(content, begin)
    assert found is not None, "the parser has seen it"
    return found[0]


def after(content: bytes, element: Content) -> int:
    """Return the place behind an element."""
    empty = start_tag(content, element.begin).endswith(b"/>")
    return element.end if empty else content.index(b">", element.end) + 1


def with_attributes(tag: bytes, attributes: Attributes) -> bytes:
    """Return a start tag with attributes; those of their names are replaced."""
    for name, value in attributes.items():
        written = f'{name}="{escape_text(value).replace(chr(34), "&quot;")}"'.encode()
        end = len(tag.removesuffix(b">").removesuffix(b"/").rstrip())
        old = [found.span() for found in _ATTRIBUTE.finditer(tag) if found[1] == name.encode()]
        begin, end = old[0] if old else (end, end)
        tag = tag[:begin] + (written if old else b" " + written) + tag[end:]
    return tag


def inside(content: bytes, element: Content) -> int:
    """Return the place behind the start tag of an element."""
    return element.begin + len(start_tag(content, element.begin))


def fill(content: bytes, element: Content, put: Put, emptied: Iterable[Content] = ()) -> bytes:
    """Return the content of an element with what is put into it, and ``emptied`` elements empty."""
    edits = [
        Edit(place.begin, place.end, escape_text(one).encode() if isinstance(one, str) else one)
        for place, one in put.items()
    ]
    edits += [Edit(inside(content, one), one.end, b"") for one in emptied]
    begin = inside(content, element)
    return apply_edits(content, edits, begin, max(begin, element.end))


def space_before(content: bytes, at: int) -> bytes:
    """Return the white space in front of a place, back to the end of a line; none where something else stands there."""
    begin = at
    while begin and content[begin - 1 : begin] in (b" ", b"\t"):
        begin -= 1
    if not begin or content[begin - 1 : begin] != b"\n":
        return b""
    return content[begin - (2 if content[begin - 2 : begin] == b"\r\n" else 1) : at]


_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def escape_text(text: str, unwritable: str = "") -> str:
    """Return a text as XML writes it, with ``unwritable`` for each character that XML has no way to write."""
    return _FORBIDDEN.sub(unwritable, text).translate(_ESCAPES)
