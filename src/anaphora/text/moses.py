"""Moses tokens: of running text for word tokens, and of scored text as the published Multi30k figures were made.

The order of ``MosesText`` is that of the data set's own ``lc.norm.tok`` files: lower-case, normalise punctuation,
tokenise. Languages that Moses has no rules for are treated as English.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice

from sacremoses import MosesDetokenizer, MosesPunctNormalizer, MosesTokenizer

from anaphora.text.normalise import lower_case, lowercase_of
from anaphora.text.punctuation import OTHER_ENDS, PAUSES, UNSPACED_ENDS
from anaphora.text.segmentation import Tokens

_HEBREW = "[\u0591-\u05f2]"
_KEPT_WHOLE = ["<unk>", f'(?<!{_HEBREW}){_HEBREW}++(?:[\u05f3\u05f4]{_HEBREW}+|"{_HEBREW}(?!{_HEBREW}))']
"""Patterns of texts that are one token whatever their signs: the unknown word, and Hebrew words with
a geresh or gershayim inside, the latter also written as a quote before the last letter."""

_KEPT = re.compile("|".join(_KEPT_WHOLE), re.IGNORECASE)

_MOST_KEPT = 500
"""Number of these that are given to Moses at once, which takes no line with more than 1,000."""

_BEFORE_ENDS = re.compile(f"(?<! ) ++(?=[{OTHER_ENDS}{UNSPACED_ENDS}{PAUSES}])")
"""Spaces before signs that end a part of a sentence, which Moses knows in few languages."""

_AFTER_PAUSES = re.compile("(?<=[。、，：；]) +")
"""Spaces after full-width signs, which are as wide as a sign and a space."""


class MosesText:
    """Turns raw text into the space-separated tokens that a published figure was counted on: never for training."""

    def __init__(self, language: str) -> None:
        """``language`` is a two-letter code."""
        self._lowercase = lowercase_of(True, language)
        self._normaliser = MosesPunctNormalizer(lang=language)
        self._tokeniser = MosesTokenizer(lang=language)

    def __call__(self, text: str) -> str:
        """Return the tokens of one line, joined by single spaces; nothing is escaped."""
        normal = self._normaliser.normalize(lower_case(text, self._lowercase))
        return str(self._tokeniser.tokenize(normal, escape=False, return_str=True))


class MosesTokens(Tokens):
    """Running text to tokens and back, nothing escaped; ``<unk>`` in a text is a token."""

    def __init__(self, language: str) -> None:
        """``language`` is a two-letter code."""
        self._tokeniser = MosesTokenizer(lang=language)
        self._detokeniser = MosesDetokenizer(lang=language)

    def split(self, text: str) -> list[str]:
        """Return the tokens of one line; a letter stays with its marks and its like, which Moses may take for signs."""
        return [token for piece in _pieces(text) for token in self._split(piece)]

    def _split(self, text: str) -> list[str]:
        return _mend(self._tokeniser.tokenize(text, escape=False, protected_patterns=_KEPT_WHOLE), text)

    def join(self, tokens: Sequence[str]) -> str:
        """Return the line, with spaces where people write them; what directly followed its word does so again."""
        line = str(self._detokeniser.detokenize(_mend(tokens), unescape=False))
        return _AFTER_PAUSES.sub("", _BEFORE_ENDS.sub("", line))


def _pieces(text: str) -> Iterator[str]:
    """Yield a line, in pieces that Moses takes, each but the last ending with what is kept whole."""
    start = 0
    for found in islice(_KEPT.finditer(text), _MOST_KEPT - 1, None, _MOST_KEPT):
        yield text[start : found.end()]
        start = found.end()
    yield text[start:]


def _mend(tokens: Sequence[str], line: str | None = None) -> list[str]:
    """Return the tokens, whole where Moses tears a word at the mark of a letter, or at what joins or parts two letters.

    Where the ``line`` that they are of is known, what it has spaces between stays apart, and letters that Moses does
    not know, such as Georgian capitals, stay together.
    """
    whole: list[str] = []
    torn, place = False, 0
    for token in tokens:
        inside = all(unicodedata.category(character) in ("Mn", "Mc", "Cf") for character in token)
        joins = inside or torn
        if line is not None:
            start = line.find(token, place)
            alike = bool(whole) and _of_word(whole[-1][-1]) and _of_word(token[0])
            joins = start == place and (joins or alike)
            place = start + len(token) if start >= 0 else place
        if whole and joins:
            whole[-1] += token
        else:
            whole.append(token)
        torn = inside
    return whole


def _of_word(character: str) -> bool:
    """True if a character is a letter, a mark of one, or a digit: Moses tears no word between two that it knows."""
    return unicodedata.category(character)[0] in "LM" or character.isdecimal()
