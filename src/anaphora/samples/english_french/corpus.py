"""The quickstart corpus: distinct pairs, of which validation and test have sentences that training never shows."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from anaphora.errors import ConfigError
from anaphora.formats.lines import write_lines
from anaphora.formats.pharaoh import Links, to_pharaoh
from anaphora.samples.draws import Draws
from anaphora.samples.english_french.grammar import Sentence, Word, join

MAX_WORDS = 16
"""Words of the longest sentence on either side, punctuation included."""


class Pair(NamedTuple):
    """An English sentence with its French translation.

    ``links`` are (source word, target word), 0-based and sorted, over ``source_words`` and ``target_words``, where an
    elided form such as "l'", a genitive "'s" and every punctuation sign are words of their own.
    """

    source: str
    target: str
    links: tuple[tuple[int, int], ...]
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]


class CorpusSplits(NamedTuple):
    """The three splits of a corpus."""

    train: list[Pair]
    valid: list[Pair]
    test: list[Pair]


def corpus(seed: int, train: int = 30_000, valid: int = 1_000, test: int = 1_000) -> CorpusSplits:
    """Return a corpus of these sizes, the same for a seed on every machine; raise ConfigError for a negative size."""
    sizes = {"train": train, "valid": valid, "test": test}
    for name, size in sizes.items():
        if size < 0:
            raise ConfigError(f"A split must have 0 sentences or more, but {name} = {size}.")
    drawn = _distinct(Draws(seed))
    return CorpusSplits(*(list(islice(drawn, size)) for size in sizes.values()))


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
    """Return the links of a pair between its space-separated words."""
    sources, targets = _places(pair.source, pair.source_words), _places(pair.target, pair.target_words)
    return frozenset((sources[i], targets[j]) for i, j in pair.links)


def _places(text: str, words: Iterable[str]) -> list[int]:
    """Return for each word of a text the index of the space-separated word that contains it."""
    places, end = [], 0
    for word in words:
        start = text.index(word, end)
        places.append(text.count(" ", 0, start))
        end = start + len(word)
    return places


def _distinct(draws: Draws) -> Iterator[Pair]:
    """Yield an endless stream of pairs of at most ``MAX_WORDS`` words, each English sentence once."""
    seen: set[str] = set()
    while True:
        sentence = Sentence(draws)
        pair = _pair(sentence.english, join(sentence.french))
        if max(len(pair.source_words), len(pair.target_words)) <= MAX_WORDS and pair.source not in seen:
            seen.add(pair.source)
            yield pair


def _pair(source: list[Word], target: list[Word]) -> Pair:
    places: dict[str, list[int]] = {}
    for i, (_, meanings) in enumerate(source):
        for meaning in meanings:
            places.setdefault(meaning, []).append(i)
    links = {(i, j) for j, (_, meanings) in enumerate(target) for meaning in meanings for i in places[meaning]}
    (source_text, source_words), (target_text, target_words) = _written(source), _written(target)
    return Pair(source_text, target_text, tuple(sorted(links)), source_words, target_words)


def _written(words: list[Word]) -> tuple[str, tuple[str, ...]]:
    """Return a sentence with its capital and its spaces, and its words."""
    first, *rest = (text for text, _ in words)
    written = (first[0].upper() + first[1:], *rest)
    return re.sub(r"(?<=') | (?=['.,])", "", " ".join(written)), written
