"""Pipeline of translation: a ``SentenceRequest`` is a row that is carried from a sentence to its translation.

1. **mask**, **segment** (``read``): a line is split into sentences, and what must stay is masked (``text.masking``). A
   row has the masked text and its tokens, and what its translation must have (``constraints``).
2. **constrain** (``_constrain``): the rows of a batch become one ``SearchRequest``, with placeholders, affixes and
   forbidden terms as steering; candidates and prefixes are constraints of the batch.
3. **search** (``_hypotheses``): any of the searches of ``search``, perhaps with scores of each token. What lacks a term
   is searched again among the outputs with it (``term_places``).
4. **unmask** (``unmasking``): every hypothesis becomes a text with all that was masked.
5. **choose** (``translation``): one translation of a sentence with its alternatives, and of the sentences of a line.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from itertools import product, zip_longest
from math import inf
from typing import NamedTuple

import numpy as np

from anaphora.batch import Batch, Constraints, Ids, pad
from anaphora.errors import ConfigError
from anaphora.prediction.arguments import EncodedSentence, given_text, sentence_of
from anaphora.prediction.candidates import Candidates
from anaphora.prediction.limits import Watch
from anaphora.prediction.options import MAX_TOKENS, SearchOptions
from anaphora.protocols import Stepper
from anaphora.run.calibrations import Calibration
from anaphora.search.constraints import MinimumLength, NoRepeatedNgrams
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.pointing import Placeholders, Pointing
from anaphora.search.request import SearchRequest
from anaphora.search.search import search
from anaphora.search.steering import Steering
from anaphora.search.terms import OneOf
from anaphora.search.token_scores import with_evidence
from anaphora.tasks.translation.constraints import (
    Framed,
    Requests,
    SentenceRequest,
    TargetConstraints,
    adjacency_of,
    banned_tokens_of,
    can_spell,
)
from anaphora.tasks.translation.forced_decoding import AdaptedDecoder, ForcedDecoder, without_tags
from anaphora.tasks.translation.shortlist import candidates_of
from anaphora.tasks.translation.translation import Translation, choose_best, join_sentences
from anaphora.tasks.translation.unmasking import Unmasking, demand_unknown, token_places
from anaphora.text.masking import MaskedText, mask, split_around, tag_partners
from anaphora.text.placeholders import CERTAIN, RESERVED, USUAL, checked_kinds, spans
from anaphora.text.quality import is_translatable
from anaphora.text.sentences import Passage, Splitter
from anaphora.text.tokenizer import UNK
from anaphora.text.words import WordTokenizer

_MANY = 3
"""Tokens of a word that its vocabulary was not made for."""


class LineRequest(NamedTuple):
    """A line, and the requests of its sentences."""

    passage: Passage
    rows: Requests


class TranslationPipeline:
    """Reads lines and translates them, as ``prediction.stream.answers`` asks."""

    def __init__(
        self, decoder: ForcedDecoder, options: SearchOptions, splitter: Splitter | None, calibration: Calibration | None
    ) -> None:
        """``options`` are resolved. Lines are one sentence each without ``splitter``.

        Raises ConfigError where nothing can be replaced or left out as the options ask, or there are no such kinds of
        things to keep.
        """
        self._decoder, self._options, self._splitter = decoder, options, splitter
        self._source, self._target = decoder.source, decoder.target
        self._banned_tokens = banned_tokens_of(decoder.target)
        if options.known:
            demand_unknown(decoder)
            self._banned_tokens += (UNK,)
        self._kinds = checked_kinds((*USUAL, *decoder.protect) if options.protect is None else options.protect)
        self._certain = tuple(kind for kind in self._kinds if kind in CERTAIN)
        self._constraints = TargetConstraints(decoder.target, options.terms)
        self._unmasking = Unmasking(decoder, options, calibration)

    def read(self, line: str | Framed, number: int) -> LineRequest:
        """Return the request of line ``number``; DataError where it cannot be translated as asked."""
        line = line if isinstance(line, Framed) else Framed(line)
        if line.suffix and not self._options.suffixes:
            raise ConfigError("Lines have suffixes, which the search options do not say: give them suffixes=True.")
        text, framed, rows = given_text(line.text, number), bool(line.prefix or line.suffix), list[SentenceRequest]()
        passage = Passage.whole(text)
        if self._splitter and self._is_translatable(text):
            passage = split_around(self._splitter, text, self._certain)
        for sentence in passage.sentences:
            masked = self._mask(sentence, framed=framed)
            ids = sentence_of(self._source, masked.text, number, self._options.max_tokens)
            rows.append(SentenceRequest(masked, ids, token_places(self._source, masked)))
        return LineRequest(passage, self._constraints.add(line, rows, number))

    def _mask(self, sentence: str, *, framed: bool) -> MaskedText:
        """Return a sentence with what it keeps masked, as the model reads it.

        Without a word there is nothing in it to translate, unless it is ``framed`` by what is to be written.
        """
        if not (framed or self._is_translatable(sentence)) or (self._kinds and not any(map(str.isalnum, sentence))):
            return MaskedText(sentence, sentence, "", "")
        sentence = self._source.plain(sentence)
        found = spans(sentence, self._kinds, self._is_new)
        return mask(sentence, found, () if all(one.tag for one in found) else self._decoder.stand_ins)

    def _is_new(self, word: str) -> bool:
        """True for a word that training hardly had: one of no token, or of many."""
        ids = self._source.encode(word)
        return UNK in ids or len(ids) >= _MANY

    def _is_translatable(self, text: str) -> bool:
        rule = self._source.rule
        return not (rule and rule.copies) or is_translatable(text, self._certain)

    def answer(self, lines: Sequence[LineRequest], watch: Watch, done: Callable[[int], None]) -> Iterable[Translation]:
        """Yield the translation of each line; ``done`` takes how many are done."""
        rows = [row for line in lines for row in line.rows]
        found = iter(self._translate(rows, watch, lambda n: done(len(lines) * n // len(rows))))
        for line in lines:
            parts = [next(found) for _ in line.rows]
            yield join_sentences(line.passage, parts, self._options, self._splitter)

    def _translate(self, rows: Requests, watch: Watch, done: Callable[[int], None]) -> list[Translation]:
        """Return the translations of sentences; ``done`` takes how many there are.

        Tags are left in a sentence where the model may have learnt them, and masked where something is lost.
        """
        tried = {place: one for place, row in enumerate(rows) if (one := self._with_learnt_tags(row))}
        found = zip(tried, self._search([*tried.values()], watch, lambda _: None), strict=True)
        whole = {place: kept for place, one in found if (kept := self._accept(rows[place], one))}
        others = [row for place, row in enumerate(rows) if place not in whole]
        rest = iter(self._search(others, watch, lambda n: done(len(whole) + n)))
        return [whole[place] if place in whole else next(rest) for place in range(len(rows))]

    def _with_learnt_tags(self, row: SentenceRequest) -> SentenceRequest | None:
        """Return the same with the tags left in its text that the model may have learnt; None where there are none."""
        sides = (self._source, self._target)
        known = {one.text for one in row.masked.tags if all(can_spell(side, one.text) for side in sides)}
        if not known:
            return None
        sentence = row.masked.sentence
        found = spans(sentence, self._kinds, self._is_new)
        others = [one for one in found if sentence[one.start : one.end] not in known]
        masked = mask(sentence, others, self._decoder.stand_ins if row.masked.units else ())
        ids = self._source.encode(masked.text)
        if len(ids) > MAX_TOKENS:
            return None
        return row._replace(masked=masked, ids=ids, places=token_places(self._source, masked))

    def _accept(self, row: SentenceRequest, found: Translation) -> Translation | None:
        """Return a translation and its alternatives if they have all that the sentence keeps, as often; or None."""
        kept = self._kept(row.masked.sentence)
        if self._kept(found.text) != kept:
            return None
        return replace(found, alternatives=tuple(one for one in found.alternatives if self._kept(one.text) == kept))

    def _kept(self, text: str) -> tuple[Counter[str], int]:
        """Return how often a text has each thing that is kept, and how many tags are opened or closed, well nested.

        Words with a capital on the other side are no names of this one: none is counted.
        """
        found = spans(text, self._certain)
        return Counter(text[one.start : one.end] for one in found), len(tag_partners(text, found))

    def _search(self, rows: Requests, watch: Watch, done: Callable[[int], None]) -> list[Translation]:
        """Search sentences in batches of like length, and unmask what is found; ``done`` takes their number."""
        if not rows:
            return []
        decoder, options = self._decoder, self._options
        found = {place: self._unmasking.copy(row) for place, row in enumerate(rows) if not row.ids}
        full = [place for place in range(len(rows)) if place not in found]
        given = [EncodedSentence(rows[place].masked.text, rows[place].ids) for place in full]
        adapted = None
        if options.adaptation and given:
            adapted = AdaptedDecoder(decoder, options.adaptation, [one.text for one in given])
        for batch in decoder.batches(given, beam=options.beam or 1):
            numbers = batch.example_ids_B.tolist()
            stepper, places = adapted.stepper(numbers) if adapted else decoder.stepper(), [full[n] for n in numbers]
            hypotheses = self._hypotheses([rows[place] for place in places], batch, stepper, watch)
            for place, of_row in zip(places, hypotheses, strict=True):
                found[place] = choose_best(map(partial(self._unmasking.unmask, rows[place]), of_row), options)
            done(len(found))
        return [found[place] for place in range(len(rows))]

    def _hypotheses(self, rows: Requests, batch: Batch, stepper: Stepper, watch: Watch) -> list[list[Hypothesis]]:
        """Return the hypotheses of every sentence of a batch, best first; samples in the order of their draws.

        A sample depends on its sentence and its number. Raises ConfigError as ``search.search``.
        """
        prefixes = pad([row.prefix for row in rows]) if any(row.prefix for row in rows) else None
        batch = replace(batch, constraints=Constraints(self._candidates(rows), prefixes))
        stepper, request = self._constrain(rows, batch, stepper, watch)
        if request.sampling is None:
            found = search(stepper, batch, request)
        else:
            draws = (search(stepper, _with_draw_keys(batch, number), request) for number in range(request.n))
            found = [[one for [one] in of_one] for of_one in zip(*draws, strict=True)]
        found = [[without_tags(one, self._decoder.tags) for one in of_one] for of_one in found]
        if any(row.required for row in rows):
            found = self._with_terms(rows, batch, stepper, request, found)
        evidence = self._options.confidence or self._options.signals
        return with_evidence(stepper, batch, request, found) if evidence else found

    def _with_terms(
        self, rows: Requests, batch: Batch, stepper: Stepper, request: SearchRequest, found: list[list[Hypothesis]]
    ) -> list[list[Hypothesis]]:
        """Return the hypotheses with the terms of their sentences, one after the other, as far as they have places."""
        by_rank, most = [list(some) for some in zip_longest(*found)], max(len(row.required) for row in rows)
        for some, number in product(by_rank, range(most)):
            pairs = zip(rows, some, strict=True)
            outputs = [self._unmasking.outputs_with_term(row, one, number) if one else [] for row, one in pairs]
            if not any(outputs):
                continue
            written = [pad(own or [()], value=stepper.eos, end=stepper.eos).ids_BT for own in outputs]
            lengths = [max(row.max_length, own.shape[1]) for row, own in zip(rows, written, strict=True)]
            steering = [*request.steering, OneOf(written)]
            again = replace(request, n=1, sampling=None, diversity=None, steering=steering, max_length=lengths)
            for place, [one] in enumerate(search(stepper, batch, again)):
                if outputs[place] and one.score > -inf:
                    some[place] = without_tags(one, self._decoder.tags)
        kept = [[one for one in own if one] for own in zip(*by_rank, strict=True)]
        is_ranked = request.sampling is None and request.diversity is None
        return [sorted(own, key=lambda one: -one.rank) for own in kept] if is_ranked else kept

    def _constrain(self, rows: Requests, batch: Batch, stepper: Stepper, watch: Watch) -> tuple[Stepper, SearchRequest]:
        """Return the stepper of a batch, placeholders included, and the request of its search."""
        options, pointing = self._options, self._pointing(stepper, batch, rows)
        steering: list[Steering] = []
        if options.min_length:
            steering.append(MinimumLength(options.min_length, stepper.eos))
        if options.no_repeat_ngram:
            steering.append(NoRepeatedNgrams(options.no_repeat_ngram))
        if pointing and not options.groups:
            steering.append(pointing.steering)
        steering += self._constraints.steering(rows, stepper.eos)
        request = SearchRequest(
            max_length=[row.max_length for row in rows],
            n=options.hypotheses,
            ranking=options.ranking,
            diversity=options.diverse,
            sampling=options.sampling,
            steering=steering,
            banned_tokens=self._banned_tokens,
            attention=self._unmasking.needs_attention(rows),
            check=watch.check,
        )
        return pointing or stepper, request if options.beam is None else replace(request, beam=options.beam)

    def _pointing(self, stepper: Stepper, batch: Batch, rows: Requests) -> Pointing | None:
        """Return the model over the placeholders of the rows of a batch too; None where there are none."""
        most = max(len(row.masked.units) for row in rows)
        if not most:
            return None
        positions_BKS = np.zeros((len(rows), most, batch.input_ids.ids_BT.shape[1]), bool)
        stand_ins_BK = np.zeros((len(rows), most), np.int64)
        alone_BK, joined_BK, attended_BK = np.zeros((3, len(rows), most), bool)
        of_words = isinstance(self._target, WordTokenizer) or self._target.context_free
        for b, row in enumerate(rows):
            needed = row.tokens
            if any(token == UNK and not any(place in one for one in row.places) for place, token in enumerate(row.ids)):
                needed.add(UNK)
            for k, (unit, places) in enumerate(zip(row.masked.units, row.places, strict=True)):
                first = len(self._decoder.tags)
                positions_BKS[b, k, first + places.start : first + places.stop] = True
                stand_ins_BK[b, k] = unit.stand_in.token
                joined_BK[b, k] = unit.joined
                alone_BK[b, k] = of_words and unit.stand_in.token not in needed
                attended_BK[b, k] = unit.stand_in.word not in RESERVED
        # suffixes have the last steps, and placeholders that are due those before
        lengths_B = np.array([row.max_length - len(row.suffix) for row in rows])
        placeholders = Placeholders(positions_BKS, stand_ins_BK, alone_BK, joined_BK, attended_BK, lengths_B)
        return Pointing(stepper, placeholders, adjacency_of(self._target))

    def _candidates(self, rows: Requests) -> Ids | None:
        """Return the tokens that each sentence may be written with; None for all."""
        asked, decoder = self._options.candidates, self._decoder
        needed = [list(row.tokens) for row in rows]
        if asked is None:
            return None
        if isinstance(asked, Candidates):
            return asked.of([row.masked.text for row in rows], decoder.source, decoder.target, needed)
        if decoder.shortlist is None:
            raise ConfigError("A shortlist is stored in a run, but this translator is none: translate without it.")
        return candidates_of(decoder.shortlist.tokens, [row.ids for row in rows], asked, needed)


def _with_draw_keys(batch: Batch, number: int) -> Batch:
    """The batch with keys of draws in place of example ids: each follows from the sentence and the sample's number."""
    read = batch.input_ids
    rows = zip(read.ids_BT.tolist(), read.lengths_B.tolist(), strict=True)
    keys = [blake2b(repr((row[:length], number)).encode(), digest_size=7).digest() for row, length in rows]
    return replace(batch, example_ids_B=np.array([int.from_bytes(key) for key in keys]))
