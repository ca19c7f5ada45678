"""The order in which kernels of convolutions fold and unfold the columns of sentences: see ``convolution.py``."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from anaphora.kernels.compiled.library import Array


class Application(NamedTuple):
    """One kernel applied to some of the sentences."""

    kernel: str
    """Name of the kernel: ``fold3`` is K^3, ``close3`` is L^3, ``unfold3`` is J^3, ``open3`` is H^3."""
    width: int
    columns: int
    """Columns of the longest of the sentences, before."""
    rows: tuple[int, ...]
    """The sentences."""

    @property
    def widens(self) -> bool:
        """True if it leaves more columns, and not fewer."""
        return self.kernel.startswith(("open", "unfold"))


class Plan(NamedTuple):
    """Steps of the convolution of a batch."""

    applications: list[Application]
    """Applications in order."""
    columns: list[int]
    """Final number of columns of each sentence."""


def folding(lengths: Sequence[int], widest: int, folds: int = 0, enough: Sequence[int] = ()) -> Plan:
    """The kernels that fold sentences to one column, or, where ``enough`` is given, until they have no more than that.

    A sentence rests after ``folds`` kernels at the earliest, unless it was closed before.
    """
    applications, left, columns = list[Application](), dict(enumerate(lengths)), [1] * len(lengths)
    width, applied = 2, 0
    while left:
        for own in sorted({own for own in left.values() if own <= width}):
            closing = tuple(row for row, of_row in left.items() if of_row == own)
            applications.append(Application(f"close{own}", own, own, closing))
        left = {row: own for row, own in left.items() if own > width}
        if left:
            applications.append(Application(f"fold{width}", width, max(left.values()), tuple(left)))
            left = {row: own - width + 1 for row, own in left.items()}
            width, applied = min(width + 1, widest), applied + 1
        if enough and applied >= folds:
            for row in [row for row, own in left.items() if own <= enough[row]]:
                columns[row] = left.pop(row)
    return Plan(applications, columns)


def unfolding(columns: Sequence[int], wanted: Sequence[int], widest: int) -> Plan:
    """Return the kernels that unfold sentences of ``columns`` to as many as are ``wanted``, which are no fewer."""
    missing = [more - own + 1 for own, more in zip(columns, wanted, strict=True)]
    applications, now = list[Application](), list(columns)
    for application in reversed(folding(missing, widest).applications):
        name = application.kernel.replace("close", "open").replace("fold", "unfold")
        applications.append(
            Application(name, application.width, max(now[row] for row in application.rows), application.rows)
        )
        for row in application.rows:
            now[row] += application.width - 1
    return Plan(applications, now)


def expected_length(sources_B: Array, observed: Array) -> Array:
    """Return the lengths expected of translations: lambda of ``nn/lengths.py``, a whole number of 1 at least.

    ``observed`` has, by the length of the source, the number of pairs and the sum of their targets' lengths.
    """
    pairs_L, targets_L = observed.astype(np.float64)
    ratio = (targets_L.sum() + 1) / ((pairs_L * np.arange(len(pairs_L))).sum() + 1)
    known_B = sources_B < len(pairs_L)
    pairs_B, targets_B = (of_L[np.where(known_B, sources_B, 0)] * known_B for of_L in (pairs_L, targets_L))
    found: Array = np.rint((targets_B + ratio * sources_B) / (pairs_B + 1)).astype(np.int64)
    return np.maximum(found, 1)
