"""What a call must be given: several texts, and pairs that belong together."""

from collections import abc

from anaphora.errors import DataError
from anaphora.text.coder import TextCoder
from anaphora.text.words import WordCoder


def demand_several(texts: abc.Iterable[str]) -> None:
    """TypeError for one text alone."""
    if isinstance(texts, str):
        raise TypeError("Several texts were expected, but one was given: put it into a list, as in [text].")


def demand_pairs(sources: abc.Sequence[str], targets: abc.Sequence[str]) -> None:
    """TypeError for one text alone, DataError for unequal counts."""
    demand_several(sources)
    demand_several(targets)
    if len(sources) != len(targets):
        raise DataError(
            f"Sources and translations should be equally many, but there are {len(sources):,} sources and "
            f"{len(targets):,} translations: give both sides of the same pairs."
        )


def pieces_of(coder: TextCoder, text: str, ids: abc.Sequence[int]) -> list[str]:
    """The pieces that ``ids`` of a given text stand for, with its own spaces: words alone do not know theirs."""
    return coder.pieces_of(text) if isinstance(coder, WordCoder) else coder.pieces(ids)
