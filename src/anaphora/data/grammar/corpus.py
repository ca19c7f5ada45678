"""The quickstart corpus: distinct pairs, cut into parts that share neither a sentence nor a template.

The templates of validation and test are combinations that training never shows, made of constructions and words that
it does show: what is asked for is composition, not guessing.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Literal, NamedTuple

from anaphora.data.grammar.pair import Pair, pair
from anaphora.data.grammar.rules import Sentences
from anaphora.errors import ConfigError
from anaphora.formats.lines import write_lines
from anaphora.formats.pharaoh import Links, to_pharaoh

LONGEST = 16
"""Words of the longest sentence, on either side, with its punctuation."""

_HELD_OUT = 0.07
"""The share of templates kept for validation, and as many again for test."""

_SIMPLE = 3
"""Templates with at most this many constructions always belong to training: they combine next to nothing."""

_PATIENCE = 20
"""Sentences drawn for each one that is asked for before the request counts as more than the grammar can give."""


class GrammarParts(NamedTuple):
    """The three parts of a corpus."""

    train: list[Pair]
    valid: list[Pair]
    test: list[Pair]


def sentences(seed: int, count: int) -> Iterator[Pair]:
    """``count`` distinct pairs, the same for a seed on every machine; a longer stream begins with the shorter."""
    return islice(_distinct(seed), count)


def corpus(seed: int, train: int = 30_000, valid: int = 1_000, test: int = 1_000) -> GrammarParts:
    """A corpus of these sizes, the same for a seed on every machine.

    Raises ConfigError when a size is negative, or when training is too small to show what the other parts need.
    """
    for name, size in (("train", train), ("valid", valid), ("test", test)):
        if size < 0:
            raise ConfigError(
                f"A corpus part holds 0 sentences or more, but {name} = {size}: give a size of at least 0."
            )
    parts = GrammarParts([], [], [])
    waiting: list[Pair] = []
    part_of = _parts_by_template(seed)
    drawn = _distinct(seed)
    while len(parts.train) < train:
        candidate = next(drawn)
        (parts.train if part_of(candidate.template) == "train" else waiting).append(candidate)
    shown = _Shown(parts.train)
    patience = len(waiting) + _PATIENCE * (train + valid + test)
    wanted = {"train": 0, "valid": valid, "test": test}
    candidates = islice(chain(waiting, drawn), patience)
    while any(wanted.values()):
        if (held_out := next(candidates, None)) is None:
            raise ConfigError(
                f"The grammar found no {valid} validation and {test} test sentences made only of words and "
                f"constructions that {train} training sentences show: ask for more training sentences or smaller parts."
            )
        part = part_of(held_out.template)
        if wanted[part] and shown.covers(held_out):
            wanted[part] -= 1
            getattr(parts, part).append(held_out)
    return parts


def write(folder: Path, seed: int = 1, train: int = 30_000, valid: int = 1_000, test: int = 1_000) -> Path:
    """Write a corpus as line-aligned ``{train,val,test}.{en,fr}``, with the word links of the test part.

    ``test.links`` holds one line a sentence in Pharaoh's format, between the space-separated words, as all links are
    read: what an elided form or a full stop is linked to goes to the word that it is written with. Returns the folder.
    """
    parts = corpus(seed, train, valid, test)
    folder.mkdir(parents=True, exist_ok=True)
    for name, pairs in (("train", parts.train), ("val", parts.valid), ("test", parts.test)):
        write_lines(folder / f"{name}.en", (p.source for p in pairs))
        write_lines(folder / f"{name}.fr", (p.target for p in pairs))
    write_lines(folder / "test.links", (to_pharaoh(_between_spaces(pair)) for pair in parts.test))
    return folder


def _between_spaces(pair: Pair) -> Links:
    """The links of a pair between what stands between its spaces."""
    sources, targets = _places(pair.source, pair.source_words), _places(pair.target, pair.target_words)
    return frozenset((sources[i], targets[j]) for i, j in pair.links)


def _places(text: str, words: Iterable[str]) -> list[int]:
    """The number of the space-separated word that each of the words in a text is a part of."""
    places, end = [], 0
    for word in words:
        start = text.index(word, end)
        places.append(text.count(" ", 0, start))
        end = start + len(word)
    return places


class _Shown:
    """The words and constructions of the training part."""

    def __init__(self, train: list[Pair]) -> None:
        self._source = {word for p in train for word in p.source_words}
        self._target = {word for p in train for word in p.target_words}
        self._units = {unit for template in {p.template for p in train} for unit in template.split(" | ")}

    def covers(self, candidate: Pair) -> bool:
        """Whether training shows every word and construction of a pair."""
        return (
            self._source.issuperset(candidate.source_words)
            and self._target.issuperset(candidate.target_words)
            and self._units.issuperset(candidate.template.split(" | "))
        )


def _distinct(seed: int) -> Iterator[Pair]:
    """An endless stream of pairs that are short enough, each English sentence once."""
    grammar = Sentences(seed)
    seen: set[str] = set()
    while True:
        candidate = pair(*grammar.draw())
        if max(len(candidate.source_words), len(candidate.target_words)) > LONGEST or candidate.source in seen:
            continue
        seen.add(candidate.source)
        yield candidate


def _parts_by_template(seed: int) -> Callable[[str], Literal["train", "valid", "test"]]:
    """The part a template belongs to, a function of the seed and the template alone."""
    known: dict[str, Literal["train", "valid", "test"]] = {}

    def part_of(template: str) -> Literal["train", "valid", "test"]:
        if template not in known:
            digest = hashlib.blake2b(f"{seed} {template}".encode(), digest_size=4).digest()
            place = int.from_bytes(digest) / 2**32
            simple = template.count(" | ") < _SIMPLE
            known[template] = "train" if simple or place >= 2 * _HELD_OUT else "test" if place < _HELD_OUT else "valid"
        return known[template]

    return part_of
