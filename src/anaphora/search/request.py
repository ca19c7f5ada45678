"""The request of a search: everything that a search needs besides the model and the inputs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from numbers import Integral
from typing import Any

import numpy as np

from anaphora.errors import ConfigError
from anaphora.options import MAX_BEAM
from anaphora.protocols import Array, Step, Stepper
from anaphora.search.ranking import Ranking
from anaphora.search.sampling import Sampling
from anaphora.search.selection import Diversity
from anaphora.search.steering import Steering

_PLAIN = Ranking()

OnToken = Callable[[int, int], None]
"""Called with (example id, token) for every token as it is written, except for forced ones."""


def check_size(size: int, what: str = "A beam") -> None:
    """Raise ConfigError for a beam of no hypothesis, or of more than ``MAX_BEAM``."""
    if not (isinstance(size, Integral) and 1 <= size <= MAX_BEAM):
        raise ConfigError(
            f"{what} should be at least 1 and at most {MAX_BEAM:,}, as each hypothesis takes the scores of a whole "
            f"vocabulary, but is {format(size, ',') if isinstance(size, Integral) else repr(size)}: change it."
        )


def no_check() -> None:
    """Let a search run to its end."""


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """A beam search; greedy search with a beam of 1, sampling with ``sampling``."""

    max_length: int | Sequence[int]
    """Number of predicted tokens, ``</s>`` included; one number, or one a sentence. Unfinished hypotheses are returned
    only for a sentence without a finished one."""
    beam: int = 5
    """Hypotheses kept at each step."""
    n: int = 1
    """Hypotheses returned for each sentence; fewer where the beam finished fewer, but at least one."""
    ranking: Ranking = _PLAIN
    """The order of finished hypotheses; the beam itself is always ordered by the plain sum."""
    diversity: Diversity | None = None
    """Groups of hypotheses, of which each gives its best to the ``n``."""
    sampling: Sampling | None = None
    """Draw one output a sentence instead: ``beam``, ``n``, ``ranking`` and ``diversity`` have no effect."""
    steering: Sequence[Steering] = ()
    """Tokens that must, must not and should be written, beyond the prefix of ``batch.constraints``."""
    banned_tokens: tuple[int, ...] = ()
    """Ids that are never written, such as ``<pad>``, ``<s>`` or ``<unk>`` (Bahdanau et al. 2015)."""
    lines: int | None = 1
    """The number of the ``</s>`` that ends an output: running text goes on after others. None for no end but
    ``max_length``. Of a beam of 1 and of samples."""
    attention: bool = True
    """True for hypotheses with attention weights."""
    on_token: OnToken | None = None
    """Reports tokens as they are written; of a beam of 1 and of samples."""
    check: Callable[[], None] = no_check
    """Called before the search and before every step (of compiled searches, every few); its error ends the search."""

    @property
    def is_written(self) -> bool:
        """True where tokens are written one after the other and never taken back."""
        return self.sampling is not None or self.lines != 1 or self.on_token is not None

    @property
    def is_plain(self) -> bool:
        """True where a model's own log-probabilities decide alone."""
        return self.sampling is None and self.diversity is None and not self.steering

    def validate(self) -> None:
        """Raise ConfigError for numbers out of their range, and for fields that exclude each other."""
        if self.sampling is not None:
            return self.sampling.check()
        check_size(self.beam)
        check_size(self.n, "A list of the best hypotheses")
        self.ranking.check()
        if self.diversity is not None:
            self.diversity.check(self.beam)
            if any(one.allocates_beam for one in self.steering):
                raise ConfigError("Constraints divide a beam by themselves: leave out its groups, or the constraints.")
        if self.is_written and self.beam > 1:
            raise ConfigError("A beam writes one line, known at its end: take a beam of 1, or samples.")
        return None


def advance(stepper: Stepper, memory: Any, state: Any, ids_N: Array, request: SearchRequest) -> Step:
    """Return the next step of a stepper, in which banned tokens have the log-probability minus infinity."""
    request.check()
    step = stepper.advance(memory, state, ids_N)
    for banned in request.banned_tokens:
        if step.candidates_BC is None:
            step.log_probs_NV[:, banned] = -inf
        else:
            sentences = len(step.candidates_BC)
            own_X, columns_X = (step.candidates_BC == banned).nonzero()
            rows_BK = np.arange(len(ids_N)).reshape(sentences, -1)
            step.log_probs_NV[rows_BK[own_X], columns_X[:, None]] = -inf
    return step
