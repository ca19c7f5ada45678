"""A translation, and where the model looked as it wrote it."""

from collections import abc
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from anaphora.errors import ConfigError
from anaphora.evaluation.alignment import SoftLinks, hard_links, merge, spaced, words_of
from anaphora.formats.pharaoh import Links
from anaphora.memory import Match
from anaphora.text.sentences import is_blank

NO_LINKS = "Word alignments come from attention, but this translator has none: use one with attention."
"""Message for a request of word alignments."""


class Signals(NamedTuple):
    """Features of confidence: see ``confidence.signals_of``."""

    sentence: tuple[float, ...]
    """Empty where nothing was translated."""
    words: tuple[tuple[float, ...] | None, ...]
    """Of each word, None for one that is kept from the source."""


@dataclass(frozen=True)
class Translation:
    """A translation, and where the model looked as it wrote it."""

    text: str
    score: float
    """ln p of the translation given its source, ``</s>`` included."""
    finished: bool
    """True if it was closed by ``</s>``, and not cut for its length."""
    source_pieces: tuple[str, ...] = ()
    """Tokens of the source, ``</s>`` included; nothing where attention was not asked for."""
    target_pieces: tuple[str, ...] = ()
    """Tokens that the translation was put together from, with ``</s>`` when it is finished; likewise."""
    weights: npt.NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    """Attention [target pieces, source pieces]; None for models without, and where it was not asked for."""
    alternatives: tuple["Translation", ...] = ()
    """Other translations that the beam finished, best first, no text twice."""
    sentences: tuple["Translation", ...] = field(default=(), compare=False, repr=False)
    """The translations of its sentences, where the text was split into them; ``weights`` is None then."""
    unknown: int = field(default=0, compare=False)
    """Tokens that are ``<unk>``, whether they were replaced or not."""
    rank: float = field(default=0.0, compare=False)
    """Value that ranked it among its alternatives: ``search.ranking``, or its expected chrF for minimum risk; summed
    over sentences. The score where it was given or drawn."""
    tokens: int = field(default=0, compare=False)
    """Tokens that were predicted, ``</s>`` included."""
    match: Match | None = field(default=None, compare=False)
    """The segment of a memory that it is (exact match), or one whose source is similar; see ``remembered``."""
    confidence: float | None = None
    """The probability that its chrF2 is at least 50, where confidence was asked for; of several sentences the lowest.
    None for a text with nothing to translate."""
    word_confidences: tuple[float | None, ...] = ()
    """The same of each word between white space: the probability that it is right. None for what no step
    wrote."""
    signals: Signals | None = field(default=None, compare=False, repr=False)
    """Features of confidence, of one sentence where that was asked for."""

    def links(self) -> Links:
        """Links between the words of the source and the translation, by where it looked most.

        Words are what stands between spaces or line ends. Raises ConfigError for a translation by a model without
        attention, and where attention was not asked for.
        """
        self._demand_attention()
        links: set[tuple[int, int]] = set()
        sources = targets = 0
        for part in self.sentences or (self,):
            source, target = part._tokens()
            if part.weights is not None:
                found = hard_links(part.weights, len(source), len(target))
                links |= {(sources + i, targets + j) for i, j in found}
            sources, targets = sources + len(source), targets + len(target)
        source, target = self._tokens()
        return merge(links, words_of(source), words_of(target))

    def soft_links(self) -> SoftLinks:
        """The attention between the words of the source and the translation; words and errors as for ``links``."""
        self._demand_attention()
        source, target = self._tokens()
        weights_TS = np.zeros((len(target), len(source)))
        sources = targets = 0
        for part in self.sentences or (self,):
            rows, columns = (len(tokens) for tokens in reversed(part._tokens()))
            if part.weights is not None:
                weights_TS[targets : targets + rows, sources : sources + columns] = part.weights[:rows, :columns]
            sources, targets = sources + columns, targets + rows
        return SoftLinks.of(weights_TS, source, target)

    def is_below(self, least: float | None) -> bool:
        """True if it has a confidence, and a lower one than ``least`` where that is asked for."""
        return least is not None and self.confidence is not None and self.confidence < least

    def origin(self, model: str) -> dict[str, Any]:
        """Return the origin for JSON: the ``model``, what the memory had for it, and that segment."""
        return {
            "model": model,
            "memory": str(self.match) if self.match else "none",
            "from": self.match.segment.json() if self.match else None,
        }

    def withheld(self) -> Self:
        """Nothing in place of it, with the confidence that it has."""
        return type(self)("", 0.0, False, confidence=self.confidence)

    def _demand_attention(self) -> None:
        if not self.source_pieces and not is_blank(self.text):
            raise ConfigError(
                "Word alignments come from attention, which was not requested: translate or score with attention=True."
            )
        if any(part.weights is None and part._tokens()[0] for part in self.sentences or (self,)):
            raise ConfigError(NO_LINKS)

    def _tokens(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The pieces of both sides without ``</s>``."""
        return self.source_pieces[:-1], self.target_pieces[: len(self.target_pieces) - self.finished]

    @classmethod
    def joined(cls, text: str, parts: abc.Sequence["Translation"], gaps: abc.Sequence[tuple[str, str]]) -> Self:
        """The translation ``text`` that the translations of its sentences make, with no alternatives.

        ``gaps`` are what stands in front of every sentence but the first, in the source and in the translation.
        """
        pieces: tuple[list[str], list[str]] = ([], [])
        for part, spaces in zip(parts, (("", ""), *gaps), strict=True):
            for side, tokens, space in zip(pieces, part._tokens(), spaces, strict=True):
                side += spaced(tokens, _parts_words(space)) if side else tokens
        finished = all(part.finished for part in parts)
        return cls(
            text=text,
            score=sum(part.score for part in parts),
            finished=finished,
            source_pieces=(*pieces[0], *parts[-1].source_pieces[-1:]),
            target_pieces=(*pieces[1], *(parts[-1].target_pieces[-1:] if finished else ())),
            weights=None,
            sentences=tuple(parts),
            unknown=sum(part.unknown for part in parts),
            rank=sum(part.rank for part in parts),
            tokens=sum(part.tokens for part in parts),
            confidence=_least(part.confidence for part in parts),
            word_confidences=_words_together(parts, [translated for _, translated in gaps]),
        )


def _words_together(parts: abc.Sequence["Translation"], gaps: abc.Sequence[str]) -> tuple[float | None, ...]:
    """The confidences of the words of several parts with ``gaps`` between them; without a gap, two words are one."""
    found = [*parts[0].word_confidences]
    for part, gap in zip(parts[1:], gaps, strict=True):
        words = part.word_confidences
        if words and found and not gap:
            found[-1] = _least((found[-1], words[0]))
            words = words[1:]
        found += words
    return tuple(found)


def _least(values: abc.Iterable[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _parts_words(space: str) -> bool:
    """True if there are two words around some white space: a tab or a no-break space is a part of one."""
    return " " in space or len(f"{space}.".splitlines()) > 1
