"""What the scores with a scoring layer share: e_s = v' tanh(what is said of position s).

1  u_s = tanh(z_s)               z_s: a sum of terms, one of them W_q h
2  e_s = v' u_s
"""

from torch import Tensor

from anaphora.kernels.matmul import PartMatmuls
from anaphora.kernels.scores.score import Score


class Additive(Score):
    """A score with a scoring layer of A numbers for every position."""

    def width(self, query: int, hidden: int) -> int:
        """A."""
        return hidden

    def layer(self, z_XBSA: Tensor, matmul: PartMatmuls) -> tuple[Tensor, Tensor]:
        """Steps 1 and 2, in what z stands in: the scores, and u."""
        u_XBSA = z_XBSA.tanh_()  # 1
        return matmul("v", u_XBSA).squeeze(-1), u_XBSA  # 2

    def layer_back(self, u_XBSA: Tensor, de_XBS: Tensor, matmul: PartMatmuls) -> Tensor:
        """Steps 2 and 1 undone: the gradient of z, which is that of each of its terms."""
        du_XBSA = matmul.back("v", de_XBS.unsqueeze(-1))  # 2
        # du (1 - u^2) as du - u^2 du, in what du stands in: it is by far the largest block of a step
        return du_XBSA.addcmul_(du_XBSA * u_XBSA, u_XBSA, value=-1)  # 1
