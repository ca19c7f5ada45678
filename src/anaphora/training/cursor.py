"""Where training stands: counters that a checkpoint keeps."""

from dataclasses import asdict, dataclass


@dataclass
class Cursor:
    """The next batch is number ``position`` (from 0) of ``epoch`` (from 1), and ``update`` batches are done."""

    update: int = 0
    """Batches seen, skipped ones included, so that the draws of a batch never depend on what was skipped before it."""
    epoch: int = 1
    position: int = 0
    epoch_of_update: int = 1
    """The epoch that the last batch belonged to."""
    skipped: int = 0
    skipped_in_row: int = 0
    fallbacks: int = 0
    """Times that training restarted from a checkpoint at half the learning rate."""
    rate_factor: float = 1.0
    """What the schedule's rate is multiplied by since then."""

    def begin(self) -> None:
        """Start on the next batch."""
        self.update += 1
        self.epoch_of_update = self.epoch

    def end(self, total: int) -> None:
        """Go to the batch after it, in the next epoch when it was the last of ``total``."""
        self.position += 1
        if self.position >= total:
            self.epoch, self.position = self.epoch + 1, 0

    def state(self) -> dict[str, float]:
        """Every counter by name."""
        return asdict(self)
