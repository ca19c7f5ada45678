"""Searches as tests ask for them: fields of a request as keyword arguments."""

from typing import Any

from anaphora.batch import Batch
from anaphora.protocols import Stepper
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.request import SearchRequest
from anaphora.search.sampling import Sampling
from anaphora.search.search import search


def beam(stepper: Stepper, batch: Batch, **request: Any) -> list[list[Hypothesis]]:
    return search(stepper, batch, SearchRequest(**request))


def greedy(stepper: Stepper, batch: Batch, **request: Any) -> list[Hypothesis]:
    """Written token by token, not found by a beam of one."""
    return [one for [one] in beam(stepper, batch, beam=1, **{"on_token": lambda *_: None, **request})]


def sample(stepper: Stepper, batch: Batch, **request: Any) -> list[Hypothesis]:
    """With the fields of ``Sampling`` beside those of the request."""
    sampling = Sampling(**{name: request.pop(name) for name in Sampling._fields if name in request})
    return [one for [one] in beam(stepper, batch, sampling=sampling, **request)]
