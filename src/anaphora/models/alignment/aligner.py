"""Word alignments learnt from pairs of sentences alone, in both directions.

Each direction explains every target word by one source word or none: first by IBM model 1 (Brown et al. 1993), whose
links do not depend on each other, then by the HMM, both by expectation and maximisation. It is not trained but counted
(``fit``), and what it learnt has as many numbers as the text has different pairs of words: ``allocate`` gives a new
one the shape of one that was saved.
"""

from collections.abc import Mapping

import numpy as np
import torch
from pydantic import Field
from torch import nn

from anaphora.config import Config
from anaphora.data.buckets import shuffle
from anaphora.data.columns import Integers
from anaphora.data.ragged import Ragged
from anaphora.events import Note, Progress, Report, Skipped, silent
from anaphora.inference.alignment import links
from anaphora.inference.alignment.groups import LONGEST, groups, has_both_sides, locate, seen
from anaphora.inference.alignment.hidden_markov import REACH
from anaphora.inference.alignment.lexicon import Lexicon
from anaphora.inference.alignment.symmetrise import Symmetrise
from anaphora.nn.weights import demand_lists
from anaphora.protocols import VocabularyInfo
from anaphora.wording import inflect


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


class Direction(links.Direction, nn.Module):
    """Target words explained by source words."""

    def __init__(self, config: AlignerConfig, size: int) -> None:
        """``size`` of the target's vocabulary."""
        nn.Module.__init__(self)
        self.config, self.size = config, size
        self.register_buffer("keys", torch.zeros(0, dtype=torch.int64))
        self.register_buffer("probs", torch.zeros(0, dtype=torch.float64))
        self.register_buffer("jumps", torch.ones(2 * REACH + 1, dtype=torch.float64))

    def fit(self, sources: Ragged, targets: Ragged, task: str, report: Report = silent) -> None:
        """Learn from pairs, all of them at once; memory holds 4 bytes for every possible link, and what is seen."""
        rounds = self.config.model1_iterations + self.config.hmm_iterations
        lexicon = Lexicon.even(seen(sources, targets, self.size), self.size)
        laid_out = [(group, locate(group, lexicon)) for group in groups(sources, targets)]
        report(Progress(task, 0, rounds, "rounds"))
        jumps = self.jumps.numpy()
        for number in range(1, rounds + 1):
            by_jumps = number > self.config.model1_iterations
            counts, next_jumps = np.zeros(len(lexicon.keys) + 1), np.zeros_like(jumps)
            for group, entries_RTS in laid_out:
                found = self.links(group, lexicon.of(entries_RTS), jumps if by_jumps else None)
                counts += np.bincount(entries_RTS.ravel() + 1, found.posteriors_RTS.ravel(), len(counts))
                next_jumps += found.jumps
            lexicon = lexicon.maximise(counts[1:])
            jumps = next_jumps if by_jumps else jumps
            report(Progress(task, number, rounds, "rounds"))
        learnt = lexicon.prune()
        self.keys, self.probs, self.jumps = map(torch.from_numpy, (learnt.keys, learnt.probs, jumps))


class Aligner(links.Aligner, nn.Module):
    """Both directions."""

    to_target: Direction
    to_source: Direction

    def __init__(self, config: AlignerModelConfig, source: VocabularyInfo, target: VocabularyInfo) -> None:
        """An empty model, until ``fit`` or ``allocate``."""
        nn.Module.__init__(self)
        self.config = config.aligner
        self.to_target = Direction(self.config, target.size)
        self.to_source = Direction(self.config, source.size)

    def initialise(self, seed: int) -> None:
        """Draw nothing: every link is equally likely at first."""

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

    def allocate(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Take the shape of a saved model, for its numbers to be filled in."""
        for side, direction in (("to_target", self.to_target), ("to_source", self.to_source)):
            demand_lists(shapes, [f"{side}.{name}" for name in ("keys", "probs")])
            for name in ("keys", "probs"):
                if f"{side}.{name}" in shapes:
                    setattr(direction, name, direction.get_buffer(name).new_zeros(shapes[f"{side}.{name}"]))


def even_sample(sources: Ragged, targets: Ragged, most: int) -> Integers:
    """Return rows in order, as many as have ``most`` possible links together, at least one; all of them where they fit.

    The same lengths give the same sample, with every version of every library.
    """
    widths, heights = sources.lengths, targets.lengths
    links_N = np.where(has_both_sides(widths, heights), (widths + 1) * (heights + 1), 0)
    order_N = shuffle(len(links_N), 0)
    kept = int(np.searchsorted(links_N[order_N].cumsum(), most, side="right"))
    return np.sort(order_N[: max(1, kept)])
