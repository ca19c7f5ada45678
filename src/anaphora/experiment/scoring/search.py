"""What is asked of the search where its translations are scored, and in words how they were searched."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from anaphora.errors import ConfigError
from anaphora.evaluation.config import TranslationEvaluation
from anaphora.events import Report
from anaphora.pipeline import Candidates, Translation, Translator


class Search(NamedTuple):
    """What is asked of the search, most of it as ``Translator.translate`` takes it."""

    beam: int | None = None
    """None takes the run's own."""
    length_penalty: float | None = None
    """The same."""
    replace_unknown: Mapping[str, str] | None = None
    """A dictionary, perhaps empty, by which unknown words are put in; None leaves them."""
    candidates: Candidates | None = None
    """What every sentence may be written with; None for every word."""
    known: bool = False
    """Whether pairs with unknown words are left out, and none may be written: the second BLEU of Bahdanau et al."""

    def check(self) -> None:
        """ConfigError where unknown words are to be replaced and none may be written."""
        if self.known and self.replace_unknown is not None:
            raise ConfigError(
                "With --known-words no unknown word is written, so --replace-unknown has nothing to replace: leave one "
                "out."
            )

    def refuse(self, path: Path) -> None:
        """ConfigError where the language model in ``path`` is to search."""
        if self != Search():
            raise ConfigError(
                f"{path} is a language model, which predicts the text as it stands: a beam, a length penalty, "
                f"candidates, pairs of known words and unknown words to be replaced are for translators."
            )

    def settled(self, own: TranslationEvaluation) -> "Search":
        """The same, with what it leaves open as the run has it."""
        return self._replace(
            beam=own.beam if self.beam is None else self.beam,
            length_penalty=own.length_penalty if self.length_penalty is None else self.length_penalty,
        )

    def translate(self, translator: Translator, sources: Sequence[str], report: Report) -> list[Translation]:
        """The translations that it finds; raises as ``Translator.translate``."""
        return translator.translate(
            sources,
            beam=self.beam,
            length_penalty=self.length_penalty,
            replace_unknown=self.replace_unknown,
            candidates=self.candidates,
            report=report,
        )

    def json(self, unknown: int, left: int) -> dict[str, Any]:
        """Every figure of a settled search that wrote so many ``unknown`` words and left some, for ``json.dumps``."""
        return {
            "beam": self.beam,
            "length_penalty": self.length_penalty,
            "unknown_words": unknown,
            "unknown_replaced": self.replace_unknown is not None or left < unknown,
            "candidates": self.candidates and {"frequent": self.candidates.frequent, "each": self.candidates.each},
            "known_words_only": self.known,
        }

    def describe(self, sentences: int, unknown: int, left: int) -> str:
        """How so many sentences were translated by a settled search that wrote ``unknown`` words and left some."""
        only = " of known words only" if self.known else ""
        penalty = f", length penalty {self.length_penalty:g}" if self.length_penalty else ""
        among = f", among {self.candidates}" if self.candidates else ""
        what = "left" if left == unknown else "replaced" if not left else f"of which {left:,} left"
        words = f", {unknown:,} unknown words {what}" if unknown else ""
        return f"{sentences:,} sentences{only}, beam {self.beam}{penalty}{among}{words}"
