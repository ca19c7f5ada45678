"""One search for every request: in compiled code where the model and the request allow it, else step by step."""

from dataclasses import replace

import torch

from anaphora.batch import Batch
from anaphora.protocols import Stepper
from anaphora.search.beam import beam
from anaphora.search.bounds import Bounds
from anaphora.search.compiled_search import CompiledStepper, compiled_search
from anaphora.search.emission import write
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.request import SearchRequest


@torch.no_grad()
def search(stepper: Stepper, batch: Batch, request: SearchRequest) -> list[list[Hypothesis]]:
    """Return the best hypotheses of every sentence, best first, or the one that was drawn.

    Every hypothesis begins with the prefix that ``batch.constraints`` gives its sentence. Raises ConfigError as
    ``SearchRequest.validate``, for a length below 1, and for a coverage penalty on a model without attention.
    """
    request.validate()
    request.check()
    compiles = isinstance(stepper, CompiledStepper) and request.is_plain
    if compiles and not request.is_written and batch.constraints.prefixes is None:
        batch = replace(batch, constraints=replace(batch.constraints, narrow=True))
    start = stepper.start(batch)
    bounds = Bounds.of(batch.constraints.prefixes, request.max_length, len(start.memory_lengths_B))
    if isinstance(stepper, CompiledStepper) and request.is_plain and not request.ranking.coverage_penalty:
        found = compiled_search(stepper, batch, start, bounds, request)
        if found is not None:
            return found
    if request.is_written:
        return [[one] for one in write(stepper, batch, start, bounds, request)]
    return beam(stepper, start, bounds, request)
