"""One search for every request: in compiled code where the model and the request allow it, else step by step.

A sampled token is drawn by inversion: the first whose probability, with those of all tokens before it, exceeds a number
drawn from 0 to 1. That number is a function of (seed, example id, step), from a counter-based generator (Philox: Salmon
et al. 2011), so the sample of a sentence does not depend on the other sentences of the batch.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anaphora.batch import Batch
from anaphora.kernels.log_probs import to_host, top_k
from anaphora.protocols import Array, DeviceArray, SearchStart, Stepper
from anaphora.search.beam import beam
from anaphora.search.bounds import Bounds
from anaphora.search.compiled_search import CompiledStepper, compiled_search
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.request import SearchRequest
from anaphora.search.sampling import Sampling
from anaphora.search.scoring import with_posteriors
from anaphora.search.steering import SteeredRows
from anaphora.search.unroll import unroll


def search(stepper: Stepper, batch: Batch, request: SearchRequest) -> list[list[Hypothesis]]:
    """Return the best hypotheses of every sentence, best first, or the one that was drawn.

    Every hypothesis begins with the prefix that ``batch.constraints`` gives its sentence. Raises ConfigError as
    ``SearchRequest.validate``, for a length below 1, and for a coverage penalty on a model without attention.
    """
    request.validate()
    request.check()
    compiled = stepper if isinstance(stepper, CompiledStepper) and request.is_plain else None
    if compiled is not None and not request.is_written and batch.constraints.prefixes is None:
        batch = replace(batch, constraints=replace(batch.constraints, narrow=True))
    start = stepper.start(batch)
    bounds = Bounds.of(batch.constraints.prefixes, request.max_length, len(start.memory_lengths_B))
    if compiled is not None and not request.ranking.coverage_penalty:
        found = compiled_search(compiled, batch, start, bounds, request)
        if found is not None:
            return found
    if request.is_written:
        found = [[one] for one in _emit(stepper, batch, start, bounds, request)]
    else:
        found = beam(stepper, start, bounds, request)
    return with_posteriors(stepper, batch, found) if request.attention else found


def _emit(
    stepper: Stepper, batch: Batch, start: SearchStart, bounds: Bounds, request: SearchRequest
) -> list[Hypothesis]:
    """Return the tokens after the prefix of each sentence, drawn or most probable, up to its last ``</s>``.

    Of equally likely tokens, greedy search takes the lower id. ``start`` is where the search of ``batch`` starts.
    """
    sentences = len(start.memory_lengths_B)
    max_length = int(bounds.max_lengths_B.max()) if sentences else 0
    example_ids = batch.example_ids_B.tolist()
    line_ends_B = np.zeros_like(start.memory_lengths_B)
    steered = SteeredRows.start(request.steering, np.arange(sentences))

    def choose(step: int, sentences_B: Array, log_probs_BV: DeviceArray) -> tuple[Array, Array]:
        nonlocal steered
        own_ids = [example_ids[sentence] for sentence in sentences_B.tolist()]
        forced_B, forced_ids_B = bounds.forced_at(step, sentences_B)
        if steered.by:
            log_probs_BV = to_host(log_probs_BV).copy()  # scores stay those of the model
            steered.edit(log_probs_BV)
        if request.sampling is None:
            picked_B = top_k(log_probs_BV, 1)[1][:, 0]
        else:
            picked_B = draw(request.sampling, step, own_ids, to_host(log_probs_BV))
        line_ends_B[sentences_B] += (picked_B == stepper.eos) & ~forced_B
        ended_B = line_ends_B[sentences_B] >= (request.lines or np.inf)
        if request.on_token:
            for example_id, token, forced in zip(own_ids, picked_B.tolist(), forced_B.tolist(), strict=True):
                if not forced:
                    request.on_token(example_id, token)
        chosen_B, last_B = np.where(forced_B, forced_ids_B, picked_B), ended_B | bounds.at_end(step, sentences_B)
        if steered.by:
            kept_B = np.flatnonzero(~last_B)
            steered = steered.extend(kept_B, chosen_B[kept_B])
        return chosen_B, last_B

    return unroll(stepper, start, choose, max_length, request)


def draw(sampling: Sampling, step: int, example_ids: Sequence[int], log_probs_BV: Array) -> Array:
    """Return a token for each sentence, of a batch whose example ids are given."""
    shares = [[_uniform(sampling.seed, example_id, step)] for example_id in example_ids]
    # below it the most probable token is drawn anyway, and quotients would overflow
    scores_BV = log_probs_BV.astype(np.float64) / max(sampling.temperature, 1e-250)
    sums_BV = _softmax(likeliest(scores_BV, sampling.top_k, sampling.top_p)).cumsum(axis=1)
    found: Array = (sums_BV <= np.array(shares) * sums_BV[:, -1:]).sum(axis=1)  # 0 where nothing is possible
    return found


def likeliest(scores_BV: Array, k: int, top_p: float) -> Array:
    """The scores to sample from, minus infinity for excluded tokens; of equally likely tokens the lower id is kept."""
    if (k == 0 or k >= scores_BV.shape[1]) and top_p == 1:
        return scores_BV
    values_BK, ids_BK = top_k(scores_BV, k or scores_BV.shape[1])
    p_BK = _softmax(values_BK)
    # kept while the tokens before have less than top_p together; so the likeliest always is
    kept_BK = (p_BK.cumsum(axis=1) - p_BK < top_p) & (values_BK > -np.inf)
    found_BV = np.full_like(scores_BV, -np.inf)
    found_BV[np.arange(len(ids_BK))[:, None], ids_BK] = np.where(kept_BK, values_BK, -np.inf)
    return found_BV


def _softmax(scores_BV: Array) -> Array:
    """NaN where nothing is possible."""
    with np.errstate(invalid="ignore"):
        p_BV: Array = np.exp(scores_BV - scores_BV.max(axis=1, keepdims=True))
        p_BV /= p_BV.sum(axis=1, keepdims=True)
    return p_BV


def _uniform(seed: int, example_id: int, step: int) -> float:
    """Return a number from 0 to below 1; it never changes for the same three numbers."""
    source = np.random.Philox(key=np.array([seed, example_id], np.uint64), counter=np.array([0, 0, 0, step], np.uint64))
    return np.random.Generator(source).random()
