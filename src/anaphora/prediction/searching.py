"""One batch searched as ``SearchOptions`` ask."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b

import torch

from anaphora.batch import Batch
from anaphora.prediction.limits import Watch
from anaphora.prediction.options import SearchOptions
from anaphora.protocols import Stepper, VocabularyInfo
from anaphora.search.beam import beam
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.restraints import MinimumLength, NoRepeatedNgrams
from anaphora.search.sampling import sample
from anaphora.search.steering import Steering
from anaphora.search.watched import Watched
from anaphora.search.without import Without


def writer(model: Stepper, symbols: VocabularyInfo, watch: Watch) -> Stepper:
    """A model that writes no special tokens, under the limits of a stream."""
    return Watched(Without.special_tokens(model, symbols), watch.check)


def search(
    stepper: Stepper,
    batch: Batch,
    options: SearchOptions,
    *,
    max_length: Sequence[int],
    attention: bool,
    steering: Sequence[Steering] = (),
) -> list[list[Hypothesis]]:
    """As many hypotheses of every sentence as settled ``options`` need, best first; fewer where a beam finds fewer.

    Samples come in the order in which they are drawn. ``steering`` is what the sentences are steered by beside the
    options. Errors are those of ``search.beam`` and ``search.sampling``.
    """
    steering = [*_restraints(options, stepper.eos), *steering]
    if options.sampling is not None:
        drawn = (
            sample(
                stepper,
                _keyed(batch, number),
                max_length=max_length,
                **options.sampling._asdict(),
                steering=steering,
            )
            for number in range(options.hypotheses)
        )
        return [list(of_one) for of_one in zip(*drawn, strict=True)]
    assert options.beam is not None
    return beam(
        stepper,
        batch,
        size=options.beam,
        n=options.hypotheses,
        max_length=max_length,
        ranking=options.ranking,
        steering=steering,
        diversity=options.diverse,
        attention=attention,
    )


def _restraints(options: SearchOptions, eos: int) -> Iterator[Steering]:
    if options.min_length:
        yield MinimumLength(options.min_length, eos)
    if options.no_repeat_ngram:
        yield NoRepeatedNgrams(options.no_repeat_ngram)


def _keyed(batch: Batch, number: int) -> Batch:
    """The batch with keys of draws in place of example ids: each follows from the sentence and the sample's number."""
    read = batch.input_ids
    rows = zip(read.ids_BT.tolist(), read.lengths_B.tolist(), strict=True)
    keys = [blake2b(repr((row[:length], number)).encode(), digest_size=7).digest() for row, length in rows]
    return replace(batch, example_ids_B=torch.tensor([int.from_bytes(key) for key in keys]))
