"""An even sample of pairs to learn links from, where there are more than fit into memory."""

import numpy as np

from anaphora.data.buckets import shuffled
from anaphora.data.columns import Integers
from anaphora.data.ragged import Ragged
from anaphora.models.alignment.groups import linked


def even_sample(sources: Ragged, targets: Ragged, most: int) -> Integers:
    """Rows in order, as many as have ``most`` possible links together, at least one; all of them where they fit.

    The same lengths give the same sample, with every version of every library.
    """
    widths, heights = sources.lengths, targets.lengths
    links_N = np.where(linked(widths, heights), (widths + 1) * (heights + 1), 0)
    order_N = shuffled(len(links_N), 0)
    kept = int(np.searchsorted(links_N[order_N].cumsum(), most, side="right"))
    return np.sort(order_N[: max(1, kept)])
