"""The language model for those who name no recipe: of characters, sized by how many there are; see ``character-lm``."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from anaphora.data.finding import Names, find_pairs, find_texts
from anaphora.data.sources import text_splits
from anaphora.errors import DataError
from anaphora.events import silent
from anaphora.formats.tsv import has_two_columns
from anaphora.tasks.sizing import TOKENS, figure, tier_for, value_at
from anaphora.tasks.task import Sized, Table
from anaphora.text.tokenization import AnyTokenizer
from anaphora.wording import counted


class Tier(NamedTuple):
    """The language model for at most this many characters."""

    characters: int
    size: int
    dropout: float
    epochs: int


TIERS = (
    Tier(200_000, size=192, dropout=0.3, epochs=30),
    Tier(5_000_000, size=512, dropout=0.1, epochs=10),
    Tier(1 << 62, size=768, dropout=0.1, epochs=4),
)


def suits(data: Sequence[Path], names: Names, languages_given: bool) -> bool:
    """A folder is running text where it holds ``train.txt``, a file where its kind can hold no pairs."""
    return not languages_given and all(_is_running_text(path, names) for path in data)


def choose(data: Sequence[Path], names: Names, languages: tuple[str, str], text: AnyTokenizer | None) -> Sized:
    """The language model for as many characters; DataError for data that cannot be read."""
    found = text_splits(data, names)
    characters = sum(len(line) + 1 for line in found.train)
    size = tier_for(characters, TIERS)
    return Sized(_language_model(size), f"{counted(characters, 'character')} of running text")


def describe(table: Table, text: AnyTokenizer | None) -> str:
    token = TOKENS.get(text.tokenizer if text else str(value_at(table, "text.tokenizer")), "token")
    figures = (
        figure(table, "recurrence.size", " of {:,} hidden units"),
        figure(table, "training.epochs", ", {:,} epochs"),
    )
    return f"a {token} language model{''.join(figures)}"


def _is_running_text(path: Path, names: Names) -> bool:
    try:
        if path.is_dir():
            find_texts([path], names, silent)
            return True
        find_pairs([path], ("source", "target"), names, silent)
    except DataError:
        return not path.is_dir() and not (path.is_file() and has_two_columns(path))
    return False


def _language_model(tier: Tier) -> Table:
    return {
        "task": "language-model",
        "text": {"tokenizer": "character"},
        "embedding": {"size": 64},
        "recurrence": {"cell": "lstm", "layers": 1, "size": tier.size, "dropout": tier.dropout},
        "training": {
            "optimizer": {"kind": "adam", "learning_rate": 0.002},
            "schedule": {"kind": "plateau", "patience": 1},
            "batch_tokens": 0,
            "epochs": tier.epochs,
            "patience": 3,
        },
    }
