"""Pairwise covering: few rows in which every two choices of different options meet, as far as they go together."""

import itertools
from collections.abc import Iterator
from typing import Any

Choices = dict[str, list[Any]]
Row = dict[str, Any]
Never = list[Choices]
"""Choices of some options each that no row may have all at once."""
Pair = tuple[str, int, str, int]


def covering(choices: Choices, never: Never | None = None) -> list[Row]:
    """Rows in which every pair of choices occurs; each row takes as many new pairs as it can.

    Whatever two choices ``never`` allows, it has to leave a choice of every other option.
    """
    open_pairs: set[Pair] = {
        (a, i, b, j)
        for a, b in itertools.combinations(choices, 2)
        for i in range(len(choices[a]))
        for j in range(len(choices[b]))
        if allowed({a: choices[a][i], b: choices[b][j]}, never)
    }
    rows = []
    while open_pairs:
        a, i, b, j = min(open_pairs)
        row = {a: i, b: j}
        for name in choices:
            if name not in row:
                left = (k for k in range(len(choices[name])) if allowed(_chosen(row | {name: k}, choices), never))
                row[name] = max(left, key=lambda k: len(open_pairs.intersection(_pairs(row | {name: k}, choices))))
        open_pairs -= set(_pairs(row, choices))
        rows.append(_chosen({name: row[name] for name in choices}, choices))
    return rows


def product(choices: Choices, never: Never | None = None) -> Iterator[Row]:
    """All rows, one after the other."""
    rows = (dict(zip(choices, row, strict=True)) for row in itertools.product(*choices.values()))
    return (row for row in rows if allowed(row, never))


def allowed(row: Row, never: Never | None) -> bool:
    """Whether what has been chosen so far may stand together."""
    return not any(all(name in row and row[name] in some for name, some in rule.items()) for rule in never or [])


def _chosen(row: dict[str, int], choices: Choices) -> Row:
    return {name: choices[name][index] for name, index in row.items()}


def _pairs(row: dict[str, int], choices: Choices) -> list[Pair]:
    return [(a, row[a], b, row[b]) for a, b in itertools.combinations([n for n in choices if n in row], 2)]
