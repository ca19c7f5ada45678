"""Running text into sentences and together again, white space and all.

A sentence ends at a full stop, question or exclamation mark, with the quotes and brackets that close on it, where white
space and a beginning follow: a capital, a figure, an opening quote, or a letter of a script without cases. Chinese and
Japanese need no white space. What stands inside round or corner brackets is not broken, nor is a full stop after an
abbreviation, an initial or an ordinal. A line end always ends a sentence. What no rule covers stays whole: a text that
is not split is translated as one sentence, while one that is split wrongly is translated wrongly.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from anaphora.text.abbreviations import BEFORE_NAMES, BEFORE_NUMBERS, ORDINALS

_UNSPACED = frozenset(("ja", "km", "lo", "my", "th", "yue", "zh"))
"""Languages that set no space between sentences."""

_CLOSING = "\"'”’“‘»›«‹)\\]}」』）"
_END = re.compile(rf"(?P<mark>[.!?…‽؟۔।॥።։]+)(?P<closing>[ \u00a0\u202f]»|[{_CLOSING}]*)(?P<space>\s+)(?=\S)")
_GREEK_END = re.compile(rf"(?P<mark>[.!;\u037e…]+)(?P<closing>[{_CLOSING}]*)(?P<space>\s+)(?=\S)")
_WIDE_END = re.compile(r"(?P<mark>[。！？｡။។]+)(?P<closing>[」』）”’】》〉]*)(?P<space>\s*)(?=\S)")
_BRACKETS = re.compile(r"\([^()]*\)|（[^（）]*）|「[^「」]*」|『[^『』]*』|“[^“”]*[。！？][^“”]*”|【[^【】]*】")
_OPENING = "\"'“„‘‚«‹»([{¿¡「『（—–-*"
_LAST_WORD = re.compile(r"[^\s\"'“„‘«‹(\[{—–/]*$")
_ROMAN = re.compile(r"[IVXLC]+")
_NUMBERING = re.compile(r"\W*(\d+|\w)")
_FIGURES = 3
"""An ordinal has fewer figures than a year."""


@dataclass(frozen=True)
class Passage:
    """A text as its sentences and what stands around them: gaps[0] sentences[0] gaps[1] ... gaps[-1]."""

    sentences: tuple[str, ...]
    gaps: tuple[str, ...]
    """White space; one more than there are sentences."""

    @classmethod
    def whole(cls, text: str) -> Self:
        """A text as one sentence."""
        return cls((text,), ("", ""))

    def with_sentences(self, others: Sequence[str], gaps: Sequence[str]) -> str:
        """The text with ``others`` in the places of the sentences, and ``gaps`` around them."""
        return gaps[0] + "".join(sentence + gap for sentence, gap in zip(others, gaps[1:], strict=True))


@dataclass(frozen=True)
class Splitter:
    """Splits texts of one language, to be put together in another; both are two-letter codes."""

    source: str
    target: str

    def split(self, text: str) -> Passage:
        """The sentences of a text; none for one of white space alone."""
        sentences, gaps, gap = [], [], ""
        for piece in _pieces(text, _code(self.source)):
            body = piece.strip()
            if not body:
                gap += piece
                continue
            begin = piece.index(body)
            gaps.append(gap + piece[:begin])
            sentences.append(body)
            gap = piece[begin + len(body) :]
        return Passage(tuple(sentences), (*gaps, gap))

    def gaps(self, passage: Passage) -> tuple[str, ...]:
        """The white space around the translated sentences: the passage's own, spaces as the target has them."""
        spaced = [_code(language) not in _UNSPACED for language in (self.source, self.target)]
        first, *inner, last = passage.gaps if passage.sentences else ("", *passage.gaps)
        if not spaced[0] and spaced[1]:
            inner = [gap or " " for gap in inner]
        elif spaced[0] and not spaced[1]:
            inner = ["" if gap == " " else gap for gap in inner]
        return (first, *inner, last) if passage.sentences else passage.gaps


def _code(language: str) -> str:
    return re.split("[-_]", language.lower())[0]


def _pieces(text: str, language: str) -> Iterator[str]:
    """The text cut after every sentence and every line end."""
    for line in text.splitlines(keepends=True):
        start = 0
        for end in sorted(set(_ends(line, language))):
            yield line[start:end]
            start = end
        yield line[start:]


def _ends(line: str, language: str) -> Iterator[int]:
    """The places in a line at which a sentence ends, white space included."""
    protected = [match.span() for match in _BRACKETS.finditer(line)]
    for match in (_GREEK_END if language == "el" else _END).finditer(line):
        if not _inside(match.start(), _without_closed(protected, match)) and _is_end(line, match, language):
            yield match.end()
    for match in _WIDE_END.finditer(line):
        # a quote that goes on after its bracket ("...。」と言った") is one sentence
        goes_on = match["closing"] and not match["space"] and line[match.end()] not in _OPENING
        if not goes_on and not _inside(match.start(), _without_closed(protected, match)):
            yield match.end()


def _inside(place: int, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)


def _without_closed(spans: Iterable[tuple[int, int]], match: re.Match[str]) -> list[tuple[int, int]]:
    """The brackets but for those that close on the mark."""
    closed = range(match.end("mark") + 1, match.end("closing") + 1)
    return [span for span in spans if span[1] not in closed]


def _is_end(line: str, match: re.Match[str], language: str) -> bool:
    following = line[match.end() :]
    if following[0].islower() or not (following[0].isalnum() or following[0] in _OPENING):
        return False
    if following.lstrip(_OPENING)[:1].islower():
        return False
    return match["mark"] != "." or bool(match["closing"]) or _is_full_stop(line[: match.start()], following, language)


def _is_full_stop(before: str, following: str, language: str) -> bool:
    """Whether a full stop after ``before`` ends a sentence, and not a number, an initial or an abbreviation."""
    if _NUMBERING.fullmatch(before):
        return False
    found = _LAST_WORD.search(before)
    word = found[0] if found else ""
    if len(word) == 1 and word.isalpha() and word != "I":
        return False
    if language in ORDINALS and (_ROMAN.fullmatch(word) or (word.isdecimal() and len(word) < _FIGURES)):
        return False
    if following[0].isdecimal() and word.lower() in BEFORE_NUMBERS:
        return False
    if "." in word and all(len(part) == 1 for part in word.split(".")) and word.lower() not in ("a.m", "p.m"):
        return False
    return word.lower() not in BEFORE_NAMES.get(language, ())
