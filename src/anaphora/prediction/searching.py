"""Search requests of ``SearchOptions``."""

from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b

import torch

from anaphora.batch import Batch
from anaphora.prediction.options import SearchOptions
from anaphora.protocols import Stepper
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.request import SearchRequest
from anaphora.search.restraints import MinimumLength, NoRepeatedNgrams
from anaphora.search.search import search
from anaphora.search.steering import Steering


def resolved(options: SearchOptions, request: SearchRequest, eos: int) -> SearchRequest:
    """Return the request as settled options ask; its limits, banned tokens and steering are kept."""
    request = replace(
        request,
        n=options.hypotheses,
        ranking=options.ranking,
        diversity=options.diverse,
        sampling=options.sampling,
        steering=[*_restraints(options, eos), *request.steering],
    )
    return request if options.beam is None else replace(request, beam=options.beam)


def searched(stepper: Stepper, batch: Batch, request: SearchRequest) -> list[list[Hypothesis]]:
    """Return the hypotheses of every sentence, best first; ``n`` samples in the order in which they are drawn.

    A sample depends on its sentence and its number. Raises ConfigError as ``search.search``.
    """
    if request.sampling is None:
        return search(stepper, batch, request)
    drawn = (search(stepper, _keyed(batch, number), request) for number in range(request.n))
    return [[one for [one] in of_one] for of_one in zip(*drawn, strict=True)]


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
