"""The quickstart corpus: distinct pairs in splits that share neither a sentence nor a template.

The templates of validation and test are combinations that training never shows, made of constructions and words that
it does show: the task is composition, not guessing.
"""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Literal, NamedTuple

from anaphora.errors import ConfigError
from anaphora.formats.lines import write_lines
from anaphora.formats.pharaoh import Links, to_pharaoh
from anaphora.samples.english_french.pair import Pair, pair
from anaphora.samples.english_french.sentences import Sentences

MAX_WORDS = 16
"""Words of the longest sentence on either side, punctuation included."""

_HELD_OUT = 0.07
"""Fraction of the templates that validation gets, and test too."""

_SIMPLE = 3
"""Templates with at most this many constructions always belong to training: they combine next to nothing."""

_PATIENCE = 20
"""Sentences drawn for each one requested before the request counts as impossible."""


class CorpusSplits(NamedTuple):
    """The three splits of a corpus."""

    train: list[Pair]
    valid: list[Pair]
    test: list[Pair]


def sentences(seed: int, count: int) -> Iterator[Pair]:
    """``count`` distinct pairs, the same for a seed on every machine; a longer stream begins with the shorter."""
    return islice(_distinct(seed), count)


def corpus(seed: int, train: int = 30_000, valid: int = 1_000, test: int = 1_000) -> CorpusSplits:
    """A corpus of these sizes, the same for a seed on every machine.

    Raises ConfigError for a negative size, and if training is too small to show what the other splits need.
    """
    for name, size in (("train", train), ("valid", valid), ("test", test)):
        if size < 0:
            raise ConfigError(f"A split must have 0 sentences or more, but {name} = {size}.")
    splits = CorpusSplits([], [], [])
    waiting: list[Pair] = []
    drawn = _distinct(seed)
    while len(splits.train) < train:
        candidate = next(drawn)
        (splits.train if _split_of(seed, candidate.template) == "train" else waiting).append(candidate)
    shown = {item for one in splits.train for item in _items(one)}
    wanted = {"train": 0, "valid": valid, "test": test}
    candidates = islice(chain(waiting, drawn), len(waiting) + _PATIENCE * (train + valid + test))
    while any(wanted.values()):
        if (held_out := next(candidates, None)) is None:
            raise ConfigError(
                f"The grammar found no {valid} validation and {test} test sentences made only of words and "
                f"constructions that {train} training sentences show: use more training sentences or smaller splits."
            )
        split = _split_of(seed, held_out.template)
        if wanted[split] and shown.issuperset(_items(held_out)):
            wanted[split] -= 1
            getattr(splits, split).append(held_out)
    return splits


def write(folder: Path, seed: int = 1, train: int = 30_000, valid: int = 1_000, test: int = 1_000) -> Path:
    """Write a corpus as line-aligned ``{train,val,test}.{en,fr}``, with the word alignments of the test split.

    ``test.links`` has one line per sentence in Pharaoh format, between the space-separated words: the links of an
    elided form or a full stop go to the word that it is attached to. Returns the folder.
    """
    splits = corpus(seed, train, valid, test)
    folder.mkdir(parents=True, exist_ok=True)
    for name, pairs in zip(("train", "val", "test"), splits, strict=True):
        write_lines(folder / f"{name}.en", (p.source for p in pairs))
        write_lines(folder / f"{name}.fr", (p.target for p in pairs))
    write_lines(folder / "test.links", (to_pharaoh(_between_spaces(pair)) for pair in splits.test))
    return folder


def _between_spaces(pair: Pair) -> Links:
    """The links of a pair between its space-separated words."""
    sources, targets = _places(pair.source, pair.source_words), _places(pair.target, pair.target_words)
    return frozenset((sources[i], targets[j]) for i, j in pair.links)


def _places(text: str, words: Iterable[str]) -> list[int]:
    """For each word of a text, the index of the space-separated word that contains it."""
    places, end = [], 0
    for word in words:
        start = text.index(word, end)
        places.append(text.count(" ", 0, start))
        end = start + len(word)
    return places


def _items(pair: Pair) -> Iterator[tuple[str, str]]:
    """The words and constructions of a pair."""
    for kind, items in (
        ("source", pair.source_words),
        ("target", pair.target_words),
        ("construction", pair.template.split(" | ")),
    ):
        yield from ((kind, item) for item in items)


def _distinct(seed: int) -> Iterator[Pair]:
    """An endless stream of pairs of at most ``MAX_WORDS`` words, each English sentence once."""
    grammar = Sentences(seed)
    seen: set[str] = set()
    while True:
        candidate = pair(*grammar.draw())
        if max(len(candidate.source_words), len(candidate.target_words)) > MAX_WORDS or candidate.source in seen:
            continue
        seen.add(candidate.source)
        yield candidate


def _split_of(seed: int, template: str) -> Literal["train", "valid", "test"]:
    """The split of a template, a function of the seed and the template alone."""
    digest = hashlib.blake2b(f"{seed} {template}".encode(), digest_size=4).digest()
    place = int.from_bytes(digest) / 2**32
    if template.count(" | ") < _SIMPLE or place >= 2 * _HELD_OUT:
        return "train"
    return "test" if place < _HELD_OUT else "valid"
