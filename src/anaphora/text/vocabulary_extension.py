"""A vocabulary with the tokens of another one appended: what was learnt for the old ones keeps its place."""

import struct
from collections.abc import Iterator

from anaphora.errors import ConfigError
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.subwords import SubwordTokenizer
from anaphora.text.tokenization import AnyTokenizer, Bpe, Word
from anaphora.text.tokenizer import MARKS, Tokenizer
from anaphora.text.words import WordTokenizer


def extend_tokenizer(config: AnyTokenizer, old: Tokenizer, new: Tokenizer) -> Tokenizer:
    """``old`` with the tokens that only ``new`` has, in the order that they have there; old ids stay as they are.

    Subwords are segmented as before first; the new tokens then merge what the old ones leave apart. Raises ConfigError
    for tokens of a kind that cannot be extended: the scores of a unigram model are chances that sum to one, and
    annotations of rare words have their places.
    """
    if old.tags:  # which would come to stand among the new tokens
        raise ConfigError("start.vocabulary = 'extend' is not for several languages or synthetic pairs: keep it.")
    if getattr(config, "rare", "") == "none" and isinstance(old, WordTokenizer) and isinstance(new, WordTokenizer):
        return old.extend(new.vocabulary)
    if isinstance(old, CharacterTokenizer) and isinstance(new, CharacterTokenizer):
        return old.extend(new)
    known = set(old.pieces(range(old.symbols.size)))
    tokens = [piece for piece in new.pieces(range(len(MARKS), new.symbols.size)) if piece not in known]
    if not tokens:
        return old
    if isinstance(config, Bpe) and isinstance(old, SubwordTokenizer):
        appended = b"".join(_entry(token, -float(old.symbols.size + place)) for place, token in enumerate(tokens))
        return SubwordTokenizer(old.serialise() + appended, lowercase=old.lowercase)
    rare = f" with text.rare = '{config.rare}'" if isinstance(config, Word) else ""
    raise ConfigError(
        f"start.vocabulary = 'extend' needs text.tokenizer 'bpe', 'character', 'symbol' or 'word' without text.rare, "
        f"but has '{config.tokenizer}'{rare}: keep the vocabulary."
    )


def _entry(token: str, score: float) -> bytes:
    """One more ``pieces`` entry of a sentencepiece ModelProto (field 1: piece = 1, score = 2), merged last of all.

    A serialised message goes on where another one ends, and repeated fields are then put together; so entries can be
    appended without reading what stands before them.
    """
    text = token.encode()
    piece = b"\x0a" + bytes(_varint(len(text))) + text + b"\x15" + struct.pack("<f", score)
    return b"\x0a" + bytes(_varint(len(piece))) + piece


def _varint(number: int) -> Iterator[int]:
    while number > 0x7F:
        yield number & 0x7F | 0x80
        number >>= 7
    yield number
