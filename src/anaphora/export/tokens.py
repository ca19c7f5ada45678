"""Tokenizers as tables for the driver."""

import json
from typing import Any

from anaphora.errors import ConfigError
from anaphora.export.refusal import unsupported
from anaphora.tasks.task import Trained
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.symbols import SymbolTokenizer
from anaphora.text.tokenizer import MARKS, Tokenizer
from anaphora.text.words import WordTokenizer


def tokens_of(trained: Trained, tokenizer: Tokenizer) -> dict[str, Any]:
    """A tokenizer of a run; ConfigError for one that the driver does not have."""
    kind, segmentation = trained.experiment.text.tokenizer, getattr(trained.experiment.text, "segmentation", "")
    if isinstance(tokenizer, SymbolTokenizer):
        raise unsupported("the symbols of a transducer")
    if isinstance(tokenizer, CharacterTokenizer):
        pieces = [*MARKS, *json.loads(tokenizer.serialise())["characters"]]
    elif isinstance(tokenizer, WordTokenizer) and segmentation == "whitespace":
        pieces = [*MARKS, *tokenizer.vocabulary]
    elif kind == "bpe":
        pieces = tokenizer.pieces(range(tokenizer.symbols.size))
    else:
        raise ConfigError(
            f'The driver of an exported model has tokenizers "bpe", "character" and "word" with segmentation '
            f'"whitespace", but this run has text.tokenizer = "{kind}"'
            f"{f' with segmentation {segmentation}' if segmentation else ''}: train a run with one of those."
        )
    return {"kind": kind, "pieces": pieces, "lowercase": tokenizer.lowercase}
