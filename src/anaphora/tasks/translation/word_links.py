"""Links between the words of training pairs: given in a file, or found by an aligner.

Attention is guided by links between tokens, made a pair at a time and written into columns of small integers
(``data/columns.py``). An aligner of words, whatever the translator's own tokens are, translates and annotates rare
words, and finds words that become placeholders.

From placeholders in training pairs a translator learns where they go: what a translation may not change is masked by a
word that stands for it (``text/masking.py``). Of pairs that have the same placeholders, URLs and addresses on both
sides, each of these becomes the same reserved word on both sides. In a fraction of the other pairs, one or two words
and what an aligner links them to become reserved words. They are words that a translator can name things with: rare
enough, and each linked to one word alone.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import chain, islice, tee
from pathlib import Path
from random import Random
from typing import Self, cast

import numpy as np

from anaphora.data.columns import EVERY, UNBOUNDED, Table, Writer
from anaphora.data.corpora import Pair, PairCorpus, file_digests, fingerprint, fingerprint_of, put_together
from anaphora.data.example_store import ExampleStore, Transform
from anaphora.data.fields.tokens import Tokens
from anaphora.data.ragged import Ragged
from anaphora.data.readings import Facts, known_or_read
from anaphora.evaluation.alignment import words_of
from anaphora.events import Note, Report
from anaphora.formats.pharaoh import Links, each_links, words_between_spaces
from anaphora.inference.alignment.groups import LONGEST
from anaphora.inference.alignment.links import BLOCK, by_row
from anaphora.models.alignment.aligner import Aligner, AlignerModelConfig
from anaphora.models.translator import GivenGuide, LearntGuide
from anaphora.prediction.arguments import pieces_of
from anaphora.tasks.alignment.predictor import AlignmentPredictor
from anaphora.tasks.translation.config import TranslatorExperiment
from anaphora.text import tokenization
from anaphora.text.masking import JOINING
from anaphora.text.placeholders import RESERVED, USUAL, is_glued, spans
from anaphora.text.rare_word_annotation import AnnotatedTokenizer
from anaphora.text.sampling import sample
from anaphora.text.tokenization import Word
from anaphora.text.tokenizer import MARKS, SPACE, Tokenizer
from anaphora.text.words import WordTokenizer
from anaphora.wording import inflect

_EVERY_WORD = 1_000_000
"""Words that the aligner tells apart: none of them is rare to it."""
_PAIRS = 500_000
"""Pairs that the aligner learns from; of more, an even sample."""
_FREQUENT = 100
"""Words that are too frequent to be placeholders: articles, prepositions and the like."""
_SECOND = 0.3
"""Probability of a second placeholder."""

Range = tuple[int, int]
"""Start and end of a stretch of a text."""


class GivenLinks:
    """A file of links, checked against the training pairs that it belongs to."""

    def __init__(self, guide: GivenGuide, corpus: PairCorpus, report: Report) -> None:
        """Read the file; DataError when it has another number of lines, or a link to a word that is not there."""
        self._path, self._corpus = Path(guide.file), corpus

        def read(report: Report) -> Facts:
            for _ in self._pairs():
                pass
            return {"digests": file_digests([self._path])}

        facts = known_or_read([self._path, *corpus.paths], ["links", corpus.fingerprint], read, report)
        self.fingerprint = fingerprint_of(facts["digests"])
        """SHA-256 of the file."""

    def tokens(self, store: ExampleStore, folder: Path, report: Report) -> Ragged:
        """Return the links between the tokens of every stored pair, as for ``stored_links``."""
        links = partial(self._between_tokens, store)
        return stored_links(links, store, self.fingerprint, folder, "reading word alignments", report)

    def _pairs(self) -> Iterator[tuple[Pair, Links]]:
        """Yield the training pairs with their links; errors as for ``each_links``."""
        pairs, again = tee(self._corpus.lines())
        for pair, links in zip(pairs, each_links(self._path, map(_word_counts, again)), strict=True):
            if pair is not None:
                yield pair, links

    def _between_tokens(self, store: ExampleStore) -> Iterator[Links]:
        sides = [(cast(Tokens, field).tokenizer, store.rows(field)) for field in store.fields]
        rows = enumerate(
            chain.from_iterable(store.numbers[start : start + EVERY].tolist() for start in range(0, len(store), EVERY))
        )
        row, wanted = next(rows)
        for number, (texts, links) in enumerate(self._pairs()):
            if number != wanted:
                continue
            of_word: list[dict[int, list[int]]] = [{}, {}]
            for words, text, (tokenizer, ids) in zip(of_word, texts, sides, strict=True):
                for token, word in enumerate(words_of(pieces_of(tokenizer, text, ids[row].tolist()))):
                    if word is not None:
                        words.setdefault(word, []).append(token)
            yield frozenset(
                (i, j)
                for from_word, to_word in links
                for i in of_word[0].get(from_word, ())
                for j in of_word[1].get(to_word, ())
            )
            row, wanted = next(rows, (row, -1))


def learnt_links(guide: LearntGuide, store: ExampleStore, folder: Path, report: Report) -> Ragged:
    """Return the links that an aligner finds between the tokens of every stored pair, as for ``stored_links``."""

    def links() -> Iterator[Links]:
        source, target = (cast(Tokens, field).tokenizer.symbols for field in store.fields)
        aligner = Aligner(AlignerModelConfig(aligner=guide.aligner), source, target)
        sources, targets = store.all_rows()
        aligner.fit(sources, targets, report)
        yield from aligner.align_each(sources, targets, guide.aligner.symmetrization)

    options = guide.aligner.model_dump(mode="json")
    return stored_links(links, store, options, folder, "aligning the training pairs", report)


def stored_links(
    links: Callable[[], Iterable[Links]], store: ExampleStore, made_by: object, folder: Path, task: str, report: Report
) -> Ragged:
    """Return the ``links`` of every stored pair in order, row by row: i_0 j_0 i_1 j_1 ..

    They are read from ``folder`` if they were written there before, for the same pairs and ``made_by`` (JSON) the same;
    else some lines at a time are made and written, which Progress of ``task`` reports. Errors as for ``Table``.
    """

    def fill(into: Writer) -> Mapping[str, int]:
        lines, done = (list(chain.from_iterable(sorted(one))) for one in links()), 0
        while len(rows := Ragged.of(islice(lines, EVERY))):
            into.extend("links", np.asarray(rows.ids), rows.lengths)
            done += len(rows)
            into.tell(done)
        return {}

    longest = max(int(side.lengths.max()) for side in store.all_rows())
    columns = {"links.ids": max(LONGEST, longest), "links.ends": UNBOUNDED}
    table = Table(folder, [store.table.digest, made_by], columns, fill, task=task, total=len(store), report=report)
    return Ragged(table["links.ids"], table["links.ends"])


def _word_counts(pair: Pair | None) -> tuple[int, int] | None:
    """Return the number of words on both sides of a pair; None for one that training leaves out."""
    return None if pair is None else (len(words_between_spaces(pair[0])), len(words_between_spaces(pair[1])))


class WordAligner:
    """An aligner of the words of a training split, which learns when it is first asked."""

    source: WordTokenizer
    target: WordTokenizer
    aligner: Aligner

    def __init__(self, experiment: TranslatorExperiment, train: PairCorpus) -> None:
        """Languages, casing and the segmentation of words are those of ``experiment``."""
        self._experiment, self._train, self._learnt = experiment, train, False

    def learn(self, report: Report) -> Self:
        """Learn the aligner from the training split, unless it did before."""
        if self._learnt:
            return self
        own, sides = self._experiment.text, {"source": self._train.sources, "target": self._train.targets}
        text = own if isinstance(own, Word) else Word(lowercase=own.lowercase)
        whole = replace(text, size=_EVERY_WORD, min_count=1, rare="none")
        tokenizers = tokenization.fit(whole, sides, report, languages=self._experiment.data.languages)
        self.source, self.target = (cast(WordTokenizer, tokenizers[side]) for side in sides)
        self.aligner = Aligner(AlignerModelConfig(), self.source.symbols, self.target.symbols)
        pairs, count = sample(self._train, _PAIRS)
        if len(pairs) < count:
            report(Note(f"Words are linked by what {len(pairs):,} of {inflect(count, 'pair')} show, an even sample."))
        self.aligner.fit(*self.encode(pairs), report)
        self._learnt = True
        return self

    def encode(self, pairs: Sequence[Pair]) -> tuple[Ragged, Ragged]:
        """Return both sides as ids."""
        return (
            Ragged.of(self.source.encode(text) for text, _ in pairs),
            Ragged.of(self.target.encode(text) for _, text in pairs),
        )

    def dictionary(self, report: Report) -> dict[str, str]:
        """Return the most probable translation of every word of the training split."""
        self.learn(report)
        best: dict[str, str] = {}
        for entry in AlignmentPredictor(self.aligner, self.source, self.target).dictionary():
            best.setdefault(entry.source, entry.target)
        return best

    def annotation(self, part: PairCorpus, target: Tokenizer, report: Report) -> Transform:
        """Return the annotation of rare words in the encoded targets of a part; it is linked when it is encoded."""
        links = self._source_words(part, report)

        def annotated(encoded: list[Ragged]) -> list[Ragged]:
            sources, targets = encoded
            # links last: zip takes none of them for the end of a block
            rows = zip(sources.to_lists(), targets.to_lists(), links, strict=False)
            return [sources, Ragged.of(cast(AnnotatedTokenizer, target).annotate(*row) for row in rows)]

        return annotated

    def _source_words(self, part: PairCorpus, report: Report) -> Iterator[list[int]]:
        """Yield the source word of every target word of a part, -1 for none; no more than a block of pairs is held."""
        pairs, to_target = iter(part), self.learn(report).aligner.to_target
        while block := list(islice(pairs, BLOCK)):
            sources, targets = self.encode(block)
            yield from by_row(to_target.best(sources, targets).places, targets)


@dataclass(frozen=True)
class PlaceholderCorpus(PairCorpus):
    """Pairs, some of them with reserved words; as many as without."""

    words: WordAligner = field(kw_only=True)
    fraction: float = field(kw_only=True)
    seed: int = field(kw_only=True)
    report: Report = field(kw_only=True)

    def lines(self) -> Iterator[Pair | None]:
        """Yield the pair of every line of the files, None for a line that is left out; a block of pairs is held."""
        numbered = enumerate(super().lines())
        while block := list(islice(numbered, BLOCK)):
            yield from self._rewrite(block)

    def _rewrite(self, block: Sequence[tuple[int, Pair | None]]) -> Sequence[Pair | None]:
        found = [pair for _, pair in block]
        drawn: list[tuple[int, Pair, Random]] = []
        for place, (number, pair) in enumerate(block):
            if pair is None:
                continue
            draw = Random(f"placeholders {self.seed} {number}")
            if common := common_placeholders(pair):
                found[place] = _replace(pair, common, draw)
            elif draw.random() < self.fraction:
                drawn.append((place, pair, draw))
        if drawn:
            linked = _with_links([pair for _, pair, _ in drawn], self.words.learn(self.report))
            for (place, _, draw), (pair, links) in zip(drawn, linked, strict=True):
                count = min(len(links), 1 + (draw.random() < _SECOND))
                found[place] = _replace(pair, draw.sample(links, count), draw)
        return found


def with_placeholders(corpus: PairCorpus, words: WordAligner, fraction: float, seed: int, report: Report) -> PairCorpus:
    """Return ``corpus`` with reserved words in its pairs, a function of it, ``fraction`` and ``seed``."""
    if parts := [with_placeholders(one, words, fraction, seed, report) for one in corpus.members]:
        return put_together(corpus.name, parts)
    same = {one.name: getattr(corpus, one.name) for one in fields(corpus)}
    same["fingerprint"] = fingerprint((), corpus.fingerprint, "placeholders", fraction, seed)

    return PlaceholderCorpus(**same, words=words, fraction=fraction, seed=seed, report=report)


def common_placeholders(pair: Pair) -> list[tuple[Range, Range]]:
    """Return places of placeholders, URLs and addresses of a pair; none unless both sides have each of them once."""
    places = [
        {text[one.start : one.end]: (one.start, one.end) for one in spans(text, USUAL) if not one.tag} for text in pair
    ]
    alike = places[0].keys() == places[1].keys() and len(places[0]) <= len(RESERVED)
    if not alike or any(text.count(kept) != 1 for text in pair for kept in places[0]):
        return []
    return [(place, places[1][kept]) for kept, place in places[0].items()]


def _replace(pair: Pair, links: Iterable[tuple[Range, Range]], draw: Random) -> Pair:
    """Return a pair with a reserved word for each link, another for each."""
    named = list(zip(links, draw.sample(RESERVED, len(RESERVED)), strict=False))
    source, target = pair
    for ((start, end), _), name in sorted(named, reverse=True):
        source = source[:start] + name + source[end:]
    for (_, (start, end)), name in sorted(named, key=lambda one: one[0][1], reverse=True):
        target = target[:start] + name + target[end:]
    return source, target


def _with_links(pairs: Sequence[Pair], words: WordAligner) -> Iterator[tuple[Pair, list[tuple[Range, Range]]]]:
    """Yield pairs as the aligner reads them, with the words that may become placeholders."""
    every = words.aligner.links(*words.encode(pairs), "union")
    for (source, target), links in zip(pairs, every, strict=True):
        sources, targets = _infrequent_words(words.source, source), _infrequent_words(words.target, target)
        ours, theirs = Counter(i for i, _ in links), Counter(j for _, j in links)
        alone = sorted((i, j) for i, j in links if ours[i] == theirs[j] == 1 and i in sources and j in targets)
        pair = words.source.normal(source), words.target.normal(target)
        yield pair, [(sources[i], targets[j]) for i, j in alone]


def _infrequent_words(tokenizer: WordTokenizer, text: str) -> dict[int, Range]:
    """Return the places of infrequent words of a text that stand by themselves, by their number."""
    line, found = tokenizer.normal(text), dict[int, Range]()
    frequent = len(MARKS) + min(_FREQUENT, tokenizer.symbols.size // 10)
    tokens = zip(tokenizer.encode_with_places(text), tokenizer.pieces_of(text), strict=True)
    for number, ((token, start), piece) in enumerate(tokens):
        word = piece.removeprefix(SPACE)
        end = start + len(word)
        beside = line[max(0, start - 1) : start], line[end : end + 1]
        joined = any(is_glued(sign) or sign in JOINING for sign in beside)
        if token >= frequent and word.isalnum() and line[start:end] == word and not joined:
            found[number] = (start, end)
    return found
