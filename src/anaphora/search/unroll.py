"""One hypothesis a sentence, read to its end: the loop that sampling, greedy search and forced decoding share."""

from collections.abc import Callable

import numpy as np

from anaphora.kernels.log_probs import to_host
from anaphora.protocols import Array, DeviceArray, SearchStart, Stepper
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.request import SearchRequest, advance

Choose = Callable[[int, Array, DeviceArray], tuple[Array, Array]]
"""Function from a step, the live sentences and their log-probabilities (B x V) to next tokens, and a mask of those
that are the last of their sentence."""


def unroll(
    stepper: Stepper, start: SearchStart, choose: Choose, max_length: int, request: SearchRequest
) -> list[Hypothesis]:
    """Read the tokens of ``choose`` until every sentence has ended, at most ``max_length`` tokens each.

    Scores are the Stepper's own log-probabilities of these tokens, whatever they were chosen by. Of ``request``,
    ``attention``, ``banned_tokens`` and ``check`` have an effect.
    """
    memory, state, memory_lengths_B = start
    sentences = len(memory_lengths_B)
    ids_BT, steps_B = (np.zeros(shape, dtype=np.int64) for shape in ((sentences, max_length), sentences))
    scores_B = np.zeros(sentences)
    weights: list[tuple[Array, Array | None]] = []
    live_B, chosen_B = np.arange(sentences), np.full(sentences, stepper.bos)
    for step in range(max_length):
        read = advance(stepper, memory, state, chosen_B, request)
        chosen_B, last_B = choose(step, live_B, read.log_probs_NV)
        scores_B[live_B] += to_host(read.log_probs_NV[np.arange(len(chosen_B)), chosen_B])
        ids_BT[live_B, step] = chosen_B
        steps_B[live_B] += 1
        weights.append((live_B, read.weights_NS if request.attention else None))
        state = read.state
        if last_B.any():
            kept_B = np.flatnonzero(~last_B)
            if not len(kept_B):
                break
            live_B, chosen_B = live_B[kept_B], chosen_B[kept_B]
            memory, state = stepper.keep(memory, kept_B), stepper.select(state, kept_B)
    return hypotheses_of(ids_BT, steps_B, scores_B, _gather(weights, sentences), memory_lengths_B, stepper.eos)


def _gather(weights: list[tuple[Array, Array | None]], sentences: int) -> Array | None:
    """Return the attention of all steps as [B, T, S], zero where a sentence had ended."""
    if not weights or weights[0][1] is None:
        return None
    weights_BTS = np.zeros((sentences, len(weights), weights[0][1].shape[1]), dtype=np.float32)
    for step, (live_B, weights_NS) in enumerate(weights):
        if weights_NS is not None:
            weights_BTS[live_B, step] = weights_NS
    return weights_BTS


def hypotheses_of(
    ids_BT: Array, steps_B: Array, scores_B: Array, weights_BTS: Array | None, memory_lengths_B: Array, eos: int
) -> list[Hypothesis]:
    """The hypotheses of what was written: ids, number and score of the tokens of each sentence, and their attention."""
    found = []
    columns = (ids_BT.tolist(), steps_B.tolist(), scores_B.tolist(), memory_lengths_B.tolist())
    for b, (ids, steps, score, positions) in enumerate(zip(*columns, strict=True)):
        weights = None if weights_BTS is None else weights_BTS[b, :steps, :positions].copy()
        found.append(Hypothesis.of(ids[:steps], eos, score, score, weights))
    return found
