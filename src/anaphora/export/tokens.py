"""Tokenizers as tables for the driver."""

from typing import Any

from anaphora.errors import ConfigError
from anaphora.tasks.task import Trained
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.joiner import OPENING, WORD, JoinerTokens
from anaphora.text.symbols import SymbolTokenizer
from anaphora.text.tokenizer import MARKS, Tokenizer
from anaphora.text.words import WordTokenizer


def spaces_of(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    """What is put for white space and for what cannot be seen: patterns and texts."""
    return [(pattern.pattern, put) for pattern, put in tokenizer.rule.substitutions] if tokenizer.rule else []


def tokens_of(trained: Trained, tokenizer: Tokenizer) -> dict[str, Any]:
    """A tokenizer of a run; ConfigError for one that the driver does not have."""
    kind, segmentation = trained.experiment.text.tokenizer, getattr(trained.experiment.text, "segmentation", "")
    table: dict[str, Any] = {"kind": kind, "lowercase": tokenizer.lowercase, "spaces": spaces_of(tokenizer)}
    if isinstance(tokenizer, SymbolTokenizer):
        return table | {"kind": "symbol", "separated": tokenizer.separated, "pieces": [*MARKS, *tokenizer.alphabet]}
    if isinstance(tokenizer, CharacterTokenizer):
        return table | {"pieces": [*MARKS, *tokenizer.alphabet]}
    if isinstance(tokenizer, WordTokenizer) and segmentation in ("whitespace", "joiner"):
        tokens, pieces = tokenizer.tokens, [*MARKS, *tokenizer.vocabulary]
        if isinstance(tokens, JoinerTokens):
            patterns = {"tokens": f"(?s){tokens.pattern.pattern}", "word": WORD.pattern, "opening": OPENING.pattern}
            table |= {"kind": "joiner", "patterns": patterns}
        return table | {"pieces": pieces}
    if kind == "bpe":
        return table | {"pieces": tokenizer.pieces(range(tokenizer.symbols.size))}
    raise ConfigError(
        f'The driver of an exported model has tokenizers "bpe", "character", "symbol" and "word" with segmentation '
        f'"joiner" or "whitespace", but this run has text.tokenizer = "{kind}"'
        f"{f' with segmentation {segmentation}' if segmentation else ''}: train a run with one of those."
    )
