"""Pipeline of translation: a ``SentenceRequest`` is a row with all that is known of a sentence before its search.

1. **mask**, **segment** (``read``): a line is split into sentences, and what must stay is masked (``text.masking``).
   A row has the masked text, its tokens, the terms that are required or forbidden, and the prefix and suffix.
2. **constrain** (``_constraints``, ``_constrain``): the rows of a batch become one ``SearchRequest``, with
   placeholders, terms, affixes and banned strings as steering, and candidates and prefixes as constraints.
3. **search** (``_hypotheses``): any of the searches of ``search``, perhaps with scores of each token.
4. **unmask** (``_unmask``): every hypothesis becomes a text with all that was masked (``protection``, ``unmasking``).
5. **choose** (``choice``): one translation of a sentence with its alternatives, and of the sentences of a line.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple

import torch

from anaphora.batch import Batch, Constraints, Ids
from anaphora.errors import ConfigError
from anaphora.prediction.arguments import Given, given_text, sentence_of
from anaphora.prediction.candidates import Candidates, Shortlist
from anaphora.prediction.limits import Watch
from anaphora.prediction.options import SearchOptions
from anaphora.protocols import Stepper
from anaphora.search.constraints import MinimumLength, NoRepeatedNgrams
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.request import SearchRequest
from anaphora.search.search import search
from anaphora.search.steering import Steering
from anaphora.search.token_scores import with_evidence
from anaphora.tasks.translation.adapting import Adapted
from anaphora.tasks.translation.affixes import AffixEncoder, Framed, prefixes_of, steering_of
from anaphora.tasks.translation.choice import best_of, together
from anaphora.tasks.translation.confidence import Confidence
from anaphora.tasks.translation.forced import Batches
from anaphora.tasks.translation.inspected import longest
from anaphora.tasks.translation.protection import Protection, SentenceRequest
from anaphora.tasks.translation.required_terms import RequiredTerms, SentenceTerms
from anaphora.tasks.translation.shortlist import Rows
from anaphora.tasks.translation.target_tokens import adjacency_of, unwritten_of
from anaphora.tasks.translation.translation import Translation
from anaphora.tasks.translation.unknown import demand_unknown, filler
from anaphora.text.masking import Placeholder
from anaphora.text.placeholders import USUAL, checked_kinds
from anaphora.text.sentences import Passage, Splitter
from anaphora.text.tokenizer import UNK, Tokenizer


@dataclass(frozen=True)
class TranslationModel:
    """Stepper, tokenizers and batches that a translator translates with."""

    stepper: Callable[[], Stepper]
    source: Tokenizer
    target: Tokenizer
    batches: Batches
    attends: Callable[[], bool]
    """True if it has attention."""
    shortlist: Callable[[Rows, Shortlist, Rows], Ids]
    """The candidates of sentences from the shortlist of its run, or its ConfigError."""
    placeholders: Callable[[], Sequence[Placeholder]]
    """The words that stand for placeholders, the best first."""


class LineRequest(NamedTuple):
    """A line, and the requests of its sentences."""

    passage: Passage
    sentences: list[SentenceRequest]


class TranslationPipeline:
    """Reads lines and translates them, as ``prediction.stream.answers`` asks."""

    def __init__(
        self, model: TranslationModel, options: SearchOptions, splitter: Splitter | None, confidence: Confidence | None
    ) -> None:
        """``options`` are resolved. Lines are one sentence each without ``splitter``.

        Raises ConfigError where nothing can be replaced, kept or left out as the options ask.
        """
        self._model, self._options, self._splitter, self._confidence = model, options, splitter, confidence
        self._banned_tokens = unwritten_of(model.target)
        if options.known:
            demand_unknown(model.source, model.target)
            self._banned_tokens += (UNK,)
        self._unknown = filler(model.source, model.target, options.replace_unknown, model.attends)
        kinds = USUAL if options.protect is None else checked_kinds(options.protect)
        self._protection = Protection(model.source, model.target, kinds, model.placeholders)
        self._glossary = RequiredTerms(options.terms, model.target) if options.terms else None
        self._affixes = AffixEncoder(model.target)

    def read(self, line: str | Framed, number: int) -> LineRequest:
        """Return the request of line ``number``; DataError where they cannot be translated as asked."""
        asked = line if isinstance(line, Framed) else Framed(line)
        if asked.suffix and not self._options.suffixes:
            raise ConfigError("Lines have suffixes, which the search options do not say: give them suffixes=True.")
        passage = self._protection.split(self._splitter, given_text(asked.text, number))
        framed = bool(asked.prefix or asked.suffix)
        parts = [self._protection.mask(one, framed=framed) for one in passage.sentences]
        ids = [sentence_of(self._model.source, one.text, number, self._options.max_tokens) for one in parts]
        affixes = self._affixes.of(asked, parts, number)
        terms = [
            self._glossary.of(one, number, its.prefix.ids, its.suffix) if self._glossary else SentenceTerms()
            for one, its in zip(parts, affixes, strict=True)
        ]
        rows = list(map(SentenceRequest, parts, ids, terms, affixes))
        for row in rows:
            row.affixes.demand_room(row.masked, row.terms, longest(len(row.ids)), number)
        return LineRequest(passage, rows)

    def answer(
        self, lines: Sequence[LineRequest], watch: Watch, answered: Callable[[int], None]
    ) -> Iterable[Translation]:
        """Yield the translation of each line; ``answered`` takes how many are done."""
        rows = [row for line in lines for row in line.sentences]
        found = iter(self._translate(rows, watch, lambda n: answered(len(lines) * n // len(rows))))
        for line in lines:
            parts = [next(found) for _ in line.sentences]
            yield together(line.passage, parts, self._options, self._splitter)

    def _translate(
        self, rows: Sequence[SentenceRequest], watch: Watch, done: Callable[[int], None]
    ) -> list[Translation]:
        """Return the translations of sentences; ``done`` takes how many there are.

        What a sentence keeps is left in it where the model may have learnt it, and put there where some is lost.
        """
        protection = self._protection
        tried = {place: one for place, row in enumerate(rows) if (one := protection.as_written(row))}
        found = zip(tried, self._search([*tried.values()], watch, lambda _: None), strict=True)
        whole = {place: kept for place, one in found if (kept := protection.whole(rows[place], one))}
        others = [row for place, row in enumerate(rows) if place not in whole]
        rest = iter(self._search(others, watch, lambda n: done(len(whole) + n)))
        return [whole[place] if place in whole else next(rest) for place in range(len(rows))]

    def _search(
        self, rows: Sequence[SentenceRequest], watch: Watch, answered: Callable[[int], None]
    ) -> list[Translation]:
        """Search sentences in batches of like length, and unmask what is found; ``answered`` takes their number."""
        if not rows:
            return []
        options, protection = self._options, self._protection
        full = [place for place, row in enumerate(rows) if row.ids]
        empty = {place: row for place, row in enumerate(rows) if not row.ids}
        found = {place: self._judged(protection.copied(row, options.attention)) for place, row in empty.items()}
        done = len(empty)
        given = [Given(rows[place].masked.text, rows[place].ids) for place in full]
        stepper_of = self._adapted([one.text for one in given])
        for batch in self._model.batches(given, beam=options.beam or 1):
            numbers = batch.example_ids_B.tolist()
            own = [rows[full[number]] for number in numbers]
            batch = replace(batch, constraints=self._constraints(own))
            stepper, request = self._constrain(own, batch, stepper_of(numbers), watch)
            hypotheses = _hypotheses(stepper, batch, request)
            if options.confidence or options.signals:
                hypotheses = with_evidence(stepper, batch, request, hypotheses)
            for number, of_one in zip(numbers, hypotheses, strict=True):
                found[full[number]] = self._unmask(rows[full[number]], of_one)
            done += len(hypotheses)
            answered(done)
        return [found[place] for place in range(len(rows))]

    def _constrain(
        self, rows: Sequence[SentenceRequest], batch: Batch, stepper: Stepper, watch: Watch
    ) -> tuple[Stepper, SearchRequest]:
        """Return the stepper of a batch, placeholders included, and the request of its search."""
        options, protection, eos = self._options, self._protection, stepper.eos
        after_V = adjacency_of(self._model.target).after_V
        most, affixes = [longest(len(row.ids)) for row in rows], [row.affixes for row in rows]
        # suffixes have the last steps, and placeholders that are due those before
        before = [length - len(one.suffix) for length, one in zip(most, affixes, strict=True)]
        pointing = protection.pointing(stepper, batch, rows, before)
        steering: list[Steering] = []
        if options.min_length:
            steering.append(MinimumLength(options.min_length, eos))
        if options.no_repeat_ngram:
            steering.append(NoRepeatedNgrams(options.no_repeat_ngram))
        if pointing and not options.groups:
            steering.append(pointing.steering)
        if self._glossary:
            before = [length - len(row.masked.units) for length, row in zip(before, rows, strict=True)]
            steering += self._glossary.steering([row.terms for row in rows], before, after_V, eos)
        steering += [*steering_of(affixes, most, after_V, eos), *protection.banned_strings(rows)]
        request = SearchRequest(
            max_length=most,
            n=options.hypotheses,
            ranking=options.ranking,
            diversity=options.diverse,
            sampling=options.sampling,
            steering=steering,
            banned_tokens=self._banned_tokens,
            attention=options.attention or self._unknown is not None or any(row.masked.tags for row in rows),
            check=watch.check,
        )
        return pointing or stepper, request if options.beam is None else replace(request, beam=options.beam)

    def _constraints(self, rows: Sequence[SentenceRequest]) -> Constraints:
        """Return the candidates and prefixes of the sentences of a batch."""
        prefixes, asked, model = prefixes_of([row.affixes for row in rows]), self._options.candidates, self._model
        if asked is None:
            return Constraints(None, prefixes)
        also = [list(chain(row.affixes.prefix.ids, row.terms.tokens)) for row in rows]
        if isinstance(asked, Candidates):
            return Constraints(asked.of([row.masked.text for row in rows], model.source, model.target, also), prefixes)
        return Constraints(model.shortlist([row.ids for row in rows], asked, also), prefixes)

    def _adapted(self, texts: Sequence[str]) -> Callable[[Sequence[int]], Stepper]:
        """The Stepper of a batch of ``texts`` by their places: adapted to what is known of them, if that is asked."""
        model, adaptation = self._model, self._options.adaptation
        if adaptation is None or not texts:
            return lambda places: model.stepper()
        return Adapted(model.stepper(), adaptation, (model.source, model.target), model.batches, texts).over

    def _unmask(self, row: SentenceRequest, hypotheses: list[Hypothesis]) -> Translation:
        """The best hypothesis as a translation, with as many others of another text as are asked for."""
        attention, protection = self._options.attention, self._protection

        def made(hypothesis: Hypothesis) -> Translation:
            words: Sequence[str] = ()
            if self._unknown:
                words, bare = self._unknown.words(row.masked.text, row.ids, protection.hidden(row, hypothesis))
                hypothesis = hypothesis if bare.ids == hypothesis.ids else bare
            return self._judged(protection.restored(row, hypothesis, words, attention))

        return best_of(map(made, hypotheses), self._options)

    def _judged(self, translation: Translation) -> Translation:
        return self._confidence.judged(translation) if self._confidence else translation


def _hypotheses(stepper: Stepper, batch: Batch, request: SearchRequest) -> list[list[Hypothesis]]:
    """Return the hypotheses of every sentence, best first; ``n`` samples in the order in which they are drawn.

    A sample depends on its sentence and its number. Raises ConfigError as ``search.search``.
    """
    if request.sampling is None:
        return search(stepper, batch, request)
    drawn = (search(stepper, _keyed(batch, number), request) for number in range(request.n))
    return [[one for [one] in of_one] for of_one in zip(*drawn, strict=True)]


def _keyed(batch: Batch, number: int) -> Batch:
    """The batch with keys of draws in place of example ids: each follows from the sentence and the sample's number."""
    read = batch.input_ids
    rows = zip(read.ids_BT.tolist(), read.lengths_B.tolist(), strict=True)
    keys = [blake2b(repr((row[:length], number)).encode(), digest_size=7).digest() for row, length in rows]
    return replace(batch, example_ids_B=torch.tensor([int.from_bytes(key) for key in keys]))
