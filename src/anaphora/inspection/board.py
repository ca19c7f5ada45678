"""Scalars of training for TensorBoard: losses, learning rates and gradient norms, from the events of training."""

from collections.abc import Iterator
from contextlib import contextmanager
from math import sqrt
from pathlib import Path
from typing import Any

from anaphora.errors import MissingExtraError
from anaphora.events import Event, Report, Update, Validated


@contextmanager
def board(folder: Path, report: Report) -> Iterator[Report]:
    """Yield a listener that passes events on to ``report`` and writes their scalars into ``folder``.

    A training that is resumed replaces what its folder has from the same update on. Raises MissingExtraError without
    tensorboard.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise MissingExtraError("tensorboard", "board") from None
    writer: Any = None  # made when the first event comes, so that nothing is left of a training that never began

    def listen(event: Event) -> None:
        nonlocal writer
        report(event)
        if isinstance(event, Update | Validated):
            writer = writer or SummaryWriter(str(folder), purge_step=event.update)
            for name, value in _scalars_of(event).items():
                writer.add_scalar(name, value, event.update)

    try:
        yield listen
    finally:
        if writer:
            writer.close()


def _scalars_of(event: Update | Validated) -> dict[str, float]:
    if isinstance(event, Validated):
        return {f"validation/{name}": value for name, value in event.metrics.items()}
    squares: dict[str, float] = {}
    for name, norm in event.gradient_norms.items():
        layer = name.rpartition(".")[0].replace(".weights", "") or name
        squares[layer] = squares.get(layer, 0.0) + norm * norm
    norms = {f"gradient_norm/{layer}": sqrt(square) for layer, square in squares.items()}
    return {
        "training/loss": event.loss,
        "training/learning_rate": event.rate,
        "gradient_norm/all": event.gradient_norm,
        **norms,
    }
