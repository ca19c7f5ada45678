"""Predictors of real-valued sequences: handwriting from texts, strokes or signals continued, and likelihoods."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch

from anaphora.data.example_batches import WIDTH, Side, prediction_batches
from anaphora.data.fields.tokens import Tokens
from anaphora.data.fields.vectors import Vectors
from anaphora.errors import ConfigError
from anaphora.events import Progress, Report, silent
from anaphora.formats.traces import Floats, Trace
from anaphora.kernels.runtime import Runtime, running
from anaphora.models.values import ValueNetwork
from anaphora.nn.device import device_of
from anaphora.prediction.arguments import demand_text
from anaphora.prediction.limits import UNLIMITED, Limits
from anaphora.prediction.running import ON_CPU
from anaphora.tasks.trace.config import TraceExperiment
from anaphora.tasks.trace.drawing import Drawing
from anaphora.tasks.trace.sampling import Sampled, sample
from anaphora.text.tokenizer import Tokenizer

LENGTH = 700
"""Vectors that are drawn at most, where nobody says."""

_ROWS = 64
"""Sequences that are drawn side by side."""


@dataclass(frozen=True)
class Series:
    """A sequence of vectors without a pen."""

    values_TD: Floats
    primed: int = 0
    """Number of vectors that were given."""
    ended: bool = True
    """True if the model ended it; otherwise the greatest length did."""

    def json(self) -> dict[str, Any]:
        return {"values": self.values_TD.tolist(), "primed": self.primed, "ended": self.ended}


class TracePredictor:
    """A trained model of real-valued sequences."""

    def __init__(
        self,
        network: ValueNetwork,
        experiment: TraceExperiment,
        tokenizer: Tokenizer | None,
        runtime: Runtime = ON_CPU,
    ) -> None:
        """``tokenizer`` is that of the texts it writes; None for a model without."""
        self.network, self.experiment = network, experiment
        self._tokenizer, self._runtime, self._scale = tokenizer, runtime, experiment.scale

    @property
    def writes_text(self) -> bool:
        return self._tokenizer is not None

    def generate(self, text: str = "", **options: Any) -> Drawing | Series:
        """One sequence; ``options`` and errors as for ``generate_stream``."""
        return next(self.generate_stream([text], **options))

    def generate_stream(
        self,
        texts: Iterable[str],
        *,
        bias: float = 0.0,
        seed: int = 0,
        length: int = LENGTH,
        prime: Trace | None = None,
        limits: Limits = UNLIMITED,
        report: Report = silent,
    ) -> Iterator[Drawing | Series]:
        """A sequence for each text, in order; a model without texts takes empty ones.

        Args:
            texts: what to write.
            bias: 0 draws from the densities as they are; larger values draw nearer to their peaks (Graves 2013).
            seed: random seed; the sequence of a text depends on it and on the text's place alone.
            length: vectors that are drawn at most.
            prime: a sequence that is continued, in its style; with texts, it has the text that it is of.
            limits: when to stop early, by a StoppedError.
            report: receives the progress.

        Raises ConfigError for options out of bounds, a text that cannot be written, and a prime that does not fit.
        """
        if bias < 0 or not np.isfinite(bias) or length < 1 or not 0 <= seed < 2**64:
            raise ConfigError(
                f"The bias should be 0 or more, the length 1 or more and the seed from 0 to 2^64 - 1, but they are "
                f"{bias}, {length} and {seed}: change them."
            )
        given = list(texts)
        for number, text in enumerate(given, 1):
            demand_text(text, number)
            self._check(text, prime)
        read_PX = self._read(prime)
        watch, done = limits.start(), 0
        found: dict[int, Sampled] = {}
        device = device_of(cast(torch.nn.Module, self.network))
        for batch in prediction_batches(self._inputs(given, prime), _ROWS * WIDTH):
            rows = batch.example_ids_B.tolist()
            with running(self._runtime):
                lengths = [length] * len(rows)
                drawn = sample(self.network, batch.to(device), read_PX, lengths, watch, bias=bias, seed=seed)
            found |= dict(zip(rows, drawn, strict=True))
            done += len(rows)
            report(Progress("draw", done, len(given), "sequences"))
        yield from (self._finished(found[row], text, prime) for row, text in enumerate(given))

    def _check(self, text: str, prime: Trace | None) -> None:
        if not self.writes_text:
            if text:
                raise ConfigError('This model writes no given text: leave the text out, or train model = "synthesis".')
            return
        assert self._tokenizer is not None
        if not text.strip():
            raise ConfigError("This model writes a given text, but it is empty: give one.")
        if self._tokenizer.symbols.unk in self._tokenizer.encode(text):
            known = {c for c in text if self._tokenizer.symbols.unk not in self._tokenizer.encode(c)}
            strange = ", ".join(sorted({repr(c) for c in text if c not in known and not c.isspace()})) or "its spaces"
            raise ConfigError(f"The text '{text:.40}' has {strange}, which the training texts have not: write others.")
        if prime is not None and not prime.text.strip():
            raise ConfigError(f"{prime.place} has no text, but this model needs what the strokes say: add it.")

    def _read(self, prime: Trace | None) -> Floats:
        """Input before the first draw."""
        width = self._scale.pen + self.network.output.size
        if self.writes_text or not self._scale.pen:
            first_1X = np.zeros((1, width))
        else:
            origin = np.array([[0.0, 0.0]])
            first_1X = self._scale.encoded(Trace("the origin", origin, np.array([False])))
        if prime is None:
            return first_1X
        encoded_TX = self._scale.encoded(prime)
        if self._scale.pen and not self.writes_text:
            return encoded_TX
        return np.concatenate([first_1X, encoded_TX[int(self._scale.pen) :].astype(np.float32)])

    def _inputs(self, texts: Sequence[str], prime: Trace | None) -> Side:
        """Return what the network reads besides vectors: the texts, or nothing in as many rows."""
        if self._tokenizer is None:
            nothing = Vectors("nothing", 1, lambda example: example)
            return Side.of(nothing, [nothing.encode([np.zeros((1, 1), np.float32)] * len(texts), str)])
        whole = [f"{prime.text.strip()} {text}" for text in texts] if prime else texts
        tokens = Tokens("text", self._tokenizer)
        return Side.of(tokens, [tokens.encode(whole, str)])

    def _finished(self, drawn: Sampled, text: str, prime: Trace | None) -> Drawing | Series:
        """The sequence as the data has it, after what it was primed with."""
        size, scale = self.network.output.size, self._scale
        values_TD = scale.decoded(drawn.values_TX[:, :size])
        given = 0 if prime is None else len(prime.values_TD)
        if not scale.pen:
            whole_TD = values_TD if prime is None else np.concatenate([prime.values_TD, values_TD])
            return Series(whole_TD, given, drawn.ended)
        ends_T = drawn.values_TX[:, size] > 0
        if prime is None or prime.ends_T is None:
            before_TD, before_T = np.zeros((1, 2)), np.array([False])
        else:
            before_TD, before_T = scale.decoded(scale.encoded(prime)[:, :size]), prime.ends_T
        points_TD = np.cumsum(np.concatenate([before_TD, values_TD]), 0)
        whole = f"{prime.text.strip()} {text}".strip() if prime else text
        return Drawing(points_TD, np.concatenate([before_T, ends_T]), whole, given, drawn.ended, scale.upward)
