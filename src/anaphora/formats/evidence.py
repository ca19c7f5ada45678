"""Evidence for a guess from content: how often each kind of example occurs, and where the first ones are.

A guess follows most examples. Rare exceptions never change it: reading the data as most of it is refuses them.
"""

from collections import Counter
from dataclasses import dataclass, field

RARE = 0.05
"""The largest fraction of examples that are exceptions; a single one among three or more always is."""
_PLACES = 5
_KINDS = 8
"""Kinds and places that are shown."""


@dataclass
class Evidence:
    """Counts and first places of the kinds of examples in some data."""

    counts: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[str]] = field(default_factory=dict)

    def add(self, kind: str, place: str) -> None:
        """Count an example, which stands at ``place``."""
        self.counts[kind] += 1
        if self.counts[kind] <= _PLACES:
            self.places.setdefault(kind, []).append(place)

    def is_rare(self, *kinds: str) -> bool:
        """True if examples of these kinds are exceptions, or there are none."""
        count, total = sum(self.counts[kind] for kind in kinds), self.counts.total()
        return not count or (count <= max(1, RARE * total) and 2 * count < total)

    def __str__(self) -> str:
        """Return the counts, the most frequent kind first, with the places of rare ones."""
        shown = [f"{kind}: {count:,}{self._where(kind)}" for kind, count in self.counts.most_common(_KINDS)]
        return ", ".join([*shown, "..."] if len(self.counts) > _KINDS else shown)

    def _where(self, kind: str) -> str:
        more = ", .." if self.counts[kind] > _PLACES else ""
        return f" ({', '.join(self.places[kind])}{more})" if self.is_rare(kind) else ""
