"""HTML pages: text between tags, and the attributes that people read (``alt``, ``title``, the ``value`` of a button).

An entry is what stands in one block, in the runs between its inline tags. Code, scripts and what is marked
``translate="no"`` or of the class ``notranslate`` stay as they are.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from html import escape, unescape
from html.parser import HTMLParser

from anaphora.formats.entries.entry import Edit, Entry, Gap, Reader, Reason, Run, one_line

_INLINE = frozenset(
    (
        *("a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img", "ins", "kbd"),
        *("mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"),
    )
)
_KEPT = frozenset(("code", "kbd", "math", "noscript", "pre", "samp", "script", "style", "svg", "textarea", "tt", "var"))
"""Elements whose text is no language of people."""
_KEPT_BY = ("translate", "no")
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
_READ = frozenset(("alt", "title", "placeholder", "label", "aria-label"))
"""Attributes that people read, of any element."""
_READ_OF = {
    "input": ("value", "type", frozenset(("button", "reset", "submit"))),
    "meta": ("content", "name", frozenset(("description",))),
}
"""Others that they read: of an element where another attribute has some values."""
_ATTRIBUTE = re.compile(
    r"""(?<=[\s"'/])(?P<name>[^\s"'<>/=]++)\s*+=\s*+(?:"(?P<two>[^"]*+)"|'(?P<one>[^']*+)'|(?P<none>[^\s"'<>`=][^\s"'<>`]*+))"""
)

_SECTION = re.compile(r"<!\[(?:cdata|if|else|endif)(?![-_.\w])", re.IGNORECASE)


class Html(Reader, HTMLParser):
    """The texts of one page."""

    def __init__(self, name: str, languages: tuple[str, str]) -> None:
        Reader.__init__(self, name, languages)
        HTMLParser.__init__(self, convert_charrefs=False)
        self._after_comments = 0
        """Characters at the end of the page in which no comment ends."""

    def read(self, pieces: Iterable[bytes]) -> Iterator[Entry]:
        """Yield the entries of a page in UTF-8; no page is so odd that it is refused."""
        text = b"".join(pieces).decode()
        starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self._line_starts, self._source = starts, text
        self._entries: list[Entry] = []
        self._runs: list[Run] = []
        self._text: list[str] = []
        self._open = -1
        self._kept: list[str] = []  # the element whose text is kept, and those of its name inside
        self._characters = self._bytes = 0
        self.feed(text)
        self.close()
        self._end_block(len(text))
        yield from self._entries

    @property
    def _at(self) -> int:
        line, column = self.getpos()
        return self._line_starts[line - 1] + column

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        at = self._at
        self._tag(tag, at)
        if self._kept:
            self._kept += [tag] if tag == self._kept[0] else []
            return
        read = _READ | _also_read(tag, attrs)
        for found in _ATTRIBUTE.finditer(self.get_starttag_text() or ""):
            quotes = str(found.lastgroup)
            if found["name"].lower() in read and found[quotes].strip():
                self._attribute(at + found.start(quotes), found[quotes], '"' if quotes == "none" else "")
        if (tag in _KEPT or _is_kept(attrs)) and tag not in _VOID:
            self._kept = [tag]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        self._tag(tag, self._at)
        if self._kept and self._kept[-1] == tag:
            self._kept.pop()

    def handle_data(self, data: str) -> None:
        if not self._kept:
            self._open = self._at if self._open < 0 else self._open
            self._text.append(data)

    def handle_entityref(self, name: str) -> None:
        self._reference(f"&{name}")

    def handle_charref(self, name: str) -> None:
        self._reference(f"&#{name}")

    def handle_comment(self, data: str) -> None:
        self._close_run(self._at)

    def handle_decl(self, decl: str) -> None:
        self._close_run(self._at)

    handle_pi = unknown_decl = handle_comment

    # what does not end is text; the base class looks for its end to the end of the page, each time anew

    def parse_starttag(self, i: int) -> int:
        """Skip ``<a ..>``, or return -1 where it does not end."""
        return super().parse_starttag(i) if self.rawdata.find(">", i) > 0 else -1

    def parse_endtag(self, i: int) -> int:
        """Skip ``</a>``, or return -1 where it does not end."""
        return super().parse_endtag(i) if self.rawdata.find(">", i) > 0 else -1

    def parse_pi(self, i: int) -> int:
        """Skip ``<?..>``, or return -1 where it does not end."""
        return super().parse_pi(i) if self.rawdata.find(">", i) > 0 else -1

    def parse_comment(self, i: int, report: bool = True) -> int:
        """Skip ``<!--..-->``, or return -1 where it does not end."""
        left = len(self.rawdata) - i
        end = super().parse_comment(i, report) if left > self._after_comments else -1
        self._after_comments = left if end < 0 else self._after_comments
        return end

    def parse_html_declaration(self, i: int) -> int:
        """Skip ``<!..>``; a section of an unknown kind, at which older versions of Python stop, is a comment."""
        if self.rawdata.startswith("<![", i) and not _SECTION.match(self.rawdata, i):
            return self.parse_bogus_comment(i)
        return super().parse_html_declaration(i)

    def _reference(self, written: str) -> None:
        ends = self._source.startswith(";", self._at + len(written))
        self.handle_data(unescape(written + ";" if ends else written))

    def _tag(self, tag: str, at: int) -> None:
        if tag in _INLINE:
            self._close_run(at)
        else:
            self._end_block(at)

    def _close_run(self, at: int) -> None:
        if self._open >= 0:
            self._runs.append(Run(self._open, at, "".join(self._text)))
            self._text, self._open = [], -1

    def _end_block(self, at: int) -> None:
        self._close_run(at)
        if any(run.text.strip() for run in self._runs):
            self._add(self._runs)
        self._runs = []

    def _attribute(self, begin: int, written: str, quotes: str) -> None:
        self._add([Run(begin, begin + len(written), unescape(written))], quotes)

    def _add(self, runs: Sequence[Run], quotes: str | None = None) -> None:
        """Add an entry; ``quotes`` are what an attribute still lacks around its value."""
        places, around = tuple(runs), quotes or ""

        def fill(content: bytes, texts: Sequence[str]) -> list[Edit]:
            written = (f"{around}{escape(text, quote=quotes is not None)}{around}".encode() for text in texts)
            return [Edit(*self._in_bytes(run), text) for run, text in zip(places, written, strict=True)]

        source = "".join(run.text for run in runs)
        line = bisect_right(self._line_starts, runs[0].begin)
        self._entries.append(Entry(line, one_line(source), "", Reason.UNTRANSLATED, Gap(places, fill)))

    def _in_bytes(self, run: Run) -> tuple[int, int]:
        """Return the place of a run in UTF-8; quick where runs come in their order."""
        if run.begin < self._characters:
            self._characters = self._bytes = 0
        begin = self._bytes + len(self._source[self._characters : run.begin].encode())
        self._characters, self._bytes = run.begin, begin
        return begin, begin + len(self._source[run.begin : run.end].encode())


def _also_read(tag: str, attributes: Sequence[tuple[str, str | None]]) -> set[str]:
    """Return the attribute that people read of this element alone, if it has one."""
    name, by, values = _READ_OF.get(tag, ("", "", frozenset()))
    return {name} if any(one == by and (value or "").lower() in values for one, value in attributes) else set()


def _is_kept(attributes: Sequence[tuple[str, str | None]]) -> bool:
    """True if attributes say that an element is not to be translated."""
    return _KEPT_BY in attributes or any(
        name == "class" and "notranslate" in (value or "").split() for name, value in attributes
    )
