"""Trained transducers: strings, or real-valued sequences such as the strokes of a pen, in, strings out."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np
import numpy.typing as npt

from anaphora.batch import Batch, Values
from anaphora.data.fields.field import Field
from anaphora.data.fields.tokens import Tokens
from anaphora.data.fields.values import Values as ValuesField
from anaphora.data.fields.values import written_in
from anaphora.data.fields.vectors import finite_vectors
from anaphora.data.traces import read_traces
from anaphora.events import Note, Report, silent
from anaphora.formats.labelled_vectors import read_vectors
from anaphora.formats.traces import Trace, ink
from anaphora.options import with_known_names
from anaphora.prediction.arguments import demand_several
from anaphora.prediction.limits import UNLIMITED, Limits, Streaming
from anaphora.prediction.options import SearchKeywords, SearchOptions
from anaphora.prediction.predictor import WritingPredictor
from anaphora.search.hypothesis import Hypothesis
from anaphora.tasks.translation.confidence import RunCalibrations
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.translation import Translation
from anaphora.text.normalise import normalise
from anaphora.text.symbols import TAB, SymbolTokenizer, can_copy

_USUAL = SearchOptions()
SHORTEST = 10
"""Symbols that any text of vectors may have; others may have as many as their sequence has vectors."""


@dataclass(frozen=True)
class Transduction:
    """The output for a string."""

    text: str
    score: float
    """ln p of the output given its input, ``</s>`` included."""
    alternatives: tuple["Transduction", ...] = ()
    """Other outputs that the beam finished, best first."""
    pieces: tuple[str, ...] = ()
    """The symbols of the output, with ``</s>`` where it is finished; with attention to vectors."""
    weights: npt.NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    """Attention, symbols x vectors; None where it was not asked for."""
    confidence: float | None = None
    """The probability that it is right, where confidence was asked for."""

    def restore(self, stand_ins: Mapping[str, str]) -> "Transduction":
        """Return the same with unknown characters in the place of their stand-ins."""
        if not stand_ins:
            return self
        back = str.maketrans({known: unknown for unknown, known in stand_ins.items()})
        others = tuple(other.restore(stand_ins) for other in self.alternatives)
        return replace(self, text=self.text.translate(back), alternatives=others)

    @classmethod
    def of(cls, found: Translation) -> "Transduction":
        """Return the transduction that a translator found."""
        others = tuple(map(cls.of, found.alternatives))
        return cls(found.text, found.score, others, confidence=found.confidence)

    def json(self) -> dict[str, Any]:
        others = [{"text": other.text, "log_probability": other.score} for other in self.alternatives]
        found = {"text": self.text, "log_probability": self.score}
        found |= {} if self.confidence is None else {"confidence": self.confidence}
        return found | ({"alternatives": others} if others else {})

    def __str__(self) -> str:
        return self.text


class TransducerPredictor:
    """A translator of symbols, over strings."""

    def __init__(self, translator: TranslationPredictor, left_out: str = "") -> None:
        """Second scores of its outputs go without the characters ``left_out``."""
        self.translator, self.left_out = translator, left_out
        self.source, self.target = cast(SymbolTokenizer, translator.source), cast(SymbolTokenizer, translator.target)
        self._copies = can_copy(self.source, self.target)

    @with_known_names
    def predict(
        self, texts: Sequence[str], options: SearchOptions = _USUAL, **asked: Unpack[SearchKeywords]
    ) -> list[Transduction]:
        """Return the output of every string, in their order; the features of an input follow it, a tab between them.

        ``asked`` are fields of ``SearchOptions``, as in ``predict(texts, beam=5, alternatives=3)``. Raises TypeError
        for one text in place of several, and as ``TranslationPredictor.stream``.
        """
        return list(self.predict_stream(texts, options._replace(**asked)))

    @with_known_names
    def predict_stream(
        self,
        texts: Iterable[str],
        options: SearchOptions = _USUAL,
        *,
        limits: Limits = UNLIMITED,
        report: Report = silent,
    ) -> Iterator[Transduction]:
        """Yield the same for strings as they come.

        Notes name the first symbols that training does not have, and count the strings that have such symbols.
        Where both sides share their characters, an unknown one is copied: a known one stands in for it in search.
        """
        demand_several(texts)
        copied: deque[dict[str, str]] = deque()
        lines = self._replace_unknown(texts, copied, report)
        # a list is searched in full windows, a stream as it comes
        given = list(lines) if isinstance(texts, Sequence) else lines
        found = self.translator.stream(given, options._replace(protect=()), split=False, limits=limits, report=report)
        return (Transduction.of(one).restore(copied.popleft()) for one in found)

    def _replace_unknown(self, texts: Iterable[str], copied: deque[dict[str, str]], report: Report) -> Iterator[str]:
        """Yield strings with stand-ins for unknown characters that can be copied; ``copied`` gets those of each."""
        count, has_features = 0, any(symbol.startswith(TAB) for symbol in self.source.alphabet)
        for number, text in enumerate(texts, 1):
            if has_features and isinstance(text, str) and text.strip() and TAB not in text:
                has_features = False  # said once
                known = f"Input {number} ('{text[:40]}') has no features, which the training data had"
                report(Note(f"{known}: put them behind it, after a tab.", warning=True))
            unknown = self.source.unknown(text) if isinstance(text, str) else []
            copied.append(self.source.stand_ins(text) if unknown and self._copies else {})
            count += bool(unknown)
            if unknown and count == 1:
                shown = ", ".join(f"'{symbol}'" for symbol in unknown)
                how = "are copied as others are" if self._copies else "are read as unknown"
                report(
                    Note(
                        f"Input {number} ('{text.replace(TAB, ' ')[:40]}') has symbols that training does not have, "
                        f"which {how}: {shown}.",
                        warning=True,
                    )
                )
            yield _replace_stand_ins(text, copied[-1]) if copied[-1] else text
        if count > 1:
            report(Note(f"In all, {count:,} inputs have symbols that training does not have.", warning=True))


def _replace_stand_ins(text: str, stand_ins: Mapping[str, str]) -> str:
    string, tab, tags = text.partition(TAB)
    return normalise(string).translate({ord(one): known for one, known in stand_ins.items()}) + tab + tags


class VectorTransducerPredictor(WritingPredictor[Transduction]):
    """A trained transducer of vectors: real-valued sequences in, such as the strokes of a pen, their texts out."""

    unit = "sequences"
    batch_size = 4000
    reads_arrays = True

    @staticmethod
    def fields(experiment: Any, tokenizers: Mapping[str, Any]) -> tuple[Field[Any], Field[Any]]:
        return ValuesField("values", experiment.scale), Tokens("target", tokenizers["target"], written_in)

    @property
    def attends(self) -> bool:
        """True if it has attention."""
        return bool(self.experiment.attention.kind != "none")

    @with_known_names
    def predict(
        self, sequences: Sequence[Any], *, beam: int | None = None, attention: bool = False
    ) -> list[Transduction]:
        """Return the text of each sequence: an array of steps x width, or strokes of a pen, each a list of points x, y.

        With ``attention``, texts have their ``pieces`` and ``weights``. Raises DataError for vectors of another width
        than those of training, and for numbers that are not finite.
        """
        return list(self.predict_stream(sequences, beam=beam, attention=attention))

    @with_known_names
    def predict_file(
        self, path: Path, *, beam: int | None = None, attention: bool = False, **streaming: Unpack[Streaming]
    ) -> Iterator[Transduction]:
        """Yield the same for the sequences of a file (see ``data.traces``), or of one ``.npy`` file."""
        if path.name.lower().endswith(".npy"):
            named = read_vectors(path)
            found: Iterator[Trace] = (Trace(place, values_TD.astype(np.float64), None) for place, values_TD in named)
        else:
            found = read_traces(path)
        return self.predict_stream(found, beam=beam, attention=attention, **streaming)

    @with_known_names
    def predict_stream(
        self,
        sequences: Iterable[Any],
        *,
        beam: int | None = None,
        attention: bool = False,
        **streaming: Unpack[Streaming],
    ) -> Iterator[Transduction]:
        """Yield the same for sequences as they come, in order, or ``Trace``s."""

        def longest(batch: Batch) -> list[int]:
            return [length + SHORTEST for length in cast(Values, batch.inputs).lengths_B.tolist()]

        return self._stream(sequences, self._read, self._writer(beam, longest, attention=attention), **streaming)

    def _text(self, found: Hypothesis) -> Transduction:
        text = self.targets.tokenizer.decode(found.ids)
        if found.weights is None:
            return Transduction(text, found.score)
        return Transduction(text, found.score, pieces=self._pieces(found), weights=found.weights)

    def _read(self, given: Any, number: int) -> tuple[None, str, Trace]:
        """Return a sequence that a caller gave."""
        place, scale = f"Sequence {number}", self.experiment.scale
        if isinstance(given, Trace):
            return None, given.place, given
        if scale.pen:
            return None, place, ink(place, given)
        return None, place, Trace(place, finite_vectors(place, given).astype(np.float64), None)


def are_answers(outputs: Sequence[str], pairs: Sequence[tuple[str, str]], experiment: Any) -> list[bool]:
    """Return True for each output that is an answer of its input."""
    answers = {(source, normalise(target)) for source, target in pairs}
    return [(source, normalise(output)) in answers for (source, _), output in zip(pairs, outputs, strict=True)]


def make_predictor(trained: Any) -> TransducerPredictor | VectorTransducerPredictor:
    """Return the predictor of a ``TrainedModel``."""
    experiment, tokenizers = trained.experiment, trained.tokenizers
    if experiment.model == "vectors":
        return VectorTransducerPredictor.of(trained)
    source, target = tokenizers["source"], tokenizers["target"]
    beam, length_penalty = experiment.evaluation.beam, experiment.evaluation.length_penalty
    translator = TranslationPredictor(
        trained.model.stepper,
        source,
        target,
        beam=beam,
        length_penalty=length_penalty,
        runtime=trained.runtime,
        calibrations=RunCalibrations(trained.path, trained.weights, are_answers),
    )
    return TransducerPredictor(translator, experiment.evaluation.without)
