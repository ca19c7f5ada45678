"""Searches of networks whose steps run in C: see ``kernels/greedy_decoding.py`` and ``kernels/beam_decoding.py``."""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn

from anaphora.kernels.beam_decoding import BeamDecoding
from anaphora.kernels.compiled import MOST
from anaphora.kernels.greedy_decoding import GreedyDecoding
from anaphora.kernels.program import Program
from anaphora.kernels.search_step import Scores, Searched, WordCandidates, is_possible
from anaphora.nn.embedding import Embedding
from anaphora.nn.outputs import CandidateOutput, Output
from anaphora.nn.outputs.output import SoftmaxOutput
from anaphora.nn.weights import Weights
from anaphora.protocols import BeamSteps, CompiledRequest, GreedySteps, Stepper


class Network(NamedTuple):
    """Functions of a network that the steps of a search call."""

    program: Program
    weights: Weights
    memory: Mapping[str, Tensor]
    first: Mapping[str, Tensor]
    """The initial state, B x width by carried signal."""
    embedding: nn.Module
    output: Output | CandidateOutput

    def searched(self, sentences: int, stepper: Stepper) -> Searched | None:
        """Return the network as a search in C takes it.

        None where the steps cannot be taken in C: where parts have no native body, products are not made in C, or words
        are not looked up in a table and scored by one softmax.
        """
        embedding, output = self.embedding, self.output
        if not isinstance(embedding, Embedding) or not self.first:
            return None
        if isinstance(output, CandidateOutput):
            candidates = WordCandidates(output.places_BC, output.bias_BC, output.ids_BC)
            scores = Scores(output.weight_UH, output.bias_BC[:0, 0], candidates)
        elif isinstance(output, SoftmaxOutput):
            scores = Scores(output.weight, output.used_bias)
        else:
            return None
        if not is_possible(self.program, scores.weight_UH):
            return None
        words = embedding.words(torch.full((sentences, 1), stepper.bos))
        weights = self.weights.tensors()
        return Searched(self.program, weights, self.memory, self.first, words, scores, stepper.bos, stepper.eos)


def greedy_steps(stepper: Stepper, network: Network, request: CompiledRequest) -> GreedySteps | None:
    """See ``protocols.CompiledStepper``."""
    searched = network.searched(len(request.max_lengths), stepper)
    return GreedyDecoding(searched, request) if searched else None


def beam_steps(stepper: Stepper, network: Network, request: CompiledRequest) -> BeamSteps | None:
    """See ``protocols.CompiledStepper``."""
    searched = network.searched(len(request.max_lengths), stepper) if request.beam <= MOST else None
    return BeamDecoding(searched, request) if searched else None
