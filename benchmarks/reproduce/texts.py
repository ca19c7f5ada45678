"""Splits of known corpora that a paper's finding is about: short sentences, few pairs, one side alone."""

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator
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
    sides: Literal["both", "target"] = "both"
    """Both sides, for translators; or that of the target alone, for language models."""

    @property
    def digest(self) -> str:
        """What its folder is called."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]

    def make(self, folder: Path) -> None:
        """Write the parts into ``folder``, unless they lie there; DataError where the corpus was not fetched."""
        if folder.exists():
            return
        whole = translation_splits([corpus_folder(self.corpus)], self.source, self.target, Names(test=self.test))
        kept, longer = _parted(whole.train, lambda pair: not self.longest or len(pair[0].split()) <= self.longest)
        parts = {
            "train": kept[: self.pairs or None],
            "valid": list(whole.valid),
            "test": longer if self.longest else list(whole.tests[self.test]),
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


def _parted(pairs: Iterable[Pair], wanted: Callable[[Pair], bool]) -> tuple[list[Pair], list[Pair]]:
    """The pairs that are ``wanted``, and the others."""
    parted: tuple[list[Pair], list[Pair]] = ([], [])
    for pair in pairs:
        parted[not wanted(pair)].append(pair)
    return parted
