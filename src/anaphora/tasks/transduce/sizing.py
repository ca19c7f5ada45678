"""The transducer for those who name no recipe, sized by the number of training pairs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from anaphora.data.finding import Names
from anaphora.data.traces import are_traces, trace_splits
from anaphora.tasks.sizing import figure, tier_for, value_at
from anaphora.tasks.task import Sized, Table
from anaphora.tasks.transduce.config import TransductionExperiment
from anaphora.tasks.transduce.data import splits_of
from anaphora.text.symbols import are_separated
from anaphora.text.tokenization import AnyTokenizer
from anaphora.wording import counted


class Tier(NamedTuple):
    """The transducer for at most this many pairs."""

    pairs: int
    embedding: int
    size: int
    dropout: float
    epochs: int
    rate: float
    """Of the first update; it falls in a straight line over the epochs."""
    batch: int
    """Tokens of a batch."""


TIERS = (
    Tier(300, embedding=64, size=100, dropout=0.3, epochs=100, rate=0.005, batch=300),
    Tier(3_000, embedding=64, size=100, dropout=0.3, epochs=40, rate=0.005, batch=500),
    Tier(30_000, embedding=96, size=150, dropout=0.3, epochs=15, rate=0.004, batch=1_000),
    Tier(1 << 62, embedding=128, size=256, dropout=0.2, epochs=12, rate=0.003, batch=2_000),
)


def choose(data: Sequence[Path], names: Names, languages: tuple[str, str], text: AnyTokenizer | None) -> Sized:
    """The transducer for as many pairs; DataError for data that cannot be read."""
    if are_traces(data):
        return _of_vectors(data, names)
    table = names.own_files(data)
    train = splits_of(TransductionExperiment.parse({"task": "transduce", "data": table}, "the data")).train
    tier = tier_for(train.count, TIERS)
    alike = are_separated(train.sources()) == are_separated(train.targets())
    return Sized(_transducer(tier, alike), f"{counted(train.count, 'pair')} of strings")


def _of_vectors(data: Sequence[Path], names: Names) -> Sized:
    count = trace_splits(data, names).train.count
    tier = tier_for(count, TIERS)
    table = {name: value for name, value in _transducer(tier, False).items() if name != "guided_alignment"}
    table["embedding"] = {"size": tier.embedding, "dropout": tier.dropout}
    table["training"] |= {"batch_tokens": 4 * tier.batch}
    return Sized(table | {"model": "vectors"}, f"{counted(count, 'sequence')} with texts")


def describe(table: Table, text: AnyTokenizer | None) -> str:
    figures = (
        figure(table, "embedding.size", "symbol vectors of {:,}"),
        figure(table, "encoder.size", "encoder 2 x {:,}"),
        figure(table, "decoder.size", "decoder {:,}"),
        figure(table, "training.epochs", "{:,} epochs"),
    )
    of = " of vectors" if value_at(table, "model") == "vectors" else ""
    return f"a transducer{of} with {', '.join(filter(None, figures))}"


def _transducer(tier: Tier, joint: bool) -> dict[str, Any]:
    """``joint``: whether both sides are written alike, so that symbols may be copied."""
    layers = {"cell": "lstm", "size": tier.size, "dropout": tier.dropout}
    return {
        "task": "transduce",
        "text": {"tokenizer": "symbol", "joint": joint},
        "embedding": {"size": tier.embedding, "shared": joint, "dropout": tier.dropout},
        "encoder": layers | {"bidirectional": True},
        "decoder": layers | {"input_feeding": True, "readout_size": tier.embedding},
        "attention": {"score": "hybrid", "size": tier.embedding},
        "guided_alignment": {"kind": "learn"},
        "output": {"tied": True},
        "training": {
            "optimizer": {"kind": "adam", "learning_rate": tier.rate},
            "schedule": "linear",
            "batch_tokens": tier.batch,
            "epochs": tier.epochs,
            "patience": 0,
            # a tenth of so few pairs is right or wrong by chance, and its symbols less so
            "metric": "symbol_error_rate" if tier is TIERS[0] else "accuracy",
        },
    }
