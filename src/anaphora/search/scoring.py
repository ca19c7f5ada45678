"""Forced decoding: the score and the attention of given outputs."""

from collections.abc import Callable
from dataclasses import replace

from anaphora.batch import Batch, pad
from anaphora.protocols import Array, DeviceArray, GivesPosteriors, Stepper
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
    found = unroll(stepper, start, given, max_length, request)
    return [one for [one] in with_posteriors(stepper, batch, [[one] for one in found])] if attention else found


def with_posteriors(stepper: Stepper, batch: Batch, found: list[list[Hypothesis]]) -> list[list[Hypothesis]]:
    """Return the hypotheses of each sentence with the attention of a Stepper that ``GivesPosteriors``."""
    if not isinstance(stepper, GivesPosteriors):
        return found
    changed: list[list[Hypothesis]] = [[] for _ in found]
    for rank in range(max(map(len, found), default=0)):
        some = [own[min(rank, len(own) - 1)] for own in found]  # one of each, if need be once more
        targets = pad([[*one.ids, stepper.eos] if one.finished else one.ids for one in some])
        weights_BTS = stepper.posteriors(replace(batch, targets=targets))
        if weights_BTS is None:
            break
        for own, one, weights_TS in zip(changed, some, weights_BTS, strict=True):
            steps, positions = one.weights.shape if one.weights is not None else (0, 0)
            own.append(replace(one, weights=weights_TS[:steps, :positions].copy()))
    return [new[: len(old)] or old for new, old in zip(changed, found, strict=True)]
