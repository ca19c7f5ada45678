"""Message catalogues of GNU gettext (PO).

The header, fuzzy and obsolete messages and those without a translation are no pairs. Of plural forms, that of 1 is a
translation of ``msgid`` and that of 3 of ``msgid_plural``, by the expression in the header; further ones stand for
numbers that the source has no form for. ``msgctxt`` is no text.
"""

import gettext
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from anaphora.errors import DataError
from anaphora.formats.entries.entry import Edit, Entry, Gap, Reader, Reason, Run, matches, one_line
from anaphora.formats.lines import LONGEST, raw_lines

_LINE = re.compile(
    rb"(?P<old>#~[ \t]*)?(?P<previous>\|[ \t]*)?"
    rb'(?:(?P<key>msgctxt|msgid_plural|msgid|msgstr(?:\[\d{1,3}\])?|domain)[ \t]*)?"(?P<text>(?:[^"\\]|\\.)*+)"[ \t]*'
)
_ESCAPE = re.compile(r"\\(?:([abfnrtv\\\"'?])|([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|.)", re.DOTALL)
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
    """That of 1."""
    several: int
    """That of 3."""
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
        """Place and content of the line of flags."""
        self.top = -1
        """Place for a line of flags: before a previous text or the first keyword."""
        self.old = False
        self.length = 0

    def text(self, key: str) -> str:
        return "".join(self.texts.get(key, []))

    @property
    def forms(self) -> list[str]:
        """The keywords of its translations, in their order."""
        return [key for key in self.texts if key.startswith("msgstr")]

    @property
    def fuzzy(self) -> bool:
        return self.flags is not None and b"fuzzy" in re.split(rb"[\s,]+", self.flags[1])


class Po(Reader):
    """The messages of one catalogue, one after the other."""

    language = ""
    """The language of its translations, as its header says."""
    _count = 0
    """Plural forms that the header declares; 0 for none."""
    _forms = _FIRST_TWO

    def read(self, pieces: Iterable[bytes]) -> Iterator[Entry]:
        message, key = _Message(), ""
        for number, (at, raw) in enumerate(raw_lines(pieces, self.name), 1):
            line = raw.rstrip(b"\r\n")
            found = _LINE.fullmatch(line.strip())
            stripped = line.strip()
            if found is None and stripped and not stripped.startswith(b"#"):
                shown = stripped[:60].decode(errors="replace")
                raise DataError(f"{self.name}:{number} is no line of a gettext catalogue: {shown}; correct it.")
            begins = found["key"] in (b"msgid", b"msgctxt") if found and found["key"] else not found and bool(stripped)
            if begins and message.forms:
                yield from self._entries(message)
                message, key = _Message(), ""
            if found is None:
                if stripped.startswith(b"#,"):
                    message.flags = message.flags or (at + line.index(b"#,"), stripped)
                elif stripped.startswith((b"#|", b"#~|")) and message.top < 0:
                    message.top = at
                continue
            if found["previous"]:
                continue
            key = (found["key"] or b"").decode() or key
            if not key:
                raise DataError(f"{self.name}:{number} has a text without a keyword such as msgid: correct it.")
            self._take(message, key, found, number, at + line.index(stripped), bool(found["key"]))
        yield from self._entries(message)

    def _take(self, message: _Message, key: str, found: re.Match[bytes], number: int, at: int, first: bool) -> None:
        place = f"{self.name}:{number}"
        if first and key in message.texts:
            raise DataError(f"{place} is a second {key} of one message: separate them.")
        message.line = message.line or number
        message.old = message.old or found["old"] is not None
        if message.top < 0:
            message.top = at
        message.length += len(found["text"])
        if message.length > LONGEST:
            raise DataError(f"{place} is part of a message of more than {LONGEST:,} bytes: is the file what it seems?")
        message.texts.setdefault(key, []).append(_unescape(found["text"].decode(), place))
        message.spans[key] = message.spans.get(key, (at, at))[0], at + found.end()

    def _entries(self, message: _Message) -> Iterator[Entry]:
        source, line = message.text("msgid"), message.line
        if not message.forms:
            return
        if not source and "msgctxt" not in message.texts:
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
            yield Entry(line, one_line(source), "", Reason.UNTRANSLATED, self._gap(message))
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
        """Return the place of translations; None where some are there, or nothing is to be translated."""
        if any(message.text(form).strip() for form in message.forms) or not message.text("msgid").strip():
            return None
        keys = ["msgid", "msgid_plural"] if "msgid_plural" in message.texts else ["msgid"]
        runs = tuple(Run(*message.spans[key], message.text(key), number) for number, key in enumerate(keys))
        return Gap(runs, partial(self._fill, message))

    def _fill(self, message: _Message, content: bytes, texts: Sequence[str]) -> list[Edit]:
        spans = [message.spans[form] for form in message.forms]
        begin, end = spans[0][0], spans[-1][1]
        first = content.find(b"\n")
        line_end = b"\r\n" if content[first - 1 : first] == b"\r" else b"\n"
        if "msgid_plural" in message.texts:
            count = self._count or len(spans)
            without_number = self._forms.one_is_often and _lacks_number(*map(message.text, ("msgid", "msgid_plural")))
            one = -1 if count == 1 or without_number else self._forms.one
            strings = [_string(f"msgstr[{form}]", texts[0 if form == one else -1]) for form in range(count)]
        else:
            strings = [_string("msgstr", texts[0])]
        edits = [Edit(begin, end, "\n".join(strings).encode().replace(b"\n", line_end))]
        if message.flags is None:
            edits.append(Edit(message.top, message.top, b"#, fuzzy" + line_end))
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


def _lacks_number(one: str, several: str) -> bool:
    """True if the text of 1 does without the placeholder that the other has, as in "a file" and "%d files"."""
    return bool(_PLACEHOLDER.search(several)) and not _PLACEHOLDER.search(one)


def _unescape(text: str, place: str) -> str:
    if "\\" not in text:
        return text

    def character(found: re.Match[str]) -> str:
        letter, octal, hexadecimal = found.groups()
        if not any(found.groups()) or not int(octal or hexadecimal or "1", 16):
            raise DataError(f"{place} has {found[0]}, which is no escape of text: write {found[0][1:]} or \\\\ alone.")
        return _LETTERS[letter] if letter else chr(int(octal, 8) if octal else int(hexadecimal, 16))

    return _ESCAPE.sub(character, text)


def _string(keyword: str, text: str) -> str:
    """Return a keyword with a string, a line of the file for every line of the text."""
    lines = [line.translate(_WRITTEN) for line in re.findall(r"[^\n]*\n|[^\n]+", text) or [""]]
    strings = [f'"{line}"' for line in lines]
    return f"{keyword} {strings[0]}" if len(strings) == 1 else "\n".join([f'{keyword} ""', *strings])
