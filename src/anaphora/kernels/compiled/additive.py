"""Steps 1 and 2 of ``scores/additive.py`` where z is W_q h + k, and back: see ``additive.c``."""

from torch import Tensor

from anaphora.kernels.compiled.library import run


def additive_forward(q_XBA: Tensor, keys_BSA: Tensor, v_A: Tensor) -> tuple[Tensor, Tensor]:
    """e (X x B x S) and u (X x B x S x A)."""
    sizes = (*q_XBA.shape[:2], *keys_BSA.shape[1:])
    e, u = q_XBA.new_empty(sizes[:3]), q_XBA.new_empty(sizes)
    run("additive_forward", *sizes, q_XBA.contiguous(), keys_BSA.contiguous(), v_A.contiguous(), u, e)
    return e, u


def additive_backward(de_XBS: Tensor, u_XBSA: Tensor, v_A: Tensor, dkeys_BSA: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of the projected query (X x B x A) and of v (A); that of the keys is added to ``dkeys_BSA``."""
    steps, rows, _, size = u_XBSA.shape
    dq, dv = u_XBSA.new_zeros(steps, rows, size), u_XBSA.new_zeros(rows, size)
    run("additive_backward", *u_XBSA.shape, de_XBS.contiguous(), v_A.contiguous(), u_XBSA, dq, dkeys_BSA, dv)
    return dq, dv.sum(0)
