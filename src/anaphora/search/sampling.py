"""Drawing outputs from a model's distribution.

A symbol is drawn by the Gumbel-max trick: the greatest ln p / temperature + noise. The noise is a function of (seed,
sentence number, step), from a counter-based generator (Philox: Salmon et al. 2011), so a sentence's sample depends
neither on its neighbours nor on how many of them there are.
"""

from collections import abc

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from anaphora.errors import ConfigError
from anaphora.protocols import Batch, Stepper
from anaphora.search.bounds import Bounds
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.walk import walk


def sample(
    stepper: Stepper,
    batch: Batch,
    *,
    max_length: int | abc.Sequence[int],
    temperature: float = 1.0,
    seed: int = 0,
) -> list[Hypothesis]:
    """One sample a sentence, beginning with the sentence's row of ``batch.targets``, where there is one.

    Scores are those of the model itself, at temperature 1. ``max_length`` is as for ``beam``. Raises ConfigError for
    a temperature that is not above 0, a negative seed or a length below 1.
    """
    if not temperature > 0 or seed < 0:
        raise ConfigError(
            f"Sampling needs a temperature above 0 and a seed of at least 0, but they are {temperature} and {seed}: "
            f"change them, or use a beam of one for the likeliest symbols."
        )
    bounds = Bounds.of(batch, max_length)
    numbers = batch.numbers_B.tolist()

    def draw(step: int, sentences_B: Tensor, log_probs_BV: Tensor) -> tuple[Tensor, Tensor]:
        forced_B, forced_ids_B = bounds.forced(step, sentences_B)
        rows = [_gumbel(seed, numbers[b], step, log_probs_BV.shape[1]) for b in sentences_B.tolist()]
        noise_BV = torch.from_numpy(np.stack(rows)).to(log_probs_BV.device)
        drawn_B = (log_probs_BV.double() / temperature + noise_BV).argmax(dim=1)
        ended_B = (drawn_B == stepper.eos) & ~forced_B
        return torch.where(forced_B, forced_ids_B, drawn_B), ended_B | bounds.at_end(step, sentences_B)

    return walk(stepper, batch, draw, int(bounds.longest_B.max()) if numbers else 0)


def _gumbel(seed: int, number: int, step: int, size: int) -> npt.NDArray[np.float64]:
    """``size`` draws of -ln(-ln u), the same for ever for the same three numbers."""
    key = np.array([seed, number], dtype=np.uint64)
    generator = np.random.Generator(np.random.Philox(key=key, counter=np.array([0, 0, 0, step], dtype=np.uint64)))
    exponential = -np.log1p(-generator.random(size))
    return -np.log(np.maximum(exponential, np.finfo(np.float64).tiny))
