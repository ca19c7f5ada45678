"""Bytes as tokens: the UTF-8 of a text, so that nothing is ever unknown and every text has the same vocabulary."""

import json
from collections.abc import Sequence
from typing import Self

from anaphora.errors import RunError
from anaphora.files import sha256
from anaphora.text.normalise import Lowercase, case_name
from anaphora.text.tokenizer import BOS, EOS, MARKS, PAD, SPACE, UNK, UNKNOWN, Tokenizer, one_line

_FIRST = len(MARKS)


class ByteTokenizer(Tokenizer):
    """A Tokenizer whose tokens are the bytes of a line after normalisation."""

    _size = _FIRST + 256
    context_free = False
    """Inside a line, a space precedes a word."""

    def __init__(self, *, lowercase: Lowercase) -> None:
        self.lowercase: Lowercase = lowercase

    @classmethod
    def deserialise(cls, data: bytes, *, lowercase: Lowercase) -> Self:
        """Return the tokenizer that ``serialise`` wrote; RunError when the bytes say something else."""
        tokenizer = cls(lowercase=lowercase)
        if data != tokenizer.serialise():
            raise RunError("A vocabulary of bytes should say so and no more, but the file does not.")
        return tokenizer

    def serialise(self) -> bytes:
        """JSON, readable by people."""
        return (json.dumps({"bytes": 256}) + "\n").encode()

    @property
    def fingerprint(self) -> str:
        """A sha256 of the kind and the case."""
        return sha256(f"byte {case_name(self.lowercase)}".encode())

    def encode(self, text: str) -> list[int]:
        """Return one id a byte, without special tokens at the ends."""
        return [_FIRST + byte for byte in self.normal(text).encode()]

    def encode_with_places(self, text: str) -> list[tuple[int, int]]:
        line = self.normal(text)
        starts = (place for place, character in enumerate(line) for _ in character.encode())
        return list(zip(self.encode(text), starts, strict=True))

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of the bytes; what is no UTF-8, and ``<unk>``, read as U+FFFD."""
        spelt = bytearray()
        for number in ids:
            if number == UNK:
                spelt += UNKNOWN.encode()
            elif number not in (PAD, BOS, EOS):
                spelt.append(number - _FIRST)
        return one_line(spelt.decode("utf-8", errors="replace"))

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return a visible ASCII character as itself, a space as U+2581, any other byte as ``<0xC3>``."""
        return [_format(number) for number in ids]


def _format(number: int) -> str:
    if number < _FIRST:
        return MARKS[number]
    byte = number - _FIRST
    if byte == ord(" "):
        return SPACE
    return chr(byte) if ord(" ") < byte < 127 else f"<0x{byte:02X}>"
