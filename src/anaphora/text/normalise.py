"""Normalisation of every line before it is tokenised, alike in training and in use."""

import unicodedata
from typing import Literal

from anaphora.errors import DataError
from anaphora.languages import bare

Lowercase = bool | Literal["tr"]
"""True to lower-case text; "tr" by the rules of Turkish, whose i has its dot in capitals too: I is ı, İ is i."""

_DOTTED = frozenset(("az", "crh", "gag", "tr"))
"""Languages whose letters i and ı are two; all others have the casing of Unicode, Greek final sigma included."""


def lowercase_of(lowercase: bool, language: str) -> Lowercase:
    """Return the lower-casing of a language, a two-letter code."""
    return "tr" if lowercase and bare(language) in _DOTTED else lowercase


def case_name(lowercase: Lowercase) -> str:
    """Return the name of a case in the fingerprints of tokenizers."""
    return lowercase if isinstance(lowercase, str) else str(int(lowercase))


def lower_case(text: str, lowercase: Lowercase) -> str:
    """``text`` lower-cased so, composed or not."""
    if lowercase == "tr":
        text = text.replace("\u0130", "i").replace("I\u0307", "i").replace("I", "ı")
    return text.lower() if lowercase else text


def normalise(text: str, *, lowercase: Lowercase = False) -> str:
    """``text`` in Unicode normal form C, lower-cased if asked.

    Raises DataError for a lone surrogate, which no file can hold but a JSON string can.
    """
    if text.isascii():
        return lower_case(text, lowercase)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"A text should be valid Unicode, but holds the lone surrogate U+{ord(text[error.start]):04X} at "
            f"position {error.start}: replace or remove it."
        ) from None
    composed = unicodedata.normalize("NFC", text)
    # lower-casing may leave a letter and its mark apart, so compose once more
    return unicodedata.normalize("NFC", lower_case(composed, lowercase)) if lowercase else composed
