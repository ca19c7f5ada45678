"""The describer for those who name no recipe, sized by the number of captions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from anaphora.data.captioned import caption_splits
from anaphora.data.finding import Names
from anaphora.tasks.sizing import figure, tier_for, value_at
from anaphora.tasks.task import Sized, Table
from anaphora.text.tokenization import AnyTokenizer
from anaphora.wording import counted


class Tier(NamedTuple):
    """The describer for at most this many captions."""

    captions: int
    embedding: int
    size: int
    dropout: float
    epochs: int


TIERS = (
    Tier(5_000, embedding=64, size=128, dropout=0.3, epochs=60),
    Tier(50_000, embedding=128, size=256, dropout=0.3, epochs=20),
    Tier(200_000, embedding=256, size=512, dropout=0.5, epochs=12),
    Tier(1 << 62, embedding=512, size=512, dropout=0.3, epochs=8),
)


def choose(data: Sequence[Path], names: Names, languages: tuple[str, str], text: AnyTokenizer | None) -> Sized:
    """The describer for as many captions; DataError for data that cannot be read."""
    found = caption_splits(data, names)
    count, shape = found.train.count, found.features.shape
    tier = tier_for(count, TIERS)
    grid = f"{shape.rows} x {shape.columns} x {shape.width}" if shape.positions > 1 else f"{shape.width}"
    return Sized(_describer(tier, shape.positions > 1), f"{counted(count, 'caption')} (features {grid})")


def describe(table: Table, text: AnyTokenizer | None) -> str:
    attends = value_at(table, "attention") != "none"
    return f"a describer{figure(table, 'decoder.size', ' of {:,} hidden units')}{' with attention' if attends else ''}"


def _describer(tier: Tier, is_grid: bool) -> dict[str, Any]:
    attention = {"query": "previous", "context": "state", "score": "concat", "gate": True, "doubly_stochastic": 0.1}
    return {
        "task": "describe",
        "text": {"tokenizer": "word", "lowercase": True, "size": 20_000, "min_count": 1 if tier is TIERS[0] else 3},
        "embedding": {"size": tier.embedding, "dropout": tier.dropout},
        "encoder": {"size": tier.size, "layer": "tanh" if is_grid else "linear", "positions": is_grid},
        "decoder": {
            "cell": "lstm",
            "size": tier.size,
            "input_feeding": False,
            "initial_state": "mean",
            "initial_state_activation": "tanh",
            "readout_size": tier.embedding,
            "readout_word": True,
            "dropout": tier.dropout,
        },
        "attention": attention if is_grid else "none",
        "training": {
            "optimizer": {"kind": "adam", "learning_rate": 0.001},
            "batch_tokens": 1000,
            "epochs": tier.epochs,
            "patience": 5,
        },
        "evaluation": {"beam": 5, "length_penalty": 0.6},
    }
