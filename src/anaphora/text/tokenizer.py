"""The interface of tokenizers: text in, ids out, and back.

A tokenizer works on single lines and never adds special tokens; whoever makes rows decides where ``<s>`` and ``</s>``
go.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Protocol

from anaphora.errors import RunError
from anaphora.files import sha256
from anaphora.protocols import VocabularyInfo
from anaphora.text.normalise import Lowercase, case_name, normalise
from anaphora.text.text_rule import TextRule
from anaphora.text.variants import Variants

PAD, UNK, BOS, EOS = range(4)
"""The ids of the special tokens, the same in every vocabulary."""

MARKS = ("<pad>", "<unk>", "<s>", "</s>")
"""Spelling of special tokens, by id: in pieces, in the files of other programs, and ``<unk>`` in text."""

UNKNOWN = "\N{REPLACEMENT CHARACTER}"
"""Spelling of an unknown symbol in decoded text."""

SYNTHETIC = "<synthetic>"
"""Tag of pairs that a program wrote."""


def language_tag(language: str) -> str:
    """Return the tag of a language to translate into."""
    return f"<2{language}>"


SPACE = "\u2581"
"""Sign of a space in pieces that are shown: the beginning of a word, as SentencePiece writes it."""


def show_text(text: str) -> str:
    """Return a token's text as pieces show it: the character that stands for a space there by its code point."""
    return text.replace(SPACE, f"<U+{ord(SPACE):04X}>")


_BREAKS = str.maketrans("\n\0", "  ")


def symbols_of(size: int) -> VocabularyInfo:
    """Return what a model knows of a vocabulary of ``size`` symbols, special tokens included."""
    return VocabularyInfo(size=size, pad=PAD, unk=UNK, bos=BOS, eos=EOS)


def one_line(text: str) -> str:
    """``text`` with spaces for what would break a line: decoded bytes may hold a line end that no corpus ever had."""
    return text.translate(_BREAKS)


class Tokenizer(Protocol):
    """Text to ids and back; ids are 0 ``<pad>``, 1 ``<unk>``, 2 ``<s>``, 3 ``</s>``, then the tokens."""

    kind: ClassVar[str] = ""
    """Name in fingerprints."""
    _size: int
    """Tokens of the vocabulary, special ones included."""

    def __hash__(self) -> int:
        """Return a tokenizer does not change, so that what follows from it can be kept."""
        return object.__hash__(self)

    @property
    def symbols(self) -> VocabularyInfo:
        """The size of the vocabulary and the ids of its special tokens."""
        return symbols_of(self._size + len(self.tags))

    tags: tuple[str, ...] = ()
    """Reserved tokens with the last ids, which no text has: they stand in front of a source (Johnson et al. 2017)."""

    def tag_ids(self, names: Iterable[str]) -> tuple[int, ...]:
        """Return the ids of those of the ``names`` that are tags."""
        return tuple(self._size + self.tags.index(name) for name in names if name in self.tags)

    @property
    def unwritten(self) -> tuple[int, ...]:
        """The ids that no output has: ``<pad>``, ``<s>`` and the tags."""
        return (*self.symbols.unwritten, *self.tag_ids(self.tags))

    lowercase: Lowercase
    """Casing of text before it is segmented."""
    rule: TextRule | None = None
    """Rule of white space and invisible characters; None where every character is read as it is."""
    variants: Variants | None = None
    """Typographic variants that become one; None where each stays."""

    def plain(self, text: str) -> str:
        """Return a text by the rule, composed or not, in any case."""
        return self.rule.plain(text) if self.rule else text

    def normal(self, text: str) -> str:
        """Return a text as it is read: by the rule, with one form of each variant, in normal form, lower-cased."""
        text = self.plain(text)
        return normalise(self.variants.unify(text) if self.variants else text, lowercase=self.lowercase)

    @property
    def context_free(self) -> bool:
        """True if a word has the same tokens wherever in a line it stands."""

    @property
    def fingerprint(self) -> str:
        """A SHA-256 of all that decides what ``encode`` gives, but for the rule."""
        return sha256(f"{self.kind} {case_name(self.lowercase)} ".encode() + self.serialise())

    def encode(self, text: str) -> list[int]:
        """Return the ids of one line, without ``<s>`` and ``</s>``; DataError when it holds a lone surrogate."""

    def encode_lines(self, lines: Sequence[str], threads: int) -> list[list[int]]:
        """Encode each line, by as many ``threads`` where that is faster; errors as for ``encode``."""
        return [self.encode(line) for line in lines]

    def encode_with_places(self, text: str) -> list[tuple[int, int]]:
        """Encode a text, each id with the place in the normalised text where it begins."""

    def decode(self, ids: Sequence[int]) -> str:
        """The line that ids stand for, special tokens left out: the inverse of ``encode`` up to normalisation."""

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return one short string an id, as pictures show it; a space reads as U+2581."""

    def serialise(self) -> bytes:
        """Return the content of the vocabulary's file."""


def listed_in(data: bytes, key: str) -> tuple[dict[str, Any], list[str]]:
    """Return the table of a vocabulary in JSON and the tokens under ``key``; RunError unless each is there once."""
    try:
        table = json.loads(data)
        tokens = table[key]
    except (ValueError, KeyError, TypeError, RecursionError):
        table, tokens = {}, None
    if not isinstance(tokens, list) or not are_texts(tokens) or not all(tokens) or len({*tokens}) != len(tokens):
        raise RunError(f"A vocabulary should list its {key}, each once, but the file does not.")
    return table, tokens


def are_texts(values: Sequence[Any]) -> bool:
    """True if all are strings that can be written: JSON may hold halves of surrogate pairs."""
    try:
        "".join(values).encode()
    except (TypeError, ValueError):
        return False
    return True
