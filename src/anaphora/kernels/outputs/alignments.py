"""The loss of hard attention with its gradients, by the forward-backward recursion of ``kernels/alignments.py``."""

import numpy as np
import torch
from torch import Tensor

from anaphora.kernels.alignments import Alignments, forward_backward
from anaphora.kernels.autograd_bridge import derived_loss
from anaphora.kernels.log_probs import to_host
from anaphora.shapes import check_shapes


def alignment_loss(
    alignments: Alignments,
    emissions_TBS: Tensor,
    scores_TBS: Tensor,
    jumps_TBJ: Tensor,
    closed_BS: Tensor,
    lengths_B: Tensor,
    weights_B: Tensor | None = None,
) -> Tensor:
    """Return the summed -ln p of outputs over all alignments, a scalar in nats, computed on the CPU.

    Raises ShapeError where the sizes do not agree.

    Args:
        alignments: the transitions.
        emissions_TBS: ln p of the right word at each position; padding may hold anything finite.
        scores_TBS: scores of the positions; padding may hold anything.
        jumps_TBJ: scores of the distances, of no numbers where these have none.
        closed_BS: bool, true past the end.
        lengths_B: int64, at least 1.
        weights_B: factor of the loss of each row; 1 where there are none.
    """
    check_shapes(emissions_TBS=emissions_TBS, scores_TBS=scores_TBS, jumps_TBJ=jumps_TBJ, closed_BS=closed_BS)

    def derive(recording: bool, *leaves: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        o_TBS, e_TBS, d_TBJ = map(to_host, leaves)
        closed, size = to_host(closed_BS), d_TBJ.shape[2]
        o_TBS = np.where(closed, -np.inf, o_TBS.astype(np.float64))
        q_TBSS = alignments.transitions(e_TBS, d_TBJ if size else None, closed)
        loss_B, gamma_TBS, xi_TBSS = forward_backward(o_TBS, q_TBSS, to_host(lengths_B))
        weight_B1 = np.ones((len(loss_B), 1)) if weights_B is None else to_host(weights_B.double())[:, None]
        loss = torch.as_tensor((loss_B * weight_B1[:, 0]).sum(), device=leaves[0].device)
        if not recording:
            return loss, ()
        de_TBS, dd_TBJ = alignments.scores_back(q_TBSS, xi_TBSS, size)
        gradients = (np.ascontiguousarray(block * weight_B1) for block in (-gamma_TBS, de_TBS, dd_TBJ))  # 3'
        return loss, tuple(torch.from_numpy(block).to(leaf) for block, leaf in zip(gradients, leaves, strict=True))

    return derived_loss(derive, emissions_TBS, scores_TBS, jumps_TBJ)
