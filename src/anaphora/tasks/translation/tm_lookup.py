"""Translations out of a memory: texts that it has come back as they were confirmed, for others it has similar ones."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from anaphora.errors import AnaphoraError
from anaphora.memory import Match, Memory
from anaphora.memory.memory import MATCHES, NEARLY, THRESHOLD
from anaphora.memory.segment import EXACT
from anaphora.prediction.adaptation import Adaptation, SimilarPair
from anaphora.prediction.glossary import Glossary
from anaphora.prediction.options import SearchOptions
from anaphora.tasks.translation.constraints import Framed, RequiredTerm
from anaphora.tasks.translation.documents import fault
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.tag_places import kept_tokens
from anaphora.tasks.translation.translation import Translation, join_sentences
from anaphora.tasks.translation.unmasking import insert_tags
from anaphora.text.masking import MaskedText, mask, split_around
from anaphora.text.placeholders import USUAL, spans
from anaphora.text.sentences import Passage, Splitter, is_blank
from anaphora.text.tokenizer import one_line

_USUAL = SearchOptions()
_LEAST_TO_ADAPT = 40
"""Percent from which a translator is adapted to a similar segment."""
_PAIRS_TO_ADAPT = 8
_CLEAR = 0.7
"""Support from which it is clear where tags go: translations have more, other texts of the language mostly less."""


class Recollection(NamedTuple):
    """A text as one sentence or several, and what a memory has for each of them."""

    line: str | Framed
    passage: Passage
    matches: Sequence[list[Match]]

    @property
    def unknown(self) -> str | Framed:
        """The text of the sentences to translate, one a line; empty where there are none."""
        if len(self.matches) == 1:
            return "" if is_used(self.matches[0]) else self.line
        found = zip(self.passage.sentences, self.matches, strict=True)
        return "\n".join(sentence for sentence, matches in found if not is_used(matches))

    def translation(
        self, made: Translation, options: SearchOptions, splitter: Splitter | None, *, split: bool = True
    ) -> Translation:
        """Return the translation of the text; ``made`` is that of ``unknown``."""
        unknown = _text(self.unknown).split("\n")
        if len(self.matches) == 1 and is_used(self.matches[0]):
            return from_memory(_text(self.line), self.matches[0], options, split=split)
        if len(self.matches) == 1 or (unknown != [""] and not (made.text or made.tokens)):  # it was refused
            return replace(made, match=self.matches[0][0]) if self.matches[0] else made
        each = [replace(made, text=text) for text in made.text.split("\n")]
        rest = iter(made.sentences if len(made.sentences) == len(unknown) else each)
        parts = [
            from_memory(sentence, matches, options, split=split)
            if is_used(matches)
            else replace(next(rest), match=matches[0] if matches else None)
            for sentence, matches in zip(self.passage.sentences, self.matches, strict=True)
        ]
        return join_sentences(self.passage, parts, options, splitter)


class Recall(NamedTuple):
    """A memory, and how it is asked."""

    memory: Memory
    translator: TranslationPredictor
    """Says how texts are split, and where tags go in the target of a segment."""
    fuzzy: int = THRESHOLD
    """Percent from which a similar segment is returned; 100 for none."""
    writes: bool = False
    """True if the target of a similar segment is a translation too, where it lost nothing."""

    def find(self, text: str, before: str = "", after: str = "") -> list[Match]:
        """Return the exact matches of a text between its neighbours, or else the most similar segment, if there is any.

        A text with tags is also looked for without them; where it is not clear where they go, a match is similar.
        """
        if is_blank(text):
            return []
        if found := self.memory.exact(text, before, after):
            return found
        masked = mask(text, spans(text, {"tags"}), ())
        has_bare = bool(masked.text) and masked.text != text
        placed = [
            self._tagged(masked, one) for one in self.memory.exact(masked.text, before, after)[:MATCHES] if has_bare
        ]
        if clear := [one for one in placed if one.is_exact]:
            return clear
        similar = [one for one in placed[:1] if self.fuzzy < EXACT]
        for asked in (text, *[masked.text] * has_bare):
            similar += self.memory.fuzzy(asked, self.fuzzy, 1)
        best = max(similar, key=lambda one: one.percent, default=None)
        if best is None:
            return []
        if self.writes and not best.text:
            best = self._tagged(masked, best)
        is_whole = self.writes and not fault(text, best.text)
        return [best if is_whole else best._replace(text="")]

    def _tagged(self, masked: MaskedText, one: Match) -> Match:
        """Return a match with the tags of a sentence in its target, exact only if it is clear where they go."""
        try:
            text, support = insert_tags(self.translator, masked, one.segment.target)
        except AnaphoraError:  # one side is longer than a sentence may be
            return one._replace(percent=min(one.percent, NEARLY))
        return one._replace(text=text, percent=one.percent if support >= _CLEAR else min(one.percent, NEARLY))

    def recall(self, texts: Iterable[str | Framed], *, split: bool = True) -> Iterator[Recollection]:
        """Yield what the memory has for texts next to each other: as they are, or ``split`` for their sentences."""
        for (previous, text), (_, following) in pairwise(pairwise(chain([""], texts, [""]))):
            before, line, after = map(_text, (previous, text, following))
            whole = Recollection(text, Passage.whole(line), [self.find(line, before, after) if text is line else []])
            splitter = self.translator.splitter
            if splitter and split and text is line and not is_used(whole.matches[0]):
                passage = split_around(splitter, line, USUAL)
                around = [before, *passage.sentences, after] if len(passage.sentences) > 1 else []
                matches = [self.find(*three) for three in zip(around[1:], around, around[2:], strict=False)]
                if any(map(is_used, matches)) or (any(matches) and not whole.matches[0]):
                    whole = Recollection(text, passage, matches)
            yield whole


class RememberingTranslator(TranslationPredictor):
    """A translator with a memory: texts and sentences that the memory has are translated as it has them.

    White space apart, and tags. ``match`` of a translation is that segment, or for others the most similar one. The
    texts of a call that follow each other are neighbours. One with a prefix is left to the translator.
    """

    def __init__(
        self, translator: TranslationPredictor, memory: Memory, fuzzy: int = THRESHOLD, *, writes: bool = False
    ) -> None:
        """``fuzzy`` is the percentage from which segments count as similar; with 100 none are looked for.

        With ``writes``, the target of a similar segment is the translation, unless it lost something.
        """
        vars(self).update(vars(translator))
        self.recall = Recall(memory, translator, fuzzy, writes)

    def stream(
        self, lines: Iterable[str | Framed], options: SearchOptions = _USUAL, *, split: bool = True, **asked: Any
    ) -> Iterator[Translation]:
        """The translations of lines as they come, in order; arguments and errors as for a translator without memory."""
        waiting = deque[Recollection]()

        def unknown() -> Iterator[str | Framed]:
            for found in self.recall.recall(lines, split=split):
                waiting.append(found)
                yield found.unknown  # an empty text keeps the place, and is not searched

        for made in super().stream(unknown(), options, split=split, **asked):
            yield waiting.popleft().translation(made, options, self.splitter if split else None, split=split)


def adaptation_to(memory: Memory) -> Adaptation:
    """Adaptation of a translator to what a memory has of similar texts."""

    def find(text: str) -> list[SimilarPair]:
        matches = memory.fuzzy(text, _LEAST_TO_ADAPT, _PAIRS_TO_ADAPT)
        return [SimilarPair(one.segment.source, one.segment.target, one.percent / 100) for one in matches]

    return Adaptation(find)


def from_memory(line: str, matches: list[Match], options: SearchOptions, *, split: bool) -> Translation:
    """Return the matches of a line as its translation and the alternatives to it; no word looked anywhere."""
    begin, end = (line[: -len(line.lstrip())], line[len(line.rstrip()) :]) if split else ("", "")
    texts = [one.text.strip() or one.segment.target for one in matches[: 1 + options.alternatives]]
    texts = texts if "\n" in line else list(map(one_line, texts))
    best, *others = (
        Translation(
            f"{begin}{text}{end}", 0.0, True, match=match, missing_terms=_missing_terms(line, text, options.terms)
        )
        for text, match in zip(texts, matches, strict=False)
    )
    best = replace(best, alternatives=tuple(others))
    if options.confidence:
        best = replace(best, word_confidences=(None,) * len(best.text.split()))
    if not options.attention:
        return best
    source, target = ([token.piece for token in kept_tokens(text)] for text in (line, best.text))
    return best.with_attention(source, target, np.zeros((len(target) + 1, len(source) + 1), np.float32))


def is_used(matches: list[Match]) -> bool:
    """True if the first of what was found for a text is its translation."""
    return bool(matches) and (matches[0].is_exact or bool(matches[0].text))


def _missing_terms(line: str, translation: str, glossary: Glossary | None) -> tuple[str, ...]:
    """Return the required terms of a line that a translation lacks; none is looked for in what is kept."""
    if glossary is None:
        return ()
    source, target = (mask(text, spans(text, {"tags"}), ()).text for text in (line, translation))
    for kept in spans(source, USUAL):
        source = source[: kept.start] + "\0" * (kept.end - kept.start) + source[kept.end :]
    entries = (match.entry for match in glossary.of(source))
    required = [RequiredTerm(one.source, one.required, frozenset(), one.source, 0) for one in entries if one.required]
    return tuple(dict.fromkeys(term.name for term in required if not term.is_in(target, 0, len(target))))


def _text(line: str | Framed) -> str:
    return line.text if isinstance(line, Framed) else line
