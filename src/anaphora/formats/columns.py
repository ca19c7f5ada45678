"""A token a line with its tag in one of two or more columns, and a blank line after each sentence; CoNLL-2003.

Columns are separated by tabs where the first row has one, else by white space. A heading (``token tag``) is no token,
and a line that begins with ``-DOCSTART-`` marks a document.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from anaphora.errors import DataError
from anaphora.formats.lines import BOM
from anaphora.formats.table_columns import TableColumns, new_name
from anaphora.formats.tagged import Block, Sentence, content_of, split_end, with_cell
from anaphora.wording import inflect

DOCUMENT = "-DOCSTART-"
"""Beginning of a line that marks a document."""
WORDS = TableColumns((("token", "word", "form", "text", "tokens", "words"), ()))
"""Columns of words, by their usual names, and of tags."""
_CELL = re.compile(r"\S+")
_HEADING = re.compile(
    r"(?i)(?:chunk|ner|pos)(?:[_ ]?tag)?s?|(?:tag|label)s?|entity|iob|lemma|[ux]pos|feats|deprel"
    r"|#|id|n[ro]?|index|sentence.*"
)
"""Names of other columns, and of those that number rows or sentences."""


@dataclass(frozen=True)
class Columns:
    """Rows of columns, the first of them the word; see ``TaggedFormat``."""

    column: int
    """The column of tags, from 1; rows without tags end right before it, or are words alone. 0 for a new column."""
    word: int = field(default=1, repr=False)
    """The column of words, from 1."""
    table: TableColumns = field(default=WORDS, repr=False)
    """Columns of words and tags as they were chosen, or found in the training table, which files are compared with."""
    headed: bool = field(default=False, repr=False)
    """True if the first row is a heading."""

    def fit(self, line: str, place: str, *, labelled: bool = False) -> "Columns":
        """Return the format of the file whose first row this is.

        Where it has other columns than the training table, tags get a new column. Raises DataError where words, or tags
        of a ``labelled`` file, may be in another one.
        """
        cells, chosen = cells_of(content_of(line)), self.table.chosen
        heads, header = ([cell.strip().casefold() for cell in of] for of in (cells, self.table.header))
        headed = _is_heading(cells) or any(isinstance(one, str) and one.casefold() in heads for one in chosen)
        of_words = header[:1] == ["1"] and heads[self.word - 1 : self.word] and heads[self.word - 1] in WORDS.usual[0]
        if not chosen or (len(heads) == len(header) and (not headed or heads == header or of_words)):
            return replace(self, table=WORDS, headed=headed)
        word, tag = 0, -1
        is_numbered = not headed and len(cells) > 1 and cells[0] in ("0", "1")  # rows that a number begins
        if labelled or not header or is_numbered:
            (word, tag), _ = self.table.find(cells, place, keys=headed) or ([0, 0], headed)
        elif headed or self.word > 1:
            [word], _ = self.table.find(cells, place, [0], keys=headed) or ([0], headed)
        return replace(self, word=word + 1, column=tag + 1, table=WORDS, headed=headed)

    def read(self, lines: Iterable[str], where: str, *, labelled: bool = False) -> Iterator[Sentence]:
        """Yield the sentences. Raises DataError for a row with another number of columns than the first."""
        block, number, first, count, separator, fit = Block(), 0, 0, 0, None, self
        for number, line in enumerate(lines, 1):
            content, place = content_of(line), f"{where}:{number}"
            if block.words and content.startswith(DOCUMENT):
                yield block.sentence(number - 1)  # no blank line came before
                block = Block()
            block.take(line, place)
            separator = separator if count else "\t" if "\t" in content else None
            cells = content.split(separator)
            is_between = not content.strip() or content.startswith(DOCUMENT)
            if not is_between and fit is self:
                fit = self.fit(line, place, labelled=labelled)
                if fit.headed and not fit.column:
                    block.lines[-1] = _with_new(line, new_name(cells))
                is_between = fit.headed
            if is_between:
                yield block.sentence(number)
                block = Block()
                continue
            if not count:
                first, count = number, len(cells)
                if count < fit.column and (labelled or count not in (1, fit.column - 1)):
                    WORDS._replace(chosen=(fit.word, fit.column)).find(cells, place)  # raises
            if len(cells) != count:
                shape = inflect(count, "column")
                raise DataError(f"{place} should have {shape} as line {first} has, but has {len(cells)}: correct it.")
            block.add(cells[fit.word - 1], cells[fit.column - 1 : fit.column], place)
        if block.lines:
            yield block.sentence(number)

    def write(self, sentence: Sentence, tags: Sequence[str]) -> str:
        lines = list(sentence.lines)
        old: list[tuple[str, ...]] = [(tag,) for tag in sentence.tags] or [()] * len(tags)
        for row, word, before, tag in zip(sentence.rows, sentence.words, old, tags, strict=True):
            lines[row] = self._with_tag(lines[row], (word, *before), tag)
        return "".join(lines)

    def _with_tag(self, line: str, read: Sequence[str], tag: str) -> str:
        """Return the line with another tag; ``read`` are its word and, if it has one, its tag, as they were read."""
        if len(read) == 1:
            return _with_new(line, tag)
        cells = content_of(line).split("\t")
        if len(cells) > 1 and [cells[self.word - 1], *cells[self.column - 1 : self.column]] == [*read]:
            return with_cell(line, self.column - 1, tag, "\t")
        behind_mark = len(line) - len(line.removeprefix(BOM))
        begin, after = list(_CELL.finditer(split_end(line)[0], behind_mark))[self.column - 1].span()
        return line[:begin] + tag + line[after:]


def _with_new(line: str, cell: str) -> str:
    """Return the line with a cell more."""
    content, end = split_end(line)
    separator = " " if "\t" not in content and len(content.split()) > 1 else "\t"
    return f"{content}{separator}{cell}{end}"


def cells_of(line: str) -> list[str]:
    """Return the cells of a first row."""
    return line.split("\t" if "\t" in line else None)


def _is_heading(cells: Sequence[str]) -> bool:
    """True if the first row calls its columns by names, one of them that of words."""
    others = [cell for cell in cells if cell.casefold() not in WORDS.usual[0]]
    return 0 < len(others) < len(cells) and all(map(_HEADING.fullmatch, others))
