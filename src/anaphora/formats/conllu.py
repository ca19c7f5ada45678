"""CoNLL-U (universaldependencies.org/format.html): ten columns between tabs, comments, ranges, empty nodes.

Ranges (``1-2``) and empty nodes (``8.1``) are no words here: they stay as they are. So a tab ends a column wherever it
stands; a row of more or fewer columns is refused with its place.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from anaphora.errors import DataError
from anaphora.formats.tagged import Block, Sentence, content_of, with_cell

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
"""The names of the columns."""

_BETWEEN = re.compile(r"\d+-\d+|\d+\.\d+")
"""IDs of what is no word: a range of words, an empty node."""


@dataclass(frozen=True)
class Conllu:
    """CoNLL-U with the tags in one of its columns; see ``TaggedFormat``."""

    column: str = "UPOS"
    """One of ``COLUMNS``; empty where tags get a new column after the last."""

    def read(self, lines: Iterable[str], where: str, *, labelled: bool = False) -> Iterator[Sentence]:
        """Yield the sentences.

        Raises DataError for a row without ten columns, an ID out of order, and a sentence without a blank line after
        it.
        """
        block, number = Block(), 0
        for number, line in enumerate(lines, 1):
            content = content_of(line)
            block.take(line, f"{where}:{number}")
            if not content.strip():
                yield block.sentence(number)
                block = Block()
            elif content.startswith("#"):
                if block.words:
                    raise DataError(
                        f"{where}:{number} is a comment right after words, as if a new sentence began: put a blank "
                        f"line in front of it."
                    )
            else:
                self._add(block, content.split("\t"), f"{where}:{number}")
        if block.words:
            raise DataError(
                f"{where}:{number} is the last line of a sentence, but no blank line follows: add one, or restore the "
                f"file if it was cut there."
            )
        if block.lines:
            yield block.sentence(number)

    def _add(self, block: Block, cells: Sequence[str], place: str) -> None:
        if len(cells) != len(COLUMNS):
            raise DataError(
                f"{place} should have the 10 columns of CoNLL-U with tabs between them, but has {len(cells)}: correct "
                f"the line."
            )
        if _BETWEEN.fullmatch(cells[0]):
            return
        expected = len(block.words) + 1
        if cells[0] == "1" and expected > 1:
            raise DataError(f"{place} begins a sentence (ID 1) inside of another: put a blank line in front of it.")
        if cells[0] != str(expected):
            raise DataError(f"{place} should have the ID {expected}, but has '{cells[0]}': number words from 1.")
        block.add(cells[1], [cells[COLUMNS.index(self.column)]] if self.column else [], place)

    def write(self, sentence: Sentence, tags: Sequence[str]) -> str:
        """Return the lines of a sentence with these tags in the column.

        Ranges and empty nodes have none in a new one.
        """
        lines, place = list(sentence.lines), COLUMNS.index(self.column) if self.column else len(COLUMNS)
        if not self.column:
            lines = [with_cell(line, place, "_", "\t") if _BETWEEN.match(line) else line for line in lines]
        for row, tag in zip(sentence.rows, tags, strict=True):
            lines[row] = with_cell(lines[row], place, tag, "\t")
        return "".join(lines)
