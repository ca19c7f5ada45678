"""Training pairs with placeholders, from which a translator learns where they go.

What a translation may not change is masked by a word that stands for it (``text/masking.py``).
Of pairs that have the same placeholders, URLs and addresses on both sides, each of these becomes the same reserved word
on both sides. In a fraction of the other pairs, one or two words and what an aligner links them to become reserved
words. They are words that a translator can name things with: rare enough, and each linked to one word alone.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from random import Random

from anaphora.data.corpora import Pair, PairCorpus, fingerprint
from anaphora.events import Report
from anaphora.models.alignment.aligner import BLOCK
from anaphora.tasks.translation.linked_words import Linked, LinkedWords
from anaphora.text.masking import JOINING
from anaphora.text.placeholders import RESERVED, USUAL, is_glued, spans
from anaphora.text.tokenizer import MARKS, SPACE
from anaphora.text.words import WordTokenizer

_FREQUENT = 100
"""Words that are too frequent to be placeholders: articles, prepositions and the like."""
_SECOND = 0.3
"""Probability of a second placeholder."""

Range = tuple[int, int]
"""Start and end of a stretch of a text."""


@dataclass(frozen=True)
class PlaceholderCorpus(PairCorpus):
    """Pairs, some of them with reserved words; as many as without."""

    rewritten: Callable[[Iterator[Pair | None]], Iterator[Pair | None]] = iter

    def lines(self) -> Iterator[Pair | None]:
        """Yield the pair of every line of the files, None for a line that is left out."""
        return self.rewritten(super().lines())


def with_placeholders(
    corpus: PairCorpus, words: LinkedWords, fraction: float, seed: int, report: Report
) -> PlaceholderCorpus:
    """Return ``corpus`` with reserved words in its pairs, a function of it, ``fraction`` and ``seed``.

    No more than a block of pairs is held.
    """
    same = {field.name: getattr(corpus, field.name) for field in fields(corpus)}
    same["fingerprint"] = fingerprint((), corpus.fingerprint, "placeholders", fraction, seed)

    def rewritten(lines: Iterator[Pair | None]) -> Iterator[Pair | None]:
        numbered = enumerate(lines)
        while block := list(islice(numbered, BLOCK)):
            yield from _block(block, words, fraction, seed, report)

    return PlaceholderCorpus(**same, rewritten=rewritten)


def _block(
    block: Sequence[tuple[int, Pair | None]], words: LinkedWords, fraction: float, seed: int, report: Report
) -> Sequence[Pair | None]:
    found = [pair for _, pair in block]
    drawn: list[tuple[int, Pair, Random]] = []
    for place, (number, pair) in enumerate(block):
        if pair is None:
            continue
        draw = Random(f"placeholders {seed} {number}")
        if common := in_both(pair):
            found[place] = _replaced(pair, common, draw)
        elif draw.random() < fraction:
            drawn.append((place, pair, draw))
    if drawn:
        pairs = [pair for _, pair, _ in drawn]
        for (place, _, draw), (pair, links) in zip(drawn, _linked(pairs, words.learnt(report)), strict=True):
            count = min(len(links), 1 + (draw.random() < _SECOND))
            found[place] = _replaced(pair, draw.sample(links, count), draw)
    return found


def in_both(pair: Pair) -> list[tuple[Range, Range]]:
    """Return places of placeholders, URLs and addresses of a pair; none unless both sides have each of them once."""
    places = [
        {text[one.start : one.end]: (one.start, one.end) for one in spans(text, USUAL) if not one.tag} for text in pair
    ]
    alike = places[0].keys() == places[1].keys() and len(places[0]) <= len(RESERVED)
    if not alike or any(text.count(kept) != 1 for text in pair for kept in places[0]):
        return []
    return [(place, places[1][kept]) for kept, place in places[0].items()]


def _replaced(pair: Pair, links: Iterable[tuple[Range, Range]], draw: Random) -> Pair:
    """Return a pair with a reserved word for each link, another for each."""
    named = list(zip(links, draw.sample(RESERVED, len(RESERVED)), strict=False))
    source, target = pair
    for ((start, end), _), name in sorted(named, reverse=True):
        source = source[:start] + name + source[end:]
    for (_, (start, end)), name in sorted(named, key=lambda one: one[0][1], reverse=True):
        target = target[:start] + name + target[end:]
    return source, target


def _linked(pairs: Sequence[Pair], words: Linked) -> Iterator[tuple[Pair, list[tuple[Range, Range]]]]:
    """Yield pairs as the aligner reads them, with the words that may become placeholders."""
    every = words.aligner.links(*words.encoded(pairs), "union")
    for (source, target), links in zip(pairs, every, strict=True):
        sources, targets = _words(words.source, source), _words(words.target, target)
        ours, theirs = Counter(i for i, _ in links), Counter(j for _, j in links)
        alone = sorted((i, j) for i, j in links if ours[i] == theirs[j] == 1 and i in sources and j in targets)
        pair = words.source.normal(source), words.target.normal(target)
        yield pair, [(sources[i], targets[j]) for i, j in alone]


def _words(tokenizer: WordTokenizer, text: str) -> dict[int, Range]:
    """Return the places of infrequent words of a text that stand by themselves, by their number."""
    line, found = tokenizer.normal(text), dict[int, Range]()
    frequent = len(MARKS) + min(_FREQUENT, tokenizer.symbols.size // 10)
    tokens = zip(tokenizer.placed(text), tokenizer.pieces_of(text), strict=True)
    for number, ((token, start), piece) in enumerate(tokens):
        word = piece.removeprefix(SPACE)
        end = start + len(word)
        beside = line[max(0, start - 1) : start], line[end : end + 1]
        joined = any(is_glued(sign) or sign in JOINING for sign in beside)
        if token >= frequent and word.isalnum() and line[start:end] == word and not joined:
            found[number] = (start, end)
    return found
