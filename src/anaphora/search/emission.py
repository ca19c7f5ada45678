"""Emission of one output a sentence, reported token by token: what sampling and greedy search share."""

import torch
from torch import Tensor

from anaphora.batch import Batch
from anaphora.protocols import SearchStart, Stepper
from anaphora.search.bounds import Bounds
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.request import SearchRequest
from anaphora.search.steering import Steered
from anaphora.search.unroll import unroll


def write(
    stepper: Stepper, batch: Batch, start: SearchStart, bounds: Bounds, request: SearchRequest
) -> list[Hypothesis]:
    """Return the tokens after the prefix of each sentence, drawn or most probable, up to its last ``</s>``.

    Of equally likely tokens, greedy search takes the lower id. ``start`` is where the search of ``batch`` starts.
    """
    sentences, device = len(start.memory_lengths_B), start.memory_lengths_B.device
    longest = int(bounds.max_lengths_B.max()) if sentences else 0
    bounds = bounds.to(device)
    example_ids = batch.example_ids_B.tolist()
    line_ends_B = torch.zeros_like(start.memory_lengths_B)
    steered = Steered.start(request.steering, torch.arange(sentences, device=device))

    def choose(step: int, sentences_B: Tensor, log_probs_BV: Tensor) -> tuple[Tensor, Tensor]:
        nonlocal steered
        own_ids = [example_ids[sentence] for sentence in sentences_B.tolist()]
        forced_B, forced_ids_B = bounds.forced(step, sentences_B)
        if steered.by:
            log_probs_BV = log_probs_BV.clone()  # scores stay those of the model
            steered.edit(log_probs_BV)
        drawn_B = request.sampling and request.sampling.draw(step, own_ids, log_probs_BV)
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
            steered = steered.extended(kept_B, chosen_B[kept_B])
        return chosen_B, last_B

    return unroll(stepper, start, choose, longest, request.attention, request.banned_tokens, request.check)
