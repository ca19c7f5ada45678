"""Searches in few calls, for models that take many steps at once (``CompiledStepper``).

They write the tokens of a search that takes step by step, with the same scores and attention, bit for bit.
"""

from itertools import count
from typing import Protocol, runtime_checkable

from anaphora.batch import Batch
from anaphora.kernels.compiled.beam import MOST, BeamDecoding
from anaphora.kernels.greedy_decoding import GreedyDecoding
from anaphora.kernels.search_step import SearchedNetwork
from anaphora.protocols import CompiledRequest, SearchStart, Stepper
from anaphora.search.bounds import Bounds
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.request import SearchRequest
from anaphora.search.trace import Trace
from anaphora.search.unroll import hypotheses_of

STEPS = 8
"""Steps of a call. Between two calls a deadline may end the search, and new tokens are reported."""


@runtime_checkable
class CompiledStepper(Stepper, Protocol):
    """A Stepper whose network may take many steps of a search in one call, with the bits of single steps.

    Where the constraints of a batch are ``narrow``, its steps are over the candidates of each sentence alone.
    """

    def lower(self, start: SearchStart) -> SearchedNetwork | None:
        """Return the network from ``start``, which is consumed; None where its steps have to be taken one by one."""


def compiled_search(
    stepper: CompiledStepper, batch: Batch, start: SearchStart, bounds: Bounds, request: SearchRequest
) -> list[list[Hypothesis]] | None:
    """Return what ``search`` returns, from ``start``, which is consumed; None where the model takes step by step.

    The request is plain, and its ranking has no coverage penalty.
    """
    lengths, max_lengths = start.memory_lengths_B.tolist(), bounds.max_lengths_B.tolist()
    searched = stepper.lower(start) if lengths and request.beam <= MOST else None
    if searched is None:
        return None
    asked = CompiledRequest(
        prefixes=bounds.prefixes,
        max_lengths=max_lengths,
        beam=request.beam,
        n=request.n,
        norms=request.ranking.norms(max(max_lengths)),
        log_lengths_BT=request.ranking.log_lengths(start.memory_lengths_B, max(max_lengths)),
        lines=request.lines,
        attention=request.attention,
        banned_tokens=request.banned_tokens,
    )
    if request.beam == request.n == 1:
        return [[one] for one in _greedy(searched, batch, start, asked, request)]
    beam = BeamDecoding(searched, asked)
    trace = Trace(request.attention)
    while True:
        request.check()
        if not (taken := beam.take(STEPS)):
            break
        for step in taken:
            trace.record(*step)
    return trace.hypotheses(lengths, request.n, stepper.eos)


def _greedy(
    searched: SearchedNetwork, batch: Batch, start: SearchStart, asked: CompiledRequest, request: SearchRequest
) -> list[Hypothesis]:
    """The one output of each sentence, with its rank; its tokens are reported, but for those that were forced."""
    steps = GreedyDecoding(searched, asked)
    example_ids, prefix_lengths = batch.example_ids_B.tolist(), list(map(len, asked.prefixes))
    for first in count(0, STEPS):
        request.check()
        left = steps.take(STEPS)
        if request.on_token:
            lengths, tokens = steps.lengths_B.tolist(), steps.tokens_BT[:, first : first + STEPS].tolist()
            for step in range(first, min(first + STEPS, max(lengths))):
                for example_id, own, length, prefix in zip(example_ids, tokens, lengths, prefix_lengths, strict=True):
                    if prefix <= step < length:
                        request.on_token(example_id, own[step - first])
        if not left:
            break
    found = hypotheses_of(
        steps.tokens_BT, steps.lengths_B, steps.scores_B, steps.weights_BTS, start.memory_lengths_B, searched.eos
    )
    return [request.ranking.rank(*one) for one in zip(found, start.memory_lengths_B.tolist(), strict=True)]
