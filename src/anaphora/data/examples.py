"""Corpora of examples in formats of their own: read again as often as needed, counted, and a tenth of them held out."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from anaphora.data.corpora import Splits, fingerprint
from anaphora.data.finding import Names, SplitFiles
from anaphora.data.holdout import fraction_of, is_held_out
from anaphora.errors import DataError
from anaphora.events import Note, Report
from anaphora.wording import agreeing, inflect, plural


class PlacedExample(Protocol):
    """An example with a text and a place in a file."""

    @property
    def place(self) -> str:
        """The file, and the line or number where there are several in it: ``train.tsv:7``."""

    @property
    def text(self) -> str: ...


Example = TypeVar("Example", bound=PlacedExample)
AnyCorpus = TypeVar("AnyCorpus", bound="ExampleCorpus[Any]")


@dataclass(frozen=True)
class LocatedExamples(ABC, Generic[Example]):
    """Examples from one or more files, of which the data check needs the texts and a sample."""

    name: str
    paths: tuple[Path, ...]
    fingerprint: str
    """A SHA-256 of the files' bytes and of what was chosen from them."""
    count: int = 0
    """Examples in the corpus."""
    has_words: ClassVar[bool] = False
    """True if its texts are words with spaces between them."""

    @abstractmethod
    def examples(self) -> Iterator[Example]:
        """Return the examples, read again."""

    @abstractmethod
    def write(self, examples: Sequence[Example], folder: Path, name: str) -> None:
        """Write examples as the split ``name`` into ``folder``."""

    def place(self, example: Example) -> str:
        """Return the place of an example, for errors: ``train.tsv:7``."""
        return example.place

    def file_and_line(self, example: Example) -> tuple[Path, int]:
        """Return the file of an example and its line, from 1; line 1 of a file that is one example."""
        path, _, line = example.place.rpartition(":")
        return (Path(path), int(line)) if path and line.isdecimal() else (Path(example.place), 1)

    def __iter__(self) -> Iterator[str]:
        """Return the texts, read again."""
        return (example.text for example in self.examples())

    lines = __iter__

    def label_of(self, example: Example) -> str:
        """Return the label of an example, where it has one for the whole of its text."""
        return ""

    def labels_in(self, example: Example) -> Iterable[str]:
        """Return the labels or tags of an example; by default it has none."""
        return ()

    def faults(self, example: Example) -> Iterator[tuple[str, str]]:
        """Yield the kind of each fault of an example, by the rules of the data check, and the characters that show it.

        By default there is none.
        """
        return iter(())


@dataclass(frozen=True)
class ExampleCorpus(LocatedExamples[Example]):
    """Examples that are read from their files again and again, or a part of them that a hash chooses."""

    held_out: bool | None = None
    """True for what is held out, False for the rest, None for all."""
    one_in: int = 10
    """The fraction that is held out: a tenth, or more of a corpus so small that its tenth may be empty."""

    @abstractmethod
    def read(self, path: Path) -> Iterator[Example]:
        """Return the examples of a file; DataError with the place of a fault."""

    def held_out_key(self, example: Example) -> str:
        """Return the text that decides whether an example is held out."""
        return example.text

    def examples(self) -> Iterator[Example]:
        """Yield the examples, read again."""
        for path in self.paths:
            for example in self.read(path):
                if self.held_out is None or is_held_out(self.held_out_key(example), self.one_in) is self.held_out:
                    yield example

    def with_count(self, noun: str) -> Self:
        """Return the corpus after reading it through; DataError where it has no example."""
        count = sum(1 for _ in self.examples())
        if not count:
            files = ", ".join(map(str, self.paths))
            raise DataError(f"{files} has no {noun} for the split '{self.name}': add some, or remove the file.")
        return replace(self, count=count)

    def split(self, valid: str, rest: str, tenth: str, noun: str, report: Report) -> tuple[Self, Self]:
        """A training and a validation split named ``valid``, with these fingerprints; a Note reports the sizes."""
        found = fraction_of(map(self.held_out_key, self.examples()))
        if not found:
            path, ending = self.paths[0], self.paths[0].suffix
            raise DataError(
                f"{path} has too few different {plural(noun)} to hold some out for validation: give more, or a folder "
                f"with a validation split (train{ending}, {valid}{ending})."
            )
        one_in, held = found
        apart, whole = replace(self, one_in=one_in), inflect(self.count, noun)
        report(Note(f"No validation split is used, so {held:,} of {whole} {agreeing(held, 'are')} held out (by hash)."))
        return (
            replace(apart, fingerprint=rest, count=self.count - held, held_out=False),
            replace(apart, name=valid, fingerprint=tenth, count=held, held_out=True),
        )


def example_splits(
    found: SplitFiles[Path],
    names: Names,
    corpus: Callable[[str, Sequence[Path]], AnyCorpus],
    noun: str,
    report: Report,
    *choices: str,
) -> Splits[AnyCorpus]:
    """The splits in files that are found, each made by ``corpus``; without a validation split a tenth is held out.

    ``choices`` go into the fingerprints of the two parts, as they go into that of a ``corpus``.
    """
    whole = corpus(names.train, found.train)
    tests = {name: corpus(name, files) for name, files in found.tests.items()}
    if found.valid:
        return Splits(whole, corpus(names.valid, found.valid), tests)
    parts = ("without the held-out tenth", "the held-out tenth")
    rest, tenth = (fingerprint(found.train, *choices, part) for part in parts)
    return Splits(*whole.split("valid", rest, tenth, noun, report), tests)
