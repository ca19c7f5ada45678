"""Translations out of a memory: texts that it has come back as they were confirmed, for others it has similar ones."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise
from typing import Any, NamedTuple

from anaphora.memory import Match, Memory
from anaphora.memory.memory import THRESHOLD
from anaphora.prediction.adaptation import Adaptation, SimilarPair
from anaphora.prediction.options import SearchOptions
from anaphora.tasks.translation.constraints import Framed
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.translation import Translation
from anaphora.text.sentences import is_blank

Translate = Callable[[Iterable[str | Framed]], Iterator[Translation]]
"""From texts to their translations, in order."""
_USUAL = SearchOptions()
_LEAST_TO_ADAPT = 40
"""Percent from which a translator is adapted to a similar segment."""
_PAIRS_TO_ADAPT = 8


class Recall(NamedTuple):
    """A memory, and how it is asked."""

    memory: Memory
    fuzzy: int = THRESHOLD
    """Percent from which a similar segment is returned; 100 for none."""

    def find(self, text: str, before: str = "", after: str = "") -> list[Match]:
        """The exact matches of a text between its neighbours, or else the most similar segment, if there is any."""
        if is_blank(text):
            return []
        return self.memory.exact(text, before, after) or self.memory.fuzzy(text, self.fuzzy, 1)

    def matches(self, texts: Iterable[str]) -> list[list[Match]]:
        """Return the matches for each of some texts next to each other."""
        return [self.find(_text(text), before, after) for before, text, after in _with_neighbours(texts)]

    def stream(
        self, lines: Iterable[str | Framed], translate: Translate, alternatives: int, *, split: bool
    ) -> Iterator[Translation]:
        """The translations of lines: by the memory where it has them, else by ``translate``, with what is similar.

        With ``split``, white space around a line stays. Lines next to each other are neighbours.
        """
        waiting = deque[tuple[str | Framed, list[Match]]]()

        def asked() -> Iterator[str | Framed]:
            for before, line, after in _with_neighbours(lines):
                matches = self.find(line, before, after) if isinstance(line, str) else []
                waiting.append((line, matches))
                # an empty text keeps the place, and is not searched
                yield "" if is_exact(matches) else line

        for translation in translate(asked()):
            line, matches = waiting.popleft()
            if is_exact(matches):
                yield from_memory(_text(line), matches, alternatives, split=split)
            else:
                yield replace(translation, match=matches[0]) if matches else translation


class RememberingTranslator(TranslationPredictor):
    """A translator with a memory: a text that the memory has, white space apart, is translated as it has it.

    ``match`` of a translation is that segment, or for other texts the most similar one. The texts of a call that follow
    each other are neighbours. One with a prefix is left to the translator.
    """

    def __init__(self, translator: TranslationPredictor, memory: Memory, fuzzy: int = THRESHOLD) -> None:
        """``fuzzy`` is the percentage from which segments count as similar; with 100 none are looked for."""
        vars(self).update(vars(translator))
        self.recall = Recall(memory, fuzzy)

    def stream(
        self, lines: Iterable[str | Framed], options: SearchOptions = _USUAL, *, split: bool = True, **asked: Any
    ) -> Iterator[Translation]:
        """The translations of lines as they come, in order; arguments and errors as for a translator without memory."""
        by_model = partial(super().stream, options=options, split=split, **asked)
        return self.recall.stream(lines, by_model, options.alternatives, split=split)


def adaptation_to(memory: Memory) -> Adaptation:
    """Adaptation of a translator to what a memory has of similar texts."""

    def find(text: str) -> list[SimilarPair]:
        matches = memory.fuzzy(text, _LEAST_TO_ADAPT, _PAIRS_TO_ADAPT)
        return [SimilarPair(one.segment.source, one.segment.target, one.percent / 100) for one in matches]

    return Adaptation(find)


def from_memory(line: str, matches: list[Match], alternatives: int, *, split: bool) -> Translation:
    """Return the exact matches of a line as its translation and the alternatives to it."""
    begin, end = (line[: -len(line.lstrip())], line[len(line.rstrip()) :]) if split else ("", "")
    found = [
        Translation(f"{begin}{match.segment.target}{end}", 0.0, True, match=match)
        for match in matches[: 1 + alternatives]
    ]
    return replace(found[0], alternatives=tuple(found[1:]))


def is_exact(matches: list[Match]) -> bool:
    """True if the first of what was found for a text is a segment of this text."""
    return bool(matches) and matches[0].is_exact


def _with_neighbours(lines: Iterable[str | Framed]) -> Iterator[tuple[str, str | Framed, str]]:
    """Yield every line between the texts next to it, which are empty at both ends."""
    for (before, line), (_, after) in pairwise(pairwise(chain([""], lines, [""]))):
        yield _text(before), line, _text(after)


def _text(line: str | Framed) -> str:
    return line.text if isinstance(line, Framed) else line
