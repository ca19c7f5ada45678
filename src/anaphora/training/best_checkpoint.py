"""The best checkpoint by one validation metric, and the number of validations since, for early stopping."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le

from anaphora.errors import ConfigError
from anaphora.records import Record

Better = Literal["lower", "higher"]
"""Direction in which a metric is better."""


Count = Annotated[int, Ge(0), Le(1 << 53)]
"""A number of updates, batches or validations."""


class SavedBest(Record):
    """See ``BestCheckpoint``."""

    update: Count
    metrics: dict[str, float]
    since: Count


class BestCheckpoint:
    """Keeps the best value of one validation metric and counts the validations since."""

    def __init__(self, metric: str, better: Better) -> None:
        """``metric`` is the name of the metric that decides."""
        self.metric = metric
        self._sign = 1 if better == "higher" else -1
        self.update = 0
        """The update of the best validation, 0 before the first."""
        self.metrics: dict[str, float] = {}
        """All metrics of the best validation."""
        self.since = 0
        """Validations after the best one."""

    def observe(self, metrics: Mapping[str, float], update: int) -> bool:
        """Take note of a validation, and say whether it is the best so far; a value that is not finite never is.

        Of equal values, such as the BLEU of translations that have nothing right yet, that of the lower loss is better.

        Raises ConfigError when the deciding metric is not among ``metrics``.
        """
        if self.metric not in metrics:
            known = ", ".join(sorted(metrics)) or "no figures"
            raise ConfigError(
                f"training.metric is '{self.metric}', but validation gives {known}: set it to one of these."
            )
        value = metrics[self.metric]
        improved = math.isfinite(value) and (not self.metrics or self._rank(metrics) > self._rank(self.metrics))
        if improved:
            self.update, self.since = update, 0
            # other figures may be infinite, which JSON has no words for
            self.metrics = {name: float(figure) for name, figure in metrics.items() if math.isfinite(figure)}
        else:
            self.since += 1
        return improved

    def _rank(self, metrics: Mapping[str, float]) -> tuple[float, float]:
        return self._sign * metrics[self.metric], -metrics.get("loss", math.inf)

    def cost(self, metrics: Mapping[str, float]) -> float:
        """Return the deciding figure turned so that less is better."""
        return -self._sign * metrics[self.metric]

    def state(self) -> dict[str, Any]:
        """Return all that later answers depend on."""
        return {"update": self.update, "metrics": self.metrics, "since": self.since}

    def restore(self, saved: SavedBest) -> None:
        self.update, self.since, self.metrics = saved.update, saved.since, dict(saved.metrics)
