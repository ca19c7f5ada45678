"""One search for every request: in compiled code where the model and the request allow it, else step by step.

A sampled token is drawn by inversion: the first whose probability, with those of all tokens before it, exceeds a number
drawn from 0 to 1. That number is a function of (seed, example id, step), from a counter-based generator (Philox: Salmon
et al. 2011), so the sample of a sentence does not depend on the other sentences of the batch.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from anaphora.batch import Batch
from anaphora.protocols import SearchStart, Stepper
from anaphora.search.beam import beam
from anaphora.search.bounds import Bounds
from anaphora.search.compiled_search import CompiledStepper, compiled_search
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.request import SearchRequest
from anaphora.search.sampling import Sampling
from anaphora.search.steering import SteeredRows
from anaphora.search.unroll import unroll


@torch.no_grad()
def search(stepper: Stepper, batch: Batch, request: SearchRequest) -> list[list[Hypothesis]]:
    """Return the best hypotheses of every sentence, best first, or the one that was drawn.

    Every hypothesis begins with the prefix that ``batch.constraints`` gives its sentence. Raises ConfigError as
    ``SearchRequest.validate``, for a length below 1, and for a coverage penalty on a model without attention.
    """
    request.validate()
    request.check()
    compiles = isinstance(stepper, CompiledStepper) and request.is_plain
    if compiles and not request.is_written and batch.constraints.prefixes is None:
        batch = replace(batch, constraints=replace(batch.constraints, narrow=True))
    start = stepper.start(batch)
    bounds = Bounds.of(batch.constraints.prefixes, request.max_length, len(start.memory_lengths_B))
    if isinstance(stepper, CompiledStepper) and request.is_plain and not request.ranking.coverage_penalty:
        found = compiled_search(stepper, batch, start, bounds, request)
        if found is not None:
            return found
    if request.is_written:
        return [[one] for one in _emit(stepper, batch, start, bounds.to(start.memory_lengths_B.device), request)]
    return beam(stepper, start, bounds, request)


def _emit(
    stepper: Stepper, batch: Batch, start: SearchStart, bounds: Bounds, request: SearchRequest
) -> list[Hypothesis]:
    """Return the tokens after the prefix of each sentence, drawn or most probable, up to its last ``</s>``.

    Of equally likely tokens, greedy search takes the lower id. ``start`` is where the search of ``batch`` starts.
    """
    sentences, device = len(start.memory_lengths_B), start.memory_lengths_B.device
    max_length = int(bounds.max_lengths_B.max()) if sentences else 0
    example_ids = batch.example_ids_B.tolist()
    line_ends_B = torch.zeros_like(start.memory_lengths_B)
    steered = SteeredRows.start(request.steering, torch.arange(sentences, device=device))

    def choose(step: int, sentences_B: Tensor, log_probs_BV: Tensor) -> tuple[Tensor, Tensor]:
        nonlocal steered
        own_ids = [example_ids[sentence] for sentence in sentences_B.tolist()]
        forced_B, forced_ids_B = bounds.forced_at(step, sentences_B)
        if steered.by:
            log_probs_BV = log_probs_BV.clone()  # scores stay those of the model
            steered.edit(log_probs_BV)
        drawn_B = request.sampling and draw(request.sampling, step, own_ids, log_probs_BV)
        picked_B = log_probs_BV.argmax(dim=1) if drawn_B is None else drawn_B
        line_ends_B[sentences_B] += (picked_B == stepper.eos) & ~forced_B
        ended_B = line_ends_B[sentences_B] >= (request.lines or torch.inf)
        if request.on_token:
            for example_id, token, forced in zip(own_ids, picked_B.tolist(), forced_B.tolist(), strict=True):
                if not forced:
                    request.on_token(example_id, token)
        chosen_B, last_B = torch.where(forced_B, forced_ids_B, picked_B), ended_B | bounds.at_end(step, sentences_B)
        if steered.by:
            kept_B = (~last_B).nonzero().squeeze(1)
            steered = steered.extend(kept_B, chosen_B[kept_B])
        return chosen_B, last_B

    return unroll(stepper, start, choose, max_length, request)


def draw(sampling: Sampling, step: int, example_ids: Sequence[int], log_probs_BV: Tensor) -> Tensor:
    """Return a token for each sentence, of a batch whose example ids are given."""
    shares = [[_uniform(sampling.seed, example_id, step)] for example_id in example_ids]
    # a GPU adds up in any order
    scores_BV = likeliest(log_probs_BV.cpu().double() / sampling.temperature, sampling.top_k, sampling.top_p)
    sums_BV = torch.softmax(scores_BV, dim=1).cumsum(dim=1)
    share_B1 = torch.tensor(shares, dtype=torch.float64) * sums_BV[:, -1:]
    return (sums_BV <= share_B1).sum(dim=1).to(log_probs_BV.device)  # 0 where nothing is possible


def likeliest(scores_BV: Tensor, top_k: int, top_p: float) -> Tensor:
    """The scores to sample from, minus infinity for excluded tokens; of equally likely tokens the lower id is kept."""
    if (top_k == 0 or top_k >= scores_BV.shape[1]) and top_p == 1:
        return scores_BV
    sorted_BV, order_BV = scores_BV.sort(dim=1, descending=True, stable=True)
    if top_k:
        sorted_BV[:, top_k:] = -torch.inf
    p_BV = torch.softmax(sorted_BV, 1)
    # kept while the tokens before have less than top_p together; so the likeliest always is
    kept_BV = (p_BV.cumsum(1) - p_BV < top_p) & (sorted_BV > -torch.inf)
    return torch.full_like(scores_BV, -torch.inf).scatter(1, order_BV, sorted_BV.where(kept_BV, -torch.inf))


def _uniform(seed: int, example_id: int, step: int) -> float:
    """Return a number from 0 to below 1; it never changes for the same three numbers."""
    source = np.random.Philox(key=np.array([seed, example_id], np.uint64), counter=np.array([0, 0, 0, step], np.uint64))
    return np.random.Generator(source).random()
