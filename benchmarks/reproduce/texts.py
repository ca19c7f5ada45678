"""Splits of known corpora that a paper's finding is about: short sentences, few pairs, one side alone."""

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

from pydantic import Field

from anaphora.config import Config
from anaphora.data.corpora import Pair
from anaphora.data.fetch import corpus_folder
from anaphora.data.finding import Names
from anaphora.data.sources import translation_splits
from anaphora.formats.lines import write_lines


class Text(Config):
    """A text that is made of the pairs of a fetched corpus, in the order that they have there."""

    name: str
    """What settings call it: ``@text(name)`` is its folder."""
    corpus: str
    """A corpus that ``anaphora fetch`` knows."""
    source: str
    """The language translated from."""
    target: str
    """The language translated into."""
    test: str
    """The test part."""
    pairs: int = Field(0, ge=0)
    """How many pairs there are to train on, the first ones; 0 for all."""
    longest: int = Field(0, ge=0)
    """Training pairs whose source has more words than this are the test part instead; 0 keeps both as they are."""
    joined: int = Field(1, ge=1)
    """The most consecutive pairs that are joined to one: of training, all pairs by one, by two and so on; of the other
    parts, as many of each."""
    sides: Literal["both", "target"] = "both"
    """Both sides, for translators; or that of the target alone, for language models."""

    @property
    def digest(self) -> str:
        """What its folder is called."""
        said = self.model_dump_json(exclude={"joined"} if self.joined == 1 else None)  # results of before have none
        return hashlib.sha256(said.encode()).hexdigest()[:16]

    def make(self, folder: Path) -> None:
        """Write the parts into ``folder``, unless they lie there; DataError where the corpus was not fetched."""
        if folder.exists():
            return
        whole = translation_splits([corpus_folder(self.corpus)], self.source, self.target, Names(test=self.test))
        kept, longer = _parted(whole.train, lambda pair: not self.longest or len(pair[0].split()) <= self.longest)
        valid, test = ([*pairs] for pairs in (whole.valid, longer if self.longest else whole.tests[self.test]))
        parts = {
            "train": _joined(kept[: self.pairs or None], self.joined),
            "valid": _joined(valid, self.joined, len(valid) // self.joined),
            "test": _joined(test, self.joined, len(test) // self.joined),
        }
        unfinished = folder.with_name(f"{folder.name}-unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        for name, pairs in parts.items():
            for ending, lines in self._files(pairs):
                write_lines(unfinished / f"{name}.{ending}", lines)
        unfinished.rename(folder)

    def _files(self, pairs: list[Pair]) -> Iterator[tuple[str, Iterable[str]]]:
        sources, targets = zip(*pairs, strict=True)
        if self.sides == "both":
            yield self.source, sources
            yield self.target, targets
        else:
            yield "txt", targets


def _joined(pairs: list[Pair], most: int, number: int | None = None) -> list[Pair]:
    """The first ``number`` texts of one pair, of two and so on to ``most``, each of consecutive pairs; all without."""
    return [
        (" ".join(source for source, _ in text), " ".join(target for _, target in text))
        for count in range(1, most + 1)
        for text in islice((pairs[n : n + count] for n in range(0, len(pairs) - count + 1, count)), number)
    ]


def _parted(pairs: Iterable[Pair], wanted: Callable[[Pair], bool]) -> tuple[list[Pair], list[Pair]]:
    """The pairs that are ``wanted``, and the others."""
    parted: tuple[list[Pair], list[Pair]] = ([], [])
    for pair in pairs:
        parted[not wanted(pair)].append(pair)
    return parted
