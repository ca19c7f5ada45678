"""Greedy searches of networks whose steps run in C as a whole: see ``kernels/decoding.py``."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from anaphora.kernels.decoding import Decoding, Ends, Scores, WordCandidates, is_possible
from anaphora.kernels.program import Program
from anaphora.nn.embedding import Embedding
from anaphora.nn.outputs import CandidateOutput, Output
from anaphora.nn.outputs.output import SoftmaxOutput
from anaphora.nn.weights import Weights
from anaphora.protocols import GreedySearch, GreedySteps, Stepper

_ENDLESS = 1 << 62


def greedy_steps(
    stepper: Stepper,
    search: GreedySearch,
    program: Program,
    weights: Weights,
    memory: Mapping[str, Tensor],
    first: Mapping[str, Tensor],
    embedding: nn.Module,
    output: Output | CandidateOutput,
) -> GreedySteps | None:
    """The steps of a network: see ``protocols.TakesGreedySteps``.

    None where parts have no native body, products are not made in C, or words are not looked up in a table and scored
    by one softmax.
    """
    scores = _scores(output)
    if scores is None or not isinstance(embedding, Embedding):
        return None
    if not first or not is_possible(program, scores.weight_UH):
        return None
    words = embedding.words(torch.full((len(search.max_lengths), 1), stepper.bos))
    lines = _ENDLESS if search.lines is None else search.lines
    ends = Ends(stepper.bos, stepper.eos, lines, search.max_lengths, search.prefixes, search.left_out)
    attends = search.attention and "weights" in program.returns
    return Decoding(program, weights.tensors(), memory, first, words, scores, ends, attends)


def _scores(output: Output | CandidateOutput) -> Scores | None:
    if isinstance(output, CandidateOutput):
        candidates = WordCandidates(output.places_BC, output.bias_BC, output.ids_BC)
        return Scores(output.weight_UH, output.bias_BC[:0, 0], candidates)
    if isinstance(output, SoftmaxOutput):
        return Scores(output.weight, output.used_bias)
    return None
