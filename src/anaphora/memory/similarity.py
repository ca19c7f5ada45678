"""How similar two segments are: the edit distance between their words, as in tools for translators."""

import re
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction

import regex

_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
_WORD = regex.compile(rf"{_UNSPACED}\p{{M}}*+|(?:(?!{_UNSPACED})[\w\p{{M}}])++|[^\w\s]")
_PLAIN = re.compile(
    "[\0-\x1b -\xb1\xb4-\xb8\xba\xbb\xbf-\u02ff\u0370-\u0482\u048a-\u052f\u1e00-\u1fff\u2010-\u203e\u20a0-\u20cf]*+"
)
_PLAIN_WORD = re.compile(r"\w+|[^\w\s]")
"""What finds the same in Latin, Greek and Cyrillic, and sooner."""
END = "\0"
"""What stands behind each of several texts."""
NEARLY = 99
"""Percent of a text that differs from another in nothing that the distance sees, such as case."""


def words(text: str) -> list[str]:
    """Words and punctuation marks in lower case; each character of scripts that are written without spaces."""
    text = text.casefold()
    return _PLAIN_WORD.findall(text) if _PLAIN.fullmatch(text) else list(_WORD.findall(text))


def words_of_all(texts: Sequence[str]) -> list[str]:
    """The words of texts one after the other, with ``END`` behind each text."""
    return words("".join([f"{text.replace(END, ' ')} {END}" for text in texts]))


def places(word_list: Sequence[Hashable]) -> dict[Hashable, int]:
    """For each word the steps at which it stands, as the bits of a number: one side of ``distance``."""
    bits: dict[Hashable, int] = {}
    for step, word in enumerate(word_list):
        bits[word] = bits.get(word, 0) | 1 << step
    return bits


def distance(bits: Mapping[Hashable, int], length: int, other: Sequence[Hashable]) -> int:
    """Fewest insertions, deletions and substitutions that turn a sequence into another.

    The first is given by its ``places`` and its ``length``. All differences of a column of the table are kept in two
    numbers (Myers 1999, in the form of Hyyrö 2003), so that a word of ``other`` takes a few operations.
    """
    if not length:
        return len(other)
    mask, last = (1 << length) - 1, 1 << length - 1
    up, down, total = mask, 0, length
    for word in other:
        same = bits.get(word, 0)
        diagonal = (((same & up) + up) ^ up) | same | down
        right_up = down | ~(diagonal | up)
        right_down = diagonal & up
        total += bool(right_up & last) - bool(right_down & last)
        right_up = right_up << 1 | 1
        up = (right_down << 1 | ~(diagonal | right_up)) & mask
        down = diagonal & right_up & mask
    return total


def percent(edits: int, longer: int) -> int:
    """Similarity of two texts that are not the same, where the longer has so many words: at most ``NEARLY``."""
    return min(NEARLY, int(100 * Fraction(longer - edits, longer))) if longer else 0
