"""A softmax over the candidate words of each sentence (Jean et al. 2015, section 3.3).

Search then scores some thousand words instead of all. The matrix product covers all candidates of a batch; the softmax
covers those of the row's own sentence alone, in their own order, so that it rounds alike in every batch.
"""

from typing import NamedTuple, Self

import torch
from torch import Tensor
from torch.nn import Parameter, functional

from anaphora.batch import Ids
from anaphora.errors import ShapeError
from anaphora.kernels.linear import linear

_WIDTH = 16
"""The product has a multiple of this many columns, since narrow products round differently from wide ones."""


class Shortlist(NamedTuple):
    """The candidates of the sentences of a batch, U of them in all, and their rows of the output layer."""

    weight_UH: Tensor
    bias_U: Tensor
    """Empty where the layer has no bias."""
    places_BC: Tensor
    """The index of each word of a sentence among all U; -1 in the padding."""
    ids_BC: Tensor
    """The words of every sentence; the size of the vocabulary in the padding."""
    size: int
    """V."""

    @classmethod
    def of(cls, candidates: Ids, weight_VH: Tensor, bias_V: Tensor) -> Self:
        """The rows of the matrix and the bias that the candidates of all sentences need.

        Raises ShapeError where a sentence has an id twice, or one that is no word's.
        """
        size = len(weight_VH)
        inside_BC = candidates.mask_BT
        ids_BC = candidates.ids_BT.masked_fill(~inside_BC, size)
        sorted_BC = ids_BC.sort(1).values
        twice = bool(((sorted_BC[:, 1:] == sorted_BC[:, :-1]) & (sorted_BC[:, 1:] < size)).any())
        if twice or not bool(((ids_BC >= 0) & ((ids_BC < size) | ~inside_BC)).all()):
            raise ShapeError(f"the candidates of a sentence should be different ids from 0 to {size - 1}.")
        words_U, places = torch.unique(ids_BC[inside_BC], return_inverse=True)
        places_BC = torch.full_like(ids_BC, -1).masked_scatter_(inside_BC, places)
        words_U = functional.pad(words_U, (0, -len(words_U) % _WIDTH))
        with torch.inference_mode(False):
            weight_UH = Parameter(weight_VH.detach()[words_U], requires_grad=False)  # prepared once for all steps
        return cls(weight_UH, bias_V[words_U] if bias_V.numel() else bias_V, places_BC, ids_BC, size)

    def log_probs(self, states_NH: Tensor) -> Tensor:
        """N x V: log-probabilities that sum to 1 over the words of the row's sentence; minus infinity for all others.

        Rows ``b * K .. b * K + K - 1`` belong to sentence b; each has the same bits in any batch.
        """
        rows = len(states_NH) // len(self.ids_BC)
        places_NC, ids_NC = (x_BC.repeat_interleave(rows, 0) for x_BC in (self.places_BC, self.ids_BC))
        z_NU = linear(states_NH, self.weight_UH)
        if self.bias_U.numel():
            z_NU = z_NU + self.bias_U
        z_NC = z_NU.gather(1, places_NC.clamp(min=0)).masked_fill_(places_NC < 0, -torch.inf)
        z_NC = z_NC - z_NC.amax(1, keepdim=True)
        # summed one after the other, so that padding after a row's own words changes nothing
        sums_N1 = z_NC.exp().cumsum(1, dtype=torch.float64)[:, -1:]
        log_probs_NW = z_NU.new_full((len(z_NU), self.size + 1), -torch.inf)
        return log_probs_NW.scatter_(1, ids_NC, z_NC - sums_N1.log().to(z_NC.dtype))[:, : self.size]

    def keep(self, sentences_B: Tensor) -> Self:
        return self._replace(places_BC=self.places_BC[sentences_B], ids_BC=self.ids_BC[sentences_B])
