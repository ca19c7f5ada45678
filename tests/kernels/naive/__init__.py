"""The second reading of everything in ``kernels/``: the equations of the papers, a file for each part of them.

Slow, plain, and differentiated by autograd. It shares no mathematics with the fast reading, only its options and the
names of its weights: what ``scan`` computes must be what stands here. Units are in ``anaphora.kernels.naive``, which
``ANAPHORA_KERNELS=naive`` runs.
"""

from tests.kernels.naive.losses import change_penalty, cross_entropy, doubly_stochastic, guidance, size_penalty
from tests.kernels.naive.unroll import decoder, stack

__all__ = ["change_penalty", "cross_entropy", "decoder", "doubly_stochastic", "guidance", "size_penalty", "stack"]
