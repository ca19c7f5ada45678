"""The experiment for those who name none: sized by the data, and said.

Pairs of sentences become a translator, running text a character language model. What is what: a file is pairs where its
kind can only hold pairs; a folder is running text where it holds ``train.txt``. Sizes go by the tables below: a network
with more numbers than its text can fill learns its text by heart, so little text gets small layers, much dropout and
many epochs; and, for pairs, a rate that is high for as long as it can be. The tiers of 100,000 and 300,000 pairs follow
the recipes ``multi30k-en-de`` and ``tatoeba-en-fr``; the settings not in them are those of ``multi30k-en-de`` and
``character-lm``, but for left-out words, and for guided attention and averaged weights, which changed little where they
were measured.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import tomli_w

from anaphora.data.finding import Names, find_pairs, find_texts
from anaphora.data.sources import text_parts, translation_parts
from anaphora.errors import ConfigError, DataError
from anaphora.events import Note, Report, silent
from anaphora.experiment.overrides import Table, override
from anaphora.text.units import AnyUnits, Bpe


class Tier(NamedTuple):
    """The translator for at most this many pairs."""

    pairs: int
    units: int
    embedding: int
    encoder: int
    decoder: int
    dropout: float
    epochs: int
    rate: float
    """Of the first update; it falls in a straight line over the epochs. The fewer updates, the higher."""
    batch: int
    """Tokens of a batch, small where a text gives few updates an epoch; 0 takes what fits into memory."""


TIERS = (
    # in the order of the fields: pairs, units, embedding, encoder, decoder, dropout, epochs, rate, batch
    Tier(5_000, 1_000, 96, 96, 128, 0.3, 40, 0.005, 500),
    Tier(20_000, 5_000, 256, 256, 384, 0.3, 20, 0.0045, 1_000),
    Tier(100_000, 8_000, 256, 256, 384, 0.2, 10, 0.0045, 1_000),
    Tier(300_000, 8_000, 256, 256, 384, 0.1, 6, 0.003, 1_500),
    Tier(1_000_000, 10_000, 256, 384, 512, 0.2, 8, 0.002, 2_000),
    Tier(1 << 62, 16_000, 384, 512, 768, 0.1, 3, 0.001, 0),
)
"""From the smallest to the largest."""


class TextTier(NamedTuple):
    """The language model for at most this many characters."""

    characters: int
    size: int
    dropout: float
    epochs: int


TEXT_TIERS = (
    TextTier(200_000, size=192, dropout=0.3, epochs=30),
    TextTier(5_000_000, size=512, dropout=0.1, epochs=10),
    TextTier(1 << 62, size=768, dropout=0.1, epochs=4),
)
"""From the smallest to the largest."""

SUMMARY = "Chosen by the look of your data: a translator for pairs of sentences, a language model for running text."
"""What it is, in one line."""


def description() -> str:
    """What is chosen for which data, for people to read, as comments of TOML."""
    lines = [
        SUMMARY,
        "",
        "Run:    anaphora train --data FOLDER|FILE",
        "        anaphora check --data FOLDER|FILE",
        "Own:    what was chosen stands in experiment.toml of the run folder; start a file of your own from that.",
        "",
        *_drawn("pairs", TIERS),
        "",
        *_drawn("characters", TEXT_TIERS),
    ]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)


def _drawn(counted: str, tiers: Sequence[Tier] | Sequence[TextTier]) -> list[str]:
    """A table of tiers, one a line, the data that each is for in front."""
    heads = [f"{counted} up to", *tiers[0]._fields[1:]]
    rows = [[f"{tier[0]:,}", *(f"{value:,}" for value in tier[1:])] for tier in tiers]
    rows[-1][0] = "more"
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in (heads, *rows)]


def automatic(
    data: Sequence[Path],
    source: str = "",
    target: str = "",
    report: Report = silent,
    *,
    settings: Sequence[str] = (),
    text: AnyUnits | None = None,
) -> str:
    """The TOML text of an experiment for ``data`` (as ``--data`` takes it), without a ``[data]`` table of its own.

    What is said of it is what ``settings`` will make of it. ``text`` is that of the run whose vocabulary is taken over,
    where one is. Raises ConfigError when no data is given or a setting is none, DataError for data that cannot be read.
    """
    if not data:
        raise ConfigError(
            "Without a recipe, --data FOLDER|FILE says what to train on; anaphora recipes lists the recipes."
        )
    named = override({"data": {"train": "train", "valid": "val", "test": "test"}}, settings)
    source, target = source or _word(named, "data.source"), target or _word(named, "data.target")
    names = Names(*(_word(named, f"data.{part}") for part in ("train", "valid", "test")))
    if not (source or target) and all(_is_running_text(path, names) for path in data):
        found = text_parts(data, train=names.train, valid=names.valid, test=names.test)
        characters = sum(len(line) + 1 for line in found.train)
        size = next(tier for tier in TEXT_TIERS if characters <= tier.characters)
        model = _language_model(size)
        said = _said_of_language_model(override(model, settings), text)
        report(Note(f"No recipe was named: for {characters:,} characters of running text, {said}."))
        return tomli_w.dumps(model)
    # with the sides' usual names where none are given, as an experiment has them
    parts = translation_parts(
        data, source or "en", target or "de", train=names.train, valid=names.valid, test=names.test
    )
    pairs = parts.train.count
    tier = next(tier for tier in TIERS if pairs <= tier.pairs)
    model = _translator(tier, text)
    report(Note(f"No recipe was named: for {pairs:,} pairs, {_said_of_translator(override(model, settings), text)}."))
    return tomli_w.dumps(model)


_UNITS = {"bpe": "subword", "unigram": "subword", "word": "word", "character": "character", "byte": "byte"}
"""What a unit of text is called, by what ``text.units`` says."""


def _said_of_translator(table: Table, given: AnyUnits | None) -> str:
    """What a table makes, in words; numbers that are not where they usually are go unsaid."""
    unit = _UNITS.get(str(_at(table, "text.units")), "unit")
    dropouts = (_figure(table, f"{part}.dropout", "{:g}") for part in ("embedding", "encoder", "decoder"))
    sides = "2 x " if _at(table, "encoder.bidirectional") is True else ""
    figures = (
        "the vocabulary of that run" if given else _figure(table, "text.size", "{:,} ") + f"{unit}s",
        _figure(table, "embedding.size", "word vectors of {:,}"),
        _figure(table, "encoder.size", f"encoder {sides}" + "{:,}"),
        _figure(table, "decoder.size", "decoder {:,}"),
        "dropout " + " and ".join(dict.fromkeys(filter(None, dropouts))),
        _figure(table, "training.epochs", "{:,} epochs"),
    )
    return f"a translator with {', '.join(filter(None, figures))}"


def _said_of_language_model(table: Table, given: AnyUnits | None) -> str:
    """The same."""
    unit = _UNITS.get(given.units if given else str(_at(table, "text.units")), "unit")
    figures = _figure(table, "recurrence.size", " of {:,} units"), _figure(table, "training.epochs", ", {:,} epochs")
    return f"a {unit} language model{''.join(figures)}"


def _figure(table: Table, key: str, words: str) -> str:
    """The number at a dotted key in words, nothing where a setting has put something else there."""
    number = _at(table, key)
    return words.format(number) if isinstance(number, int | float) else ""


def _at(table: Table, key: str) -> object:
    """What stands at a dotted key; None where nothing does."""
    here: object = table
    for name in key.split("."):
        here = here.get(name) if isinstance(here, dict) else None
    return here


def _word(table: Table, key: str) -> str:
    """The word at a dotted key; nothing where there is none, or something else, which the experiment refuses."""
    value = _at(table, key)
    return value if isinstance(value, str) else ""


def _is_running_text(path: Path, names: Names) -> bool:
    try:
        if path.is_dir():
            find_texts([path], names, silent)
            return True
        find_pairs([path], ("source", "target"), names, silent)
    except DataError:
        return not path.is_dir()
    return False


def _translator(tier: Tier, given: AnyUnits | None) -> Table:
    text = given or Bpe(size=tier.units, joint=True)
    shared = text.one_vocabulary  # else there is no table for both sides to share
    return {
        "task": "translate",
        "text": text.model_dump(),
        "embedding": {"size": tier.embedding, "shared": shared, "scaled": True, "dropout": tier.dropout},
        "encoder": {
            "cell": "gru",
            "size": tier.encoder,
            "bidirectional": True,
            "layer_norm": True,
            "dropout": tier.dropout,
        },
        "decoder": {
            "cell": "gru",
            "size": tier.decoder,
            "input_feeding": True,
            "layer_norm": True,
            "readout": tier.embedding,
            "dropout": tier.dropout,
        },
        "attention": {"score": "concat", "size": tier.embedding},
        "output": {"tied": True, "label_smoothing": 0.1},
        "training": {
            "optimizer": {"kind": "adam", "rate": tier.rate},
            "schedule": "linear",
            "batch_tokens": tier.batch,
            "epochs": tier.epochs,
            "patience": 6,
        },
        "evaluation": {"beam": 5, "length_penalty": 1.0},
    }


def _language_model(tier: TextTier) -> Table:
    return {
        "task": "language-model",
        "text": {"units": "character"},
        "embedding": {"size": 64},
        "recurrence": {"cell": "lstm", "layers": 1, "size": tier.size, "dropout": tier.dropout},
        "training": {
            "optimizer": {"kind": "adam", "rate": 0.002},
            "schedule": {"kind": "plateau", "patience": 1},
            "batch_tokens": 0,
            "epochs": tier.epochs,
            "patience": 3,
        },
    }
