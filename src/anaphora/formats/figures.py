"""Figures and results as JSON, which has no word for a number that is not finite."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

LN_10 = math.log(10)
"""Logarithms are natural inside, and to base 10 in the files of other toolkits."""


@dataclass(frozen=True)
class Jsonable:
    """A dataclass that is its own JSON object."""

    def json(self) -> dict[str, Any]:
        """Everything, for ``json.dumps``."""
        return asdict(self)


def figures_as_json(figures: Any, *, indent: int | None = None) -> str:
    """The JSON text of objects, lists and values; null stands for NaN and for what is infinite."""
    return json.dumps(_finite(figures), ensure_ascii=False, allow_nan=False, indent=indent)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(one) for name, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list | tuple) else value
