"""A text that a language model writes, streamed while it grows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

_ONE_BY_ONE = 200
"""Units that are each shown by themselves; of a longer text pieces, ever larger, each a share of what there is."""


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


class StreamedText:
    """Passes a text on as it grows, and never anything that may still change."""

    def __init__(
        self, decode: Callable[[Sequence[int]], str], begin: Sequence[int], on_text: Callable[[str], None]
    ) -> None:
        self._decode, self._ids, self._on_text = decode, list(begin), on_text
        self._shown, self._written, self._due = "", 0, 1
        self._show(decode(begin))

    def add(self, unit: int) -> None:
        """One more unit; bytes that are no character yet wait for the others."""
        self._ids.append(unit)
        self._written += 1
        if self._written < self._due:  # all of it is decoded every time, which would take the square of its length
            return
        self._due += 1 + self._written // _ONE_BY_ONE
        text = self._decode(self._ids)
        if text.startswith(self._shown) and not text.endswith("\N{REPLACEMENT CHARACTER}"):
            self._show(text)

    def close(self, text: str) -> None:
        """The text as it is in the end; all of it on a new line where the end changed what was shown."""
        if not text.startswith(self._shown):
            self._on_text("\n")
            self._shown = ""
        self._show(text)

    def _show(self, text: str) -> None:
        if len(text) > len(self._shown):
            self._on_text(text[len(self._shown) :])
            self._shown = text
