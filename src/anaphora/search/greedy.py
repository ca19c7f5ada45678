"""Greedy search: the most probable token at every step, as in a beam of one, reported as it is found."""

from collections import abc

from torch import Tensor

from anaphora.batch import Batch
from anaphora.protocols import Stepper
from anaphora.search.bounds import Bounds
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.steering import Steering
from anaphora.search.straight import straight
from anaphora.search.writing import OnToken, ignore_token, write


def greedy(
    stepper: Stepper,
    batch: Batch,
    *,
    max_length: int | abc.Sequence[int],
    on_token: OnToken = ignore_token,
    lines: int | None = 1,
    steering: abc.Sequence[Steering] = (),
) -> list[Hypothesis]:
    """One output a sentence, beginning with the prefix that ``batch.constraints`` gives it.

    ``max_length`` and ``steering`` are those of ``beam``, ``lines`` that of ``sample``. Of equally likely tokens the
    lower id is taken. Raises ConfigError for a length below 1.
    """

    def take(step: int, sentences_B: Tensor, log_probs_BV: Tensor) -> Tensor:
        return log_probs_BV.argmax(dim=1)

    start = stepper.start(batch)
    bounds = Bounds.of(batch.constraints.prefixes, max_length, len(start.memory_lengths_B))
    if not steering:
        example_ids = batch.example_ids_B.tolist()
        found = straight(stepper, start, bounds, lines=lines, example_ids=example_ids, on_token=on_token)
        if found is not None:
            return found
    return write(stepper, batch, start, bounds, take, on_token, lines, steering)
