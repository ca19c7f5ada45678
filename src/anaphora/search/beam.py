"""Beam search over any Stepper, all sentences and hypotheses of a batch side by side.

Every step takes the ``size`` best continuations of a sentence. Those that end in ``</s>`` are finished; the others stay
live. The result are the ``n`` best hypotheses that were ever finished. A beam of one is greedy search, a beam as wide
as the tree exhaustive search.

The search of a sentence stops early where that is proved to change nothing. ``Ranking.bound`` says how far a live
hypothesis can still rise; one that cannot rise above the ``n`` best finished ones is hopeless, with all that grows from
it, and a sentence without another is done. A beam by score alone drops hopeless hypotheses one by one. The place of
such a one goes to a continuation that the full beam pruned because ``size`` others were at least as good, the hopeless
one among them: so it is hopeless too, and never in the result.
"""

from math import inf
from typing import Any, NamedTuple

import numpy as np

from anaphora.errors import ConfigError
from anaphora.protocols import Array, BeamEnds, DeviceArray, SearchStart, Step, Stepper
from anaphora.search.bounds import Bounds, ForcedSentences
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.ranking import coverage_penalty
from anaphora.search.request import SearchRequest, advance
from anaphora.search.selection import KeptContinuations, Pool
from anaphora.search.steering import SteeredRows
from anaphora.search.trace import Trace


def beam(stepper: Stepper, start: SearchStart, bounds: Bounds, request: SearchRequest) -> list[list[Hypothesis]]:
    """Return the best hypotheses of every sentence from ``start``, which is consumed: see ``search.search``."""
    search = _Search(stepper, bounds, request, start.memory_lengths_B)
    live = search.start(start)
    step = 0
    while len(live.sentences_B):
        live = search.step(live, step)
        step += 1
    lengths, diversity = start.memory_lengths_B.tolist(), request.diversity
    if diversity is None:
        return search.trace.hypotheses(lengths, request.n, stepper.eos)
    of_groups = [length for length in lengths for _ in range(diversity.groups)]
    return diversity.join(search.trace.hypotheses(of_groups, request.n, stepper.eos), request.n)


class _Live(NamedTuple):
    """The sentences that are not done yet, and their rows; a row that cannot be continued has the score -inf."""

    sentences_B: Array
    memory: Any
    state: Any
    ids_N: Array
    scores_BK: Array
    """float64: ln p by the model."""
    best_Bn: Array
    """The ranks of the n best finished hypotheses so far, best first."""
    steered: SteeredRows
    coverage_NS: Array | None
    """The attention that each position got in all; None where hypotheses are not ranked by it."""


class _Search:
    def __init__(self, stepper: Stepper, bounds: Bounds, request: SearchRequest, memory_lengths_B: Array) -> None:
        self.stepper, self.bounds, self.request = stepper, bounds, request
        self.size, self.n, self.ranking, self.diversity = request.beam, request.n, request.ranking, request.diversity
        self.memory_lengths_B, self.trace = memory_lengths_B, Trace(request.attention)

    def start(self, start: SearchStart) -> _Live:
        """Return one row a sentence, before any token was read."""
        lengths_B = start.memory_lengths_B
        sentences_B = np.arange(len(lengths_B))
        return _Live(
            sentences_B=sentences_B,
            memory=start.memory,
            state=start.state,
            ids_N=np.full_like(lengths_B, self.stepper.bos),
            scores_BK=np.zeros((len(lengths_B), 1)),
            best_Bn=np.full((len(lengths_B), self.n), -inf),
            steered=SteeredRows.start(self.request.steering, sentences_B),
            coverage_NS=None,
        )

    def step(self, live: _Live, step: int) -> _Live:
        """Read one token a row, take the best continuations, and drop the sentences that are done."""
        read = advance(self.stepper, live.memory, live.state, live.ids_N, self.request)
        forced = self.bounds.forced_at(step, live.sentences_B)
        found = self._continuations(live, read.log_probs_NV, forced)
        if read.candidates_BC is not None:
            ids_BK = read.candidates_BC[np.arange(len(forced.mask_B))[:, None], found.ids_BK]
            found = found._replace(ids_BK=np.where(ids_BK < self.stepper.size, ids_BK, self.stepper.eos))
        coverage_NS = self._coverage(live, read)

        possible_BK = found.scores_BK > -inf
        finished_BK = (found.ids_BK == self.stepper.eos) & possible_BK & ~forced.mask_B[:, None]
        inputs_B, uncovered_BK = self._input_lengths(live), self._uncovered_penalty(live, coverage_NS, found)
        ranks_BK = self.ranking.of(found.scores_BK, step + 1, inputs_B, uncovered_BK)
        ended_BK = np.where(finished_BK, ranks_BK, -inf)
        best_Bn = -np.sort(-np.concatenate([live.best_Bn, ended_BK], axis=1), axis=1)[:, : self.n]
        scores_BK = np.where(finished_BK, -inf, found.scores_BK)
        hopeful_BK = self._hopeful(live, scores_BK, best_Bn)
        hopeful_BK[:, 0] |= forced.mask_B
        done_B = ~hopeful_BK.any(axis=1) | self.bounds.at_end(step, live.sentences_B)

        # A sentence that is done without a finished hypothesis returns its unfinished ones: at least its first row.
        cut_BK = possible_BK.copy()
        cut_BK[:, 0] = True
        cut_BK &= (done_B & (best_Bn[:, 0] == -inf))[:, None]
        ends = self._ends(live, found, ranks_BK, finished_BK | cut_BK)
        kept_B = np.flatnonzero(~done_B)
        order_BK = self._select(live, hopeful_BK[kept_B])
        kept_B1 = kept_B[:, None]
        rows_N, ids_N = (x[kept_B1, order_BK].ravel() for x in (found.rows_BK, found.ids_BK))
        self.trace.record(read.weights_NS, ends, rows_N, ids_N)
        return _Live(
            sentences_B=live.sentences_B[kept_B],
            memory=self.stepper.keep(live.memory, kept_B) if done_B.any() else live.memory,
            state=self.stepper.select(read.state, rows_N),
            ids_N=ids_N,
            scores_BK=scores_BK[kept_B1, order_BK],
            best_Bn=best_Bn[kept_B],
            steered=live.steered.extend(rows_N, ids_N),
            coverage_NS=None if coverage_NS is None else coverage_NS[rows_N],
        )

    def _input_lengths(self, live: _Live) -> Array:
        return self.memory_lengths_B[live.sentences_B]

    def _continuations(self, live: _Live, log_probs_NV: DeviceArray, forced: ForcedSentences) -> KeptContinuations:
        """Return the continuations that the beam keeps."""
        pool = Pool.of(live.scores_BK, log_probs_NV, self.size, forced, live.steered)
        if self.diversity is not None:
            return self.diversity.chosen(pool, self.size, log_probs_NV.shape[1])
        return pool.allocate(self.size, live.steered) if live.steered.allocates_beam else pool.best(self.size)

    def _hopeful(self, live: _Live, scores_BK: Array, best_Bn: Array) -> Array:
        """Return a mask of the live hypotheses that may still lead to a result."""
        if self.diversity is not None:
            return scores_BK > -inf
        bound_BK = self.ranking.bound(scores_BK, self.bounds.max_lengths_B[live.sentences_B])
        return bound_BK > best_Bn[:, -1:]

    def _select(self, live: _Live, hopeful_BK: Array) -> Array:
        """The places of the hypotheses that are continued: as many of each sentence, so hopeless ones may be left."""
        if live.steered.allocates_beam or self.diversity is not None or not len(hopeful_BK):
            return np.broadcast_to(np.arange(hopeful_BK.shape[1]), hopeful_BK.shape)
        most = int(hopeful_BK.sum(axis=1).max())
        return (~hopeful_BK).argsort(axis=1, kind="stable")[:, :most]

    def _ends(self, live: _Live, found: KeptContinuations, ranks_BK: Array, ended_BK: Array) -> BeamEnds:
        b, k = ended_BK.nonzero()
        owners_M = live.sentences_B[b]
        if self.diversity is not None:
            owners_M = owners_M * self.diversity.groups + k * self.diversity.groups // self.size
        return BeamEnds(owners_M, found.rows_BK[b, k], found.ids_BK[b, k], found.scores_BK[b, k], ranks_BK[b, k])

    def _coverage(self, live: _Live, read: Step) -> Array | None:
        if not self.ranking.coverage_penalty:
            return None
        if read.weights_NS is None:
            raise ConfigError(
                "A coverage penalty counts the attention that each source position gets, but this model has none: "
                "leave it out."
            )
        weights_NS = read.weights_NS.astype(np.float64)
        return weights_NS if live.coverage_NS is None else live.coverage_NS + weights_NS

    def _uncovered_penalty(self, live: _Live, coverage_NS: Array | None, found: KeptContinuations) -> Array | None:
        """ln of how little of its source each continuation has covered; None where that does not count."""
        if coverage_NS is None:
            return None
        lengths_B = self._input_lengths(live)
        lengths_N = lengths_B.repeat(len(coverage_NS) // len(lengths_B))
        return coverage_penalty(coverage_NS, lengths_N)[found.rows_BK]
