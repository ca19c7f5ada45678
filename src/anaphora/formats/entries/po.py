"""Message catalogues of GNU gettext (PO).

The header, fuzzy and obsolete messages and those without a translation are no pairs. Of plural forms, that of 1 is a
translation of ``msgid`` and that of 3 of ``msgid_plural``, by the expression in the header; further ones stand for
numbers that the source has no form for. ``msgctxt`` is no text.
"""

import gettext
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from anaphora.errors import DataError
from anaphora.formats.entries.entry import Edit, Entry, Gap, Put, Reader, Reason, Run, matches, one_line
from anaphora.formats.lines import LONGEST, raw_lines

_TOKEN = re.compile(
    rb"\s*+(?:(?P<key>msgctxt|msgid_plural|msgid|msgstr|domain)(?!\w)|(?P<form>[][]|\d{1,3})"
    rb'|"(?P<text>(?:[^"\\]|\\.)*+)"|(?P<old>#~)(?!\|)|(?P<comment>#.*+))\s*+',
    re.DOTALL,
)
_KEY = re.compile(r"msgctxt|msgid_plural|msgid|msgstr(?:\[\d+\])?|domain")
_ESCAPE = re.compile(r"\\([abfnrtv\\\"'?])|((?:\\(?:[0-7]{1,3}|x[0-9A-Fa-f]{1,2}))++)|\\.", re.DOTALL)
_LETTERS = dict(zip("abfnrtv\\\"'?", "\a\b\f\n\r\t\v\\\"'?", strict=True))
_WRITTEN = str.maketrans({char: f"\\{letter}" for letter, char in _LETTERS.items() if letter not in "'?"})
_FORMS = re.compile(r"nplurals\s*=\s*([1-9])\b(?:\s*;\s*plural\s*=([^;]*))?")


_PLACEHOLDER = re.compile(r"[%{]")
"""Beginning of a placeholder."""
_NUMBERS, _OFTEN = 1001, 5
"""A form that stands for so many of these numbers is checked by msgfmt for the number that it has to name."""


class _Forms(NamedTuple):
    """Plural forms of a language, counted from 0."""

    one: int
    """Form of 1."""
    several: int
    """Form of 3."""
    one_is_often: bool
    """True if that of 1 is also that of numbers such as 21."""


_FIRST_TWO = _Forms(0, 1, one_is_often=False)


class _Message:
    """A message as far as it was read."""

    def __init__(self) -> None:
        self.line = 0
        self.texts: dict[str, list[str]] = {}
        self.spans: dict[str, tuple[int, int]] = {}
        """Begin and end of the strings of each keyword, the keyword included."""
        self.flags: tuple[int, bytes] | None = None
        """Place of the first line of flags, and all flags."""
        self.top = -1
        """Place for a line of flags: before a previous text or the first keyword."""
        self.old = False
        self.length = 0
        self.key = ""
        """The keyword that was read last."""
        self.start: tuple[int, int] | None = None
        """Its place and line, as long as it has no text."""

    def take(self, text: bytes, at: int, number: int, place: str) -> None:
        """Take a string that begins at ``at``, on the line ``number``, which messages call ``place``."""
        if self.start and self.key in self.texts:
            raise DataError(f"{place} is a second {self.key} of one message: separate them.")
        first, line = self.start or (at, number)
        self.start = None
        self.line = self.line or line
        self.top = first if self.top < 0 else self.top
        self.length += len(text)
        if self.length > LONGEST:
            raise DataError(f"{place} is part of a message of more than {LONGEST:,} bytes: is the file what it seems?")
        self.texts.setdefault(self.key, []).append(_unescape(text.decode(), place))
        self.spans[self.key] = self.spans.get(self.key, (first, 0))[0], at + len(text) + 2

    def comment(self, comment: bytes, at: int) -> None:
        """Take a comment: flags, which may stand on several lines, or a previous text."""
        if comment.startswith(b"#,"):
            place, flags = self.flags or (at, b"")
            self.flags = place, flags + comment
        elif comment.startswith((b"#|", b"#~|")) and self.top < 0:
            self.top = at

    def text(self, key: str) -> str:
        return "".join(self.texts.get(key, []))

    @property
    def forms(self) -> list[str]:
        """The keywords of its translations, in their order."""
        return [key for key in self.texts if key.startswith("msgstr")]

    @property
    def fuzzy(self) -> bool:
        return self.flags is not None and b"fuzzy" in re.split(rb"[\s,#]+", self.flags[1])


class Po(Reader):
    """The messages of one catalogue, one after the other."""

    language = ""
    """The language of its translations, as its header says."""
    _count = 0
    """Plural forms that the header declares; 0 for none."""
    _forms = _FIRST_TWO

    def read(self, pieces: Iterable[bytes]) -> Iterator[Entry]:
        message = _Message()
        for number, (at, raw) in enumerate(raw_lines(pieces, self.name), 1):
            line, place, old = raw.strip(), 0, False
            at += len(raw) - len(raw.lstrip())
            while place < len(line):
                token = _TOKEN.match(line, place)
                kind = str(token.lastgroup) if token else ""
                if token is None or kind == ("key" if message.start else "form"):
                    raise self._refused(number, line)
                found, begin, place = token[kind], at + token.start(kind), token.end()
                if message.forms and not message.start and (kind == "comment" or found in (b"msgid", b"msgctxt")):
                    yield from self._entries(message)
                    message = _Message()
                if kind == "old":
                    old = True
                elif kind == "comment":
                    message.comment(found, begin)
                elif kind == "key":
                    message.key, message.start = found.decode(), (begin, number)
                elif kind == "form":
                    message.key += found.decode()
                elif not message.key:
                    raise DataError(f"{self.name}:{number} has a text without a keyword such as msgid: correct it.")
                elif not _KEY.fullmatch(message.key):
                    raise self._refused(number, line)
                else:
                    message.old = message.old or old
                    message.take(found, begin - 1, number, f"{self.name}:{number}")
        if message.start:
            raise DataError(f"{self.name}:{message.start[1]} has {message.key} without a text: is the file whole?")
        yield from self._entries(message)

    def _refused(self, number: int, line: bytes) -> DataError:
        shown = line[:60].decode(errors="replace")
        return DataError(f"{self.name}:{number} is no line of a gettext catalogue: {shown}; correct it.")

    def _entries(self, message: _Message) -> Iterator[Entry]:
        source, line = message.text("msgid"), message.line
        if not message.forms:
            return
        if not source and "msgctxt" not in message.texts:
            if "msgid" not in message.texts:
                raise DataError(f"{self.name}:{line} has a translation without msgid: correct it.")
            if not message.old:
                self._head(message.text("msgstr"))
            return
        foreign = not matches(self.language or self.target, self.target)
        if message.old or message.fuzzy or foreign:
            why = Reason.OBSOLETE if message.old else Reason.OTHER_LANGUAGES if foreign else Reason.FUZZY
            gap = self._gap(message) if why == Reason.FUZZY else None
            yield Entry(line, one_line(source), "", why, gap)
            return
        translations = [message.text(form) for form in message.forms]
        if not all(text.strip() for text in translations):
            yield Entry.untranslated(line, source, self._gap(message))
            return
        if "msgid_plural" not in message.texts:
            forms = {0: source}
        elif len(translations) == 1:  # one form for every number
            forms = {0: message.text("msgid_plural")}
        else:
            forms = {self._forms.one: source, self._forms.several: message.text("msgid_plural")}
        for form, text in forms.items():
            if form < len(translations):
                yield Entry(line, one_line(text), one_line(translations[form]))

    def _head(self, header: str) -> None:
        fields = dict(field.split(":", 1) for field in header.splitlines() if ":" in field)
        self.language = fields.get("Language", "").strip()
        forms = _FORMS.search(fields.get("Plural-Forms", ""))
        if forms:
            self._count, self._forms = int(forms[1]), _forms(forms[2] or "")

    def _gap(self, message: _Message) -> Gap | None:
        """Return the place of missing translations; None where there are none, or nothing is to be translated."""
        sources = {"msgstr": "msgid"}
        if "msgid_plural" in message.texts:
            count = self._count or len(message.forms)
            several, one = map(_PLACEHOLDER.search, map(message.text, ("msgid_plural", "msgid")))
            without_number = self._forms.one_is_often and several and not one  # as in "a file" and "%d files"
            form_of_one = -1 if count == 1 or without_number else self._forms.one
            sources = {f"msgstr[{form}]": "msgid" if form == form_of_one else "msgid_plural" for form in range(count)}
        missing = {form: source for form, source in sources.items() if not message.text(form).strip()}
        if not missing or not message.text("msgid").strip():
            return None
        keys = sorted({*missing.values()})
        runs = {key: Run(*message.spans[key], message.text(key), number) for number, key in enumerate(keys)}
        fill = partial(self._fill, message, {form: runs[key] for form, key in missing.items()})
        return Gap(tuple(runs.values()), fill)

    def _fill(
        self, message: _Message, sources: Mapping[str, Run], content: bytes, put: Put, _: Mapping[Run, int]
    ) -> list[Edit]:
        spans = [message.spans[form] for form in message.forms]
        first = content.find(b"\n")
        line_end = b"\r\n" if content[first - 1 : first] == b"\r" else b"\n"
        strings = {form: content[slice(*message.spans[form])] for form in message.forms if message.text(form).strip()}
        for form, run in sources.items():
            strings[form] = _string(form, str(put[run])).encode().replace(b"\n", line_end)
        ordered = [strings[form] for form in sorted(strings, key=lambda form: int(form[7:-1] or 0))]
        edits = [Edit(spans[0][0], spans[-1][1], line_end.join(ordered))]
        if message.flags is None:
            begun = content[content.rfind(b"\n", 0, message.top) + 1 : message.top].strip()
            line = (line_end if begun else b"") + b"#, fuzzy" + line_end
            edits.append(Edit(message.top, message.top, line))
        elif not message.fuzzy:
            edits.append(Edit(message.flags[0] + 2, message.flags[0] + 2, b" fuzzy,"))
        return edits


def _forms(expression: str) -> _Forms:
    """Return the forms by an expression of a header; the first two where it does not tell 1 and 3 apart."""
    try:
        form_of = gettext.c2py(expression)
        one, several = form_of(1), form_of(3)
        often = sum(form_of(number) == one for number in range(_NUMBERS)) >= _OFTEN
    except (ValueError, ArithmeticError):
        return _FIRST_TWO
    return _Forms(one, several, often) if one != several else _FIRST_TWO


def _unescape(text: str, place: str) -> str:
    if "\\" not in text:
        return text

    def character(found: re.Match[str]) -> str:
        letter, numbers = found.groups()
        codes = [int(one.lstrip("x"), 16 if one[0] == "x" else 8) for one in (numbers or "").split("\\")[1:]]
        if not any(found.groups()) or not all(0 < code < 256 for code in codes):
            raise DataError(f"{place} has {found[0]}, which is no escape of text: write {found[0][1:]} or \\\\ alone.")
        if letter:
            return _LETTERS[letter]
        try:
            return bytes(codes).decode()
        except UnicodeDecodeError:
            return bytes(codes).decode("latin-1")

    return _ESCAPE.sub(character, text)


def _string(keyword: str, text: str) -> str:
    """Return a keyword with a string, a line of the file for every line of the text."""
    lines = [line.translate(_WRITTEN) for line in re.findall(r"[^\n]*\n|[^\n]+", text) or [""]]
    strings = [f'"{line}"' for line in lines]
    return f"{keyword} {strings[0]}" if len(strings) == 1 else "\n".join([f'{keyword} ""', *strings])
