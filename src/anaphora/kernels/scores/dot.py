"""score(h, hs) = h' hs (Luong, Pham and Manning 2015, section 3.1)."""

from collections.abc import Mapping
from typing import Any, Literal

from anaphora.errors import ConfigError
from anaphora.kernels.scores.product import Product


class Dot(Product):
    """The scalar product of query and position; it needs no weights, and equal sizes."""

    kind: Literal["dot"] = "dot"

    def weights(self, query: int, memory: int, hidden: int) -> dict[str, tuple[int, ...]]:
        """None."""
        if query != memory:
            raise ConfigError(
                f"attention.score 'dot' needs a decoder as wide as the annotations, {memory}, not {query}: set "
                f'decoder.size = {memory}, or attention.score = "general".'
            )
        return {}

    def prepare(self, memory_BSM: Any, lengths_B: Any, weights: Mapping[str, Any]) -> dict[str, Any]:
        return {"keys": memory_BSM.swapaxes(1, 2)}
