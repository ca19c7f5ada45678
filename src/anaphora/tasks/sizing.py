"""Shared parts of the sizing of tasks: tables of tiers, and a table of options in words."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

TOKENS = dict.fromkeys(("bpe", "unigram"), "subword") | {name: name for name in ("word", "character", "byte", "symbol")}
"""Name of a token by ``text.tokenizer``."""


Tier = TypeVar("Tier", bound=tuple[Any, ...])
"""A row of options; its first field is the largest amount of data that it is for."""


def tier_for(count: int, tiers: Sequence[Tier]) -> Tier:
    """The first tier, from the smallest to the largest, that is for so much data."""
    return next(tier for tier in tiers if count <= tier[0])


def tier_lines(counted: str, tiers: Sequence[Any]) -> list[str]:
    """A table of tiers, one a line, the data that each is for in front."""
    heads = [f"{counted} up to", *tiers[0]._fields[1:]]
    rows = [[f"{tier[0]:,}", *(f"{value:,}" for value in tier[1:])] for tier in tiers]
    rows[-1][0] = "more"
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in (heads, *rows)]


def figure(table: Mapping[str, Any], key: str, words: str) -> str:
    """The number at a dotted key in words, nothing where a setting has put something else there.

    A noun after the number is in the plural, as in "{:,} epochs".
    """
    number = value_at(table, key)
    found = words.format(number) if isinstance(number, int | float) else ""
    return found.removesuffix("s") if number == 1 else found


def value_at(table: Mapping[str, Any], key: str) -> object:
    """Return the value at a dotted key, or None."""
    here: object = table
    for name in key.split("."):
        here = here.get(name) if isinstance(here, Mapping) else None
    return here


def word_at(table: Mapping[str, Any], key: str) -> str:
    """The word at a dotted key; nothing where there is none, or something else, which the experiment refuses."""
    value = value_at(table, key)
    return value if isinstance(value, str) else ""
