"""Lines of text as the ids of their tokens: one after the other, or one alone."""

from array import array
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from anaphora.batch import Batch, Constraints, pad
from anaphora.evaluation.perplexity import TextSize, size_of_line
from anaphora.evaluation.segments import Floats
from anaphora.text.special_tokens import without_special_tokens
from anaphora.text.tokenizer import Tokenizer


class Reading:
    """The tokens of a text line by line, each line closed by ``</s>``, which keeps what was read until it is taken.

    ``size`` is that of the text so far, ``known_size`` that of what its known tokens write, line ends included.
    """

    def __init__(self, lines: Iterable[str], tokenizer: Tokenizer) -> None:
        self._lines = lines
        self._tokenizer = tokenizer
        self._rows: list[list[int]] = []
        self.size = self.known_size = TextSize(0, 0, 0)
        self._sizes = array("q")

    def __iter__(self) -> Iterator[int]:
        for line in map(without_special_tokens, self._lines):
            ids, symbols = self._tokenizer.encode(line), self._tokenizer.symbols
            size = size_of_line(line)
            known = [number for number in ids if number != symbols.unk]
            self.size += size
            self._sizes.extend((size.characters, size.bytes, size.words))
            self.known_size += size if len(known) == len(ids) else size_of_line(self._tokenizer.decode(known))
            row = [*ids, symbols.eos]
            self._rows.append(row)
            yield from row

    def sizes(self) -> Floats:
        """Characters, bytes and words of every line so far."""
        return np.array(self._sizes, dtype=np.float64).reshape(-1, 3)

    def take(self) -> list[list[int]]:
        """The lines that were begun since the last time."""
        taken, self._rows = self._rows, []
        return taken


def prompt_batch(bos: int, prompts: Sequence[list[int]], example_ids: Sequence[int]) -> Batch:
    """Lines that a search begins after ``bos``, and that must continue these prompts, perhaps empty ones."""
    constraints = Constraints(prefixes=pad(prompts) if any(prompts) else None)
    return Batch.of_rows(example_ids, pad([[bos]] * len(prompts)), constraints=constraints)
