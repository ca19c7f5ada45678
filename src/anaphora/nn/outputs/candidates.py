"""A softmax over the candidate words of each sentence (Jean et al. 2015, section 3.3).

Search then scores some thousand words instead of all. The matrix product covers all candidates of a batch; the softmax
covers those of the row's own sentence alone, in the order of their ids, so that it rounds alike in every batch. Where
the candidates are all words, it is the softmax of the whole output layer, bit for bit.
"""

from collections.abc import Iterable
from typing import Any, Self, cast

import torch
from torch import Tensor
from torch.nn import Parameter, functional

from anaphora.batch import Ids
from anaphora.kernels.fixed_norm import FixedNorm
from anaphora.kernels.linear import linear
from anaphora.kernels.log_probs import CandidateLayer, locate_candidates
from anaphora.kernels.search_step import WordCandidates
from anaphora.kernels.softmax import log_softmax


class CandidateOutput(CandidateLayer):
    @classmethod
    def of(cls, candidates: Ids, weight_VH: Tensor, bias_V: Tensor, norm: FixedNorm) -> Self:
        """Return the layer of a whole one; errors as for ``locate_candidates``."""
        words_U, located = locate_candidates(candidates, bias_V, len(weight_VH))
        with torch.inference_mode(False):
            weight_UH = Parameter(weight_VH.detach()[words_U], requires_grad=False)  # prepared once for all steps
        blocks: Iterable[Any] = (torch.from_numpy(block).to(weight_VH.device) for block in located)
        return cls(weight_UH, WordCandidates(*blocks), len(weight_VH), norm)

    def log_probs(self, states_NH: Tensor) -> Tensor:
        """N x V: log-probabilities that sum to 1 over the words of the row's sentence; minus infinity for all others.

        Rows ``b * K .. b * K + K - 1`` belong to sentence b; each has the same bits in any batch.
        """
        z_NC, ids_NC = self._z(states_NH), self._ids(states_NH)
        on_cpu = z_NC.is_cpu  # there, what is padded after a row changes none of its bits; elsewhere its width does
        found_NW = z_NC.new_full((len(z_NC), self.size + 1), -torch.inf)
        found_NW.scatter_(1, ids_NC, log_softmax(z_NC) if on_cpu else z_NC)
        return found_NW[:, : self.size] if on_cpu else torch.log_softmax(found_NW[:, : self.size], 1)

    def narrow_log_probs(self, states_NH: Tensor) -> Tensor:
        """N x C: those of the words of the row's sentence alone, in their order; minus infinity in the padding."""
        if not states_NH.is_cpu:
            whole_NW = functional.pad(self.log_probs(states_NH), (0, 1), value=-torch.inf)
            return whole_NW.gather(1, self._ids(states_NH))
        return log_softmax(self._z(states_NH))

    def _ids(self, states_NH: Tensor) -> Tensor:
        """Return the words of the row's sentence, N x C."""
        ids_BC: Any = self.candidates.ids_BC
        ids_NC: Tensor = ids_BC.repeat_interleave(len(states_NH) // len(ids_BC), 0)
        return ids_NC

    def _z(self, states_NH: Tensor) -> Tensor:
        """N x C: z of the words of the row's sentence."""
        places_BC, bias_BC, _ = cast(tuple[Tensor, ...], self.candidates)
        z_BKU = linear(self.norm(states_NH), self.weight_UH).view(len(places_BC), -1, len(self.weight_UH))
        places_BKC = places_BC[:, None].expand(-1, z_BKU.shape[1], -1)
        return z_BKU.gather(2, places_BKC).add_(bias_BC[:, None]).flatten(0, 1)
