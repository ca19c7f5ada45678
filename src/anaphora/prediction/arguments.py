"""Checks of the arguments of a call: several texts, pairs that belong together, and lines that are not endless."""

from collections import abc
from typing import NamedTuple

from anaphora.errors import DataError
from anaphora.prediction.options import MAX_TOKENS
from anaphora.text.special_tokens import without_special_tokens
from anaphora.text.tokenizer import Tokenizer
from anaphora.text.words import WordTokenizer
from anaphora.wording import inflect


class EncodedSentence(NamedTuple):
    """A sentence, as it was given and as ids."""

    text: str
    ids: list[int]


def one_text(text: str | bytes) -> str:
    """A text, perhaps given as its UTF-8; TypeError for what is none, such as a list, DataError for other bytes."""
    if isinstance(text, bytes):
        try:
            return text.decode()
        except UnicodeDecodeError as error:
            raise DataError(
                f"A text of bytes should be UTF-8, but byte {error.start + 1} of this one is "
                f"0x{text[error.start]:02X} ({error.reason}): decode it, and give a str."
            ) from None
    if not isinstance(text, str):
        raise TypeError(f"A text was expected, but this is of type {type(text).__name__}: give a str.")
    return text


def demand_several(texts: abc.Iterable[object]) -> None:
    """TypeError for one text alone."""
    if isinstance(texts, str):
        raise TypeError("Several texts were expected, but one was given: put it into a list, as in [text].")


def demand_text(text: str, number: int) -> None:
    """TypeError where number ``number`` of several texts is none, such as a missing value."""
    if not isinstance(text, str):
        raise TypeError(
            f"Texts were expected, but number {number} of them is of type {type(text).__name__}: give a str for each, "
            f"an empty one where there is none."
        )


def given_text(text: str, number: int) -> str:
    """Text ``number`` without special tokens at its ends, as it is read from files; errors as for ``demand_text``."""
    demand_text(text, number)
    return without_special_tokens(text)


def demand_texts(texts: abc.Sequence[str]) -> None:
    """TypeError for one text alone, and for the first of several that is none."""
    demand_several(texts)
    for number, text in enumerate(texts, 1):
        demand_text(text, number)


def given_pairs(sources: abc.Sequence[str], targets: abc.Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of texts; TypeError for one text alone or what is none, DataError for unequal counts."""
    demand_texts(sources)
    demand_texts(targets)
    if len(sources) != len(targets):
        raise DataError(
            f"Sources and translations should be equally many, but there are {inflect(len(sources), 'source')} and "
            f"{inflect(len(targets), 'translation')}: give both sides of the same pairs."
        )
    return list(zip(sources, targets, strict=True))


def demand_short(row: abc.Sequence[int], most: int, number: int, otherwise: str) -> None:
    """DataError where line ``number`` has more tokens than ``most``, with what to do ``otherwise``."""
    if len(row) > most:
        raise DataError(
            f"Line {number} should have at most {inflect(most, 'token')}, but has {len(row):,}: {otherwise}."
        )


def sentence_of(tokenizer: Tokenizer, text: str, number: int, most: int = MAX_TOKENS) -> list[int]:
    """Return the tokens of a text that is one sentence, on line ``number``.

    TypeError for what is no text, DataError where it has more tokens than ``most``, or is too long for any sentence.
    """
    demand_text(text, number)
    row = tokenizer.encode(text)
    demand_short(row, min(most, MAX_TOKENS), number, "split it into sentences, or into shorter lines")
    return row


def pieces_of(tokenizer: Tokenizer, text: str, ids: abc.Sequence[int]) -> list[str]:
    """Return the pieces that ``ids`` of a given text stand for, with its own spaces: words alone do not know theirs."""
    return tokenizer.pieces_of(text) if isinstance(tokenizer, WordTokenizer) else tokenizer.pieces(ids)
