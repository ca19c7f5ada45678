"""HTML pages: text between tags, and the attributes that people read (``alt``, ``title``, the ``value`` of a button).

An entry is what stands in one block, in the runs between its inline tags. Code, scripts, elements in other languages
and what is marked ``translate="no"`` or of the class ``notranslate`` stay as they are. Code of templates stays too
(ERB, EJS, JSP, ASP, PHP, Jinja, Handlebars): an expression is a placeholder of its sentence, comments are inline tags,
all other code ends a block. Character references that come back are written as they were.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape, unescape
from html.parser import HTMLParser
from typing import NamedTuple

from anaphora.formats.entries.entry import Code, Edit, Entry, Gap, Put, Reader, Reason, Run, close_code, matches

_INLINE = frozenset(
    (
        *("a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img", "ins", "kbd"),
        *("mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"),
    )
)
_KEPT = frozenset(("code", "kbd", "math", "noscript", "pre", "samp", "script", "style", "svg", "textarea", "tt", "var"))
"""Elements whose text is no language of people."""
_CLOSED_BY_THE_NEXT = frozenset(("dd", "dt", "li", "option", "td", "th", "tr"))
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
    r"""(?<=[\s"'/])(?P<name>[^\s"'<>/=]++)\s*+=\s*+(?:"(?P<two>[^"]*+)"|'(?P<one>[^']*+)'|(?P<none>[^\s"'<>`=][^\s"'<>`]*+))""",
    re.ASCII,
)

_VALUE = re.compile(
    r"(<%[=:](?:(?!<[%?]|%>).)*+%>|<\?=(?:(?!<[%?]|\?>).)*+\?>|[$#]\{[^{}]*+\}"
    r"|\{\{\{[^{}]*+\}\}\}|\{\{(?![!#/^>]|-?\s*+(?:block|define|else|end|if|range|with)\b)[^{}]*+\}\})",
    re.DOTALL,
)
"""Code of a template that writes text; the patterns of ``text.placeholders`` have all of it."""
_CODE = re.compile(
    rf"{_VALUE.pattern}|(?P<comment><%--(?:(?!<%--|--%>).)*+--%>|\{{\#(?:(?!\{{\#|\#\}}).)*+\#\}}"
    r"|\{\{!--(?:(?!\{\{!--|--\}\}).)*+--\}\}|\{\{!(?:(?!\{\{|\}\}).)*+\}\})"
    r"|(?P<other><%(?:(?!<%|%>).)*+%>|<\?(?:php\b|=)(?:(?!<\?|\?>).)*+\?>|\{%(?:(?!\{%|%\}).)*+%\}"
    r"|\{\{(?:(?!\{\{|\}\}).)*+\}\})",
    re.DOTALL,
)
_STAND_INS = {"comment": "\ufdd0", "other": "\ufdd1", "value": "\ufdd2"}
"""Characters that no text has, in the places of code."""
_CODES = frozenset("\ufdd0\ufdd1")
_PIECE = re.compile("(?P<comment>\ufdd0[\ufdd0\n]*)|(?P<other>\ufdd1[\ufdd1\n]*)|[^\ufdd0\ufdd1]+")
_CHARACTER = re.compile(r"&(?:#\d++|#[xX][\dA-Fa-f]++|[A-Za-z][A-Za-z\d]*+);?|.", re.DOTALL)
"""A character, by its reference or as it is."""
_BARE = re.compile(r"&.|<\s", re.DOTALL)
"""Signs that may stand as they are, where they begin no reference."""
_LONGEST_NAME = 32
"""Characters of the longest name of a character."""
_SECTION = re.compile(r"<!\[(?:cdata|if|else|endif)(?![-_.\w])", re.IGNORECASE)


class _Element(NamedTuple):
    """An open element."""

    tag: str
    is_kept: bool = False
    is_foreign: bool = False
    """True if its text is in another language than the source."""
    languages: tuple[tuple[int, int], ...] = ()
    """Places of the attributes that say that it is in that of the source."""
    code: Code | None = None
    """Code of its tag, if it is inline and may have texts."""


class Html(Reader, HTMLParser):
    """The texts of one page."""

    def __init__(self, name: str, languages: tuple[str, str]) -> None:
        Reader.__init__(self, name, languages)
        HTMLParser.__init__(self, convert_charrefs=False)
        self._after_comments = 0
        """Characters at the end of the page in which no comment ends."""

    def read(self, pieces: Iterable[bytes]) -> Iterator[Entry]:
        """Yield the entries of a page in UTF-8; no page is so odd that it is refused."""
        self._content = b"".join(pieces)
        text = self._content.decode("latin-1")  # a character for each byte
        text = _CODE.sub(lambda code: re.sub(".", _STAND_INS[code.lastgroup or "value"], code[0]), text)
        self._lines = [0, *(found.end() for found in re.finditer("\n", text))]
        self._entries: list[Entry] = []
        self._runs: list[Run] = []
        self._codes: list[Code] = []
        self._languages: set[tuple[int, int]] = set()  # of the runs
        self._open = self._foreign = -1
        self._elements, self._opened = [_Element("")], Counter[str]()
        self.feed(text)
        self.close()
        self._end_block(len(text))
        yield from self._entries

    @property
    def _at(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        at, top = self._at, self._elements[-1].tag
        self._tag(tag, at)
        if (top == "p" and tag not in _INLINE) or (top == tag and tag in _CLOSED_BY_THE_NEXT):
            self._close(top)
        around, given = self._elements[-1], {name: value or "" for name, value in attrs}
        is_kept = {"no": True, "yes": False, "": False}.get(given.get("translate", "..").lower(), around.is_kept)
        is_kept = is_kept or "notranslate" in given.get("class", "").split()
        name_here, by, values = _READ_OF.get(tag, ("", "", frozenset()))
        read = _READ | {name_here} if given.get(by, "").lower() in values else _READ
        found, places = list[tuple[int, int, str]](), list[tuple[int, int]]()
        is_foreign, languages = around.is_foreign, around.languages
        for attribute in _ATTRIBUTE.finditer(self.get_starttag_text() or ""):
            quotes, name = str(attribute.lastgroup), attribute["name"].lower()
            begin, end = (at + place for place in attribute.span(quotes))
            if name in ("lang", "xml:lang") and attribute[quotes][:1].isalpha():
                code = attribute[quotes]
                is_foreign = not (matches(code, self.source) or matches(self.source, code))
                places += [] if is_foreign else [(begin, end)]
                languages = tuple(places)
            elif name in read and not _CODES & set(attribute[quotes]):
                found.append((begin, end, '"' if quotes == "none" else ""))
        if not (is_kept or is_foreign):
            for begin, end, quotes in found:
                if (text := self._read(begin, end)).strip():
                    self._add([Run(begin, end, text)], languages, quotes)
        is_kept = is_kept or tag in _KEPT
        is_pair = tag in _INLINE and tag not in _VOID and not (is_kept or is_foreign)
        code = Code(at, at, 0, f"<{at}" * is_pair, is_pair)
        if tag in _INLINE and not (around.is_kept or around.is_foreign):
            self._codes.append(code)
        if tag not in _VOID:
            self._elements.append(_Element(tag, is_kept, is_foreign, languages, code if is_pair else None))
            self._opened[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        self._tag(tag, self._at)
        self._close(tag)

    def _close(self, tag: str) -> None:
        """Close an element, and all that are open in it."""
        while self._opened[tag] and (closed := self._elements.pop()).tag:
            self._opened[closed.tag] -= 1
            if closed.tag == tag:
                if closed.code:
                    close_code(self._codes, self._runs, closed.code, self._at)
                break

    def handle_data(self, data: str) -> None:
        element, at = self._elements[-1], self._at
        for piece in _PIECE.finditer(data):
            begin = at + piece.start()
            if piece["other"]:
                self._end_block(begin)
            elif piece["comment"]:
                self._close_run(begin)
            elif element.is_foreign and not element.is_kept and piece[0].strip():
                self._foreign = begin
            elif not (element.is_foreign or element.is_kept or self._open >= 0):
                self._open = begin
                self._languages.update(element.languages)

    def handle_entityref(self, name: str) -> None:
        self.handle_data("&")

    handle_charref = handle_entityref

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
        self._close_run(self._at)
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

    def _tag(self, tag: str, at: int) -> None:
        if tag in _INLINE:
            self._close_run(at)
        else:
            self._end_block(at)

    def _close_run(self, at: int) -> None:
        if self._open >= 0:
            self._runs.append(Run(self._open, at, self._read(self._open, at)))
            self._open = -1

    def _end_block(self, at: int) -> None:
        self._close_run(at)
        if any(run.text.strip() for run in self._runs):
            self._codes.append(Code(at, at))
            self._add(self._runs, tuple(self._languages), codes=self._codes)
        elif self._foreign >= 0:
            line = bisect_right(self._lines, self._foreign)
            self._entries.append(Entry(line, "", "", Reason.OTHER_LANGUAGES))
        self._runs, self._codes, self._languages, self._foreign = [], [], set(), -1

    def _read(self, begin: int, end: int) -> str:
        """Return a text of the page without character references, but for those in code."""
        pieces = _VALUE.split(self._content[begin:end].decode())
        pieces[::2] = map(unescape, pieces[::2])
        return "".join(pieces)

    def _add(
        self,
        runs: Sequence[Run],
        languages: Sequence[tuple[int, int]],
        quotes: str | None = None,
        codes: Sequence[Code] = (),
    ) -> None:
        """Add an entry in ``languages``; ``quotes`` are what an attribute still lacks around its value."""
        around = quotes or ""

        def fill(content: bytes, put: Put, _: Mapping[Run, int]) -> list[Edit]:
            edits, old = list[Edit](), "".join(content[run.begin : run.end].decode() for run in runs)
            has_moved = any(isinstance(one, Code) for one in put.values())
            for place, one in put.items():
                if isinstance(one, Code):
                    edits.append(Edit(place.begin, place.end, one))
                elif isinstance(place, Run) and one != place.text:
                    own = old if has_moved else content[place.begin : place.end].decode()
                    written = _written(one, own, is_quoted=quotes is not None)
                    edits.append(Edit(place.begin, place.end, f"{around}{written}{around}".encode()))
            return edits and [*edits, *(Edit(*place, self.target.encode()) for place in languages)]

        source, gap = "".join(run.text for run in runs), Gap(tuple(runs), fill, codes=tuple(codes))
        line = bisect_right(self._lines, runs[0].begin)
        self._entries.append(Entry.untranslated(line, source, gap))


def _written(text: str, old: str, *, is_quoted: bool) -> str:
    """Return a text as a page has it, with the character references and the code that are in the ``old`` one."""
    forms, code = defaultdict[str, list[str]](list), {" ".join(one.split()): one for one in _VALUE.findall(old)}
    for one in _CHARACTER.findall("".join(_VALUE.split(old)[::2])):
        read = unescape(one)
        forms[one[0] if read == one else read].append(one[0] if read == one else one.rstrip(";") + ";")

    def escaped(found: re.Match[str]) -> str:
        character, rest = found[0], found.string[found.start() : found.end() + _LONGEST_NAME]
        known = forms.get(character, []) if not (character.isascii() and character.isalnum()) else []
        form = known.pop(0) if len(known) > 1 else known[0] if known else escape(character, quote=is_quoted)
        is_read_otherwise = form in ("&", "<") and (not _BARE.match(rest) or unescape(rest) != rest)
        return escape(form) if is_read_otherwise else form

    pieces = _VALUE.split(text)
    return "".join(code.get(" ".join(piece.split())) or re.sub("(?s).", escaped, piece) for piece in pieces)
