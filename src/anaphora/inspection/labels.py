"""Labels of pieces of text in pictures."""

import unicodedata
from collections.abc import Sequence

from anaphora.text.tokenizer import MARKS, SPACE

LONGEST = 24
"""Characters of the longest label; a longer one ends in an ellipsis."""

UNITS = {"elman": "Elman network", "lstm": "LSTM", "gru": "GRU"}
"""Words for kinds of units, where they have other ones."""

_SHOWN = {" ": "\u2423", "\n": "\u23ce", "\t": "\u21e5", "": "\u2205"}
"""Pieces that would be invisible, and what stands for them."""


def labels(pieces: Sequence[str]) -> list[str]:
    """Return one readable label for each piece.

    Where pieces are subwords, a word's first piece stands plain and what continues a word begins with a dot:
    "▁chan", "tons" becomes "chan", "·tons". Signs and marks such as "</s>" stay as they are.
    """
    characters = all(len(piece) == 1 or piece in MARKS for piece in pieces)
    subwords = not characters and any(piece.startswith(SPACE) for piece in pieces)
    return [_label(piece, subwords) for piece in pieces]


def _label(piece: str, subwords: bool) -> str:
    if piece.startswith(SPACE):
        label = piece[1:] or _SHOWN[" "]
    elif subwords and piece and unicodedata.category(piece[0])[0] in "LMN":
        label = "\u00b7" + piece
    else:
        label = piece
    label = _SHOWN.get(label, label).replace(SPACE, _SHOWN[" "])
    # Control characters would break the line, and half a surrogate pair cannot be written.
    label = "".join(f"U+{ord(c):04X}" if unicodedata.category(c) in ("Cc", "Cs") else c for c in label)
    return ellipsize(label, LONGEST)


def ellipsize(text: str, longest: int) -> str:
    """Return at most so many characters of a text, the last of them an ellipsis where it is longer."""
    return text if len(text) <= longest else f"{text[: longest - 1]}\u2026"


def unit_words(name: str) -> str:
    """Return words for a recurrent unit: "encoder, layer 1, left to right" for "encoder.layers.0.left_to_right"."""
    module, _, unit = name.partition(" ")
    parts = [part for part in module.split(".") if part not in ("layers", "recurrence")]
    number = unit.removeprefix("layer")
    if number.isdigit() and not any(map(str.isdigit, parts)):
        parts.append(number)
    words = (f"layer {int(part) + 1}" if part.isdigit() else part.replace("_", " ") for part in parts)
    return ", ".join(words) or "the recurrent layer"
