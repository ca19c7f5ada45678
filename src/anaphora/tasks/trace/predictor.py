"""Predictors of real-valued sequences: handwriting from texts, strokes or signals continued, and likelihoods."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anaphora.batch import Batch
from anaphora.data.example_batches import WIDTH, Side, prediction_batches
from anaphora.data.fields.field import Field
from anaphora.data.fields.tokens import Tokens
from anaphora.data.fields.values import NextValues, PreviousValues, Scale, written_in
from anaphora.data.fields.vectors import Vectors, finite_vectors
from anaphora.data.traces import read_traces
from anaphora.errors import ConfigError
from anaphora.events import Progress, Report, silent
from anaphora.formats.traces import Floats, Trace
from anaphora.kernels.runtime import running
from anaphora.options import MAX_LENGTH
from anaphora.prediction.arguments import demand_text
from anaphora.prediction.limits import UNLIMITED, Limits, Watch
from anaphora.prediction.predictor import FieldPredictor
from anaphora.tasks.trace.answers import Drawing, Forecast, Series

LENGTH = 700
"""Vectors that are drawn at most, where nobody says."""
SAMPLES = 200
"""Continuations that a forecast is made from, where nobody says."""

_ROWS = 64
"""Sequences that are drawn side by side."""


class SampledTrace(NamedTuple):
    """One sequence that was drawn."""

    values_TX: Floats
    """Scaled vectors with all their flags."""
    ended: bool
    """True if the network ended it, before the greatest length."""


class TracePredictor(FieldPredictor[Any]):
    """A trained model of real-valued sequences."""

    noun = "a model of real-valued sequences"

    @staticmethod
    def fields(experiment: Any, tokenizers: Mapping[str, Any]) -> tuple[Field[Any], Field[Any]]:
        targets = NextValues("values", experiment.scale)
        if experiment.model == "synthesis":
            return Tokens("text", tokenizers["text"], written_in), targets
        return PreviousValues("values", experiment.scale), targets

    @property
    def writes_text(self) -> bool:
        return isinstance(self.field, Tokens)

    def generate(self, text: str = "", **options: Any) -> Drawing | Series:
        """Return one sequence; ``options`` and errors as for ``generate_stream``."""
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
        """Yield a sequence for each text, in order; a model without texts takes empty ones.

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
        read_PX, watch, found = self._read(prime), limits.start(), dict[int, SampledTrace]()
        for batch in prediction_batches(self._inputs(given, prime), _ROWS * WIDTH):
            found |= self._sample(batch, read_PX, length, watch, seed, bias)
            report(Progress("draw", len(found), len(given), "sequences"))
        yield from (self._complete(found[row], text, prime) for row, text in enumerate(given))

    def forecast(self, sequences: Iterable[Any], steps: int, **options: Any) -> list[Forecast]:
        """Return the ``steps`` that follow each sequence; ``options`` and errors as for ``forecast_stream``."""
        return list(self.forecast_stream(sequences, steps, **options))

    def forecast_file(self, path: Path, steps: int, **options: Any) -> Iterator[Forecast]:
        """Yield the same for the sequences of a file: see ``data.traces.read_traces``."""
        return self.forecast_stream(read_traces(path), steps, **options)

    def forecast_stream(
        self,
        sequences: Iterable[Any],
        steps: int,
        *,
        samples: int = SAMPLES,
        interval: float = 0.9,
        seed: int = 0,
        limits: Limits = UNLIMITED,
        report: Report = silent,
    ) -> Iterator[Forecast]:
        """Yield the ``steps`` that follow each sequence, in order.

        Args:
            sequences: arrays, steps x width, or ``Trace`` of them.
            steps: vectors that follow; that a sequence may end is left out of account.
            samples: continuations that are drawn of each sequence.
            interval: probability of the interval around each number.
            seed: random seed; the forecast of a sequence does not depend on the others.
            limits: when to stop early, by a StoppedError.
            report: receives the progress.

        Raises ConfigError for options out of bounds and for a model of strokes or texts, DataError for vectors of
        another width than those of training, and for numbers that are not finite.
        """
        scale: Scale = self.experiment.scale
        if scale.pen or self.writes_text:
            raise ConfigError("A forecast is of signals, but this model is of pen strokes or texts: draw with a prime.")
        if not (1 <= steps <= MAX_LENGTH and samples >= 1 and 0 < interval < 1 and 0 <= seed < 2**64):
            raise ConfigError(
                f"Steps and samples should be 1 or more (steps at most {MAX_LENGTH:,}), the interval between 0 and 1 "
                f"and the seed from 0 to 2^64 - 1, but they are {steps}, {samples}, {interval} and {seed}: change them."
            )
        density = self.model.output.shape is not None
        batches = list(prediction_batches(self._inputs([""] * (samples if density else 1), None), _ROWS * WIDTH))
        watch = limits.start()
        for watch.line, given in enumerate(sequences, 1):
            read_PX = self._read(given if isinstance(given, Trace) else self._trace(given, watch.line))
            drawn = dict[int, SampledTrace]()
            for batch in batches:
                drawn |= self._sample(batch, read_PX, steps, watch, seed, endless=True)
            samples_STD = np.stack([scale.decode(drawn[row].values_TX[:, :-1]) for row in sorted(drawn)])
            report(Progress("forecast", watch.line, 0, "sequences"))
            yield Forecast.of(samples_STD, interval, density)

    def _sample(
        self,
        batch: Batch,
        read_PX: Floats,
        length: int,
        watch: Watch,
        seed: int,
        bias: float = 0,
        endless: bool = False,
    ) -> dict[int, SampledTrace]:
        """Return a sequence for each row of ``batch``, of ``length`` vectors at most, drawn one vector at a time.

        An ``endless`` one has as many.

        Every draw is a function of (seed, row, step) from a counter-based generator (Philox: Salmon et al. 2011), so
        that a row is the same whatever is drawn beside it.

        ``read_PX`` are the vectors that every row has read before the first draw, P x (D + pen), at least the one that
        sequences begin with. A higher ``bias`` draws nearer to what is most probable (Graves 2013, section 5.4).
        """
        scale, rows = self.experiment.scale, batch.example_ids_B.tolist()
        size, flags = len(scale.mean_D), scale.pen + 1
        drawn: list[Floats] = []
        ends = [length] * len(rows)
        with running(self.runtime):
            state = self.model.start(batch)
            for vector_X in read_PX:
                states_BH, state = self.model.advance(state, np.tile(vector_X.astype(np.float32), (len(rows), 1)))
            for step in range(length):
                watch.check()
                values_BX = self.model.output.draw(states_BH, _draws(seed, rows, step, size, flags), bias)
                drawn.append(values_BX)
                for row in [] if endless else np.flatnonzero(values_BX[:, -1]).tolist():
                    ends[row] = min(ends[row], step + 1)
                if step + 1 >= max(ends):
                    break
                read_BX = values_BX[:, : read_PX.shape[1]].astype(np.float32)
                states_BH, state = self.model.advance(state, read_BX)
        cut = zip(rows, np.stack(drawn, 1), ends, strict=True)
        return {row: SampledTrace(whole_TX[:end], bool(whole_TX[end - 1, -1])) for row, whole_TX, end in cut}

    def _trace(self, given: Any, number: int) -> Trace:
        """Return a sequence that a caller gave as an array; vectors of one number may be given as steps alone."""
        values, place = np.asarray(given), f"Sequence {number}"
        by_step = values.ndim == 1 and len(self.experiment.scale.mean_D) == 1
        return Trace(place, finite_vectors(place, values[:, None] if by_step else values).astype(np.float64), None)

    def _check(self, text: str, prime: Trace | None) -> None:
        if not self.writes_text:
            if text:
                raise ConfigError('This model writes no given text: leave the text out, or train model = "synthesis".')
            return
        if not text.strip():
            raise ConfigError("This model writes a given text, but it is empty: give one.")
        if prime is not None and not prime.text.strip():
            raise ConfigError(f"{prime.place} has no text, but this model needs what the strokes say: add it.")
        whole, encode, unknown = self._whole(text, prime), self.field.tokenizer.encode, self.field.tokenizer.symbols.unk
        if unknown in encode(whole):
            strange = sorted({repr(c) for c in whole if unknown in encode(c) and not c.isspace()}) or ["its spaces"]
            raise ConfigError(
                f"The text '{whole:.40}' has {', '.join(strange)}, which the training texts have not: write others."
            )

    def _whole(self, text: str, prime: Trace | None) -> str:
        """Return what is written with a prime: its text, and then ``text``, after a space if the model knows spaces."""
        if prime is None:
            return text
        said = prime.text.strip()
        joined = f"{said} {text}".strip()
        spaced = not self.writes_text or self.field.tokenizer.symbols.unk not in self.field.tokenizer.encode(joined)
        return joined if spaced else said + text

    def _read(self, prime: Trace | None) -> Floats:
        """Input before the first draw."""
        scale: Scale = self.experiment.scale
        if scale.pen and not self.writes_text:
            return scale.encode(prime or Trace("the origin", np.array([[0.0, 0.0]]), np.array([False])))
        first_1X = np.zeros((1, scale.pen + len(scale.mean_D)))
        if prime is None:
            return first_1X
        return np.concatenate([first_1X, scale.encode(prime)[int(scale.pen) :].astype(np.float32)])

    def _inputs(self, texts: Sequence[str], prime: Trace | None) -> Side:
        """Return what the network reads besides vectors: the texts, or nothing in as many rows."""
        if not self.writes_text:
            nothing = Vectors("nothing", 1, lambda example: example)
            return Side.of(nothing, [nothing.encode([np.zeros((1, 1), np.float32)] * len(texts), str)])
        return Side.of(self.field, [self.field.encode([self._whole(text, prime) for text in texts], str)])

    def _complete(self, drawn: SampledTrace, text: str, prime: Trace | None) -> Drawing | Series:
        """Return the sequence as the data has it, after what it was primed with."""
        scale: Scale = self.experiment.scale
        size = len(scale.mean_D)
        values_TD = scale.decode(drawn.values_TX[:, :size])
        given = 0 if prime is None else len(prime.values_TD)
        if not scale.pen:
            whole_TD = values_TD if prime is None else np.concatenate([prime.values_TD, values_TD])
            return Series(whole_TD, given, drawn.ended)
        if prime is None or prime.ends_T is None:
            before_TD, before_T = np.zeros((1, 2)), np.array([False])
        else:
            before_TD, before_T = scale.decode(scale.encode(prime)[:, :size]), prime.ends_T
        points_TD = np.cumsum(np.concatenate([before_TD, values_TD]), 0)
        ends_T = np.concatenate([before_T, drawn.values_TX[:, size] > 0])
        return Drawing(points_TD, ends_T, self._whole(text, prime), given, drawn.ended, scale.upward)


def _draws(seed: int, rows: Sequence[int], step: int, size: int, flags: int) -> tuple[Floats, Floats, Floats]:
    """Return the random numbers of a step, by row: to choose a component, of the vector, and of its flags."""
    counter = np.array([0, 0, 0, step], np.uint64)
    bits = (np.random.Philox(key=np.array([seed, row], np.uint64), counter=counter) for row in rows)
    generators = list(map(np.random.Generator, bits))
    uniform = np.stack([generator.random(1 + flags) for generator in generators])
    normal = np.stack([generator.standard_normal(size) for generator in generators])
    return uniform[:, 0], normal, uniform[:, 1:]


make_predictor = TracePredictor.of
