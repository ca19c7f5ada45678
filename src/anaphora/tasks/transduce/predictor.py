"""A trained transducer: strings in, strings out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from anaphora.events import Note, Report, silent
from anaphora.prediction.arguments import demand_several
from anaphora.prediction.limits import UNLIMITED, Limits
from anaphora.prediction.options import SearchOptions
from anaphora.tasks.translation import Translation, TranslationPredictor
from anaphora.text.symbols import TAB, SymbolTokenizer

_USUAL = SearchOptions()


@dataclass(frozen=True)
class Transduction:
    """The output for a string."""

    text: str
    score: float
    """ln p of the output given its input, ``</s>`` included."""
    alternatives: tuple["Transduction", ...] = ()
    """Other outputs that the beam finished, best first."""

    @classmethod
    def of(cls, found: Translation) -> "Transduction":
        """From what a translator found."""
        return cls(found.text, found.score, tuple(map(cls.of, found.alternatives)))

    def json(self) -> dict[str, Any]:
        """Everything, for ``json.dumps``."""
        others = [{"text": other.text, "log_probability": other.score} for other in self.alternatives]
        found = {"text": self.text, "log_probability": self.score}
        return found | ({"alternatives": others} if others else {})

    def __str__(self) -> str:
        return self.text


class TransducerPredictor:
    """A translator of symbols, over strings."""

    def __init__(self, translator: TranslationPredictor, source: SymbolTokenizer, target: SymbolTokenizer) -> None:
        """The tokenizers are those of ``translator``."""
        self.translator, self.source, self.target = translator, source, target

    def predict(self, texts: Sequence[str], options: SearchOptions = _USUAL, **asked: Any) -> list[Transduction]:
        """The output of every string, in their order; the features of an input follow it, a tab between them.

        ``asked`` are fields of ``SearchOptions``, as in ``predict(texts, beam=5, alternatives=3)``. Raises TypeError
        for one text in place of several, and as ``TranslationPredictor.stream``.
        """
        return list(self.predict_stream(texts, options._replace(**asked)))

    def predict_stream(
        self,
        texts: Iterable[str],
        options: SearchOptions = _USUAL,
        *,
        limits: Limits = UNLIMITED,
        report: Report = silent,
    ) -> Iterator[Transduction]:
        """The same for strings as they come; a Note names the first symbols that training does not have."""
        demand_several(texts)
        lines = self._noted(texts, report)
        # a list is searched in full windows, a stream as it comes
        given = list(lines) if isinstance(texts, Sequence) else lines
        found = self.translator.stream(given, options, split=False, limits=limits, report=report)
        return map(Transduction.of, found)

    def _noted(self, texts: Iterable[str], report: Report) -> Iterator[str]:
        """The same strings."""
        noted = False
        for number, text in enumerate(texts, 1):
            if not noted and isinstance(text, str) and (unknown := self.source.unknown(text)):
                noted = True
                shown = ", ".join(f"'{symbol}'" for symbol in unknown)
                report(
                    Note(
                        f"Input {number} ('{text.replace(TAB, ' ')[:40]}') has symbols that training does not have, "
                        f"which are read as unknown: {shown}.",
                        warning=True,
                    )
                )
            yield text
