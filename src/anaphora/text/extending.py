"""A vocabulary with the units of another one appended: what was learnt for the old ones keeps its place."""

import json
import struct
from collections.abc import Iterator

from anaphora.errors import ConfigError
from anaphora.text.characters import CharacterCoder
from anaphora.text.coder import MARKS, TextCoder
from anaphora.text.subwords import SubwordCoder
from anaphora.text.units import AnyUnits, Bpe, Word
from anaphora.text.words import WordCoder


def extended(config: AnyUnits, old: TextCoder, new: TextCoder) -> TextCoder:
    """``old`` with the units that only ``new`` has, in the order that they have there; old ids stay as they are.

    Subwords are cut as before first; the new units then put together what the old ones leave apart. Raises ConfigError
    for units of a kind that cannot be extended: the scores of a unigram model are chances that sum to one, and
    annotations of rare words have their places.
    """
    if isinstance(config, Word) and isinstance(old, WordCoder) and isinstance(new, WordCoder) and config.rare == "none":
        return old.extended(new.vocabulary)
    known = set(old.pieces(range(old.symbols.size)))
    units = [piece for piece in new.pieces(range(len(MARKS), new.symbols.size)) if piece not in known]
    if not units:
        return old
    if isinstance(old, CharacterCoder) and isinstance(new, CharacterCoder):
        alphabets = (json.loads(coder.serialise())["characters"] for coder in (old, new))
        return CharacterCoder(
            list(dict.fromkeys(character for each in alphabets for character in each)), lowercase=old.lowercase
        )
    if isinstance(config, Bpe) and isinstance(old, SubwordCoder):
        appended = b"".join(_entry(unit, -float(old.symbols.size + place)) for place, unit in enumerate(units))
        return SubwordCoder(old.serialise() + appended, lowercase=old.lowercase)
    raise ConfigError(
        f"start.vocabulary = 'extend' needs text.tokenizer 'bpe', 'character' or 'word' without text.rare, but has "
        f"'{config.tokenizer}'{_with_rare(config)}: keep the vocabulary."
    )


def _with_rare(config: AnyUnits) -> str:
    return f" with text.rare = '{config.rare}'" if isinstance(config, Word) else ""


def _entry(unit: str, score: float) -> bytes:
    """One more ``pieces`` entry of a sentencepiece ModelProto (field 1: piece = 1, score = 2), merged last of all.

    A serialised message goes on where another one ends, and repeated fields are then put together; so entries can be
    appended without reading what stands before them.
    """
    text = unit.encode()
    piece = b"\x0a" + bytes(_varint(len(text))) + text + b"\x15" + struct.pack("<f", score)
    return b"\x0a" + bytes(_varint(len(piece))) + piece


def _varint(number: int) -> Iterator[int]:
    while number > 0x7F:
        yield number & 0x7F | 0x80
        number >>= 7
    yield number
