"""The classifier for those who name no recipe, sized by the number of labelled texts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from anaphora.data.finding import Names
from anaphora.data.labelled import LabelledCorpus, LabelledFormat, LabelledSplits, hold_vectors, labelled_splits
from anaphora.formats.labelled import TEXTS
from anaphora.tasks.sizing import TOKENS, figure, tier_for, value_at
from anaphora.tasks.task import Sized, Table
from anaphora.text.tokenization import AnyTokenizer
from anaphora.wording import counted


class Tier(NamedTuple):
    """The classifier for at most this many texts."""

    texts: int
    embedding: int
    size: int
    dropout: float
    epochs: int


TIERS = (
    Tier(500, embedding=100, size=50, dropout=0.5, epochs=40),
    Tier(2_000, embedding=100, size=50, dropout=0.5, epochs=20),
    Tier(20_000, embedding=200, size=100, dropout=0.5, epochs=20),
    Tier(200_000, embedding=200, size=200, dropout=0.3, epochs=8),
    Tier(1 << 62, embedding=256, size=256, dropout=0.2, epochs=3),
)
_FEW = TIERS[1].texts
"""At most so many texts are too few to stop early by validation."""
_EXAMPLES = 20
"""Of a batch where there are few."""


def choose(data: Sequence[Path], names: Names, languages: tuple[str, str], text: AnyTokenizer | None) -> Sized:
    """The classifier for as many texts; DataError for data that cannot be read."""
    vectors = hold_vectors(data)
    # an empty separator splits nothing: only lists and marks are several labels
    columns = TEXTS._replace(chosen=names.columns)
    found = labelled_splits(data, names, LabelledFormat("utf-8", None if vectors else "", vectors, columns=columns))
    count = found.train.count
    tier = tier_for(count, TIERS)
    what = counted(len(found.labels), "label" if found.several else "class")
    what += ", several a text" if found.several else ""
    noun = "vector sequence" if vectors else "text"
    table = _of_vectors(tier) if vectors else _classifier(tier, found.several)
    return Sized(table | {"training": _training(tier, found)}, f"{counted(count, noun)} of {what}")


def describe(table: Table, given: AnyTokenizer | None) -> str:
    if value_at(table, "model") == "vectors":
        return f"a classifier of vectors{figure(table, 'encoder.size', ' of two directions of {:,} hidden units')}"
    token = TOKENS.get(str(value_at(table, "text.tokenizer")), "token")
    return f"a {token} classifier{figure(table, 'encoder.size', ' of two directions of {:,} hidden units')}"


def _classifier(tier: Tier, several: bool) -> dict[str, Any]:
    return {
        "task": "classify",
        "text": {"tokenizer": "word", "lowercase": True, "size": 50_000, "min_count": 1 if tier.texts <= _FEW else 2},
        "embedding": {
            "size": tier.embedding,
            "dropout": {"kind": "variational", "probability": 0.6 * tier.dropout, "words": 0.8 * tier.dropout},
        },
        "encoder": {"cell": "lstm", "size": tier.size},
        "classes": {"pooling": "mean", "dropout": tier.dropout} | ({"output": "sigmoid"} if several else {}),
        "initializer": {"kind": "uniform", "range": 0.1},
    }


def _of_vectors(tier: Tier) -> dict[str, Any]:
    return {
        "task": "classify",
        "model": "vectors",
        "encoder": {"cell": "lstm", "size": tier.size},
        "classes": {"pooling": "mean", "dropout": tier.dropout},
    }


def _training(tier: Tier, found: LabelledSplits) -> dict[str, Any]:
    shared = {"metric": "micro_f1" if found.several else "accuracy", "precision": "fp32"}
    if tier.texts > _FEW:
        return shared | {
            "optimizer": {"kind": "adam", "learning_rate": 0.002},
            "moving_average": 0.99,
            "batch_tokens": 1000 if tier is TIERS[2] else 4000,
            "epochs": tier.epochs,
            "patience": 5,
        }
    return shared | {
        "optimizer": {"kind": "adam", "learning_rate": 0.005},
        "schedule": "linear",
        "batch_tokens": _EXAMPLES * _mean_length(found.train),
        "epochs": tier.epochs,
        "patience": 0,
    }


def _mean_length(train: LabelledCorpus) -> int:
    """Vectors, or words, of an example of mean length, rounded up."""
    lengths = [len(one.text.split() if one.values_TD is None else one.values_TD) for one in train.examples()]
    return max(1, -(-sum(lengths) // len(lengths)))
