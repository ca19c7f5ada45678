"""Plain text to be tagged: a sentence a line, written back as two columns."""

from collections.abc import Iterable, Iterator, Sequence

from anaphora.formats.tagged import Sentence, content_of, token_places


class Plain:
    """A sentence a line; see ``TaggedFormat``."""

    def read(self, lines: Iterable[str], where: str, *, labelled: bool = False) -> Iterator[Sentence]:
        """Yield the sentences, which have no tags; a line of white space has no words."""
        for number, line in enumerate(lines, 1):
            content = content_of(line)
            yield Sentence(number, tuple(content[start:end] for start, end in token_places(content)), (), (line,), ())

    def written(self, sentence: Sentence, tags: Sequence[str]) -> str:
        """Return a word, a tab and its tag a line, and a blank line after the sentence; nothing for none."""
        rows = "".join(f"{word}\t{tag}\n" for word, tag in zip(sentence.words, tags, strict=True))
        return f"{rows}\n" if rows else ""
