"""The model of real-valued sequences for those who name no recipe, sized by the number of vectors."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from anaphora.data.finding import Names
from anaphora.data.traces import trace_splits
from anaphora.formats.evidence import Evidence
from anaphora.tasks.sizing import figure, tier_for, value_at
from anaphora.tasks.task import Sized, Table
from anaphora.text.tokenization import AnyTokenizer

_WITH_TEXT, _WITHOUT_TEXT = "with a text", "without a text"


class Tier(NamedTuple):
    """The model for at most this many vectors."""

    vectors: int
    size: int
    epochs: int
    batch: int
    """Vectors of a batch."""


TIERS = (
    Tier(10_000, size=128, epochs=80, batch=400),
    Tier(100_000, size=128, epochs=40, batch=2500),
    Tier(1_000_000, size=256, epochs=20, batch=2500),
    Tier(1 << 62, size=400, epochs=10, batch=2500),
)


def choose(data: Sequence[Path], names: Names, languages: tuple[str, str], text: AnyTokenizer | None) -> Sized:
    """The model for as many vectors, of texts where nearly all sequences have one; DataError for faulty data."""
    vectors, found = 0, Evidence()
    for trace in trace_splits(data, names).train.examples():
        vectors += len(trace.values_TD)
        found.add(_WITH_TEXT if trace.text.strip() else _WITHOUT_TEXT, trace.place)
    tier = tier_for(vectors, TIERS)
    shared: Table = {
        "task": "trace",
        "output": {"kind": "mixture", "components": 20},
        "training": {
            "optimizer": {"kind": "adam", "learning_rate": 0.002},
            "schedule": {"kind": "decay", "half_life": max(1, tier.epochs // 6)},
            "batch_tokens": tier.batch,
            "epochs": tier.epochs,
            "patience": 0,
            "precision": "fp32",
        },
    }
    what = f"{vectors:,} vectors (sequences: {found})"
    if not found.is_rare(_WITHOUT_TEXT):
        return Sized(shared | {"model": "prediction", "recurrence": {"size": tier.size}}, what)
    decoder = {"size": tier.size, "initial_state": "zero", "input_feeding_from": "context"}
    return Sized(shared | {"model": "synthesis", "text": {"tokenizer": "character"}, "decoder": decoder}, what)


def describe(table: Table, text: AnyTokenizer | None) -> str:
    if value_at(table, "model") == "synthesis":
        return f"a network that writes texts{figure(table, 'decoder.size', ' of {:,} hidden units')}"
    return f"a network that predicts vectors{figure(table, 'recurrence.size', ' of {:,} hidden units')}"
