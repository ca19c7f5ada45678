"""Scores of the tokens of outputs that were searched, by forced decoding: evidence of how sure a model is.

It is read from the model alone, whatever search, steering or draw an output came from.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anaphora.batch import Batch, pad
from anaphora.kernels.log_probs import to_host, top_k
from anaphora.protocols import Array, DeviceArray, Stepper
from anaphora.search.hypothesis import Evidence, Floats, Hypothesis
from anaphora.search.request import SearchRequest
from anaphora.search.scoring import score

_LIMIT = 20.0
"""Log-probabilities are at least minus this, so that no single token decides alone."""


def with_evidence(
    stepper: Stepper, batch: Batch, request: SearchRequest, hypotheses: Sequence[Sequence[Hypothesis]]
) -> list[list[Hypothesis]]:
    """Return the hypotheses of each sentence of a batch with their evidence, which depends on the sentence alone.

    ``stepper`` and ``request`` are those of their search.
    """
    found: list[list[Hypothesis]] = [[] for _ in hypotheses]
    for place in range(max(map(len, hypotheses), default=0)):
        chosen = [of_one[min(place, len(of_one) - 1)] for of_one in hypotheses]
        rows = [(*one.ids, stepper.eos) if one.finished else one.ids for one in chosen]
        of_chosen = evidence(stepper, replace(batch, targets=pad(rows, value=stepper.eos)), request)
        for own, every, one, its in zip(found, hypotheses, chosen, of_chosen, strict=True):
            if place < len(every):
                own.append(replace(one, evidence=its))
    return found


def evidence(stepper: Stepper, batch: Batch, request: SearchRequest) -> list[Evidence]:
    """Return the evidence of every row of the targets of a batch; ShapeError as ``search.scoring.score``."""
    found: list[list[Floats]] = [[] for _ in range(len(batch.target_ids.lengths_B))]

    def watch(sentences_B: Array, log_probs_BV: DeviceArray, chosen_B: Array) -> None:
        for sentence, signals in zip(sentences_B.tolist(), _signals(log_probs_BV, chosen_B), strict=True):
            found[sentence].append(signals)

    hypotheses = score(stepper, batch, banned_tokens=request.banned_tokens, check=request.check, watch=watch)
    return [_evidence(np.stack(steps), one) for one, steps in zip(hypotheses, found, strict=True)]


def _evidence(signals_TE: Floats, hypothesis: Hypothesis) -> Evidence:
    """Evidence from what each step said, and where the model looked."""
    if hypothesis.weights is None:
        return Evidence(np.pad(signals_TE, ((0, 0), (0, 1))), 0.0)
    weights_TS = np.nan_to_num(hypothesis.weights.astype(np.float64))
    greatest_T1 = weights_TS.max(axis=1, keepdims=True)
    coverage = float(np.minimum(weights_TS.sum(axis=0), 1.0).mean())
    return Evidence(np.concatenate([signals_TE, greatest_T1], axis=1), coverage)


def _signals(log_probs_BV: DeviceArray, chosen_B: Array) -> Floats:
    """ln p, entropy and margin of each row."""
    log_probs_BV = np.ascontiguousarray(to_host(log_probs_BV))
    own_B = log_probs_BV[np.arange(len(chosen_B)), chosen_B]
    values_B2, ids_B2 = top_k(log_probs_BV, 2)
    other_B = np.where(ids_B2[:, 0] == chosen_B, values_B2[:, 1], values_B2[:, 0])
    terms_BV = np.exp(log_probs_BV) * np.maximum(log_probs_BV, -1e4)
    entropy_B = -terms_BV.sum(axis=1)  # numpy adds a row in the same order however many there are
    own, other = (one.astype(np.float64).clip(-_LIMIT, 0.0) for one in (own_B, other_B))
    return np.stack([own, entropy_B.astype(np.float64), own - other], axis=1)
