"""Lines translated as settled options ask: from texts to batches, to hypotheses, and back to texts."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from anaphora.batch import Constraints, Ids
from anaphora.errors import ConfigError
from anaphora.kernels.runtime import Runtime
from anaphora.prediction.arguments import Given, given_text, sentence_of
from anaphora.prediction.candidates import Candidates, Shortlist
from anaphora.prediction.limits import Watch
from anaphora.prediction.options import SearchOptions
from anaphora.prediction.searching import resolved, searched
from anaphora.protocols import Stepper
from anaphora.search.evidence import with_evidence
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.request import SearchRequest
from anaphora.search.steering import Steering
from anaphora.tasks.translation.adapting import Adapted
from anaphora.tasks.translation.choice import best_of, together
from anaphora.tasks.translation.confidence import Confidence
from anaphora.tasks.translation.forced import Batches
from anaphora.tasks.translation.framed import Framed, Frames, prefixes_of, steering_of
from anaphora.tasks.translation.inspected import longest
from anaphora.tasks.translation.protection import Protection, Sentence
from anaphora.tasks.translation.required_terms import RequiredTerms, SentenceTerms
from anaphora.tasks.translation.shortlisted import Rows
from anaphora.tasks.translation.target_tokens import adjacency_of, unwritten_of
from anaphora.tasks.translation.translation import Translation
from anaphora.tasks.translation.unknown import demand_unknown, filler
from anaphora.text.apart import StandIn
from anaphora.text.placeholders import USUAL, checked_kinds
from anaphora.text.sentences import Passage, Splitter
from anaphora.text.tokenizer import UNK, Tokenizer


@dataclass(frozen=True)
class Sides:
    """What a translator translates with."""

    stepper: Callable[[], Stepper]
    source: Tokenizer
    target: Tokenizer
    batches: Batches
    attends: Callable[[], bool]
    """Whether it has attention."""
    runtime: Runtime
    shortlist: Callable[[Rows, Shortlist, Rows], Ids]
    """The candidates of sentences from the shortlist of its run, or its ConfigError."""
    stand_ins: Callable[[], Sequence[StandIn]]
    """The words that stand for placeholders, the best first."""


class Line(NamedTuple):
    """A line, and its sentences as ids."""

    passage: Passage
    sentences: list[Sentence]


class SearchedLines:
    """Reads lines and translates them, as ``prediction.stream.answers`` asks."""

    def __init__(
        self, sides: Sides, options: SearchOptions, splitter: Splitter | None, confidence: Confidence | None
    ) -> None:
        """``options`` are settled. Lines are one sentence each without ``splitter``.

        Raises ConfigError where nothing can be replaced, kept or left out as the options ask.
        """
        self._sides, self._options, self._splitter, self._confidence = sides, options, splitter, confidence
        self._banned_tokens = unwritten_of(sides.target)
        if options.known:
            demand_unknown(sides.source, sides.target)
            self._banned_tokens += (UNK,)
        self._unknown = filler(sides.source, sides.target, options.replace_unknown, sides.attends)
        kinds = USUAL if options.protect is None else checked_kinds(options.protect)
        self._protection = Protection(sides.source, sides.target, kinds, sides.stand_ins)
        self._glossary = RequiredTerms(options.terms, sides.target) if options.terms else None
        self._frames = Frames(sides.target)

    def read(self, line: str | Framed, number: int) -> Line:
        """The sentences of line ``number``; DataError where they cannot be translated as asked."""
        asked = line if isinstance(line, Framed) else Framed(line)
        if asked.suffix and not self._options.suffixes:
            raise ConfigError("Lines have suffixes, which the search options do not say: give them suffixes=True.")
        passage = self._protection.split(self._splitter, given_text(asked.text, number))
        framed = bool(asked.prefix or asked.suffix)
        parts = [self._protection.apart(one, framed=framed) for one in passage.sentences]
        ids = [sentence_of(self._sides.source, one.text, number, self._options.max_tokens) for one in parts]
        frames = self._frames.of(asked, parts, number)
        terms = [
            self._glossary.of(one, number, frame.prefix.ids, frame.suffix) if self._glossary else SentenceTerms()
            for one, frame in zip(parts, frames, strict=True)
        ]
        for one, row, its, frame in zip(parts, ids, terms, frames, strict=True):
            frame.demand_room(one, its, longest(len(row)), number)
        return Line(passage, list(map(Sentence, parts, ids, terms, frames)))

    def answer(self, lines: Sequence[Line], watch: Watch, answered: Callable[[int], None]) -> Iterable[Translation]:
        """The translation of each line; ``answered`` takes how many are done."""
        rows = [row for line in lines for row in line.sentences]
        found = iter(self._translated(rows, watch, lambda n: answered(len(lines) * n // len(rows))))
        for line in lines:
            parts = [next(found) for _ in line.sentences]
            yield together(line.passage, parts, self._options, self._splitter)

    def _translated(self, rows: Sequence[Sentence], watch: Watch, done: Callable[[int], None]) -> list[Translation]:
        """The translations of sentences; ``done`` takes how many there are.

        What a sentence keeps is left in it where the model may have learnt it, and put there where some is lost.
        """
        protection = self._protection
        tried = {place: one for place, row in enumerate(rows) if (one := protection.as_written(row))}
        found = zip(tried, self._search([*tried.values()], watch, lambda _: None), strict=True)
        whole = {place: kept for place, one in found if (kept := protection.whole(rows[place], one))}
        others = [row for place, row in enumerate(rows) if place not in whole]
        rest = iter(self._search(others, watch, lambda n: done(len(whole) + n)))
        return [whole[place] if place in whole else next(rest) for place in range(len(rows))]

    def _search(self, rows: Sequence[Sentence], watch: Watch, answered: Callable[[int], None]) -> list[Translation]:
        """The translations of sentences, searched in batches of like length; ``answered`` takes how many there are."""
        if not rows:
            return []
        sides, options, protection = self._sides, self._options, self._protection
        after_V = adjacency_of(sides.target).after_V
        full = [place for place, row in enumerate(rows) if row.ids]
        empty = {place: row for place, row in enumerate(rows) if not row.ids}
        found = {place: self._judged(protection.copied(row, options.attention)) for place, row in empty.items()}
        done = len(empty)
        given = [Given(rows[place].apart.text, rows[place].ids) for place in full]
        stepper_of = self._adapted([one.text for one in given])
        for batch in sides.batches(given, beam=options.beam or 1):
            numbers = batch.example_ids_B.tolist()
            own = [rows[full[number]] for number in numbers]
            stepper = stepper_of(numbers)
            most = [longest(len(row.ids)) for row in own]
            batch = replace(batch, constraints=self._constraints(own))
            frames = [row.frame for row in own]
            # suffixes have the last steps, and placeholders that are due those before
            before = [length - len(frame.suffix) for length, frame in zip(most, frames, strict=True)]
            pointing = protection.pointing(stepper, batch, own, before)
            steering: list[Steering] = [pointing.steering] if pointing and not options.groups else []
            if self._glossary:
                before = [length - len(row.apart.units) for length, row in zip(before, own, strict=True)]
                terms = [row.terms for row in own]
                steering += self._glossary.steering(terms, before, after_V, stepper.eos)
            steering += [*steering_of(frames, most, after_V, stepper.eos), *protection.unspelled(own)]
            request = SearchRequest(
                max_length=most,
                steering=steering,
                banned_tokens=self._banned_tokens,
                attention=options.attention or self._unknown is not None or any(row.apart.tags for row in own),
                check=watch.check,
            )
            writer, request = pointing or stepper, resolved(options, request, stepper.eos)
            hypotheses = searched(writer, batch, request)
            if options.confidence or options.signals:
                hypotheses = with_evidence(writer, batch, request, hypotheses)
            for number, of_one in zip(numbers, hypotheses, strict=True):
                found[full[number]] = self._answer(rows[full[number]], of_one)
            done += len(hypotheses)
            answered(done)
        return [found[place] for place in range(len(rows))]

    def _constraints(self, rows: Sequence[Sentence]) -> Constraints:
        """The candidates and prefixes of the sentences of a batch."""
        prefixes, asked, sides = prefixes_of([row.frame for row in rows]), self._options.candidates, self._sides
        if asked is None:
            return Constraints(None, prefixes)
        also = [list(chain(row.frame.prefix.ids, row.terms.tokens)) for row in rows]
        if isinstance(asked, Candidates):
            return Constraints(asked.of([row.apart.text for row in rows], sides.source, sides.target, also), prefixes)
        return Constraints(sides.shortlist([row.ids for row in rows], asked, also), prefixes)

    def _adapted(self, texts: Sequence[str]) -> Callable[[Sequence[int]], Stepper]:
        """The Stepper of a batch of ``texts`` by their places: adapted to what is known of them, if that is asked."""
        sides, adaptation = self._sides, self._options.adaptation
        if adaptation is None or not texts:
            return lambda places: sides.stepper()
        return Adapted(sides.stepper(), adaptation, (sides.source, sides.target), sides.batches, texts).over

    def _answer(self, row: Sentence, hypotheses: list[Hypothesis]) -> Translation:
        """The best hypothesis as a translation, with as many others of another text as are asked for."""
        attention, protection = self._options.attention, self._protection

        def made(hypothesis: Hypothesis) -> Translation:
            words: Sequence[str] = ()
            if self._unknown:
                words, bare = self._unknown.words(row.apart.text, row.ids, protection.hidden(row, hypothesis))
                hypothesis = hypothesis if bare.ids == hypothesis.ids else bare
            return self._judged(protection.restored(row, hypothesis, words, attention))

        return best_of(map(made, hypotheses), self._options)

    def _judged(self, translation: Translation) -> Translation:
        return self._confidence.judged(translation) if self._confidence else translation
