"""Labels of pieces of text in pictures."""

import re
import unicodedata
from collections.abc import Sequence

from anaphora.text.tokenizer import MARKS, SPACE

LONGEST = 24
"""Characters of the longest label; a longer one ends in an ellipsis."""

UNITS = {"elman": "Elman network", "lstm": "LSTM", "gru": "GRU"}
"""Words for kinds of units, where they have other ones."""

_SHOWN = {" ": "\u2423", "\n": "\u23ce", "\t": "\u21e5", "": "\u2205"}
"""Pieces that would be invisible, and what stands for them."""
BACKWARD, FORWARD = "\u20d6", "\u20d7"
"""Arrows above the letter before them."""


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


def layer_name(name: str) -> str:
    """Return the words for a layer that a module, a program or a unit of them names: "encoder layer 1, backward".

    "encoder.layers.0.right_to_left layer0" and "encoder layer 0, right to left" are the same layer.
    """
    found = re.match(r"(encoder|decoder|recurrence|language.model)(?:.*? ?ask$|\D*)(\d*)", name)
    if not found:
        return name
    side = "" if found[1] == "recurrence" else found[1].replace("_", " ")
    place = f"{side} layer {int(found[2]) + 1}".strip() if found[2] else side or "recurrent layers"
    direction = {"right_to_left": ", backward", "left_to_right": ", forward"}
    place += next((words for way, words in direction.items() if way in name.replace(" ", "_")), "")
    return f"{place}, first transition" if name.endswith(" ask") else place


def layer_label(name: str) -> str:
    """Return the words for a layer, and the papers' symbol for its states: "encoder layer 1, backward, h\u20d6"."""
    words = layer_name(name)
    arrow = BACKWARD if words.endswith("backward") else FORWARD if words.endswith("forward") else ""
    return words if words == name else f"{words}, {'s' if name.startswith('decoder') else 'h'}{arrow}"
