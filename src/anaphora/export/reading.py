"""Inputs of exported models: text as ids, the arrays of a file, strokes. On numpy alone, and regex for running text."""

import json
import re
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np

PAD, UNK, BOS, EOS = range(4)
SPACE, UNKNOWN, JOINER, TAB = "\u2581", "\ufffd", "\uffed", "\t"


class Tokens:
    """Text to ids and back: byte-pair subwords, characters, symbols or words."""

    def __init__(self, table: Any) -> None:
        self.kind, self.pieces, self.lowercase = table["kind"], table["pieces"], table["lowercase"]
        self.ids = {piece: number for number, piece in enumerate(self.pieces) if number > EOS}
        self.spaced = table.get("separated", self.kind == "word")
        self.spaces = [(re.compile(pattern), put) for pattern, put in table.get("spaces", [])]
        self.patterns = {name: import_module("regex").compile(text) for name, text in table.get("patterns", {}).items()}

    def encode(self, text: str) -> list[int]:
        if self.kind == "bpe":
            line = re.sub(" +", " ", self.normal(text)).strip(" ").replace(" ", SPACE)
            return self.merge(list(SPACE + line)) if line else []
        return [self.ids.get(token, UNK) for token in self.split(text)]

    def plain(self, text: str) -> str:
        """With one space for white space, and nothing for what cannot be seen."""
        for pattern, put in self.spaces:
            text = pattern.sub(put, text)
        return text

    def normal(self, text: str) -> str:
        """Return the same in normal form, and lower-cased where the model has no case."""
        text = unicodedata.normalize("NFC", self.plain(text))
        if self.lowercase == "tr":
            text = text.replace("\u0130", "i").replace("I\u0307", "i").replace("I", "\u0131")
        return unicodedata.normalize("NFC", text.lower()) if self.lowercase else text

    def split(self, text: str) -> list[str]:
        """Characters, words, or symbols and then the tags behind a tab."""
        if self.kind == "joiner":
            return self.mark_spacing(self.normal(text).strip())
        if self.kind != "symbol":
            return self.normal(text).split() if self.spaced else list(self.normal(text))
        string, _, tags = text.partition(TAB)
        found = self.normal(string.strip())
        named = (tag.strip() for tag in unicodedata.normalize("NFC", tags).split(";"))
        return [*(found.split() if self.spaced else found), *(TAB + tag for tag in named if tag)]

    def mark_spacing(self, line: str) -> list[str]:
        """Return words and signs, marked where no space is beside them."""
        parts = self.patterns["tokens"].findall(line.replace(JOINER, "\u25a0"))
        tokens, apart = list[str](), True
        for place, part in enumerate(parts):
            if part.isspace():
                apart, beside = True, parts[max(0, place - 1) : place + 2 : 2]
                if part != " " or len(beside) < 2 or any(map(str.isspace, beside)):
                    tokens.append(JOINER + part.strip(" ") + JOINER)
                continue
            if not apart and self.marks_first(parts[place - 1], part):
                tokens[-1] += JOINER
                apart = True
            tokens.append(part if apart or part == "<unk>" else JOINER + part)
            apart = False
        return tokens

    def marks_first(self, first: str, second: str) -> bool:
        """True if it is the first of two tokens without a space between them that is marked."""
        if "<unk>" in (first, second):
            return second == "<unk>" != first
        word = self.patterns["word"]
        if word.match(second):
            return not word.match(first) or first[-1] in "'\u2019"
        return bool(self.patterns["opening"].match(first))

    def stand_ins(self, text: str) -> dict[str, str]:
        """For each unknown character a known one that is not in the text, of the same category."""
        string, found = self.normal(text.partition(TAB)[0]), dict[str, str]()
        for unknown in dict.fromkeys(string):
            kind, taken = unicodedata.category(unknown), {*string, *found.values()}
            alike = [
                one for one in self.ids if len(one) == 1 and unicodedata.category(one) == kind and one not in taken
            ]
            if unknown not in self.ids and alike:
                found[unknown] = alike[len(alike) // 2]
        return found

    def merge(self, symbols: list[str]) -> list[int]:
        """Return the pair of neighbours whose token was learnt first is merged first, the leftmost of equal ones."""
        while True:
            pairs = enumerate(map("".join, pairwise(symbols)))
            found = min(((self.ids[pair], place) for place, pair in pairs if pair in self.ids), default=None)
            if found is None:
                break
            place = found[1]
            symbols[place : place + 2] = [symbols[place] + symbols[place + 1]]
        ids = list[int]()
        for symbol in symbols:
            if symbol in self.ids:
                ids.append(self.ids[symbol])
            elif "<0x00>" in self.ids:
                ids += [self.ids[f"<0x{byte:02X}>"] for byte in symbol.encode()]
            elif ids[-1:] != [UNK]:
                ids.append(UNK)
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        if self.kind == "bpe":
            # special tokens have no text, but bytes on both sides of one make no character
            joined = "".join(self.pieces[n] if n > EOS else UNKNOWN if n == UNK else "\n" for n in ids)
            parts = joined.lstrip("\n").removeprefix(SPACE).replace(SPACE, " ").split("\n")
            text = "".join(re.sub("(<0x[0-9A-F]{2}>)+", lambda run: bytes_of(run[0]), part) for part in parts)
            return text.translate({10: " ", 0: " "})
        ids = [number for number in ids if number == UNK or number > EOS]
        unknown = "<unk>" if self.kind in ("word", "joiner") else UNKNOWN
        tokens = [self.pieces[number] if number != UNK else unknown for number in ids]
        if self.kind == "joiner":
            return join_tokens(tokens).translate({10: " ", 0: " "})
        tokens = [token for token in tokens if self.kind != "symbol" or token[0] != TAB]
        return (" " if self.spaced else "").join(tokens).translate({10: " ", 0: " "})


def join_tokens(tokens: Iterable[str]) -> str:
    """Marked words and signs as a line."""
    text, joined = "", True
    for token in tokens:
        written = token.removeprefix(JOINER).removesuffix(JOINER) or " "
        text += written if joined or token.startswith(JOINER) else " " + written
        joined = token.endswith(JOINER)
    return text


def bytes_of(run: str) -> str:
    """Return the text of bytes in hexadecimal; U+FFFD for each that is part of no character."""
    raw = bytes(int(byte, 16) for byte in re.findall("<0x(..)>", run))
    return raw.decode("utf-8", "surrogateescape").translate({0xDC00 + byte: UNKNOWN for byte in range(128, 256)})


def array(file: IO[bytes]) -> Any:
    """Return the array of an ``.npy`` file, of numbers or strings."""
    np.lib.format.read_magic(file)
    shape, by_column, dtype = np.lib.format.read_array_header_1_0(file)
    return np.frombuffer(file.read(), dtype).reshape(shape, order="F" if by_column else "C")


def arrays(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the sequences or grids of an ``.npy`` or ``.npz`` file, with the names that they have there."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            yield path.stem, array(file)
        return
    with zipfile.ZipFile(path) as archive:
        found = {name.removesuffix(".npy"): array(archive.open(name)) for name in archive.namelist()}
    if {"values", "lengths"} <= {*found}:
        values, lengths = found["values"], found["lengths"]
        rows = values if values.ndim == 3 else np.split(values, np.cumsum(lengths)[:-1])
        yield from (("", row[:length]) for row, length in zip(rows, lengths, strict=True))
    elif {"values", "names"} <= {*found}:
        yield from zip(found["names"].tolist(), found["values"], strict=True)
    else:
        yield from found.items()


def strokes(line: str, upward: bool) -> Any:
    """Return a sequence of strokes as JSON: offsets from point to point, and 1 where the pen is lifted."""
    try:
        whole = json.loads(line)
        drawn = whole["strokes"] if isinstance(whole, dict) else whole
        points = np.array([point[:2] for stroke in drawn for point in stroke], np.float64)
        moved = np.diff(points, axis=0, prepend=points[:1]) * ([1, -1] if upward else [1, 1])
    except (KeyError, TypeError, ValueError, IndexError):
        raise ValueError(f"A line should be strokes as JSON, [[[x, y], ..], ..], not {line[:40]!r}.") from None
    lifted = [place == len(stroke) for stroke in drawn for place in range(1, len(stroke) + 1)]
    return np.column_stack([moved, lifted])
