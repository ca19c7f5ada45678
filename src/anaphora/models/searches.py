"""Networks whose searches run in C: see ``kernels/greedy_decoding.py`` and ``kernels/beam_decoding.py``."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from anaphora.kernels.prepared import array_of
from anaphora.kernels.program import Program
from anaphora.kernels.search_step import Scores, SearchedNetwork, WordCandidates, is_possible
from anaphora.nn.embedding import Embedding
from anaphora.nn.outputs.candidates import CandidateOutput
from anaphora.nn.outputs.output import Output, SoftmaxOutput
from anaphora.nn.weights import Weights
from anaphora.protocols import Stepper


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
    if not isinstance(output, CandidateOutput | SoftmaxOutput):
        return None
    weight = output.weight_UH if isinstance(output, CandidateOutput) else output.weight
    if not is_possible(program, weight):
        return None
    if isinstance(output, CandidateOutput):
        candidates = WordCandidates(*map(array_of, (output.places_BC, output.bias_BC, output.ids_BC)))
        scores = Scores(weight, candidates.bias_BC[:0, 0], candidates)
    else:
        scores = Scores(weight, array_of(output.used_bias))
    words = embedding.words(torch.full((len(next(iter(first.values()))), 1), stepper.bos))
    words = words._replace(ids_XB1=array_of(words.ids_XB1))
    read, state = ({name: array_of(tensor) for name, tensor in of.items()} for of in (memory, first))
    return SearchedNetwork(program, weights.tensors(), read, state, words, scores, stepper.bos, stepper.eos)
