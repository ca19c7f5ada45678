"""Places of glossary terms in a translation that was searched without them.

A term replaces the words that look at its source (Alkhouli, Bretschneider and Ney 2018 begin a constraint where
attention reads its source). All other words stay, but for the endings of two words in front of it, so that articles and
adjectives agree: ``une maison`` becomes ``un foyer``, and ``l'argent`` ``le fric``. Of all such outputs a search takes
the best. Without attention, a term may replace any word.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product, takewhile

from anaphora.prediction.glossary import WORD
from anaphora.search.automaton import Form
from anaphora.search.hypothesis import Hypothesis
from anaphora.tasks.translation.constraints import RequiredTerm, SentenceRequest
from anaphora.tasks.translation.translation import Token
from anaphora.text.tokenizer import MARKS, SPACE, UNK, Tokenizer
from anaphora.text.words import WordTokenizer, spellings

_APOSTROPHES = ("'", "\u2019")
_GLUE = {"", "-", "\u2010"}
"""Texts between two words that are one."""
_MOST = 400
"""Outputs of one search."""
_LINKED = 0.25
"""Attention of a word on the source of a term that it may be replaced by."""
_COVERED, _LOST = 0.5, 0.1
"""Greatest attention on a source token that was translated, and on one that was not."""

_CONSONANTS = frozenset("bcdfghjklmnpqrstvwxzBCDFGHJKLMNPQRSTVWXZ")
"""Letters that are no words by themselves."""

Stretch = tuple[int, int]
"""Start and end of a part of a text."""


@dataclass(frozen=True)
class TermPlaces:
    """Outputs that a translation may become, so that it has a term."""

    target: Tokenizer
    row: SentenceRequest
    hypothesis: Hypothesis
    text: str
    tokens: Sequence[Token]

    def outputs(self, term: RequiredTerm, places: range) -> dict[Form, bool]:
        """Return the outputs with a term, whose source tokens are at ``places``; True if all but one word stays.

        None where the translation has it there, and where no word looks at it.
        """
        words = [
            one.span() for one in WORD.finditer(self.text) if one[0][0].isalnum() and not self._is_elided(one.end())
        ]
        looking = [self._attention(word, places) for word in words]
        linked = [number for number, weight in enumerate(looking) if weight > 0]
        attends = self.hypothesis.weights is not None
        checked = [words[number] for number in linked] if attends and linked else [(0, len(self.text))]
        if not linked or any(term.is_in(self.text, *one) for one in checked):
            return {}
        best, found = max(linked, key=looking.__getitem__), dict[Form, bool]()
        strong = [number for number in linked if looking[number] >= 1] if attends else []
        runs = {(number, number) for number in ([best] if attends else linked)}
        for first, last in product(strong, strong):
            gaps = {self.text[words[number][1] : words[number + 1][0]] for number in range(first, last)}
            joined = " " in term.source or gaps <= _GLUE
            if first <= best <= last and joined and set(strong).issuperset(range(first, last)):
                runs.add((first, last))
        for first, last in sorted(runs, key=lambda run: run[1] - run[0]):
            elided = self.text[: words[first][0]].endswith(_APOSTROPHES)
            for form in term.forms:
                some = islice(self._texts(form, (words[first][0], words[last][1])), _MOST // len(term.forms))
                for number, output in enumerate(self._written(some, words[last][1])):
                    if output is not None:
                        found.setdefault(output, first == last and not number and not elided)
        return found

    def _is_elided(self, end: int) -> bool:
        """True if a word goes on behind an apostrophe, as in ``l'eau``."""
        return self.text.startswith(_APOSTROPHES, end) and self.text[end + 1 : end + 2].isalnum()

    def _attention(self, word: Stretch, places: range) -> float:
        """Return the attention of a word on ``places``; 1 more where that is the most, 0 for little of it."""
        steps = [one.step for one in self.tokens if one.start < word[1] and one.end > word[0]]
        if self.hypothesis.weights is None or not steps:
            return float(bool(steps))
        weights_S = self.hypothesis.weights[steps].mean(axis=0)
        weight = float(weights_S[places.start : places.stop].sum())
        return weight + 1 if int(weights_S.argmax()) in places else weight * (weight >= _LINKED)

    def _texts(self, form: str, stretch: Stretch) -> Iterator[tuple[int, str]]:
        """Yield what a form may replace a stretch with: where it begins, words in front included, and the text."""
        start = self.text.rfind(" ", 0, stretch[0]) + 1
        joined = self.text[start : stretch[0]]
        if not joined and not start:
            form = form[:1].upper() + form[1:] if self.text[:1].isupper() else form
        free = max((one.end for one in self.tokens if one.step < len(self.row.prefix)), default=0)
        before = [(start, "")]
        for word in reversed(self.text[free:start].split(" ")[:-1][-2:]):
            before.append((before[-1][0] - len(word) - 1, word))
        (_, *words), begin = [word for _, word in before], before[-1][0]
        fronts = [_similar(self.target, word) for word in reversed(words)]
        for front in product(*fronts):
            yield begin, " ".join([*front, joined + form])
        if joined.endswith(_APOSTROPHES):
            for *heads, article in product(*fronts, _similar(self.target, joined[:-1])[1:]):
                yield begin, " ".join([*heads, article, form])
        elif not joined and words and words[0].isalpha():
            for front in product(*fronts[:-1]):
                yield begin, " ".join([*front, f"{words[0][:-1]}'{form}"])

    def _written(self, texts: Iterator[tuple[int, str]], end: int) -> Iterator[Form | None]:
        """Yield the tokens of the translation with each text, from its start to ``end``; None where it cannot be."""
        ids, ended, place = self.hypothesis.ids, len(self.hypothesis.ids) - len(self.row.suffix), -1
        spaces = self.text.find(" ", end), min((one.start for one in self.tokens if one.step >= ended), default=-1)
        rest = min((place for place in spaces if place >= 0), default=len(self.text))
        first = last = 0
        for start, text in texts:
            if start != place:
                place, steps = start, [one.step for one in self.tokens if one.end > start and one.start < rest]
                first, last = min(steps, default=0), max(steps, default=-1) + 1
                while 0 < first < last and self.target.context_free and not self._begins(ids[first]):
                    first -= 1
            is_kept = max(ids[first:last], default=0) >= self.target.symbols.size
            if first >= last or rest < end or first < len(self.row.prefix) or is_kept:
                return
            written = self.target.encode(text + self.text[end:rest])
            yield None if UNK in written else (*ids[:first], *written, *ids[last:])

    def _begins(self, token: int) -> bool:
        """True if a space is in front of a token, or it is a placeholder."""
        return token >= self.target.symbols.size or self.target.pieces([token])[0].startswith(SPACE)


def loses_content(before: Hypothesis, after: Hypothesis) -> bool:
    """True if a source token was translated by words that were replaced and is no more, by the attention of both."""
    if before.weights is None or after.weights is None:
        return False
    first = _count_shared(before.ids, after.ids)
    last = len(before.ids) - _count_shared(before.ids[first:][::-1], after.ids[first:][::-1])
    most_S, left_S = before.weights[:, :-1].max(axis=0), after.weights[:, :-1].max(axis=0)
    looked_S = before.weights[:, :-1].argmax(axis=0)
    return bool(((first <= looked_S) & (looked_S < last) & (most_S >= _COVERED) & (left_S < _LOST)).any())


@lru_cache(maxsize=4096)
def _similar(target: Tokenizer, word: str) -> list[str]:
    """Return a word, and the words that are one token each and differ from it in their endings."""
    similar = (one for one in _words(target)[word[:1]] if one != word) if word.isalpha() else ()
    return [word, *(one for one in similar if _is_inflection(word, one))]


def _is_inflection(word: str, other: str) -> bool:
    lengths = sorted((len(word), len(other)))
    if other in _CONSONANTS:
        return False
    return lengths[1] - lengths[0] <= 2 and _count_shared(word, other) >= max(1, lengths[0] - 2)


@lru_cache(maxsize=16)
def _words(target: Tokenizer) -> defaultdict[str, list[str]]:
    """Return the words that are one token each, by their first letters."""
    found = defaultdict[str, list[str]](list)
    begin = "" if isinstance(target, WordTokenizer) else SPACE
    for piece in spellings(target)[len(MARKS) :]:
        word = piece.removeprefix(begin)
        if piece.startswith(begin) and word.isalpha():
            found[word[0]].append(word)
    return found


def _count_shared(one: Sequence[object], other: Sequence[object]) -> int:
    """Return the number of elements that two sequences begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
