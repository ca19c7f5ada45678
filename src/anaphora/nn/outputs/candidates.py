"""A softmax over the candidate words of each sentence (Jean et al. 2015, section 3.3).

Search then scores some thousand words instead of all. The matrix product covers all candidates of a batch; the softmax
covers those of the row's own sentence alone, in the order of their ids, so that it rounds alike in every batch. Where
the candidates are all words, it is the softmax of the whole output layer, bit for bit.
"""

from typing import NamedTuple, Self

import torch
from torch import Tensor
from torch.nn import Parameter, functional

from anaphora.batch import Ids
from anaphora.errors import ShapeError
from anaphora.kernels.linear import linear
from anaphora.kernels.search_step import Scores, WordCandidates
from anaphora.kernels.softmax import log_softmax
from anaphora.nn.device import array_of
from anaphora.protocols import Array

_WIDTH = 16
"""The product has a multiple of this many columns, since narrow products round differently from wide ones; the softmax
has at least as many, since torch adds up shorter rows in another order, and what follows them then changes bits."""


class CandidateOutput(NamedTuple):
    """The candidates of the sentences of a batch, U of them in all, and their rows of the output layer."""

    weight_UH: Tensor
    places_BC: Tensor
    """The index of each word of a sentence among all U; 0 in the padding."""
    bias_BC: Tensor
    """Minus infinity in the padding."""
    ids_BC: Tensor
    """The words of every sentence, rising; the size of the vocabulary in the padding."""
    size: int
    """V."""

    @classmethod
    def of(cls, candidates: Ids, weight_VH: Tensor, bias_V: Tensor) -> Self:
        """Return the rows of the matrix and the bias that the candidates of all sentences need.

        ``bias_V`` may be empty.

        Raises ShapeError where a sentence has an id twice, or one that is no word's.
        """
        size = len(weight_VH)
        inside_BC = candidates.mask_BT
        ids_BC = candidates.ids_BT.masked_fill(~inside_BC, size).sort(1).values
        twice = bool(((ids_BC[:, 1:] == ids_BC[:, :-1]) & (ids_BC[:, 1:] < size)).any())
        if twice or bool((candidates.ids_BT[inside_BC] >= size).any()) or bool((ids_BC < 0).any()):
            raise ShapeError(f"the candidates of a sentence should be different ids from 0 to {size - 1}.")
        ids_BC = functional.pad(ids_BC, (0, max(0, min(_WIDTH, size) - ids_BC.shape[1])), value=size)
        used_W = torch.zeros(size + 1, dtype=torch.bool, device=ids_BC.device).index_fill_(0, ids_BC.flatten(), True)
        words_U = used_W[:size].nonzero().squeeze(1)
        place_W = functional.pad(used_W[:size].cumsum(0) - 1, (0, 1))
        bias_W = functional.pad(bias_V if bias_V.numel() else weight_VH.new_zeros(size), (0, 1), value=-torch.inf)
        words_U = functional.pad(words_U, (0, -len(words_U) % _WIDTH))
        with torch.inference_mode(False):
            rows_UH = weight_VH.detach().index_select(0, words_U)
            weight_UH = Parameter(rows_UH, requires_grad=False)  # prepared once for all steps
        return cls(weight_UH, place_W[ids_BC], bias_W[ids_BC], ids_BC, size)

    def log_probs(self, states_NH: Tensor) -> Tensor:
        """N x V: log-probabilities that sum to 1 over the words of the row's sentence; minus infinity for all others.

        Rows ``b * K .. b * K + K - 1`` belong to sentence b; each has the same bits in any batch.
        """
        z_NC, ids_NC = self._scores(states_NH), self.ids_BC.repeat_interleave(len(states_NH) // len(self.ids_BC), 0)
        on_cpu = z_NC.is_cpu  # there, what is padded after a row changes none of its bits; elsewhere its width does
        found_NW = z_NC.new_full((len(z_NC), self.size + 1), -torch.inf)
        found_NW.scatter_(1, ids_NC, log_softmax(z_NC) if on_cpu else z_NC)
        return found_NW[:, : self.size] if on_cpu else torch.log_softmax(found_NW[:, : self.size], 1)

    def narrow_log_probs(self, states_NH: Tensor) -> Tensor:
        """N x C: those of the words of the row's sentence alone, in their order; minus infinity in the padding."""
        if not states_NH.is_cpu:
            ids_NC = self.ids_BC.repeat_interleave(len(states_NH) // len(self.ids_BC), 0)
            return functional.pad(self.log_probs(states_NH), (0, 1), value=-torch.inf).gather(1, ids_NC)
        return log_softmax(self._scores(states_NH))

    def keep(self, sentences_B: Array) -> Self:
        return self._replace(
            places_BC=self.places_BC[sentences_B], bias_BC=self.bias_BC[sentences_B], ids_BC=self.ids_BC[sentences_B]
        )

    def scores(self) -> Scores:
        """Return the layer as a search in C takes it."""
        candidates = WordCandidates(*map(array_of, (self.places_BC, self.bias_BC, self.ids_BC)))
        return Scores(self.weight_UH, candidates.bias_BC[:0, 0], candidates)

    def _scores(self, states_NH: Tensor) -> Tensor:
        """N x C: z of the words of the row's sentence."""
        sentences, width = self.places_BC.shape
        z_BKU = linear(states_NH, self.weight_UH).view(sentences, -1, len(self.weight_UH))
        places_BKC = self.places_BC[:, None].expand(-1, z_BKU.shape[1], -1)
        return z_BKU.gather(2, places_BKC).add_(self.bias_BC[:, None]).view(-1, width)
