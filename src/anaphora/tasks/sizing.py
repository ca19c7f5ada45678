"""Shared parts of the sizing of tasks: tables of tiers, and a table of options in words."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

TOKENS = dict.fromkeys(("bpe", "unigram"), "subword") | {name: name for name in ("word", "character", "byte", "symbol")}
"""Name of a token by ``text.tokenizer``."""

MIN_UPDATES = 1_000
"""Updates of a training on little data."""


class Tier(NamedTuple):
    """Sizes of a network for an amount of data; a task leaves out the fields that it has no use for."""

    amount: int
    """Data that it is for, at most."""
    embedding: int = 0
    size: int = 0
    """Units of a layer."""
    dropout: float = 0.0
    epochs: int = 0
    rate: float = 0.0
    """Learning rate of the first update."""
    batch: int = 0
    """Positions of a batch."""


AnyTier = TypeVar("AnyTier", bound=tuple[Any, ...])
"""A row of options; its first field is the largest amount of data that it is for."""


def tier_for(count: int, tiers: Sequence[AnyTier]) -> AnyTier:
    """Return the first tier, from the smallest to the largest, that is for so much data."""
    return next(tier for tier in tiers if count <= tier[0])


def tier_lines(counted: str, tiers: Sequence[Any]) -> list[str]:
    """Return a table of tiers, one a line, the data that each is for in front."""
    names = [name for name in tiers[0]._fields[1:] if any(getattr(tier, name) for tier in tiers)]
    heads = [f"{counted} up to", *names]
    rows = [[f"{tier[0]:,}", *(f"{getattr(tier, name):,}" for name in names)] for tier in tiers]
    rows[-1][0] = "more"
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in (heads, *rows)]


def training_table(
    tier: Tier, learning_rate: float, batch_tokens: int, patience: int, *, tokens: int = 0, **more: Any
) -> dict[str, Any]:
    """Return the ``[training]`` table for the epochs of a tier, by Adam; ``more`` are further options of it.

    Of few ``tokens`` there are more epochs, for ``MIN_UPDATES``, and as many times the patience; 0 is unknown.
    """
    updates_an_epoch = max(1, tokens // batch_tokens) if tokens else MIN_UPDATES
    epochs = max(tier.epochs, MIN_UPDATES // updates_an_epoch)
    return {
        "optimizer": {"kind": "adam", "learning_rate": learning_rate},
        "batch_tokens": batch_tokens,
        "epochs": epochs,
        "patience": patience * epochs // tier.epochs,
        **more,
    }


def figure(table: Mapping[str, Any], key: str, words: str) -> str:
    """Return the number at a dotted key in words, nothing where a setting has put something else there.

    A noun after the number is in the plural, as in "{:,} epochs".
    """
    number = value_at(table, key)
    found = words.format(number) if isinstance(number, int | float) else ""
    return found.removesuffix("s") if number == 1 else found


def encoder_in_words(table: Mapping[str, Any]) -> str:
    """Return the size of a recurrent encoder in words, or the kind of another one."""
    kind = word_at(table, "encoder.kind") or word_at(table, "encoder") or "recurrent"
    if kind == "none":
        return " without an encoder"
    if kind != "recurrent":
        return f" with a {kind} encoder"
    directions = "one direction" if value_at(table, "encoder.bidirectional") is False else "two directions"
    return figure(table, "encoder.size", f" of {directions} of {{:,}} hidden units")


def value_at(table: Mapping[str, Any], key: str) -> object:
    """Return the value at a dotted key, or None."""
    here: object = table
    for name in key.split("."):
        here = here.get(name) if isinstance(here, Mapping) else None
    return here


def word_at(table: Mapping[str, Any], key: str) -> str:
    """Return the word at a dotted key; nothing where there is none, or something else, which the experiment refuses."""
    value = value_at(table, key)
    return value if isinstance(value, str) else ""
