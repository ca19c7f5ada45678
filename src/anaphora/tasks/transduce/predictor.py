"""A trained transducer: strings in, strings out."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from anaphora.events import Note, Report, silent
from anaphora.options import with_known_names
from anaphora.prediction.arguments import demand_several
from anaphora.prediction.limits import UNLIMITED, Limits
from anaphora.prediction.options import SearchKeywords, SearchOptions
from anaphora.tasks.translation import Translation, TranslationPredictor
from anaphora.text.normalise import normalise
from anaphora.text.symbols import TAB, SymbolTokenizer, can_copy

_USUAL = SearchOptions()


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

    def restored(self, stand_ins: Mapping[str, str]) -> "Transduction":
        """Return the same with unknown characters in the place of their stand-ins."""
        if not stand_ins:
            return self
        back = str.maketrans({known: unknown for unknown, known in stand_ins.items()})
        return Transduction(
            self.text.translate(back), self.score, tuple(other.restored(stand_ins) for other in self.alternatives)
        )

    @classmethod
    def of(cls, found: Translation) -> "Transduction":
        """Return the transduction that a translator found."""
        return cls(found.text, found.score, tuple(map(cls.of, found.alternatives)))

    def json(self) -> dict[str, Any]:
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
        self._copies = can_copy(source, target)

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
        """Yield the same for strings as they come; a Note names the first symbols that training does not have.

        Where both sides share their characters, an unknown one is copied: a known one stands in for it in search.
        """
        demand_several(texts)
        copied: deque[dict[str, str]] = deque()
        lines = self._known(texts, copied, report)
        # a list is searched in full windows, a stream as it comes
        given = list(lines) if isinstance(texts, Sequence) else lines
        found = self.translator.stream(given, options._replace(protect=()), split=False, limits=limits, report=report)
        return (Transduction.of(one).restored(copied.popleft()) for one in found)

    def _known(self, texts: Iterable[str], copied: deque[dict[str, str]], report: Report) -> Iterator[str]:
        """Yield strings with stand-ins for unknown characters that can be copied; ``copied`` gets those of each."""
        noted = False
        for number, text in enumerate(texts, 1):
            unknown = self.source.unknown(text) if isinstance(text, str) else []
            copied.append(self.source.stand_ins(text) if unknown and self._copies else {})
            if unknown and not noted:
                noted = True
                shown = ", ".join(f"'{symbol}'" for symbol in unknown)
                how = "are copied as others are" if self._copies else "are read as unknown"
                report(
                    Note(
                        f"Input {number} ('{text.replace(TAB, ' ')[:40]}') has symbols that training does not have, "
                        f"which {how}: {shown}.",
                        warning=True,
                    )
                )
            yield _replaced(text, copied[-1]) if copied[-1] else text


def _replaced(text: str, stand_ins: Mapping[str, str]) -> str:
    string, tab, tags = text.partition(TAB)
    return normalise(string).translate({ord(one): known for one, known in stand_ins.items()}) + tab + tags
