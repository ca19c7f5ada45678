"""Links between the words of pairs of sentences, by what both directions have learnt (``models.alignment``).

Each direction explains every target word by one source word or none; the links of both are made into one set.
"""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from anaphora.inference.alignment.groups import LONGEST, Group, groups, locate
from anaphora.inference.alignment.hidden_markov import REACH, Posteriors, hidden_markov
from anaphora.inference.alignment.lexicon import Floats, Lexicon
from anaphora.inference.alignment.symmetrise import Symmetrise, symmetrise
from anaphora.protocols import Array

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from anaphora.data.ragged import Ragged
    from anaphora.inference.weights import Weights

BLOCK = 1 << 16
"""Pairs whose links are held at once where there may be any number of them."""


class Best(NamedTuple):
    """The most probable link of every word of one side."""

    places: Array
    """The word of the other side, by word of this side in the order of the corpus; -1 for none."""
    log_prob: float
    """ln p of this side given the other, over all pairs."""
    words: int
    """Words of this side that were linked or left out; those of pairs that ``groups`` leaves out are not looked at."""


class Direction:
    """Target words explained by source words."""

    keys: Any
    probs: Any
    jumps: Any

    def __init__(self, config: Any, size: int, keys: Array, probs: Array, jumps: Array) -> None:
        """``config`` has the options of ``AlignerConfig``, ``size`` and the next two are those of the ``Lexicon``.

        ``jumps`` are the weights of jumps of all widths.
        """
        self.config: Any = config
        self.size, self.keys, self.probs, self.jumps = size, keys, probs, jumps

    @property
    def lexicon(self) -> Lexicon:
        """p(target word | source word)."""
        return Lexicon(np.asarray(self.keys), np.asarray(self.probs), self.size)

    def best(self, sources: Ragged, targets: Ragged) -> Best:
        """Return the most probable source word of every target word, one at a time, and how likely the targets are."""
        lexicon, jumps = self.lexicon, np.asarray(self.jumps) if self.config.hmm_iterations else None
        places, log_prob, words = np.full(len(targets.ids), -1), 0.0, 0
        starts = targets.offsets[:]
        for group in groups(sources, targets):
            links = self.links(group, lexicon.of(locate(group, lexicon)), jumps)
            likeliest_RT = links.posteriors_RTS.argmax(2)
            likeliest_RT[likeliest_RT == links.posteriors_RTS.shape[2] - 1] = -1  # the empty word
            cells_RT = starts[group.rows_R][:, None] + np.arange(likeliest_RT.shape[1])
            places[cells_RT[group.open_RT]] = likeliest_RT[group.open_RT]
            log_prob += float(links.log_probs_R.sum())
            words += int(group.lengths_R.sum())
        return Best(places, log_prob, words)

    def links(self, group: Group, probs_RTS: Floats, jumps: Floats | None) -> Posteriors:
        """Return the links of a group; ``jumps`` are None for IBM model 1."""
        if jumps is not None:
            return hidden_markov(group, probs_RTS, jumps, self.config.null_probability, self.config.jump_smoothing)
        return model_1(group, probs_RTS)


def model_1(group: Group, probs_RTS: Floats) -> Posteriors:
    """The links where every source word, the empty one among them, is as likely as any other before t is seen."""
    sums_RT1 = probs_RTS.sum(2, keepdims=True)
    posteriors_RTS = np.where(group.open_RT[:, :, None], probs_RTS / sums_RT1, 0.0)
    log_probs_RT = np.where(group.open_RT, np.log(sums_RT1[:, :, 0] / probs_RTS.shape[2]), 0.0)
    return Posteriors(posteriors_RTS, np.zeros(2 * REACH + 1), log_probs_RT.sum(1))


class Aligner:
    """Both directions."""

    longest = LONGEST
    """Words of a sentence at most; longer ones have no links."""

    def __init__(self, config: Any, to_target: Direction, to_source: Direction) -> None:
        self.config: Any = config
        self.to_target, self.to_source = to_target, to_source

    @classmethod
    def described(cls, weights: Weights, data: Mapping[str, Any]) -> Aligner:
        """Return the aligner of a description."""
        config, directions = SimpleNamespace(**data["config"]), list[Direction]()
        for names in (data["to_target"], data["to_source"]):
            keys, probs, jumps = (weights[names[name]] for name in ("keys", "probs", "jumps"))
            if len(keys) != len(probs) or len(jumps) != 2 * REACH + 1:
                raise ValueError("a direction with lists of other lengths")
            directions.append(Direction(config, names["size"], keys, probs, jumps))
        return cls(config, *directions)

    def links(self, sources: Ragged, targets: Ragged, how: Symmetrise) -> list[frozenset[tuple[int, int]]]:
        """Return the links (source word, target word) of every pair."""
        towards_target = by_row(self.to_target.best(sources, targets).places, targets)
        towards_source = by_row(self.to_source.best(targets, sources).places, sources)
        return [
            symmetrise(
                {(i, j) for j, i in enumerate(to_target) if i >= 0},
                {(i, j) for i, j in enumerate(to_source) if j >= 0},
                how,
            )
            for to_target, to_source in zip(towards_target, towards_source, strict=True)
        ]

    def align_each(
        self, sources: Ragged, targets: Ragged, how: Symmetrise | None = None
    ) -> Iterator[frozenset[tuple[int, int]]]:
        """Yield the ``links`` of any number of pairs, a block of them at a time; ``how`` is None for the usual way."""
        how = how or self.config.symmetrization
        for start in range(0, len(sources), BLOCK):
            yield from self.links(sources.slice(start, start + BLOCK), targets.slice(start, start + BLOCK), how)


def by_row(places: Array, words: Ragged) -> Iterator[list[int]]:
    """Return the ids of the words of every row."""
    offsets = words.offsets[:].tolist()
    return (places[start:end].tolist() for start, end in pairwise(offsets))
