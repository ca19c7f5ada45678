"""Words and signs with joiner marks, which keep how a line was spaced, so that it can be put together again.

A mark, U+FFED, stands on the side of a token where no space separates it from its neighbour:

    "I don't know/care," he said.    is    "￭ I don ￭'t know ￭/￭ care ￭, ￭" he said ￭.

Signs are marked rather than words, and of two signs the second, unless the first opens something. A space is left out
where one stands between two tokens; any other white space is a token for each character, and ``￭￭`` is a space. So
``join`` is the inverse of ``split`` for every text without U+FFED, which reads as U+25A0, its full-width form.
"""

from collections.abc import Sequence

import regex

from anaphora.text.tokenizer import MARKS, UNK

JOINER = "\uffed"
"""The mark of a side without a space."""

_UNKNOWN = MARKS[UNK]
_LETTER = r"[\p{L}\p{M}\p{N}\u200c\u200d]"
_APOSTROPHE = "['\u2019]"
_INSIDE = (
    r"[-\u2010\u2011\u00b7]"  # well-known, col·legi
    r"|(?<=\p{N})[.,](?=\p{N})"  # 1,000.50
    r"""|(?<=\p{Hebrew})["'\u05f3\u05f4](?=\p{Hebrew})"""
)
_SIGN = r"\s|\.\.\.|.[\p{M}\u200d]*"

WORD = regex.compile(f"{_APOSTROPHE}?{_LETTER}")
"""Beginning of a word."""
OPENING = regex.compile(r"[\p{Ps}\p{Pi}¿¡]")
"""Opening punctuation."""

_ENDS_WORD = frozenset(("ca", "fr", "ga", "it", "oc"))
"""Languages whose apostrophe ends a word that leans on the next one: l'eau."""

_BEGINS_WORD = frozenset(("en",))
"""Languages whose apostrophe begins a word that leans on the last one: don't. In others it is a letter: м'ята."""


class JoinerTokens:
    """Running text to marked tokens and back; ``<unk>`` in a text is a token, and never marked."""

    def __init__(self, language: str) -> None:
        """``language`` is a two-letter code, which says to which word an apostrophe belongs."""
        self.pattern = _pattern(language)
        """Pattern of the tokens of a text, which cover all of it."""

    def split(self, text: str) -> list[str]:
        parts = self.pattern.findall(text.replace(JOINER, "\N{BLACK SQUARE}"))
        tokens: list[str] = []
        apart = True
        for place, part in enumerate(parts):
            if part.isspace():
                apart = True
                beside = parts[max(0, place - 1) : place + 2 : 2]
                if part != " " or len(beside) < 2 or any(map(str.isspace, beside)):
                    tokens.append(JOINER + part.strip(" ") + JOINER)
                continue
            if not apart and _marks_first(parts[place - 1], part):
                tokens[-1] += JOINER
                apart = True
            tokens.append(part if apart or part == _UNKNOWN else JOINER + part)
            apart = False
        return tokens

    def join(self, tokens: Sequence[str]) -> str:
        text: list[str] = []
        joined = True
        for token in tokens:
            joined = joined or token.startswith(JOINER)
            text.append(self.surface(token) if joined else " " + self.surface(token))
            joined = token.endswith(JOINER)
        return "".join(text)

    def surface(self, token: str) -> str:
        """Return a token as it is written in a line."""
        return token.removeprefix(JOINER).removesuffix(JOINER) or " "


def _marks_first(first: str, second: str) -> bool:
    """True if it is the first of two tokens without a space between them that is marked."""
    if _UNKNOWN in (first, second):
        return second == _UNKNOWN != first
    if WORD.match(second):
        return not WORD.match(first) or first[-1] in "'\u2019"
    return bool(OPENING.match(first))


def _pattern(language: str) -> regex.Pattern[str]:
    inside, before, after = _INSIDE, "", ""
    if language in _BEGINS_WORD:
        before = f"|(?<={_LETTER}){_APOSTROPHE}\\p{{L}}{_LETTER}*"
    elif language in _ENDS_WORD:
        after = f"(?:{_APOSTROPHE}(?=\\p{{L}}))?"
    else:
        inside += f"|{_APOSTROPHE}(?=\\p{{L}})"
    word = f"{_LETTER}+(?:(?:{inside}){_LETTER}+)*{after}"
    return regex.compile(f"{_UNKNOWN}{before}|{word}|{_SIGN}", regex.DOTALL)
