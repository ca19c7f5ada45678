"""The most probable tags of a linear chain: see ``linear_chain.py``."""

import numpy as np

from anaphora.kernels.compiled.library import Array


def best_tags(scores_TBC: Array, lengths_B: Array, transitions: Array, first: Array, last: Array) -> Array:
    """Return the most probable tags of each row (Viterbi 1967), T x B; 0 in the padding.

    Of equally probable sequences the one with lower tag numbers from its end.
    """
    best_BC, sources = first + scores_TBC[0].astype(np.float64), list[Array]()
    open_TB = np.arange(len(scores_TBC))[:, None] < lengths_B
    for scores_BC, open_B in zip(scores_TBC[1:], open_TB[1:], strict=True):
        through_BCC = best_BC[:, :, None] + transitions
        sources.append(through_BCC.argmax(1))
        best_BC = np.where(open_B[:, None], through_BCC.max(1) + scores_BC, best_BC)
    tag_B, tags_TB = (best_BC + last).argmax(1), np.zeros(open_TB.shape, np.int64)
    for step in range(len(tags_TB) - 1, -1, -1):
        tags_TB[step] = np.where(open_TB[step], tag_B, 0)
        if step:
            before_B = sources[step - 1][np.arange(len(tag_B)), tag_B]
            tag_B = np.where(open_TB[step], before_B, tag_B)
    return tags_TB
