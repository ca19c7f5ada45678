"""The result of a search for a sentence."""

from dataclasses import dataclass, field

from torch import Tensor


@dataclass(frozen=True)
class Hypothesis:
    """One output of a model, with its log-probability."""

    ids: tuple[int, ...]
    """The tokens, without ``<s>`` and without the ``</s>`` that closes a finished hypothesis."""
    score: float
    """ln p of all tokens by the model, forced ones and the closing ``</s>`` included, summed in float64."""
    weights: Tensor | None = field(compare=False)
    """float32 [T, S], on the CPU: the attention of the prediction of each token, ``</s>`` last when it is finished; S
    is the length of the sentence's memory. None for models without attention."""
    finished: bool
    """Whether it ends in ``</s>``, and was not cut at its maximum length."""
    rank: float = field(compare=False)
    """What hypotheses of a sentence are compared by, see ``search.ranking``; the score where they are not ranked."""
