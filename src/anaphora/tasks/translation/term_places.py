"""Places of glossary terms in a translation that was searched without them.

A term replaces the words that look at its source (Alkhouli, Bretschneider and Ney 2018 begin a constraint where
attention reads its source). All other words stay, but for the endings of two words in front of it, so that articles and
adjectives agree: ``une maison`` becomes ``un foyer``, and ``l'argent`` ``le fric``. Of all such outputs a search takes
the best. Without attention, a term may replace any word.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product, takewhile

import regex

from anaphora.prediction.glossary import WORD
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.steering import Form
from anaphora.tasks.translation.constraints import RequiredTerm, SentenceRequest
from anaphora.tasks.translation.translation import Token
from anaphora.text.tokenizer import MARKS, SPACE, UNK, Tokenizer
from anaphora.text.words import WordTokenizer, spellings

_ELIDED = regex.compile(r"\b\w{1,2}['\u2019](?=\w\w)")
"""A word that is joined to the next one, as in ``l'eau``."""
_FRONT = regex.compile(r"((?<!\S)[^\W\d_]+ )?((?<!\S)[^\W\d_]+[ '\u2019])$")
"""Two words in front of a place, with what parts them from it."""
_VOWELS = frozenset("aeiouyhœæ")
"""First letters of words that others may be joined to."""
_GLUE = {"", "-", "\u2010"}
"""Texts between two words that are one."""
_MOST = 400
"""Outputs of one search."""
_LINKED = 0.25
"""Least attention of a word on the source of a term that may replace it."""


@dataclass(frozen=True)
class TermPlaces:
    """Outputs that a translation may become, so that it has a term."""

    target: Tokenizer
    row: SentenceRequest
    hypothesis: Hypothesis
    text: str
    tokens: Sequence[Token]

    def outputs(self, term: RequiredTerm, places: range) -> list[Form]:
        """Return the outputs with a term, whose source tokens are at ``places``.

        None where the translation has it there, or a prefix or suffix has a part of it, and where no word looks at it.
        """
        text, ended = self.text, len(self.hypothesis.ids) - len(self.row.suffix)
        free = max((one.end for one in self.tokens if one.step < len(self.row.prefix)), default=0)
        closed = min((one.start for one in self.tokens if one.step >= ended), default=len(text))
        words = [(start, end) for start, end in self._words() if free <= start and end <= closed]
        looking = [self._attention(word, places) for word in words]
        linked = [number for number, weight in enumerate(looking) if weight > 0]
        checked = [(0, free), (closed, len(text)), *(words[number] for number in linked)]
        if not linked or any(term.is_in(text, *one) for one in checked):
            return []
        stretches = [words[number] for number in linked]
        if self.hypothesis.weights is not None:
            first = last = max(linked, key=looking.__getitem__)
            is_phrase, strong = " " in term.source, {number for number in linked if looking[number] >= 1}
            while first - 1 in strong and (is_phrase or text[words[first - 1][1] : words[first][0]] in _GLUE):
                first -= 1
            while last + 1 in strong and (is_phrase or text[words[last][1] : words[last + 1][0]] in _GLUE):
                last += 1
            stretches = [(words[first][0], words[last][1])]
        found, most = dict[Form, None](), max(1, _MOST // (len(stretches) * len(term.forms)))
        for (start, end), form in product(stretches, term.forms):
            rest = min(one for one in (text.find(" ", end), closed) if one >= 0)
            found.update(dict.fromkeys(islice(self._outputs(form, free, start, end, rest), most)))
        return list(found)

    def _words(self) -> Iterator[tuple[int, int]]:
        """Yield the places of words, but for elided ones and endings behind apostrophes."""
        elided = {one.start(): one.end() for one in _ELIDED.finditer(self.text)}
        for start, end in (one.span() for one in WORD.finditer(self.text)):
            is_ending = regex.search(r"\w['\u2019]$", self.text[:start]) and start not in elided.values()
            if self.text[start].isalnum() and start not in elided and not is_ending:
                yield start, end

    def _attention(self, word: tuple[int, int], places: range) -> float:
        """Return the attention of a word on ``places``; 1 more where that is the most, 0 for little of it."""
        steps = [one.step for one in self.tokens if one.start < word[1] and one.end > word[0]]
        if self.hypothesis.weights is None or not steps:
            return float(bool(steps))
        weights_S = self.hypothesis.weights[steps].mean(axis=0)
        weight = float(weights_S[places.start : places.stop].sum())
        return weight + 1 if int(weights_S.argmax()) in places else weight * (weight >= _LINKED)

    def _outputs(self, form: str, free: int, start: int, end: int, rest: int) -> Iterator[Form]:
        """Yield the translation with a form from ``start`` to ``end``; words from ``free`` may agree with it."""
        head, ids, begin = self.text[:start], self.hypothesis.ids, self.text.rfind(" ", 0, start) + 1
        spaces = (one.end() for one in regex.finditer(" ", form))
        begun = max((end for end in spaces if f" {head}".endswith(f" {form[:end]}")), default=0)
        front = None if begun else _FRONT.search(head, free)
        if front:
            begin = front.start()
        elif not head and self.text[:1].isupper():
            form = form[:1].upper() + form[1:]
        from_space = begin - self.target.context_free  # where a token may be a space that words bring with them
        steps = [one.step for one in self.tokens if one.end > from_space and one.start < rest]
        first, last = min(steps), max(steps) + 1
        if first < len(self.row.prefix) or max(ids[first:last]) >= self.target.symbols.size:
            return
        is_joined = _begins_with_vowel(form)
        *others, nearest = filter(None, front.groups()) if front else [head[begin:]]
        fronts = [_similar(self.target, one, False) for one in others]
        for words in product(*fronts, _similar(self.target, nearest, is_joined)):
            written = self.target.encode("".join(words) + form[begun:] + self.text[end:rest])
            if UNK not in written:
                yield (*ids[:first], *written, *ids[last:])


@lru_cache(maxsize=4096)
def _similar(target: Tokenizer, front: str, is_joined: bool) -> list[str]:
    """Return a word in front of another, and those that are one token each and differ from it in their endings.

    Before a vowel (``is_joined``) its last letter may be elided, and elsewhere an apostrophe is replaced.
    """
    word, space = front[:-1], front[-1:]
    if not word.isalpha() or space not in " '\u2019":
        return [front]
    similar = [f"{one} " for one in _words(target)[word[0]] if _is_inflection(word, one)]
    if space == " ":
        return [front, *similar, *[f"{word[:-1]}'"] * is_joined]
    return [front] if is_joined else similar or [front]


def _begins_with_vowel(text: str) -> bool:
    return unicodedata.normalize("NFD", text[:1].lower())[:1] in _VOWELS


def _is_inflection(word: str, other: str) -> bool:
    lengths = sorted((len(word), len(other)))
    if other == word or (len(other) == 1 and not _begins_with_vowel(other)):
        return False
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, other, strict=False)))
    return lengths[1] - lengths[0] <= 2 and shared >= max(1, lengths[0] - 2)


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
