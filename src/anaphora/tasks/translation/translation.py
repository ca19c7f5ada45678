"""Translations: where the model looked as it wrote them, and choice among several of a sentence or a line.

Minimum Bayes risk chooses the hypothesis that agrees best with all that the model might have written. The agreement of
two texts is their chrF2 (Popovic 2015), which needs no tokens. Over an n-best list every hypothesis counts as its
probability (Kumar and Byrne 2004), over samples as often as it was drawn (Eikema and Aziz 2020).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import nlargest
from html import escape
from itertools import islice
from math import exp, inf
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from anaphora.errors import ConfigError
from anaphora.evaluation.alignment import SoftLinks, hard_links, merge, set_space, words_of
from anaphora.evaluation.bleu import metric_of
from anaphora.formats.html_table import table
from anaphora.formats.pharaoh import Links
from anaphora.memory import Match
from anaphora.prediction.options import SearchOptions
from anaphora.search.hypothesis import Hypothesis
from anaphora.text.sentences import Passage, Splitter, is_blank
from anaphora.text.tokenizer import EOS, MARKS, UNK
from anaphora.wording import inflect

NO_LINKS = "Word alignments come from attention, but this translator has none: use one with attention."
"""Message for a request of word alignments."""


class Token(NamedTuple):
    """A piece of a translation, and where it is in the text."""

    piece: str
    start: int
    end: int
    step: int
    """The step that wrote it; -1 for what is kept without one."""

    def shift(self, by: int) -> Self:
        """Return the same where more text is in front of it."""
        return self._replace(start=self.start + by, end=self.end + by)


class Signals(NamedTuple):
    """Features of confidence: see ``confidence``."""

    sentence: tuple[float, ...]
    """Empty where nothing was translated."""
    words: tuple[tuple[float, ...] | None, ...]
    """Signals of each word, None for one that is kept from the source."""


@dataclass(frozen=True)
class Translation:
    """A translation, and where the model looked as it wrote it.

    >>> [found] = translator.translate(["The cat sees a very small bird"])
    >>> found.text, found.finished
    ('Le chat voit un tout petit oiseau', True)
    """

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
    """The segment of a memory that it is (exact match), or one whose source is similar; see ``tm_lookup``."""
    confidence: float | None = None
    """The probability that no or one word has to be edited, where confidence was asked for; of several sentences the
    lowest. None for a text with nothing to translate."""
    word_confidences: tuple[float | None, ...] = ()
    """The same of each word between white space: the probability that it is right. None for what no step
    wrote."""
    missing_terms: tuple[str, ...] = ()
    """Source forms of the required terms that it lacks, since no word of it stands for them."""
    signals: Signals | None = field(default=None, compare=False, repr=False)
    """Features of confidence, of one sentence where that was asked for."""

    @classmethod
    def of(cls, text: str, hypothesis: Hypothesis, signals: Signals | None = None) -> Self:
        """Return the translation that a hypothesis is, without attention."""
        return cls(
            text,
            hypothesis.score,
            hypothesis.finished,
            unknown=hypothesis.ids.count(UNK),
            rank=hypothesis.rank,
            tokens=len(hypothesis.ids) + hypothesis.finished,
            signals=signals,
        )

    def with_attention(
        self, source: Iterable[str], target: Iterable[str], weights: npt.NDArray[np.float32] | None
    ) -> Self:
        """Return the same with the pieces of both sides, to which the ends are added, and attention between them."""
        ends = [MARKS[EOS]]
        pieces = (*source, *ends), (*target, *ends[: self.finished])
        return replace(self, source_pieces=pieces[0], target_pieces=pieces[1], weights=weights)

    def links(self) -> Links:
        """Links between the words of the source and the translation, by where it looked most.

        Words are what stands between spaces or line ends. Raises ConfigError for a translation by a model without
        attention, and where attention was not asked for.

        >>> [found] = translator.translate(["The cat sees a very small bird"], attention=True)
        >>> sorted(found.links())
        [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6)]
        """
        self._demand_attention()
        links = {
            (sources[i], targets[j])
            for weights, sources, targets in self._attention()
            for i, j in hard_links(weights, len(sources), len(targets))
        }
        source, target = self._tokens()
        return merge(links, words_of(source), words_of(target))

    def soft_links(self) -> SoftLinks:
        """Return the attention between the words of the source and the translation; words and errors as for ``links``.

        >>> [found] = translator.translate(["The cat sees a very small bird"], attention=True)
        >>> found.soft_links().weights_TS.shape
        (7, 7)
        """
        self._demand_attention()
        source, target = self._tokens()
        weights_TS = np.zeros((len(target), len(source)))
        for weights, sources, targets in self._attention():
            weights_TS[np.ix_(targets, sources)] = weights[: len(targets), : len(sources)]
        return SoftLinks.of(weights_TS, source, target)

    def _repr_html_(self) -> str:
        """Return the text for a notebook and, with attention, a grid: source words across, those of the text down."""
        text = f'<p dir="auto">{escape(self.text)}</p>'
        try:
            links = self.soft_links()
        except ConfigError:
            return text
        square = '<div title="{0:.2f}" style="width: 2em; height: 1.2em; background: rgb(69 112 171 / {0:.2f})"></div>'
        rows = [
            [escape(word), *map(square.format, weights)]
            for word, weights in zip(links.target, links.weights_TS.tolist(), strict=True)
        ]
        heading = ["", *map(escape, links.source)]
        return "\n".join((text, table(heading, rows, [""] * len(heading))))

    def _attention(self) -> Iterator[tuple[npt.NDArray[np.float32], range, range]]:
        """Yield the weights of each sentence that has some, and the places of its tokens in source and translation."""
        sources, targets = range(0), range(0)
        for part in self.sentences or (self,):
            source, target = part._tokens()
            sources = range(sources.stop, sources.stop + len(source))
            targets = range(targets.stop, targets.stop + len(target))
            if part.weights is not None:
                yield part.weights, sources, targets

    def is_below(self, least: float | None) -> bool:
        """True if it has a confidence, and a lower one than ``least`` where that is asked for."""
        return least is not None and self.confidence is not None and self.confidence < least

    @property
    def matches(self) -> list[Match]:
        """The segments that it, or its sentences, are or are similar to."""
        return [one.match for one in (self, *self.sentences) if one.match]

    def origin(self, model: str) -> dict[str, Any]:
        """Return the origin for JSON: the ``model``, what the memory had for it, that segment and what differs.

        Where the memory had something for its sentences, these too.
        """
        known, count = sum(one.is_exact for one in self.matches), len(self.sentences)
        some = f"exact for {known} of {inflect(count, 'sentence')}" if known else "none"
        told = "exact" if known and known == count else some
        own = self.match.json() if self.match else {"memory": told, "changes": []}
        parts = [{"text": one.text} | one.origin(model) for one in self.sentences if self.matches]
        return {"model": model, "from": self.match and self.match.segment.json(), "sentences": parts} | own

    def withheld(self) -> Self:
        """Return nothing in place of it, with the confidence that it has and the terms that it lacks."""
        return type(self)("", 0.0, False, confidence=self.confidence, missing_terms=self.missing_terms)

    def _demand_attention(self) -> None:
        if not self.source_pieces and not is_blank(self.text):
            raise ConfigError(
                "Word alignments come from attention, which was not requested: translate or score with attention=True."
            )
        if any(part.weights is None and part._tokens()[0] for part in self.sentences or (self,)):
            raise ConfigError(NO_LINKS)

    def _tokens(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the pieces of both sides without ``</s>``."""
        return self.source_pieces[:-1], self.target_pieces[: len(self.target_pieces) - self.finished]

    @classmethod
    def join(cls, text: str, parts: Sequence["Translation"], gaps: Sequence[tuple[str, str]]) -> Self:
        """Return the translation ``text`` that the translations of its sentences make, with no alternatives.

        ``gaps`` are what stands in front of every sentence but the first, in the source and in the translation.
        """
        pieces: tuple[list[str], list[str]] = ([], [])
        for part, spaces in zip(parts, (("", ""), *gaps), strict=True):
            for side, tokens, space in zip(pieces, part._tokens(), spaces, strict=True):
                side += set_space(tokens, _parts_words(space)) if side else tokens
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
            missing_terms=tuple(term for part in parts for term in part.missing_terms),
        )


def _words_together(parts: Sequence["Translation"], gaps: Sequence[str]) -> tuple[float | None, ...]:
    """The confidences of the words of several parts with ``gaps`` between them; without a gap, two words are one."""
    found = [*parts[0].word_confidences]
    for part, gap in zip(parts[1:], gaps, strict=True):
        words = part.word_confidences
        if words and found and not gap:
            found[-1] = _least((found[-1], words[0]))
            words = words[1:]
        found += words
    return tuple(found)


def _least(values: Iterable[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _parts_words(space: str) -> bool:
    """True if there are two words around some white space: a tab or a no-break space is a part of one."""
    return " " in space or len(f"{space}.".splitlines()) > 1


def choose_best(found: Iterable[Translation], options: SearchOptions) -> Translation:
    """Return the first of the translations of a sentence, or that of minimum risk, with others of another text."""
    if options.minimum_risk:
        ranked = _by_risk(list(found)[: options.minimum_risk], drawn=options.sampling is not None)
    else:
        ranked = _distinct(found)
    best, *others = islice(ranked, 1 + options.alternatives)
    return replace(best, alternatives=tuple(others)) if others else best


def _distinct(found: Iterable[Translation]) -> Iterator[Translation]:
    """Yield the first translation of each text."""
    texts = set[str]()
    for one in found:
        if one.text not in texts:
            texts.add(one.text)
            yield one


def _by_risk(found: Sequence[Translation], *, drawn: bool) -> Iterable[Translation]:
    """Return the translations of different text by expected chrF, which is their rank; of equal ones the first."""
    chances = [1.0] * len(found) if drawn else probabilities([one.score for one in found])
    weights = defaultdict[str, float](float)
    for one, chance in zip(found, chances, strict=True):
        weights[one.text] += chance
    gains = expected_chrf(list(weights), list(weights.values()))
    ranked = [replace(one, rank=gain) for one, gain in zip(_distinct(found), gains, strict=True)]
    return sorted(ranked, key=lambda one: -one.rank)


def join_sentences(
    passage: Passage, parts: Sequence[Translation], options: SearchOptions, splitter: Splitter | None
) -> Translation:
    """Return one translation of the sentences of a passage.

    Its alternatives are the best of all that the translations of its sentences make: by their ranks together, or of
    samples by how early they were drawn.
    """
    if not parts:
        return Translation(passage.gaps[0], 0.0, True)
    if splitter is None:
        return parts[0]
    gaps = splitter.gaps(passage)
    in_order = options.sampling is not None and not options.minimum_risk
    chosen: list[tuple[float, list[Translation]]] = [(0.0, [])]
    for part in parts:
        grown = [
            (total + (-place if in_order else one.rank), [*before, one])
            for total, before in chosen
            for place, one in enumerate((part, *part.alternatives))
        ]
        chosen = nlargest(1 + options.alternatives, grown, key=lambda one: one[0])
    best, *others = _distinct(_join(passage, of_parts, gaps) for _, of_parts in chosen)
    return replace(best, alternatives=tuple(others))


def _join(passage: Passage, parts: list[Translation], gaps: Sequence[str]) -> Translation:
    text = passage.with_sentences([part.text for part in parts], gaps)
    if len(parts) == 1:
        return replace(parts[0], text=text, alternatives=())
    return Translation.join(text, parts, list(zip(passage.gaps[1:-1], gaps[1:-1], strict=True)))


def expected_chrf(texts: Sequence[str], weights: Sequence[float]) -> list[float]:
    """Return the mean chrF2 of each text, of 100, against all of them as references, each with its weight."""
    metric, total = metric_of("chrF2", "en", "raw", single=True), sum(weights)  # chrF is the same for every language
    references = list(zip(texts, weights, strict=True))
    return [
        sum(weight * metric.sentence_score(text, [reference]).score for reference, weight in references) / total
        for text in texts
    ]


def probabilities(scores: Sequence[float]) -> list[float]:
    """Return the relative probabilities of hypotheses by their ln p; equal ones where none is possible."""
    most = max(scores)
    return [exp(score - most) for score in scores] if most > -inf else [1.0] * len(scores)
