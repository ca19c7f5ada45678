"""What is asked of a search, in one value; and in words, how something was searched."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from anaphora.prediction.candidates import Candidates
from anaphora.text.placeholders import Kind
from anaphora.wording import counted


class SearchOptions(NamedTuple):
    """How translations are searched. What is left open is as the run's ``[evaluation]`` table says."""

    beam: int | None = None
    """Hypotheses kept at each step; 1 is greedy search."""
    length_penalty: float | None = None
    """How strongly length is rewarded (Wu et al. 2016, equation 14)."""
    alternatives: int = 0
    """How many other hypotheses of the beam are returned beside the best."""
    replace_unknown: Mapping[str, str] | None = None
    """A dictionary, perhaps empty: every ``<unk>`` becomes the source word with the most attention, or its translation.
    None leaves them."""
    candidates: Candidates | None = None
    """The words that every sentence may be written with; None for the whole vocabulary."""
    known: bool = False
    """Whether ``<unk>`` may not be written; in evaluation, pairs with unknown words are left out (Bahdanau et al.)."""
    attention: bool = False
    """Whether to return attention weights and the tokens of both sides, which word alignments need."""
    protect: tuple[Kind, ...] | None = None
    """What comes back as it is, each exactly once: some of ``text.placeholders.KINDS``. None for the usual ones where
    texts are translated, and for nothing where translations are scored."""

    def settled(self, beam: int, length_penalty: float) -> Self:
        """The same, with what it leaves open as the run has it."""
        return self._replace(
            beam=beam if self.beam is None else self.beam,
            length_penalty=length_penalty if self.length_penalty is None else self.length_penalty,
        )

    def json(self, unknown: int, left: int) -> dict[str, Any]:
        """A settled search that wrote so many ``unknown`` words and left some, for ``json.dumps``."""
        protected = {"protected": list(self.protect)} if self.protect else {}
        return protected | {
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
        kept = f", {' and '.join(self.protect)} protected" if self.protect else ""
        among = f", among {self.candidates}" if self.candidates else ""
        what = "left" if left == unknown else "replaced" if not left else f"of which {left:,} left"
        words = f", {unknown:,} unknown words {what}" if unknown else ""
        return f"{counted(sentences, 'sentence')}{only}, beam {self.beam}{penalty}{among}{kept}{words}"
