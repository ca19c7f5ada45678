"""Segmentation of a line into words and punctuation, and back."""

from collections.abc import Sequence
from typing import Literal, Protocol

Segmentation = Literal["joiner", "moses", "whitespace"]
"""``joiner`` and ``moses`` for text as people write it, ``whitespace`` for text that is tokenised already."""


class Tokens(Protocol):
    """A line to tokens and back."""

    def split(self, text: str) -> list[str]:
        """Return the tokens of one line."""

    def join(self, tokens: Sequence[str]) -> str:
        """Return the line of tokens."""

    def surface(self, token: str) -> str:
        """Return a token as it is written in a line."""
        return token


class _SpacedTokens(Tokens):
    """Tokens between spaces."""

    def split(self, text: str) -> list[str]:
        return text.split()

    def join(self, tokens: Sequence[str]) -> str:
        return " ".join(tokens)


def tokens_of(segmentation: Segmentation, language: str) -> Tokens:
    """Return the tokens of that name in a language, a two-letter code."""
    if segmentation == "whitespace":
        return _SpacedTokens()
    if segmentation == "joiner":
        from anaphora.text.joiner_tokens import JoinerTokens

        return JoinerTokens(language)
    from anaphora.text.moses import MosesTokens  # sacremoses takes its time, and many tokenizers never need it

    return MosesTokens(language)
