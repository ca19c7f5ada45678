"""Characters as tokens: the alphabet of the training text, everything else ``<unk>``."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Self

from anaphora.errors import DataError, RunError
from anaphora.text.normalise import Lowercase, normalise
from anaphora.text.tokenizer import BOS, EOS, MARKS, PAD, SPACE, UNK, UNKNOWN, Tokenizer, listed_in, one_line, show_text


class CharacterTokenizer(Tokenizer):
    """A Tokenizer whose tokens are code points after normalisation; a line never holds a line end."""

    kind = "character"

    context_free = False
    """Inside a line, a space precedes a word."""

    def __init__(self, alphabet: Sequence[str], *, lowercase: Lowercase) -> None:
        """``alphabet`` gives the characters in the order of their ids, special tokens left out."""
        self.lowercase: Lowercase = lowercase
        self.alphabet = tuple(alphabet)
        """The characters, special tokens left out."""
        self._ids = {character: len(MARKS) + place for place, character in enumerate(self.alphabet)}
        self._shown = (*MARKS, *(SPACE if character == " " else show_text(character) for character in self.alphabet))
        self._size = len(self._shown)
        self._written = ("", UNKNOWN, "", "", *self.alphabet)

    @classmethod
    def learn(cls, lines: Iterable[Iterable[str]], *, lowercase: Lowercase, least: int) -> Self:
        """Return the characters seen at least ``least`` times, the most frequent first; DataError when there are none.

        Lines are texts, or their symbols.
        """
        counts: Counter[str] = Counter()
        for line in lines:
            counts.update(normalise(line, lowercase=lowercase) if isinstance(line, str) else line)
        counts.pop("\n", None)
        alphabet = [character for character, count in counts.items() if count >= least]
        if not alphabet:
            raise DataError(
                f"No character occurs {least} or more times in the training text: give more text, or lower "
                f"text.min_count."
            )
        return cls(sorted(alphabet, key=lambda character: (-counts[character], character)), lowercase=lowercase)

    @classmethod
    def deserialise(cls, data: bytes, *, lowercase: Lowercase) -> Self:
        """Return the tokenizer that ``serialise`` wrote; RunError when the bytes are not an alphabet."""
        _, alphabet = listed_in(data, "characters")
        if any(len(one) > 1 for one in alphabet):
            raise RunError("A vocabulary of characters should list single ones, but the file has strings.")
        return cls(alphabet, lowercase=lowercase)

    def extend(self, other: Self) -> Self:
        """Return the tokenizer with those of another's characters appended that it has not."""
        alphabet = tuple(dict.fromkeys((*self.alphabet, *other.alphabet)))
        return self if alphabet == self.alphabet else type(self)(alphabet, lowercase=self.lowercase)

    def serialise(self) -> bytes:
        """JSON, readable by people: the characters in the order of their ids."""
        return (json.dumps({"characters": self.alphabet}, ensure_ascii=False) + "\n").encode()

    def encode(self, text: str) -> list[int]:
        """Return one id a character, without special tokens at the ends."""
        return [self._ids.get(character, UNK) for character in self.normal(text)]

    def encode_with_places(self, text: str) -> list[tuple[int, int]]:
        return [(token, place) for place, token in enumerate(self.encode(text))]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the characters joined; ``<unk>`` reads as U+FFFD."""
        return one_line("".join(self._written[number] for number in ids if number not in (PAD, BOS, EOS)))

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the characters one by one, a space shown as U+2581."""
        return [self._shown[number] for number in ids]
