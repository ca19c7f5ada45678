"""Messages that choose one of several texts, in ICU's MessageFormat: ``{n, plural, one {# file} other {# files}}``.

Such a message can be translated text by text where each is a sentence. Parts of a sentence cannot: what stands around
an argument, beside another one or in the midst of a text belongs to them.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from typing import NamedTuple

_CHOICE = re.compile(r"\{[^{},]*+,\s*+(?P<kind>plural|selectordinal|select|choice)\s*+,(?:\s*+offset:\d++)?")
_SELECTOR = re.compile(r"\s*+(?:=\d++|[\w-]++)\s*+\{")
_END = re.compile(r"\s*+\}")
_ARGUMENT = re.compile(r"\{\{[^{}]*+\}\}|\{[^{}']*+\}")
_SIGN = re.compile(r"''|'(?=[{}#|])|[{}]")
_BARE = re.compile(r"(?:<[^<>]*+>|[^\w{#])*+")
"""Tags and punctuation."""
_OPENING = re.compile(r"'(?=[{}#|]|\Z)")
_DEPTH = 16


class Branches(NamedTuple):
    """A message in pieces: its texts have odd places, all else even ones."""

    pieces: tuple[str, ...]
    counted: tuple[bool, ...]
    """True for each text in which ``#`` is a number."""

    @property
    def texts(self) -> list[str]:
        """Texts without escapes, in which a number is ``{#}``; none where they are parts of sentences."""
        texts = [text.replace("''", "'") for text in self.pieces[1::2]]
        return [text.replace("#", "{#}") if self.counted[place] else text for place, text in enumerate(texts)]

    def with_texts(self, texts: Sequence[str]) -> str | None:
        """Return the message with other texts; None where it would be one of another shape."""
        pieces = list(self.pieces)
        is_doubled = "''" in "".join(pieces)
        for place, text in enumerate(texts):
            escaped = text.replace("'", "''") if is_doubled else _OPENING.sub("''", text)
            pieces[2 * place + 1] = escaped.replace("{#}", "#") if self.counted[place] else escaped
        message = "".join(pieces)
        found = split_branches(message)
        return message if found and found.pieces == tuple(pieces) and found.texts == [*texts] else None


def split_branches(message: str) -> Branches | None:
    """Return a message in pieces, a single one where its texts are parts of sentences; None for any other text."""
    if not _CHOICE.search(message):
        return None
    found, end = list[tuple[int, int, bool]](), 0
    with suppress(ValueError):
        end = _read(message, 0, False, found, 0)
    if end < len(message):
        return Branches((message,), ())
    ends = [0, *(place for begin, end, _ in found for place in (begin, end)), len(message)]
    pieces = tuple(message[begin:end] for begin, end in pairwise(ends))
    return Branches(pieces, tuple(is_counted for *_, is_counted in found))


def _read(message: str, begin: int, is_counted: bool, found: list[tuple[int, int, bool]], depth: int) -> int:
    """Add the texts of a part of a message to what was found; return its end. ValueError for parts of sentences."""
    at, around, has_choice = begin, "", False
    while (sign := _SIGN.search(message, at)) and sign[0] != "}":
        choice = _CHOICE.match(message, sign.start())
        argument = _ARGUMENT.match(message, sign.start())
        if choice and not has_choice and depth < _DEPTH:
            has_choice, around = True, message[begin : sign.start()]
            at, counts = choice.end(), is_counted or choice["kind"] != "select"
            while selector := _SELECTOR.match(message, at):
                at = _read(message, selector.end(), counts, found, depth + 1) + 1
            closed = _END.match(message, at)
            if closed is None or at == choice.end():
                raise ValueError
            begin = at = closed.end()
        elif argument or sign[0] == "''":
            at = argument.end() if argument else sign.end()
        else:
            raise ValueError
    end = sign.start() if sign else len(message)
    if not has_choice:
        found.append((begin, end, is_counted))
    elif not _BARE.fullmatch(around + message[begin:end]):
        raise ValueError
    return end
