"""Examples in memory, and stores of pairs made of ids."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from anaphora.data.example_store import ExampleStore
from anaphora.data.pairs import pair_fields
from anaphora.data.ragged import Ragged
from anaphora.protocols import VocabularyInfo

SYMBOLS = VocabularyInfo(size=100, pad=0, unk=1, bos=2, eos=3)
FIELDS = pair_fields(dict.fromkeys(("source", "target"), SimpleNamespace(symbols=SYMBOLS)))  # type: ignore[arg-type]
"""Source and target of 100 tokens."""


@dataclass(frozen=True)
class Listed:
    """A split of examples in memory."""

    rows: Sequence[Any]
    name: str = "train"
    fingerprint: str = "0"

    @property
    def count(self) -> int:
        return len(self.rows)

    def examples(self) -> Iterator[Any]:
        return iter(self.rows)

    def place(self, example: Any) -> str:
        return f"row {self.rows.index(example) + 1}"


def pairs_in_memory(pairs: Sequence[tuple[Sequence[int], Sequence[int]]], numbers: Sequence[int] = ()) -> ExampleStore:
    """Return a store of pairs of ids; their ``numbers`` are 0, 1 .. by default."""
    table: dict[str, Any] = {}
    for side, rows in zip(("source", "target"), zip(*pairs, strict=True), strict=True):
        held = Ragged.of(rows)
        table |= {f"{side}.ids": held.ids, f"{side}.ends": held.offsets}
    return ExampleStore(table, FIELDS, np.array(numbers or range(len(pairs))))  # type: ignore[arg-type]
