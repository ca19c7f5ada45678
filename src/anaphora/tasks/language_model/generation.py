"""Texts that a language model writes: how their tokens are chosen, and one streamed while it grows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anaphora.errors import ConfigError
from anaphora.search.request import SearchRequest
from anaphora.wording import agreeing, inflect

_ONE_BY_ONE = 200
"""Tokens that are each shown by themselves; of a longer text pieces, ever larger, each a fraction of what there is."""


def check_lines(request: SearchRequest) -> None:
    """Raise ConfigError for what a search refuses, and for several lines of a beam."""
    lines = request.lines
    if request.sampling is None and request.beam > 1 and lines is not None and lines > 1:
        raise ConfigError(
            f"A beam searches for the most probable line, but {inflect(lines, 'line')} {agreeing(lines, 'were')} "
            f"requested: sample them, or take the most probable token at every step."
        )
    request.validate()


@dataclass(frozen=True)
class Generation:
    """A text that a language model wrote."""

    text: str
    """The prompt as it was given, and its continuation."""
    score: float
    """ln p of all of it, the prompt included, and of the line end when it is finished."""
    finished: bool
    """True if it ends with a line, and was not cut at the given length."""
    unknown: int
    """Tokens of the prompt that are ``<unk>`` to the model."""


Decode = Callable[[Sequence[int]], str]
"""Tokens of one or more lines to their text."""


def continue_prompt(prompt: str, begin: Sequence[int], decode: Decode) -> Decode:
    """``decode`` for texts that continue a prompt, whose tokens they ``begin`` with: the prompt stays as it is given.

    A tokenizer does not know all characters, nor where it may set spaces before it has seen what follows.
    """
    read = decode(begin)
    spaced = prompt[-1:].isspace() and not read[-1:].isspace()

    def decoded(ids: Sequence[int]) -> str:
        text = decode(ids)
        written = text[len(read) :] if text.startswith(read) else _after_letters(text, read)
        return prompt + (written.removeprefix(" ") if spaced else written)

    return decoded


def _after_letters(text: str, begin: str) -> str:
    """Return the text after the letters of ``begin``, where it has them with other spaces between."""
    letters = sum(not letter.isspace() for letter in begin)
    places = [place for place, letter in enumerate(text, 1) if not letter.isspace()]
    return text[[0, *places][min(letters, len(places))] :]


class StreamedText:
    """Passes a text on as it grows, and never anything that may still change."""

    def __init__(self, decode: Decode, begin: Sequence[int], on_text: Callable[[str], None], eos: int) -> None:
        """``eos`` is the line end, which is shown when something follows."""
        self._decode, self._ids, self._on_text, self._eos = decode, list(begin), on_text, eos
        self._shown, self._written, self._due = "", 0, 1
        self._show(decode(begin))

    def add(self, number: int, token: int) -> None:
        """Add a token, whatever its text's number; bytes that are no character yet wait for the others."""
        self._ids.append(token)
        self._written += 1
        # all of it is decoded every time, which would take the square of its length
        if token == self._eos or self._written < self._due:
            return
        self._due += 1 + self._written // _ONE_BY_ONE
        text = self._decode(self._ids)
        if text.startswith(self._shown) and not text.endswith("\N{REPLACEMENT CHARACTER}"):
            self._show(text)

    def close(self, text: str) -> None:
        """Show the text as it is in the end; all of it on a new line where the end changed what was shown."""
        if not text.startswith(self._shown):
            self._on_text("\n")
            self._shown = ""
        self._show(text)

    def _show(self, text: str) -> None:
        if len(text) > len(self._shown):
            self._on_text(text[len(self._shown) :])
            self._shown = text
