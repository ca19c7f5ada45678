"""One hypothesis a sentence, read to its end: what writing and forced decoding share."""

from typing import Protocol

import torch
from torch import Tensor

from anaphora.protocols import Batch, Stepper
from anaphora.search.hypothesis import Hypothesis


class Choose(Protocol):
    """Which symbol each of the live sentences reads next."""

    def __call__(self, step: int, sentences_B: Tensor, log_probs_BV: Tensor) -> tuple[Tensor, Tensor]:
        """The symbols, and which of them are the last of their sentence."""


def unroll(stepper: Stepper, batch: Batch, choose: Choose, longest: int) -> list[Hypothesis]:
    """Let ``choose`` lead every sentence of the batch to its end, at most ``longest`` symbols away.

    Scores are the Stepper's own log-probabilities of what was chosen, however it was chosen.
    """
    lengths_B = batch.inputs.lengths_B
    ids_BT = lengths_B.new_zeros(len(lengths_B), longest)
    steps_B = torch.zeros_like(lengths_B)
    scores_B = torch.zeros(len(lengths_B), dtype=torch.float64, device=lengths_B.device)
    weights: list[tuple[Tensor, Tensor | None]] = []
    live_B = torch.arange(len(lengths_B), device=lengths_B.device)
    with torch.no_grad():
        memory, state = stepper.start(batch)
        chosen_B = torch.full_like(lengths_B, stepper.bos)
        for step in range(longest):
            read = stepper.advance(memory, state, chosen_B)
            chosen_B, last_B = choose(step, live_B, read.log_probs_NV)
            scores_B[live_B] += read.log_probs_NV.gather(1, chosen_B[:, None]).squeeze(1).double()
            ids_BT[live_B, step] = chosen_B
            steps_B[live_B] += 1
            weights.append((live_B, read.weights_NS))
            state = read.state
            if last_B.any():
                kept_B = (~last_B).nonzero().squeeze(1)
                if not len(kept_B):
                    break
                live_B, chosen_B = live_B[kept_B], chosen_B[kept_B]
                memory, state = stepper.keep(memory, kept_B), stepper.select(state, kept_B)
    return _hypotheses(ids_BT, steps_B, scores_B, _gather(weights, ids_BT), lengths_B, stepper.eos)


def _gather(weights: list[tuple[Tensor, Tensor | None]], ids_BT: Tensor) -> Tensor | None:
    """The attention of all steps as [B, T, S], zero where a sentence was over."""
    if not weights or weights[0][1] is None:
        return None
    weights_BTS = torch.zeros(len(ids_BT), len(weights), weights[0][1].shape[1])
    for step, (live_B, weights_NS) in enumerate(weights):
        if weights_NS is not None:
            weights_BTS[live_B.cpu(), step] = weights_NS.float().cpu()
    return weights_BTS


def _hypotheses(
    ids_BT: Tensor, steps_B: Tensor, scores_B: Tensor, weights_BTS: Tensor | None, lengths_B: Tensor, eos: int
) -> list[Hypothesis]:
    found = []
    for b, (steps, score) in enumerate(zip(steps_B.tolist(), scores_B.tolist(), strict=True)):
        symbols = tuple(ids_BT[b, :steps].tolist())
        finished = symbols[-1:] == (eos,)
        weights = None if weights_BTS is None else weights_BTS[b, :steps, : int(lengths_B[b])].clone()
        found.append(Hypothesis(symbols[:-1] if finished else symbols, score, weights, finished))
    return found
