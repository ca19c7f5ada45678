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
    scalars = _Scalars(folder, SummaryWriter)

    def listen(event: Event) -> None:
        report(event)
        scalars.write(event)

    try:
        yield listen
    finally:
        scalars.close()


class _Scalars:
    """A file of scalars, made when the first event comes, so that nothing is left of a training that never began."""

    def __init__(self, folder: Path, writer: Any) -> None:
        self._folder, self._make = folder, writer
        self._writer: Any = None

    def write(self, event: Event) -> None:
        """Write the numbers of an update or a validation."""
        if not isinstance(event, Update | Validated):
            return
        if self._writer is None:
            self._writer = self._make(str(self._folder), purge_step=event.update)
        for name, value in _scalars_of(event).items():
            self._writer.add_scalar(name, value, event.update)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


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
