"""Hallucinated pairs of strings: training pairs whose stems have other characters.

Anastasopoulos and Neubig (2019), "Pushing the Limits of Low-Resource Morphological Inflection", section 3.

A stem is a run of at least three characters that source and target have in common, by an alignment of longest common
runs (Ratcliff and Obershelp). Each of its characters, but the first and last of a stem of five or more, is replaced
with probability 1/2 by one that is drawn evenly from those of the training sources, the same on both sides. What the
sides do not have in common, and the tags of the source, stay as they are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from random import Random

from anaphora.data.corpora import Pair, PairCorpus, fingerprint
from anaphora.errors import DataError
from anaphora.wording import inflect

_SHORTEST = 3
_WITH_ENDS = 5
_REPLACED = 0.5

Stems = Sequence[tuple[int, int, int]]
"""First place of each stem in the source and in the target, and its length."""


@dataclass(frozen=True)
class HallucinatedCorpus(PairCorpus):
    """Pairs, and behind them hallucinated ones."""

    more: tuple[Pair, ...] = ()

    def lines(self) -> Iterator[Pair | None]:
        """Yield the pair of every line of the files, None for a line that is left out; then the others."""
        yield from super().lines()
        yield from self.more


def hallucinate_pairs(corpus: PairCorpus, count: int, seed: int) -> HallucinatedCorpus:
    """``corpus`` with ``count`` pairs that are drawn from it, a function of it, ``count`` and ``seed``.

    Raises DataError for a corpus in which no pair has a stem.
    """
    alphabet: set[str] = set()
    stemmed: list[tuple[Pair, Stems]] = []
    for source, target in corpus:
        string = source.partition("\t")[0]
        alphabet.update(string)
        if found := stems(string, target):
            stemmed.append(((source, target), found))
    if not stemmed:
        raise DataError(
            f"data.hallucinate replaces what source and target have in common, but no pair of {corpus.name} has "
            f"{inflect(_SHORTEST, 'character')} in common: leave it out."
        )
    letters, draw = sorted(alphabet - {" "}), Random(f"hallucinate {seed}")
    more = tuple(_other(*draw.choice(stemmed), letters, draw) for _ in range(count))
    digest = fingerprint((), corpus.fingerprint, "hallucinated", count, seed)
    return HallucinatedCorpus(
        corpus.name, corpus.files, digest, corpus.count + count, corpus.keep, corpus.filters, more
    )


def stems(source: str, target: str) -> Stems:
    """Return the runs that both strings have in common, in their order."""
    blocks = SequenceMatcher(None, source, target, autojunk=False).get_matching_blocks()
    return [(block.a, block.b, block.size) for block in blocks if block.size >= _SHORTEST]


def _other(pair: Pair, found: Stems, letters: Sequence[str], draw: Random) -> Pair:
    source, target = list(pair[0]), list(pair[1])
    for in_source, in_target, size in found:
        ends = int(size >= _WITH_ENDS)
        for place in range(ends, size - ends):
            if source[in_source + place] != " " and draw.random() < _REPLACED:
                source[in_source + place] = target[in_target + place] = draw.choice(letters)
    return "".join(source), "".join(target)
