"""Running text into sentences and together again, white space and all.

A sentence ends at a full stop, question or exclamation mark, with the quotes and brackets that close on it, where white
space and a beginning follow: a capital, a figure, an opening quote, or a letter of a script without cases. Chinese and
Japanese need no white space. What stands inside round or corner brackets is not broken, nor is a full stop after an
abbreviation, an initial or an ordinal. A line end always ends a sentence. What no rule covers stays whole: a text that
is not split is translated as one sentence, while one that is split wrongly is translated wrongly. Only what is longer
than any sentence is cut nevertheless, since a network reads all of a sentence before it writes a word.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import regex

from anaphora.languages import bare, is_run_on
from anaphora.text.punctuation import LATIN_ENDS, OTHER_ENDS, UNSPACED_ENDS
from anaphora.text.text_rule import BREAK, SPACES, UNSEEN

_CLOSING = "\"'”’“‘»›«‹)\\]}」』）"
_CLOSED = rf"(?P<closing>[ \u00a0\u202f]»|[{_CLOSING}]*+)(?P<space>[{UNSEEN}]*+[\s{BREAK}][\s{BREAK}{UNSEEN}]*+)(?=\S)"
# marks are taken as whole runs, from their first on, so that a long run costs no more than its length
_ENDS = f"[{LATIN_ENDS}{OTHER_ENDS}]"
_END = re.compile(rf"(?<!{_ENDS})(?P<mark>{_ENDS}++){_CLOSED}")
_GREEK_END = re.compile(rf"(?<![.!;\u037e…])(?P<mark>[.!;\u037e…]++){_CLOSED}")
_WIDE_END = re.compile(
    rf"(?<![{UNSPACED_ENDS}])(?P<mark>[{UNSPACED_ENDS}]++)(?P<closing>[」』）”’】》〉]*+)(?P<space>\s*+)(?=\S)"
)
_BRACKETS = re.compile(r"\([^()]*\)|（[^（）]*）|「[^「」]*」|『[^『』]*』|“[^“”]*”|【[^【】]*】")
_WIDE_SIGNS = frozenset("。！？")
_OPENING = "\"'“„‘‚«‹»([{¿¡「『（—–-*"
_WORD_BREAK = re.compile(r"[\s\"'“„‘«‹(\[{—–/]")
_SPACES = re.compile(r"(?<=\S)\s+")
_VISIBLE = regex.compile(r"[^\s\p{Z}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]")
_ROMAN = re.compile(r"[IVXLC]+")
_NUMBERING = re.compile(r"\W*(\d+|\w)")
_ROWS = Path(__file__).with_name("abbreviations.tsv").read_text(encoding="utf-8").splitlines()
BEFORE_NAMES = {language: frozenset(words.split()) for language, words in (row.split("\t") for row in _ROWS)}
"""Words that end in a full stop without ending a sentence, by language: lower case, their last full stop left out.

Such as are followed by what they belong to, so that no sentence ends in them.
"""
_BEFORE_NUMBERS = frozenset(
    "abb abs art bd blz cap ch chap fig kap n no nos nr nro núm núms p pag pagg pp pág págs rys s sec str vol".split()  # noqa: SIM905 - a list of words is easier to read and to add to
)
"""Such as end no sentence when a number follows, in any language."""
_ORDINALS = frozenset("bs cs da de et fi fo hr hu is lv nb nn no pl sk sl sr tr".split())  # noqa: SIM905
"""Languages that write "third" as "3.": a short number with a full stop ends no sentence in them."""
_FIGURES = 3
"""An ordinal has fewer figures than a year."""

_LONGEST = 2000
"""Characters of what may be one sentence."""

_BLANK = f" {SPACES}{BREAK}"
_LINE = re.compile(r"[^\r\n]*+(?:\r?\n|\r)|[^\r\n]++")
"""A line with its end; other separators are white space within it."""

_NEAR = 64
"""Characters around a mark that are looked at, so that a line of any length is split in linear time."""


def is_blank(text: str) -> bool:
    """True if nothing of a text can be seen: it is empty, or white space, control and zero-width characters alone."""
    return not _VISIBLE.search(text)


@dataclass(frozen=True)
class Passage:
    """A text as its sentences and what stands around them: gaps[0] sentences[0] gaps[1] ... gaps[-1]."""

    sentences: tuple[str, ...]
    gaps: tuple[str, ...]
    """White space; one more than there are sentences."""

    @classmethod
    def whole(cls, text: str) -> Self:
        """Return a text as one sentence; none where nothing of it can be seen."""
        return cls((), (text,)) if is_blank(text) else cls((text,), ("", ""))

    def with_sentences(self, others: Sequence[str], gaps: Sequence[str]) -> str:
        """Return the text with ``others`` in the places of the sentences, and ``gaps`` around them."""
        return gaps[0] + "".join(sentence + gap for sentence, gap in zip(others, gaps[1:], strict=True))


@dataclass(frozen=True)
class Splitter:
    """Splits texts of one language, to be put together in another; both are two-letter codes."""

    source: str
    target: str

    def split(self, text: str) -> Passage:
        """Return the sentences of a text; none for one of which nothing can be seen."""
        sentences, gaps, gap = [], [], ""
        for piece in _pieces(text, bare(self.source)):
            body = piece.strip(_BLANK)
            if is_blank(body):
                gap += piece
                continue
            begin = piece.index(body)
            gaps.append(gap + piece[:begin])
            sentences.append(body)
            gap = piece[begin + len(body) :]
        return Passage(tuple(sentences), (*gaps, gap))

    def gaps(self, passage: Passage) -> tuple[str, ...]:
        """Return the white space around the translated sentences: the passage's own, spaces as the target has them."""
        spaced = [not is_run_on(language) for language in (self.source, self.target)]
        first, *inner, last = passage.gaps if passage.sentences else ("", *passage.gaps)
        if not spaced[0] and spaced[1]:
            inner = [gap or " " for gap in inner]
        elif spaced[1]:
            inner = [gap if not gap or any(map(str.isspace, gap)) else " " for gap in inner]
        elif spaced[0] and not spaced[1]:
            inner = ["" if gap == " " else gap for gap in inner]
        return (first, *inner, last) if passage.sentences else passage.gaps


def _pieces(text: str, language: str) -> Iterator[str]:
    """Yield the text cut after every sentence and every line end."""
    for line in _LINE.findall(text):
        start = 0
        for end in (*sorted(set(_ends(line, language))), len(line)):
            yield from _split_long(line[start:end])
            start = end


def _split_long(piece: str) -> Iterator[str]:
    """Yield a piece of a line in parts of bearable length, cut after white space where there is any."""
    start = 0
    while len(piece) - start > _LONGEST:
        spaces = [match.end() for match in _SPACES.finditer(piece, start, start + _LONGEST)]
        cut = spaces[-1] if spaces else start + _LONGEST
        yield piece[start:cut]
        start = cut
    yield piece[start:]


def _ends(line: str, language: str) -> Iterator[int]:
    """Yield the places in a line at which a sentence ends, white space included."""
    brackets = _brackets(line)
    for match in (_GREEK_END if language == "el" else _END).finditer(line):
        if not _inside(match, *brackets) and _is_end(line, match, language):
            yield match.end()
    for match in _WIDE_END.finditer(line):
        # a quote that goes on after its bracket ("...。」と言った") is one sentence
        goes_on = match["closing"] and not match["space"] and line[match.end()] not in _OPENING
        if not goes_on and not _inside(match, *brackets):
            yield match.end()


def _brackets(line: str) -> tuple[list[int], list[int]]:
    """Return the starts and ends of brackets in order; quotation marks are brackets where wide signs stand in them."""
    found = [
        match.span() for match in _BRACKETS.finditer(line) if match[0][0] != "“" or not _WIDE_SIGNS.isdisjoint(match[0])
    ]
    return [start for start, _ in found], [end for _, end in found]


def _inside(match: re.Match[str], starts: Sequence[int], ends: Sequence[int]) -> bool:
    """True if a mark stands inside a bracket that does not close on it."""
    place = bisect_right(starts, match.start()) - 1
    return place >= 0 and ends[place] > max(match.end("mark"), match.end("closing"))


def _is_end(line: str, match: re.Match[str], language: str) -> bool:
    following = line[match.end() : match.end() + _NEAR]
    if not (following[0].isalnum() or following[0] in _OPENING) or _is_small(following.lstrip(_OPENING)[:1]):
        return False
    before = line[max(0, match.start() - _NEAR) : match.start()]
    return match["mark"] != "." or bool(match["closing"]) or _is_full_stop(before, following, language)


def _is_small(letter: str) -> bool:
    """True if a sentence would begin with its capital; Georgian letters have some, which begin none."""
    return letter.islower() and letter.title() != letter


def _is_full_stop(before: str, following: str, language: str) -> bool:
    """True if a full stop after ``before`` ends a sentence, and not a number, an initial or an abbreviation."""
    if _NUMBERING.fullmatch(before):
        return False
    word = _WORD_BREAK.split(before)[-1]
    if len(word) == 1 and word.isalpha() and word != "I":
        return False
    if language in _ORDINALS and (_ROMAN.fullmatch(word) or (word.isdecimal() and len(word) < _FIGURES)):
        return False
    if following[0].isdecimal() and word.lower() in _BEFORE_NUMBERS:
        return False
    if "." in word and all(len(part) == 1 for part in word.split(".")) and word.lower() not in ("a.m", "p.m"):
        return False
    return word.lower() not in BEFORE_NAMES.get(language, ())
