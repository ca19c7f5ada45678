"""The way from networks to searches: steps of tensors as arrays, and networks whose searches run in C.

See ``kernels/greedy_decoding.py`` and ``kernels/beam_decoding.py``.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from anaphora.kernels.program import Program
from anaphora.kernels.search_step import Scores, SearchedNetwork, WordCandidates, is_possible
from anaphora.nn.device import array_of
from anaphora.nn.embedding import Embedding
from anaphora.nn.outputs.candidates import CandidateOutput
from anaphora.nn.outputs.output import Output, SoftmaxOutput
from anaphora.nn.weights import Weights
from anaphora.protocols import Array, Step, Stepper


class TensorStep(NamedTuple):
    """A ``protocols.Step`` in tensors."""

    log_probs_NV: Tensor
    weights_NS: Tensor | None
    state: Any
    states_NH: Tensor | None = None
    candidates_BC: Tensor | None = None

    def arrays(self) -> Step:
        """Return the step as a search takes it; on the CPU, nothing is copied. Call it outside of inference mode."""
        on_cpu = self.log_probs_NV.is_cpu
        # a search may change the log-probabilities, but nothing changes a tensor that was made in inference mode
        log_probs_NV = array_of(self.log_probs_NV) if on_cpu else self.log_probs_NV.clone()
        states_NH = _array_if_any(self.states_NH) if on_cpu else self.states_NH
        weights_NS, candidates_BC = _array_if_any(self.weights_NS), _array_if_any(self.candidates_BC)
        return Step(log_probs_NV, weights_NS, self.state, states_NH, candidates_BC)


def _array_if_any(tensor: Tensor | None) -> Array | None:
    return None if tensor is None else array_of(tensor)


def lower_network(
    stepper: Stepper,
    program: Program,
    weights: Weights,
    memory: Mapping[str, Tensor],
    first: Mapping[str, Tensor],
    embedding: nn.Module,
    output: Output | CandidateOutput,
) -> SearchedNetwork | None:
    """Return a network as a search in C takes it; ``first`` is the initial state, B x width by carried signal.

    None where the steps cannot be taken in C: where parts have an obstacle, products are not made in C, or words
    are not looked up in a table and scored by one softmax.
    """
    if not isinstance(embedding, Embedding) or not first:
        return None
    if isinstance(output, CandidateOutput):
        candidates = WordCandidates(output.places_BC, output.bias_BC, output.ids_BC)
        scores = Scores(output.weight_UH, output.bias_BC[:0, 0], candidates)
    elif isinstance(output, SoftmaxOutput):
        scores = Scores(output.weight, output.used_bias)
    else:
        return None
    if not is_possible(program, scores.weight_UH):
        return None
    words = embedding.words(torch.full((len(next(iter(first.values()))), 1), stepper.bos))
    return SearchedNetwork(program, weights.tensors(), memory, first, words, scores, stepper.bos, stepper.eos)
