"""The ``[training]`` table: how weights are updated, when training looks at itself, and when it stops."""

from typing import ClassVar

from pydantic import Field

from anaphora.config import Config
from anaphora.kernels.backends import Precision
from anaphora.kernels.device import Device
from anaphora.options import MAX_COUNT, SET, Conflict
from anaphora.training.reduction import Reduction
from anaphora.training.rules import Adam, AnyRule
from anaphora.training.schedule import AnySchedule, Plateau


class TrainingConfig(Config):
    """Options of training."""

    optimizer: AnyRule = Adam()
    """Optimizer, which turns gradients into updates."""
    schedule: AnySchedule = Plateau()
    """Schedule of the learning rate."""
    moving_average: float = Field(0.0, ge=0, lt=1)
    """Decay of an exponential average of the weights, taken at every update, which is then what is validated, saved
    and used; 0 uses the weights themselves."""
    batch_tokens: int = Field(4000, ge=0, le=MAX_COUNT)
    """Upper bound of a batch: its rows times its longest row, in tokens; 0 takes 4,000, or what fits into memory."""
    micro_batches: int = Field(0, ge=0, le=1024)
    """Batches of ``batch_tokens`` whose gradients are added up for an update, divided among the processes of torchrun;
    0 takes one for each process that a run is begun with."""
    reduction: Reduction = "mean_per_token"
    """Reduction of the losses of a batch to the number that is minimised."""
    clip_norm: float = Field(1.0, ge=0)
    """Gradients are scaled down to this global norm; 0 leaves them as they are."""
    clip_value: float = Field(0.0, ge=0)
    """Every number of a gradient is cut to lie between minus this and this, before the norm is; 0 leaves it."""
    epochs: int = Field(10, ge=1)
    """Passes over the training data, at most."""
    minutes: float = Field(0.0, ge=0)
    """Time for training and its validations, all resumed parts together, encoding left out; 0 sets no bound."""
    patience: int = Field(5, ge=0)
    """Validations in a row without improvement after which training stops; 0 never stops it."""
    validate_every: int = Field(0, ge=0)
    """Updates between validations; 0 validates at the end of every epoch."""
    save_every: int = Field(0, ge=0)
    """Updates between checkpoints beside those of every validation; 0 adds none."""
    keep: int = Field(2, ge=1)
    """Number of newest checkpoints that are kept beside the best, for ``anaphora average``."""
    metric: str = "loss"
    """The validation figure that decides which checkpoint is the best."""
    skip_limit: int = Field(5, ge=1)
    """Updates in a row, skipped because loss or gradient is not finite, after which training counts as diverged."""
    divergence_retries: int = Field(3, ge=0)
    """Times that diverged training restarts from its last checkpoint at half the learning rate before it gives up."""
    seed: int = Field(1, ge=0)
    """Random seed of every draw."""
    precision: Precision = "auto"
    """Precision of products: "bf16" (sums, weights and memory cells stay "fp32"); "auto" where it is faster."""
    device: Device = "cpu"
    """Device of updates: "cuda" is a GPU. Validation and all that is written stay on the processor."""
    threads: int = Field(0, ge=0, le=1024)
    """Threads of a matrix product; 0 lets torch choose. Another number may round differently."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            {"moving_average": SET, "optimizer.kind": "averaged-sgd"},
            'the weights are averaged already: set training.moving_average = 0, or the optimizer to "sgd"',
        ),
    )

    @property
    def batches_an_update(self) -> int:
        """Number of micro-batches of an update."""
        return self.micro_batches or 1
