"""Generating a word or copying one of the source (See, Liu and Manning 2017, equations 8 and 9).

With P the distribution over the vocabulary, a the attention over the source x, and u the score of generating:

    1  g = sigm(u)
    2  m = sum_{s: x_s = y} a_s                    the attention on the source words that are the target
    3  p = g P(y) + (1 - g) m,   L = -ln p

    3' r = g P(y) / p                              the probability that y was generated, given that it was written
       d ln P(y) = -r
    2' da_s = -(1 - r) / m  where x_s = y, else 0
    1' du = g - r

Where m is too small for its reciprocal, a has no gradient. All is computed in float64, and p as a logarithm.
"""

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from anaphora.kernels.autograd_bridge import derived_loss
from anaphora.kernels.log_probs import Attended
from anaphora.shapes import check_shapes


def pointer_generator_loss(
    log_probs_N: Tensor, attended: Attended, targets_N: Tensor, weights_N: Tensor | None = None
) -> Tensor:
    """Return the summed loss, a scalar in nats; ShapeError where the sizes do not agree.

    Args:
        log_probs_N: ln P of the targets.
        attended: u, a and x of each row.
        targets_N: int64, the ids to predict.
        weights_N: factors of the losses; 1 where there are none.
    """
    check_shapes(log_probs_N=log_probs_N, targets_N=targets_N, **attended._asdict())
    gates_N1, weights_NS, source_NS = attended

    def derive(recording: bool, *leaves: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        log_probs_N, u_N1, a_NS = (leaf.double() for leaf in leaves)
        is_target_NS, u_N = source_NS == targets_N.unsqueeze(1), u_N1[:, 0]
        m_N = a_NS.where(is_target_NS, 0).sum(1)  # 2
        generated_N = logsigmoid(u_N) + log_probs_N  # 1
        log_p_N = torch.logaddexp(generated_N, logsigmoid(-u_N) + m_N.log())  # 3
        w_N = torch.ones_like(m_N) if weights_N is None else weights_N.double()
        loss = -(w_N * log_p_N).sum()
        if not recording:
            return loss, ()
        r_N = (generated_N - log_p_N).exp()  # 3'
        least = torch.finfo(leaves[2].dtype).tiny
        da_N1 = (torch.where(m_N < least, 0, -(1 - r_N) / m_N.clamp_min(least)) * w_N).unsqueeze(1)  # 2'
        gradients = -r_N * w_N, ((torch.sigmoid(u_N) - r_N) * w_N).unsqueeze(1), da_N1 * is_target_NS
        return loss, tuple(gradient.to(leaf) for gradient, leaf in zip(gradients, leaves, strict=True))

    return derived_loss(derive, log_probs_N, gates_N1, weights_NS)
