"""Beam search over any Stepper, all sentences and hypotheses of a batch side by side.

Every step takes the ``size`` best continuations of a sentence. Those that end in ``</s>`` are finished; the others stay
live. The result is the best hypothesis that was ever finished, so a sentence is done as soon as no live hypothesis can
beat it: log-probabilities only fall. A beam of one is greedy search, a beam as wide as the tree exhaustive search.
"""

from collections import abc
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, inf

from anaphora.batch import Batch
from anaphora.errors import ConfigError
from anaphora.protocols import SearchStart, Stepper
from anaphora.search.bounds import Bounds
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.ranking import top_k
from anaphora.search.trace import Ends, Trace

LARGEST = 1_000
"""Maximum beam size. Each hypothesis takes the scores of a whole vocabulary at every step, 200 MB in all for 50,000
words; and translations get worse long before (Koehn and Knowles 2017, section 3.6)."""


def check_size(size: int, what: str = "A beam") -> None:
    """Raise ConfigError for a beam of no hypothesis, or of more than ``LARGEST``."""
    if not 1 <= size <= LARGEST:
        raise ConfigError(
            f"{what} should be at least 1 and at most {LARGEST:,}, as each hypothesis takes the scores of a whole "
            f"vocabulary, but is {size:,}: change it."
        )


@torch.no_grad()
def beam(
    stepper: Stepper,
    batch: Batch,
    *,
    size: int = 5,
    max_length: int | abc.Sequence[int],
    length_penalty: float = 0.0,
    attention: bool = True,
) -> list[list[Hypothesis]]:
    """The best hypotheses of every sentence, at least one and at most ``size``, best first.

    Every hypothesis begins with the prefix that ``batch.constraints`` gives its sentence. ``max_length`` counts the
    predicted tokens, ``</s>`` included; unfinished hypotheses are returned only for a sentence without a finished one.
    With ``length_penalty`` a > 0, hypotheses are ranked by score / ((5 + T) / 6)^a (Wu et al. 2016, equation 14).
    Without ``attention``, the hypotheses have no weights. Raises ConfigError as ``check_size``, for a length below 1,
    and for a penalty that is negative or not finite.
    """
    check_size(size)
    if not 0 <= length_penalty < inf:
        raise ConfigError(f"A length penalty should be at least 0 and finite, but is {length_penalty}: change it.")
    start = stepper.start(batch)
    memory_lengths_B = start.memory_lengths_B
    bounds = Bounds.of(batch.constraints.prefixes, max_length, len(memory_lengths_B)).to(memory_lengths_B.device)
    search = _Search(stepper, bounds, size, length_penalty, Trace(attention))
    live = search.start(start)
    step = 0
    while len(live.sentences_B):
        live = search.step(live, step)
        step += 1
    return search.trace.hypotheses(memory_lengths_B.tolist(), size, stepper.eos)


class _Live(NamedTuple):
    """The sentences that are not done yet, and their rows; a row that cannot be continued has the score -inf."""

    sentences_B: Tensor
    memory: Any
    state: Any
    ids_N: Tensor
    scores_BK: Tensor
    best_B: Tensor
    """The rank of the best finished hypothesis so far."""


class _Found(NamedTuple):
    """The best continuations of every sentence, best first."""

    scores_BK: Tensor
    rows_BK: Tensor
    ids_BK: Tensor


@dataclass(frozen=True)
class _Search:
    stepper: Stepper
    bounds: Bounds
    size: int
    length_penalty: float
    trace: Trace

    def start(self, start: SearchStart) -> _Live:
        """One row a sentence, before any token was read."""
        lengths_B = start.memory_lengths_B
        scores_BK = torch.zeros(len(lengths_B), 1, dtype=torch.float64, device=lengths_B.device)
        return _Live(
            sentences_B=torch.arange(len(lengths_B), device=lengths_B.device),
            memory=start.memory,
            state=start.state,
            ids_N=torch.full_like(lengths_B, self.stepper.bos),
            scores_BK=scores_BK,
            best_B=torch.full_like(scores_BK[:, 0], -torch.inf),
        )

    def step(self, live: _Live, step: int) -> _Live:
        """Read one token a row, take the best continuations, and drop the sentences that are done."""
        read = self.stepper.advance(live.memory, live.state, live.ids_N)
        forced_B, forced_ids_B = self.bounds.forced(step, live.sentences_B)
        found = self._continuations(live.scores_BK, read.log_probs_NV, forced_B, forced_ids_B)

        possible_BK = found.scores_BK > -torch.inf
        finished_BK = (found.ids_BK == self.stepper.eos) & possible_BK & ~forced_B[:, None]
        ranks_BK = found.scores_BK / self._penalty(torch.tensor(step + 1.0))
        best_B = torch.maximum(live.best_B, ranks_BK.masked_fill(~finished_BK, -torch.inf).amax(dim=1))
        scores_BK = found.scores_BK.masked_fill(finished_BK, -torch.inf)
        bound_B = scores_BK.amax(dim=1) / self._penalty(self.bounds.max_lengths_B[live.sentences_B])
        done_B = (bound_B <= best_B) & ~forced_B | self.bounds.at_end(step, live.sentences_B)

        # A sentence that is done without a finished hypothesis returns its unfinished ones: at least its first row.
        cut_BK = possible_BK.clone()
        cut_BK[:, 0] = True
        cut_BK &= (done_B & (best_B == -torch.inf))[:, None]
        b, k = (finished_BK | cut_BK).nonzero(as_tuple=True)
        ends = Ends(live.sentences_B[b], found.rows_BK[b, k], found.ids_BK[b, k], found.scores_BK[b, k], ranks_BK[b, k])
        kept_B = (~done_B).nonzero().squeeze(1)
        rows_N, ids_N = found.rows_BK[kept_B].flatten(), found.ids_BK[kept_B].flatten()
        self.trace.record(read.weights_NS, ends, rows_N, ids_N)
        return _Live(
            sentences_B=live.sentences_B[kept_B],
            memory=self.stepper.keep(live.memory, kept_B) if done_B.any() else live.memory,
            state=self.stepper.select(read.state, rows_N),
            ids_N=ids_N,
            scores_BK=scores_BK[kept_B],
            best_B=best_B[kept_B],
        )

    def _continuations(self, scores_BK: Tensor, log_probs_NV: Tensor, forced_B: Tensor, forced_ids_B: Tensor) -> _Found:
        """The ``size`` best continuations of every sentence; ties go to the lower row, then to the lower id."""
        sentences, hypotheses = scores_BK.shape
        # No sentence can use more than `size` continuations of one row, and the order within a row is the same
        # before the row's score is added: so float32 rows are cut first, and only the rest is summed.
        values_NK, ids_NK = top_k(log_probs_NV, 1 if forced_B.all() else self.size)
        values_NK = values_NK.double()
        if forced_B.any():
            forced_N, forced_ids_N = (x.repeat_interleave(hypotheses) for x in (forced_B, forced_ids_B))
            value_N = log_probs_NV.gather(1, forced_ids_N[:, None]).squeeze(1).double()
            values_NK[forced_N] = -torch.inf
            values_NK[:, 0] = torch.where(forced_N, value_N, values_NK[:, 0])
            ids_NK = torch.where(forced_N[:, None], forced_ids_N[:, None], ids_NK)
        totals_BC = (scores_BK.reshape(-1, 1) + values_NK).view(sentences, -1)
        totals_BC, order_BC = totals_BC.sort(dim=1, descending=True, stable=True)
        order_BK = order_BC[:, : self.size]
        rows_B1 = torch.arange(sentences, device=order_BK.device)[:, None] * hypotheses
        rows_BK = rows_B1 + order_BK.div(values_NK.shape[1], rounding_mode="floor")
        return _Found(totals_BC[:, : self.size], rows_BK, ids_NK.view(sentences, -1).gather(1, order_BK))

    def _penalty(self, length: Tensor) -> Tensor:
        return ((5 + length.double()) / 6) ** self.length_penalty
