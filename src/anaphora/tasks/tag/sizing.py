"""The tagger for those who name no recipe, sized by the number of tagged sentences."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from anaphora.data.finding import Names
from anaphora.data.labelled import LabelledFormat, hold_vectors, labelled_splits
from anaphora.formats.span_tags import encoding_of
from anaphora.tasks.sizing import figure, tier_for, value_at
from anaphora.tasks.tag.config import TaggerExperiment
from anaphora.tasks.tag.formats import settled, splits_of
from anaphora.tasks.task import Sized, Table
from anaphora.text.tokenization import AnyTokenizer
from anaphora.wording import counted


class Tier(NamedTuple):
    """The tagger for at most this many sentences."""

    sentences: int
    embedding: int
    size: int
    dropout: float
    epochs: int
    batch: int
    """Tokens of a batch."""


TIERS = (
    Tier(500, embedding=64, size=100, dropout=0.5, epochs=60, batch=250),
    Tier(2_000, embedding=64, size=100, dropout=0.5, epochs=60, batch=1000),
    Tier(20_000, embedding=100, size=200, dropout=0.5, epochs=20, batch=1000),
    Tier(200_000, embedding=200, size=300, dropout=0.3, epochs=6, batch=1000),
    Tier(1 << 62, embedding=256, size=300, dropout=0.2, epochs=2, batch=1000),
)


def suits(data: Sequence[Path], names: Names, languages_given: bool) -> bool:
    """Files of CoNLL-U; other tables look like pairs or running text, so ``--task tag`` asks for it."""
    return bool(data) and all(path.name.lower().removesuffix(".gz").endswith(".conllu") for path in data)


def choose(data: Sequence[Path], names: Names, languages: tuple[str, str], text: AnyTokenizer | None) -> Sized:
    """The tagger for as many sentences; DataError for data that cannot be read."""
    if hold_vectors(data):
        return _of_vectors(data, names)
    table = names.own_files(data)
    experiment = settled(TaggerExperiment.parse({"task": "tag", "data": table}, "the data"))
    count = splits_of(experiment).train.count
    tier = tier_for(count, TIERS)
    tagged = f"column {experiment.data.column}" if experiment.data.format != "jsonl" else "spans"
    return Sized(_tagger(tier, experiment.spans != "none"), f"{counted(count, 'sentence')} ({tagged})")


def _of_vectors(data: Sequence[Path], names: Names) -> Sized:
    found = labelled_splits(data, names, LabelledFormat(vectors=True, steps=True))
    count, spans = found.train.count, encoding_of(example.labels for example in found.train.examples())
    table = _tagger(tier_for(count, TIERS), bool(spans))
    kept = {name: table[name] for name in ("task", "encoder", "output", "training")}
    what = counted(len(found.labels), "tag")
    return Sized(kept | {"model": "vectors"}, f"{counted(count, 'vector sequence')} of {what}")


def describe(table: Table, text: AnyTokenizer | None) -> str:
    output = value_at(table, "output.kind") or value_at(table, "output")
    of = " of vectors" if value_at(table, "model") == "vectors" else ""
    return (
        f"a tagger{of}{figure(table, 'encoder.size', ' of two directions of {:,} hidden units')} with {output} output"
    )


def _tagger(tier: Tier, spans: bool) -> dict[str, Any]:
    return {
        "task": "tag",
        "text": {"tokenizer": "word", "lowercase": True, "size": 50_000, "min_count": 2},
        "embedding": {"size": tier.embedding, "dropout": tier.dropout},
        "characters": {"kind": "character-cnn", "max_kernel": 4, "filters": 25, "dropout": tier.dropout},
        "encoder": {"cell": "lstm", "size": tier.size, "dropout": tier.dropout},
        "output": {"kind": "crf" if spans else "softmax"},
        "training": {
            "optimizer": {"kind": "adam", "learning_rate": 0.002},
            "batch_tokens": tier.batch,
            "epochs": tier.epochs,
            "patience": 6,
            "metric": "f1" if spans else "accuracy",
            "precision": "fp32",
        },
    }
