"""Which kernels are laid along which sentences, and in what order: lengths in, names of kernels out.

A sentence of n columns is folded by K^2, K^3, .., each laid on what the last one left; one of i columns takes away
i - 1. As soon as no more than i columns are left, L^n takes them all, and one is left. The kernels grow up to a widest
one, which is laid on again where a sentence is longer than all of them reach. Unfolding g columns to m takes the way
back of folding m - g + 1 columns to one: first H^n, then .., J^3, J^2.
"""

from collections.abc import Sequence
from typing import NamedTuple


class Lay(NamedTuple):
    """One kernel laid along some of the sentences."""

    kernel: str
    """Its name: ``fold3`` is K^3, ``close3`` is L^3, ``unfold3`` is J^3, ``open3`` is H^3."""
    width: int
    columns: int
    """Columns of the longest of the sentences, before."""
    rows: tuple[int, ...]
    """The sentences."""

    @property
    def widens(self) -> bool:
        """Whether there are more columns behind it, and not fewer."""
        return self.kernel.startswith(("open", "unfold"))


class Plan(NamedTuple):
    """What is done with a batch."""

    lays: list[Lay]
    """In order."""
    columns: list[int]
    """What every sentence has in the end."""


def folding(lengths: Sequence[int], widest: int, folds: int = 0, enough: Sequence[int] = ()) -> Plan:
    """The kernels that fold sentences to one column, or, where ``enough`` is given, until they have no more than that.

    A sentence rests after ``folds`` kernels at the earliest, unless it was closed before.
    """
    lays, left, columns = list[Lay](), dict(enumerate(lengths)), [1] * len(lengths)
    width, laid = 2, 0
    while left:
        for own in sorted({own for own in left.values() if own <= width}):
            closing = tuple(row for row, of_row in left.items() if of_row == own)
            lays.append(Lay(f"close{own}", own, own, closing))
        left = {row: own for row, own in left.items() if own > width}
        if left:
            lays.append(Lay(f"fold{width}", width, max(left.values()), tuple(left)))
            left = {row: own - width + 1 for row, own in left.items()}
            width, laid = min(width + 1, widest), laid + 1
        if enough and laid >= folds:
            for row in [row for row, own in left.items() if own <= enough[row]]:
                columns[row] = left.pop(row)
    return Plan(lays, columns)


def unfolding(columns: Sequence[int], wanted: Sequence[int], widest: int) -> Plan:
    """The kernels that unfold sentences of ``columns`` to as many as are ``wanted``, which are no fewer."""
    missing = [more - own + 1 for own, more in zip(columns, wanted, strict=True)]
    lays, now = list[Lay](), list(columns)
    for lay in reversed(folding(missing, widest).lays):
        name = lay.kernel.replace("close", "open").replace("fold", "unfold")
        lays.append(Lay(name, lay.width, max(now[row] for row in lay.rows), lay.rows))
        for row in lay.rows:
            now[row] += lay.width - 1
    return Plan(lays, now)
