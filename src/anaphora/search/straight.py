"""Searches in few calls, for models that take many steps at once (``TakesGreedySteps``, ``TakesBeamSteps``).

They write the tokens of a search that takes step by step, with the same scores and attention, bit for bit.
"""

from collections.abc import Sequence

import torch

from anaphora.protocols import (
    BeamSearch,
    GreedySearch,
    GreedySteps,
    SearchStart,
    Stepper,
    TakesBeamSteps,
    TakesGreedySteps,
)
from anaphora.search.bounds import Bounds
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.ranking import Ranking
from anaphora.search.trace import Trace
from anaphora.search.unroll import hypotheses_of
from anaphora.search.writing import OnToken, ignore_token

STEPS = 8
"""Steps of a call. Between two calls a deadline may end the search, and new tokens are reported."""


@torch.no_grad()
def straight(
    stepper: Stepper,
    start: SearchStart,
    bounds: Bounds,
    *,
    lines: int | None = 1,
    attention: bool = True,
    example_ids: Sequence[int] = (),
    on_token: OnToken = ignore_token,
) -> list[Hypothesis] | None:
    """One output a sentence from where a search starts, which it uses up; None where the model takes step by step.

    ``lines`` and ``on_token`` are those of ``greedy``, which tokens of ``example_ids`` are reported to.
    """
    if not isinstance(stepper, TakesGreedySteps) or not len(start.memory_lengths_B):
        return None
    prefixes = bounds.prefixes
    steps = stepper.greedy_steps(start, GreedySearch(prefixes, bounds.max_lengths_B.tolist(), lines, attention))
    if steps is None:
        return None
    reported = 0
    while True:
        left = steps.take(STEPS)
        if on_token is not ignore_token:
            _report(steps, reported, list(map(len, prefixes)), example_ids, on_token)
            reported += STEPS
        if not left:
            break
    return hypotheses_of(
        steps.tokens_BT, steps.lengths_B, steps.scores_B, steps.weights_BTS, start.memory_lengths_B, stepper.eos
    )


@torch.no_grad()
def straight_beam(
    stepper: Stepper, start: SearchStart, bounds: Bounds, size: int, n: int, ranking: Ranking, *, attention: bool
) -> list[list[Hypothesis]] | None:
    """What ``beam`` returns, from where a search starts, which it uses up; None where the model takes step by step.

    The arguments are those of ``beam``; the ranking has no coverage penalty.
    """
    if size == n == 1:
        greedy = straight(stepper, start, bounds, attention=attention)
        return None if greedy is None else [[ranking.ranked(one)] for one in greedy]
    if not isinstance(stepper, TakesBeamSteps) or not len(start.memory_lengths_B):
        return None
    max_lengths = bounds.max_lengths_B.tolist()
    search = BeamSearch(size, n, bounds.prefixes, max_lengths, ranking.norms(max(max_lengths)), attention)
    steps = stepper.beam_steps(start, search)
    if steps is None:
        return None
    trace = Trace(attention)
    while taken := steps.take(STEPS):
        for weights_NS, ends, rows_N, ids_N in taken:
            trace.record(weights_NS, ends, rows_N, ids_N)
    return trace.hypotheses(start.memory_lengths_B.tolist(), n, stepper.eos)


def _report(
    steps: GreedySteps, first: int, forced: Sequence[int], example_ids: Sequence[int], on_token: OnToken
) -> None:
    """The tokens of the steps from ``first`` on, in their order, but for those that were forced."""
    lengths, tokens = steps.lengths_B.tolist(), steps.tokens_BT[:, first : first + STEPS].tolist()
    for step in range(first, min(first + STEPS, max(lengths))):
        for example_id, own, length, prefix in zip(example_ids, tokens, lengths, forced, strict=True):
            if prefix <= step < length:
                on_token(example_id, own[step - first])
