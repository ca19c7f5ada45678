"""Word alignments learnt from pairs of sentences alone, in both directions.

Each direction explains every target word by one source word or none: first by IBM model 1 (Brown et al. 1993), whose
links do not depend on each other, then by the HMM, both by expectation and maximisation. It is not trained but counted
(``fit``), and what it learnt has as many numbers as the text has different pairs of words: ``allocate`` gives a new
one the shape of one that was saved.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from pydantic import Field
from torch import nn

from anaphora.config import Config
from anaphora.data.columns import Integers
from anaphora.data.ragged import Ragged
from anaphora.events import Note, Progress, Report, Skipped, silent
from anaphora.models.alignment.groups import LONGEST, Group, even_sample, groups, locate, seen
from anaphora.models.alignment.hidden_markov import REACH, Posteriors, hidden_markov
from anaphora.models.alignment.lexicon import Floats, Lexicon
from anaphora.models.alignment.symmetrise import Symmetrise, symmetrise
from anaphora.nn.weights import demand_lists
from anaphora.protocols import VocabularyInfo
from anaphora.wording import inflect

BLOCK = 1 << 16
"""Pairs whose links are held at once where there may be any number of them."""


class AlignerConfig(Config):
    """Training of links."""

    model1_iterations: int = Field(5, ge=1)
    """Rounds of IBM model 1."""
    hmm_iterations: int = Field(5, ge=0)
    """Rounds of the HMM after them; 0 leaves it at IBM model 1."""
    null_probability: float = Field(0.2, gt=0, lt=1)
    """Probability that a target word of the HMM has no source word."""
    jump_smoothing: float = Field(0.2, gt=0, lt=1)
    """Probability mass of the HMM's jumps that is spread evenly over all distances."""
    symmetrization: Symmetrise = "grow-diag-final-and"
    """Symmetrisation of the links of both directions, where a call does not choose one."""
    max_word_pairs: int = Field(100_000_000, ge=1)
    """Possible links, a word with a word of its pair, that memory holds while links are learnt, up to 32 bytes each;
    where the pairs have more together, an even sample of them is learnt from."""


class AlignerModelConfig(Config):
    """The table of an aligner."""

    aligner: AlignerConfig = AlignerConfig()
    """Training of links."""


class Best(NamedTuple):
    """The most probable link of every word of one side."""

    places: Integers
    """The word of the other side, by word of this side in the order of the corpus; -1 for none."""
    log_prob: float
    """ln p of this side given the other, over all pairs."""
    words: int
    """Words of this side that were linked or left out; those of pairs that ``groups`` leaves out are not looked at."""


class Direction(nn.Module):
    """Target words explained by source words."""

    keys: torch.Tensor
    probs: torch.Tensor
    jumps: torch.Tensor

    def __init__(self, config: AlignerConfig, size: int) -> None:
        """``size`` of the target's vocabulary."""
        super().__init__()
        self.config, self._size = config, size
        self.register_buffer("keys", torch.zeros(0, dtype=torch.int64))
        self.register_buffer("probs", torch.zeros(0, dtype=torch.float64))
        self.register_buffer("jumps", torch.ones(2 * REACH + 1, dtype=torch.float64))

    def fit(self, sources: Ragged, targets: Ragged, task: str, report: Report = silent) -> None:
        """Learn from pairs, all of them at once; memory holds 4 bytes for every possible link, and what is seen."""
        rounds = self.config.model1_iterations + self.config.hmm_iterations
        lexicon = Lexicon.even(seen(sources, targets, self._size), self._size)
        laid_out = [(group, locate(group, lexicon)) for group in groups(sources, targets)]
        report(Progress(task, 0, rounds, "rounds"))
        jumps = self.jumps.numpy()
        for number in range(1, rounds + 1):
            by_jumps = number > self.config.model1_iterations
            counts, next_jumps = np.zeros(len(lexicon.keys) + 1), np.zeros_like(jumps)
            for group, entries_RTS in laid_out:
                links = self._links(group, lexicon.of(entries_RTS), jumps if by_jumps else None)
                counts += np.bincount(entries_RTS.ravel() + 1, links.posteriors_RTS.ravel(), len(counts))
                next_jumps += links.jumps
            lexicon = lexicon.maximise(counts[1:])
            jumps = next_jumps if by_jumps else jumps
            report(Progress(task, number, rounds, "rounds"))
        learnt = lexicon.prune()
        self.keys, self.probs, self.jumps = map(torch.from_numpy, (learnt.keys, learnt.probs, jumps))

    def best(self, sources: Ragged, targets: Ragged) -> Best:
        """Return the most probable source word of every target word, one at a time, and how likely the targets are."""
        lexicon, jumps = self.lexicon, self.jumps.numpy() if self.config.hmm_iterations else None
        places, log_prob, words = np.full(len(targets.ids), -1), 0.0, 0
        starts = targets.offsets[:]
        for group in groups(sources, targets):
            links = self._links(group, lexicon.of(locate(group, lexicon)), jumps)
            likeliest_RT = links.posteriors_RTS.argmax(2)
            likeliest_RT[likeliest_RT == links.posteriors_RTS.shape[2] - 1] = -1  # the empty word
            cells_RT = starts[group.rows_R][:, None] + np.arange(likeliest_RT.shape[1])
            places[cells_RT[group.open_RT]] = likeliest_RT[group.open_RT]
            log_prob += float(links.log_probs_R.sum())
            words += int(group.lengths_R.sum())
        return Best(places, log_prob, words)

    @property
    def lexicon(self) -> Lexicon:
        """p(target word | source word)."""
        return Lexicon(self.keys.numpy(), self.probs.numpy(), self._size)

    def _links(self, group: Group, probs_RTS: Floats, jumps: Floats | None) -> Posteriors:
        if jumps is not None:
            return hidden_markov(group, probs_RTS, jumps, self.config.null_probability, self.config.jump_smoothing)
        return model_1(group, probs_RTS)


def model_1(group: Group, probs_RTS: Floats) -> Posteriors:
    """The links where every source word, the empty one among them, is as likely as any other before t is seen."""
    sums_RT1 = probs_RTS.sum(2, keepdims=True)
    posteriors_RTS = np.where(group.open_RT[:, :, None], probs_RTS / sums_RT1, 0.0)
    log_probs_RT = np.where(group.open_RT, np.log(sums_RT1[:, :, 0] / probs_RTS.shape[2]), 0.0)
    return Posteriors(posteriors_RTS, np.zeros(2 * REACH + 1), log_probs_RT.sum(1))


class Aligner(nn.Module):
    """Both directions."""

    longest = LONGEST
    """Words of a sentence at most; longer ones have no links."""

    def __init__(self, config: AlignerModelConfig, source: VocabularyInfo, target: VocabularyInfo) -> None:
        """An empty model, until ``fit`` or ``allocate``."""
        super().__init__()
        self.config = config.aligner
        self.to_target = Direction(self.config, target.size)
        self.to_source = Direction(self.config, source.size)

    def initialise(self, seed: int) -> None:
        """There is nothing to draw: every link is equally likely at first."""

    def fit(self, sources: Ragged, targets: Ragged, report: Report = silent) -> None:
        """Learn from pairs of sentences, or from an even sample where they have more possible links than ``links``."""
        longer = int((np.maximum(sources.lengths, targets.lengths) > LONGEST).sum())
        if longer:
            why = f"pairs with more than {LONGEST:,} tokens on a side are too long to learn links from"
            report(Skipped(why, longer))
        rows = even_sample(sources, targets, self.config.max_word_pairs)
        if len(rows) < len(sources):
            sample = f"an even sample of {len(rows):,} of {inflect(len(sources), 'pair')}"
            most = f"memory is to hold {self.config.max_word_pairs:,} possible links (links in the aligner's table)"
            report(Note(f"Word alignments are learnt from {sample}, since {most}."))
            sources, targets = sources.rows(rows), targets.rows(rows)
        self.to_target.fit(sources, targets, "linking source to target", report)
        self.to_source.fit(targets, sources, "linking target to source", report)

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

    def allocate(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Take the shape of a saved model, for its numbers to be filled in."""
        for side, direction in (("to_target", self.to_target), ("to_source", self.to_source)):
            demand_lists(shapes, [f"{side}.{name}" for name in ("keys", "probs")])
            for name in ("keys", "probs"):
                if f"{side}.{name}" in shapes:
                    setattr(direction, name, direction.get_buffer(name).new_zeros(shapes[f"{side}.{name}"]))


def by_row(places: Integers, words: Ragged) -> Iterator[list[int]]:
    """Return the ids of the words of every row."""
    offsets = words.offsets[:].tolist()
    return (places[start:end].tolist() for start, end in pairwise(offsets))
