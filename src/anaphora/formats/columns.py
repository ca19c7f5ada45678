"""A token a line with its tag in one of two or more columns, and a blank line after each sentence; CoNLL-2003.

Columns are separated by tabs where the first row has one, else by white space. A heading (``token tag``) stays as it
is, and so does a line that begins with ``-DOCSTART-``, which marks a document.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from anaphora.errors import DataError
from anaphora.formats.tagged import Block, Sentence, content_of, split_end, with_cell
from anaphora.wording import counted

DOCUMENT = "-DOCSTART-"
"""What begins a line that marks a document."""
_WORDS_HEADING = re.compile(r"form|text|(?:token|word)s?", re.IGNORECASE)
_HEADING = re.compile(r"(?i)(?:chunk|ner|pos)(?:[_ ]?tag)?s?|(?:tag|label)s?|entity|iob|lemma|[ux]pos|feats|deprel")


@dataclass(frozen=True)
class Columns:
    """Rows of columns, the first of them the word; see ``TaggedFormat``."""

    column: int
    """The column of tags, from 1; rows without tags end right before it, or are words alone."""

    def read(self, lines: Iterable[str], where: str, *, labelled: bool = False) -> Iterator[Sentence]:
        """The sentences. Raises DataError for a row with another number of columns than the first."""
        block, number, first, count, separator = Block(), 0, 0, 0, None
        for number, line in enumerate(lines, 1):
            content = content_of(line)
            if block.words and content.startswith(DOCUMENT):
                yield block.sentence(number - 1)  # no blank line came before
                block = Block()
            block.take(line, f"{where}:{number}")
            separator = separator if count else "\t" if "\t" in content else None
            cells = content.split(separator)
            if not content.strip() or content.startswith(DOCUMENT) or (not count and _is_heading(cells)):
                yield block.sentence(number)
                block = Block()
                continue
            if not count:
                first, count = number, len(cells)
                self._check(count, f"{where}:{number}", labelled)
            if len(cells) != count:
                raise DataError(
                    f"{where}:{number} should have {counted(count, 'column')} as line {first} has, but has "
                    f"{len(cells)}: correct the line."
                )
            block.add(cells[0], cells[self.column - 1 : self.column], f"{where}:{number}")
        if block.lines:
            yield block.sentence(number)

    def written(self, sentence: Sentence, tags: Sequence[str]) -> str:
        lines = list(sentence.lines)
        old: list[tuple[str, ...]] = [(tag,) for tag in sentence.tags] or [()] * len(tags)
        for row, word, before, tag in zip(sentence.rows, sentence.words, old, tags, strict=True):
            lines[row] = self._with_tag(lines[row], (word, *before), tag)
        return "".join(lines)

    def _with_tag(self, line: str, read: Sequence[str], tag: str) -> str:
        """The line with another tag; ``read`` are its word and, if it has one, its tag, as they were read."""
        content, end = split_end(line)
        cells = content_of(line).split("\t")
        if len(cells) > 1 and [cells[0], *cells[self.column - 1 : self.column]] == [*read]:
            return with_cell(line, self.column - 1, tag, "\t")
        spaced = list(re.finditer(r"\S+", content))
        if len(spaced) < self.column:
            separator = " " if len(spaced) > 1 else "\t"
            return f"{content}{separator}{tag}{end}"
        begin, after = spaced[self.column - 1].span()
        return line[:begin] + tag + line[after:]

    def _check(self, count: int, place: str, labelled: bool) -> None:
        if count < self.column and (labelled or count not in (1, self.column - 1)):
            raise DataError(
                f"{place} should have its tag in column {self.column}, but has {counted(count, 'column')}: correct the "
                f"file, or set data.column."
            )


def _is_heading(cells: Sequence[str]) -> bool:
    """Whether the first row calls its columns by names: that of words, then others."""
    return len(cells) > 1 and bool(_WORDS_HEADING.fullmatch(cells[0])) and all(map(_HEADING.fullmatch, cells[1:]))
