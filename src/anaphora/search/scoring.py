"""Forced decoding: the score and the attention of given outputs."""

from collections.abc import Callable

from anaphora.batch import Batch
from anaphora.protocols import Array, DeviceArray, Stepper
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.request import SearchRequest, no_check
from anaphora.search.unroll import unroll

Watch = Callable[[Array, DeviceArray, Array], None]
"""Called at every step with the live sentences, the log-probabilities of each, and the token that each is given."""


def score(
    stepper: Stepper,
    batch: Batch,
    attention: bool = True,
    *,
    banned_tokens: tuple[int, ...] = (),
    check: Callable[[], None] = no_check,
    watch: Watch = lambda *_: None,
) -> list[Hypothesis]:
    """Return every row of the targets as a hypothesis, with the score that a search would give it.

    A row that ends in ``</s>`` is a finished hypothesis; without it, a prefix is scored. Without ``attention``, the
    hypotheses have no weights. ``watch`` sees every step; ``banned_tokens`` and ``check`` are those of
    ``SearchRequest``. Raises ShapeError when the batch has no targets.
    """
    check()
    targets, start = batch.target_ids, stepper.start(batch)

    def given(step: int, sentences_B: Array, log_probs_BV: DeviceArray) -> tuple[Array, Array]:
        chosen_B = targets.ids_BT[sentences_B, step]
        watch(sentences_B, log_probs_BV, chosen_B)
        return chosen_B, step + 1 >= targets.lengths_B[sentences_B]

    max_length = int(targets.lengths_B.max()) if len(targets.lengths_B) else 0
    request = SearchRequest(max_length=max_length, attention=attention, banned_tokens=banned_tokens, check=check)
    return unroll(stepper, start, given, max_length, request)
