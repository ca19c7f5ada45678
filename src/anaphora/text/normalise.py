"""What is done to every line before it is coded, alike in training and in use."""

import unicodedata

from anaphora.errors import DataError


def normalise(text: str, *, lowercase: bool = False) -> str:
    """``text`` in Unicode normal form C, lower-cased if asked.

    Raises DataError for a lone surrogate, which no file can hold but a JSON string can.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"A text should be valid Unicode, but holds the lone surrogate U+{ord(text[error.start]):04X} at "
            f"position {error.start}: replace or remove it."
        ) from None
    composed = unicodedata.normalize("NFC", text)
    # lower-casing may leave a letter and its mark apart, so compose once more
    return unicodedata.normalize("NFC", composed.lower()) if lowercase else composed
