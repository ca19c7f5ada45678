"""Searches in few calls, for models that take many steps at once (``protocols.CompiledStepper``).

They write the tokens of a search that takes step by step, with the same scores and attention, bit for bit.
"""

from collections.abc import Sequence
from itertools import count

from anaphora.batch import Batch
from anaphora.protocols import CompiledRequest, CompiledStepper, GreedySteps, SearchStart
from anaphora.search.bounds import Bounds
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.request import OnToken, SearchRequest
from anaphora.search.trace import Trace
from anaphora.search.unroll import hypotheses_of

STEPS = 8
"""Steps of a call. Between two calls a deadline may end the search, and new tokens are reported."""


def compiled_search(
    stepper: CompiledStepper, batch: Batch, start: SearchStart, bounds: Bounds, request: SearchRequest
) -> list[list[Hypothesis]] | None:
    """Return what ``search`` returns, from ``start``, which is consumed; None where the model takes step by step.

    The request is plain, and its ranking has no coverage penalty.
    """
    lengths, max_lengths = start.memory_lengths_B.tolist(), bounds.max_lengths_B.tolist()
    if not lengths:
        return None
    asked = CompiledRequest(
        prefixes=bounds.prefixes,
        max_lengths=max_lengths,
        beam=request.beam,
        n=request.n,
        norms=request.ranking.norms(max(max_lengths)),
        lines=request.lines,
        attention=request.attention,
        banned_tokens=request.banned_tokens,
    )
    if request.beam == request.n == 1:
        steps = stepper.greedy_steps(start, asked)
        return None if steps is None else [[one] for one in _greedy(steps, batch, start, asked, stepper.eos, request)]
    beam = stepper.beam_steps(start, asked)
    if beam is None:
        return None
    trace = Trace(request.attention)
    while True:
        request.check()
        if not (taken := beam.take(STEPS)):
            break
        for weights_NS, ends, rows_N, ids_N in taken:
            trace.record(weights_NS, ends, rows_N, ids_N)
    return trace.hypotheses(lengths, request.n, stepper.eos)


def _greedy(
    steps: GreedySteps, batch: Batch, start: SearchStart, asked: CompiledRequest, eos: int, request: SearchRequest
) -> list[Hypothesis]:
    """The one output of each sentence, with its rank."""
    example_ids, prefix_lengths = batch.example_ids_B.tolist(), list(map(len, asked.prefixes))
    for first in count(0, STEPS):
        request.check()
        left = steps.take(STEPS)
        if request.on_token:
            _report(steps, first, prefix_lengths, example_ids, request.on_token)
        if not left:
            break
    found = hypotheses_of(
        steps.tokens_BT, steps.lengths_B, steps.scores_B, steps.weights_BTS, start.memory_lengths_B, eos
    )
    return [request.ranking.ranked(one) for one in found]


def _report(
    steps: GreedySteps, first: int, forced: Sequence[int], example_ids: Sequence[int], on_token: OnToken
) -> None:
    """Report the tokens of the steps from ``first`` on, in their order, but for those that were forced."""
    lengths, tokens = steps.lengths_B.tolist(), steps.tokens_BT[:, first : first + STEPS].tolist()
    for step in range(first, min(first + STEPS, max(lengths))):
        for example_id, own, length, prefix in zip(example_ids, tokens, lengths, forced, strict=True):
            if prefix <= step < length:
                on_token(example_id, own[step - first])
