"""Sentences with a tag for every token: what the formats of such files share.

Each format is a class with ``read`` and ``write``: lines to sentences, and a sentence with tags back to text in which
nothing but the tags has changed. Lines have their ends, as ``read_lines(.., exact=True)`` gives them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import regex

from anaphora.errors import DataError
from anaphora.formats.lines import BOM, LONGEST

NO_LABEL = "_"
"""The tag of a token without a label, where there may be several."""

_MOST_LINES = 1 << 18
"""Lines of a sentence."""


def labels_of(tag: str) -> list[str]:
    """Return the labels in a tag that may have several, each once: ``A|B``, or ``_`` for none."""
    return [] if tag == NO_LABEL else list(dict.fromkeys(tag.split("|")))


class Sentence(NamedTuple):
    """A sentence; or lines without a word, such as a mark between documents."""

    line: int
    """The first of its lines, from 1."""
    words: tuple[str, ...]
    tags: tuple[str, ...]
    """One for each word, or none where the file has none."""
    lines: tuple[str, ...]
    """All of its lines as they were read."""
    rows: tuple[int, ...]
    """The place of each word's line in ``lines``; where a line is a sentence, of none."""
    cut: tuple[str, ...] = ()
    """Words inside of which a labelled span begins or ends."""
    offsets: tuple[tuple[int, int], ...] = ()
    """Begin and end of each word in the text, in characters; none where the file has words."""

    def line_of(self, word: int) -> int:
        """Return the line of the file that a word is in, from 1."""
        return self.line + (self.rows[word] if self.rows else 0)


class TaggedFormat(Protocol):
    def read(self, lines: Iterable[str], where: str, *, labelled: bool = False) -> Iterator[Sentence]:
        """Return the sentences in lines that came from ``where``; ``labelled`` ones must have their tags.

        Raises DataError with the line for one that is not in the format.
        """

    def write(self, sentence: Sentence, tags: Sequence[str]) -> str:
        """Return the lines of a sentence with these tags in the place of its own."""


@dataclass
class Block:
    """The lines of a sentence as they come."""

    lines: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    _length: int = 0

    def take(self, line: str, place: str) -> None:
        """Add a line, which stands at ``place``; DataError where a sentence gets longer than any is."""
        self.lines.append(line)
        self._length += len(line)
        if self._length > LONGEST or len(self.lines) > _MOST_LINES:
            raise DataError(
                f"{place} is in a sentence of more than {_MOST_LINES:,} lines or {LONGEST:,} characters. Put a blank "
                f"line after each sentence."
            )

    def add(self, word: str, tags: Sequence[str], place: str) -> None:
        """Add the word of the last line, with its tag if it has one; DataError for an empty word."""
        if not word.strip():
            raise DataError(f"{place} has an empty word. Fill it in, or remove the line.")
        self.words.append(word)
        self.tags += tags
        self.rows.append(len(self.lines) - 1)

    def sentence(self, number: int) -> Sentence:
        """Return the sentence whose last line has this number."""
        first = number - len(self.lines) + 1
        return Sentence(first, tuple(self.words), tuple(self.tags), tuple(self.lines), tuple(self.rows))


def is_label(text: str) -> bool:
    """True if a text can be a label: not empty, one line, one cell of a table."""
    return bool(text.strip()) and text.splitlines() == [text] and "\t" not in text


def split_end(line: str) -> tuple[str, str]:
    content = line.removesuffix("\n").removesuffix("\r")
    return content, line[len(content) :]


def content_of(line: str) -> str:
    """Return a line without its end and a byte order mark."""
    return split_end(line)[0].removeprefix(BOM)


def with_cell(line: str, place: int, value: str, separator: str) -> str:
    """Return a line with ``value`` in one of its cells, or in a new one after the last.

    Everything else stays as it is.
    """
    content, end = split_end(line)
    cells = content.split(separator)
    cells[place : place + 1] = [value]
    return separator.join(cells) + end


_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]"
_WORD = rf"[\w\p{{No}}--{_UNSPACED}]+"
_SIGN = r"[^\w\p{No}\s\x1c-\x1f][\p{M}\p{Emoji_Modifier}]*"

_TOKEN = regex.compile(rf"""(?V1)(?x)
    \d+(?:[.,:]\d+)+                 # 1,000.50  10:30
  | {_UNSPACED}\p{{M}}*
  | {_WORD}(?=(?i:n['’]t)\b)         # do|n't
  | (?i:n['’]t)\b
  | ['’](?i:s|m|d|re|ve|ll)\b       # it|'s
  | {_WORD}
  | ({_SIGN}(?:\u200d{_SIGN})*)\1*  # ...  !!
    """)


def token_places(text: str) -> list[tuple[int, int]]:
    """Return begin and end of each token; white space is in none.

    >>> [("It doesn't cost 1,000...")[a:b] for a, b in token_places("It doesn't cost 1,000...")]
    ['It', 'does', "n't", 'cost', '1,000', '...']

    Scripts without spaces between words are read by characters.
    """
    return [match.span() for match in _TOKEN.finditer(text)]


class Plain:
    """A sentence a line; see ``TaggedFormat``."""

    def read(self, lines: Iterable[str], where: str, *, labelled: bool = False) -> Iterator[Sentence]:
        """Yield the sentences, which have no tags; a line of white space has no words."""
        for number, line in enumerate(lines, 1):
            content = content_of(line)
            places = tuple(token_places(content))
            words = tuple(content[start:end] for start, end in places)
            yield Sentence(number, words, (), (line,), (), offsets=places)

    def write(self, sentence: Sentence, tags: Sequence[str]) -> str:
        """Return a word, a tab and its tag a line, and a blank line after the sentence; nothing for none."""
        rows = "".join(f"{word}\t{tag}\n" for word, tag in zip(sentence.words, tags, strict=True))
        return f"{rows}\n" if rows else ""
