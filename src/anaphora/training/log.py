"""The lines of ``metrics.jsonl`` that training writes."""

import math
from collections.abc import Mapping
from typing import Any

from anaphora.events import Update, Validated


def update_line(event: Update) -> dict[str, Any]:
    """Return the log line of an update; ``seconds`` is the only part that a repetition changes."""
    return {
        "update": event.update,
        "epoch": event.epoch,
        "loss": event.loss,
        "tokens": event.tokens,
        "rate": event.rate,
        "gradient_norm": event.gradient_norm,
        "seconds": round(event.seconds, 6),
    }


def skip_line(update: int, epoch: int, fault: str) -> dict[str, Any]:
    """Why an update was left out."""
    return {"update": update, "epoch": epoch, "skipped": fault}


def fallback_line(update: int, epoch: int, reason: str, rate_factor: float) -> dict[str, Any]:
    """Return that training went back to before ``update`` and goes on at a lower rate, and why."""
    return {"update": update, "epoch": epoch, "fallback": reason, "rate_factor": rate_factor}


def validation_line(event: Validated) -> dict[str, Any]:
    """Return the metrics of a validation; one that is not finite reads null."""
    figures = {name: value if math.isfinite(value) else None for name, value in event.metrics.items()}
    return {"update": event.update, "epoch": event.epoch, "validation": figures, "best": event.best}


def record_line(update: int, epoch: int, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a task records of the model at a validation."""
    return {"update": update, "epoch": epoch, **record}


def fault(name: str, value: float) -> str:
    """Return the fault of a number that should be finite, or nothing."""
    return "" if math.isfinite(value) else f"its {name} is {value}"
