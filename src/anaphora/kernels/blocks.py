"""The signals of a scan: one block of all steps for each, and how a carried signal shares its block with its past."""

from torch import Tensor

from anaphora.kernels.parts import previous


class Blocks(dict[str, Tensor]):
    """T x B x width tensors by the name under which a part reads or writes them.

    For a carried signal one buffer of T + 1 steps holds the value before the first step and every step; ``"h"`` and
    ``"previous h"`` are two views of it, one step apart. Gradients are laid out the same way, so that what flows one
    step back is added where the step before will look for it.
    """

    def __init__(self, blocks: dict[str, Tensor]) -> None:
        """Starts from the signals that come from outside."""
        super().__init__(blocks)
        self.whole: dict[str, Tensor] = {}

    def carry(self, name: str, first_BD: Tensor, steps: int) -> None:
        """Make room for a carried signal, with the value before its first step."""
        buffer = first_BD.new_zeros(steps + 1, *first_BD.shape)
        buffer[0] = first_BD
        self.whole[name] = buffer
        self[name], self[previous(name)] = buffer[1:], buffer[:-1]

    def put(self, name: str, block_TBD: Tensor) -> None:
        """Set all steps of a signal at once."""
        if name in self.whole:
            self[name].copy_(block_TBD)
        else:
            self[name] = block_TBD

    def put_step(self, name: str, step: int, value_1BD: Tensor, steps: int, sentences: int) -> None:
        """Set one step of a signal for the sentences that are still there."""
        if name not in self:
            self[name] = value_1BD.new_zeros(steps, sentences, *value_1BD.shape[2:])
        self[name][step, : value_1BD.shape[1]] = value_1BD[0]

    def add(self, name: str, block_TBD: Tensor) -> None:
        """Add to all steps of a signal at once."""
        if name in self:
            self[name] += block_TBD
        else:
            self[name] = block_TBD
