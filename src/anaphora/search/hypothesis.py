"""What a search gives back for a sentence."""

from dataclasses import dataclass, field

from torch import Tensor


@dataclass(frozen=True)
class Hypothesis:
    """One output of a model, with its log-probability."""

    ids: tuple[int, ...]
    """The symbols, without the opening mark and without the ``</s>`` that closes a finished one."""
    score: float
    """ln p of all symbols, forced ones and the closing ``</s>`` included, summed in float64."""
    weights: Tensor | None = field(compare=False)
    """float32 [T, S]: where the model looked as it predicted each symbol, ``</s>`` last when it is finished; S is the
    sentence's own length. None for models without attention."""
    finished: bool
    """Whether it was closed by ``</s>``, and not cut at its greatest length."""
