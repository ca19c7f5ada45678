"""A text that a language model writes, told while it grows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Generation:
    """A text that a language model wrote."""

    text: str
    """The prompt as the model read it, and what it went on with."""
    score: float
    """ln p of all of it, the prompt included, and of the line end when it is finished."""
    finished: bool
    """Whether the model ended the line, and was not cut at the given length."""
    unknown: int
    """Units of the prompt that are ``<unk>`` to the model."""


class Aloud:
    """Tells a text as it grows, and never anything that is not sure to stay."""

    def __init__(
        self, decode: Callable[[Sequence[int]], str], begin: Sequence[int], heard: Callable[[str], None]
    ) -> None:
        self._decode, self._ids, self._heard = decode, list(begin), heard
        self._told = ""
        self._tell(decode(begin))

    def add(self, unit: int) -> None:
        """One more unit; bytes that are no character yet wait for the others."""
        self._ids.append(unit)
        text = self._decode(self._ids)
        if text.startswith(self._told) and not text.endswith("\N{REPLACEMENT CHARACTER}"):
            self._tell(text)

    def close(self, text: str) -> None:
        """The text as it is in the end; all of it on a new line where the end changed what was told."""
        if not text.startswith(self._told):
            self._heard("\n")
            self._told = ""
        self._tell(text)

    def _tell(self, text: str) -> None:
        if len(text) > len(self._told):
            self._heard(text[len(self._told) :])
            self._told = text
