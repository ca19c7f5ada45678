"""Properties of the tokens of a target vocabulary that a search needs; computed once for each."""

import re
from functools import lru_cache

import torch

from anaphora.search.banned_strings import Spelling
from anaphora.search.pointing import Adjacency
from anaphora.text.joiner_tokens import JOINER
from anaphora.text.masking import JOINING
from anaphora.text.placeholders import RESERVED, is_glued
from anaphora.text.tokenizer import MARKS, SPACE, UNK, Tokenizer
from anaphora.text.words import WordTokenizer, written

_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_LETTERS = frozenset((*range(0xC3, 0xE2), *range(0xEA, 0xEE)))
"""Bytes that begin letters in UTF-8, beyond ASCII; not signs, nor characters of scripts without spaces."""

_once = lru_cache(maxsize=16)


@_once
def unwritten_of(target: Tokenizer) -> tuple[int, ...]:
    """The tokens that are never written: ``<pad>``, ``<s>``, and those that only stand for placeholders."""
    reserved = (number for number, piece in enumerate(written(target)) if not set(RESERVED).isdisjoint(piece))
    return (target.symbols.pad, target.symbols.bos, *reserved)


@_once
def adjacency_of(target: Tokenizer) -> Adjacency:
    """Tokens that make no word with a placeholder beside them."""
    of_words = isinstance(target, WordTokenizer)
    pieces = [one.removeprefix(JOINER) if of_words and one.startswith(JOINER) else one for one in written(target)]
    marked = [one.startswith(JOINER) or not of_words for one in written(target)]
    any_V = torch.ones(len(pieces), dtype=torch.bool)
    after_V = torch.tensor(
        [
            number < len(MARKS) or not own or not _begins_glued(one)
            for number, (own, one) in enumerate(zip(marked, pieces, strict=True))
        ]
    )
    joins_V = torch.tensor([own and one.startswith(JOINING) for own, one in zip(marked, pieces, strict=True)])
    return Adjacency(any_V if of_words or target.context_free else after_V, after_V, joins_V)


@_once
def spelling_of(target: Tokenizer) -> Spelling:
    """Return the text of each token, with a space in front of a word; words are written with borders around them."""
    pieces = list(written(target))
    of_bytes = all(_BYTE.fullmatch(piece) for piece in pieces[len(MARKS) :])
    for number, piece in enumerate(pieces):
        if number < len(MARKS):
            pieces[number] = ""
        elif isinstance(target, WordTokenizer):
            pieces[number] = _bordered(piece)
        elif match := _BYTE.fullmatch(piece):
            # the bytes of letters that training had not, beside subwords, are never learnt
            pieces[number] = chr(int(match[1], 16)) if of_bytes and int(match[1], 16) < 0x80 else ""
        else:
            pieces[number] = piece.replace(SPACE, " ")
    return Spelling(pieces)


def spelled(text: str, target: Tokenizer) -> str:
    """A text as ``spelling_of`` a vocabulary writes it; nothing where it cannot."""
    if isinstance(target, WordTokenizer):
        ids = target.encode(text)
        return "" if UNK in ids else "".join(map(_bordered, target.pieces(ids)))
    text = target.normal(text)
    return text if spelling_of(target).letters.issuperset(text) else ""


def _bordered(word: str) -> str:
    return f"\1{word}\2"


def _begins_glued(piece: str) -> bool:
    """True if a token begins with what makes one word with a letter before it."""
    if (match := _BYTE.fullmatch(piece)) is None:
        return is_glued(piece[:1])
    byte = int(match[1], 16)
    return is_glued(chr(byte)) if byte < 0x80 else byte in _LETTERS
