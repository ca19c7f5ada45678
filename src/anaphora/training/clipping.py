"""Clipping of gradients by their norm."""

import torch
from torch import Tensor


def norms(gradients: list[Tensor]) -> Tensor:
    """Return the Euclidean norm of each gradient, one number for each."""
    if not gradients:
        return torch.zeros(0)
    if gradients[0].is_cuda:  # all at once
        return torch.stack(torch._foreach_norm(gradients))
    return torch.stack([torch.linalg.vector_norm(gradient) for gradient in gradients])


def global_norm(gradients: list[Tensor]) -> float:
    """Return the Euclidean norm of all gradients together; not finite when one of them is not."""
    return float(torch.linalg.vector_norm(norms(gradients)))


def clip(gradients: list[Tensor], norm: float, *, largest_value: float = 0.0, largest_norm: float = 0.0) -> None:
    """Cut gradients whose global norm is ``norm`` in place: every number first, then all together; 0 is no bound.

    By value, each number g becomes max(-v, min(v, g)) (Mikolov 2012); by norm, all are scaled by one factor so that the
    norm is at most ``largest_norm`` (Pascanu et al. 2013, algorithm 1).
    """
    if largest_value:
        for gradient in gradients:
            gradient.clamp_(-largest_value, largest_value)
        norm = global_norm(gradients)
    if 0 < largest_norm < norm:
        for gradient in gradients:
            gradient.mul_(largest_norm / norm)
