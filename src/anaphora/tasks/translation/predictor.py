"""Texts translated, and given translations scored."""

from collections import abc
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

from anaphora.batch import Constraints
from anaphora.errors import AnaphoraError, ConfigError
from anaphora.events import Report, silent
from anaphora.kernels.runtime import Runtime, running
from anaphora.prediction.arguments import demand_texts, given_text, sentence_of
from anaphora.prediction.limits import UNLIMITED, Limits, Watch
from anaphora.prediction.options import SearchOptions
from anaphora.prediction.running import ON_CPU
from anaphora.prediction.searching import search
from anaphora.prediction.stream import answers
from anaphora.protocols import Stepper
from anaphora.search.ensemble import Ensemble, Mean
from anaphora.search.fusion import Fused
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.steering import Steering
from anaphora.search.watched import Watched
from anaphora.search.without import Without
from anaphora.tasks.language_model import LanguageModelPredictor
from anaphora.tasks.translation.adapting import Adapted
from anaphora.tasks.translation.choice import best_of, together
from anaphora.tasks.translation.config import SearchConfig
from anaphora.tasks.translation.forced import Given
from anaphora.tasks.translation.inspected import InspectedTranslator, longest
from anaphora.tasks.translation.protection import Protection, Sentence
from anaphora.tasks.translation.required_terms import RequiredTerms, SentenceTerms
from anaphora.tasks.translation.stand_ins import best_copied
from anaphora.tasks.translation.translation import Translation
from anaphora.tasks.translation.unknown import Filler, demand_unknown, filler
from anaphora.text.apart import StandIn
from anaphora.text.placeholders import USUAL, checked_kinds
from anaphora.text.sentences import Passage, Splitter
from anaphora.text.tokenizer import UNK, Tokenizer

_EVALUATION = SearchConfig()
_USUAL = SearchOptions()


class TranslationPredictor(InspectedTranslator):
    """Translates texts, and scores translations that are given."""

    def __init__(
        self,
        stepper: abc.Callable[[], Stepper],
        source: Tokenizer,
        target: Tokenizer,
        evaluation: SearchConfig = _EVALUATION,
        splitter: Splitter | None = None,
        languages: tuple[str, str] = ("", ""),
        runtime: Runtime = ON_CPU,
    ) -> None:
        """Every call calls ``stepper`` again, so that a network may go on being trained in between.

        Searches are as ``evaluation`` says, the table of the run, unless a call asks otherwise. Running text is split
        into sentences by ``splitter``, or not at all. It translates between the two ``languages``, where they are told.
        The network lies on the device of ``runtime``.
        """
        super().__init__(stepper, source, target, runtime)
        self._splitter, self._languages, self.evaluation = splitter, languages, evaluation

    @property
    def languages(self) -> tuple[str, str]:
        """The codes of the languages it translates between, each empty where it is not told."""
        return self._languages

    @staticmethod
    def ensemble(members: abc.Sequence["TranslationPredictor"], mean: Mean = "arithmetic") -> "TranslationPredictor":
        """Translators that are searched as one, with the evaluation and the sentences of the first.

        What each expects next is averaged (see ``search.ensemble``), and so is where they look. Raises ConfigError
        where their languages or their vocabularies are not the same.
        """
        _check_alike(members)
        return members[0]._over(lambda: Ensemble([member._stepper() for member in members], mean))

    def fused(self, model: LanguageModelPredictor, weight: float) -> "TranslationPredictor":
        """This translator, whose every symbol scores ln p + ``weight`` ln p by a language model of its target side.

        (Gulcehre et al. 2015, shallow fusion.) Raises ConfigError where the vocabularies are not the same, and for a
        weight that is not above 0.
        """

        def stepper() -> Fused:
            return Fused(self._stepper(), model.stepper_over(self._target), weight)

        stepper()  # what does not go together is found here
        return self._over(stepper)

    def without_unknown(self) -> "TranslationPredictor":
        """This translator, which writes no ``<unk>``; ConfigError where it spells words, or annotates unknown ones."""
        demand_unknown(self._source, self._target)
        return self._over(lambda: Without(self._stepper(), (UNK,)))

    def knows(self, source: str, target: str) -> bool:
        """Whether the vocabularies have all of a pair."""
        return UNK not in self._source.encode(source) and UNK not in self._target.encode(target)

    def translate(
        self,
        texts: abc.Sequence[str],
        options: SearchOptions = _USUAL,
        *,
        limits: Limits = UNLIMITED,
        report: Report = silent,
        **asked: Any,
    ) -> list[Translation]:
        """The translation of every text as one sentence, in their order.

        A text of which nothing can be seen (white space, zero-width characters) is its own translation.
        ``asked`` are fields of ``SearchOptions``, as in ``translate(texts, beam=8)``. Raises as ``stream``.
        """
        demand_texts(texts)
        return list(self.stream(texts, options._replace(**asked), split=False, limits=limits, report=report))

    def translate_text(
        self,
        texts: abc.Sequence[str],
        options: SearchOptions = _USUAL,
        *,
        limits: Limits = UNLIMITED,
        report: Report = silent,
        **asked: Any,
    ) -> list[Translation]:
        """The translation of running text: ``translate`` of every sentence, with the white space around them as it was.

        The alternatives of a text are the best of all that the hypotheses of its sentences make. Where the run takes
        lines whole (text.sentences), a text is one sentence.
        """
        demand_texts(texts)
        return list(self.stream(texts, options._replace(**asked), limits=limits, report=report))

    def stream(
        self,
        lines: abc.Iterable[str],
        options: SearchOptions = _USUAL,
        *,
        split: bool = True,
        limits: Limits = UNLIMITED,
        report: Report = silent,
        refused: abc.Callable[[int, AnaphoraError], None] | None = None,
    ) -> abc.Iterator[Translation]:
        """The translations of lines as they come, in order; without ``split``, every line is one sentence.

        No more than a window of lines is held (see ``prediction.stream``). Raises ConfigError for a beam that
        ``search.beam`` refuses, and where nothing can be replaced or chosen among: tokens are not words, there is no
        attention, or the output is no softmax over words. Raises StoppedError as ``limits`` say, and DataError for a
        line too long to be a sentence, with its number, after the translations of the lines before it. With
        ``refused``, that is called with the number and the error instead, and the translation of the line is empty.
        """
        settled = options.settled(self.evaluation.beam, self.evaluation.length_penalty)
        unknown = filler(self._source, self._target, settled.replace_unknown, lambda: self.attends)
        splitter = self._splitter if split else None
        protection = self._protection(settled)
        glossary = RequiredTerms(settled.terms, self._target) if settled.terms else None

        def read(line: str, number: int) -> _Line:
            passage = protection.split(splitter, given_text(line, number))
            parts = [protection.apart(one) for one in passage.sentences]
            ids = [sentence_of(self._source, one.text, number, settled.max_tokens) for one in parts]
            terms = [glossary.of(one, number) if glossary else SentenceTerms() for one in parts]
            return _Line(passage, list(map(Sentence, parts, ids, terms)))

        def answer(
            lines: abc.Sequence[_Line], watch: Watch, answered: abc.Callable[[int], None]
        ) -> abc.Iterable[Translation]:
            rows = [row for line in lines for row in line.sentences]
            found = iter(
                self._search(
                    rows, settled, unknown, protection, glossary, watch, lambda n: answered(len(lines) * n // len(rows))
                )
            )
            for line in lines:
                parts = [next(found) for _ in line.sentences]
                yield together(line.passage, parts, settled, splitter)

        def empty(number: int, error: AnaphoraError) -> Translation:
            assert refused is not None
            refused(number, error)
            return Translation("", 0.0, False)

        return answers(
            lines,
            read,
            answer,
            task="translate",
            unit="lines",
            runtime=self._runtime,
            limits=limits,
            report=report,
            refused=empty if refused else None,
        )

    def aligned(self, line: str, translation: Translation) -> Translation:
        """A translation of a line with the attention of this translator, by forced decoding; ``links`` align it.

        It is decoded sentence by sentence where it was translated so. Errors are those of ``score_pairs``.
        """
        targets = [part.text for part in translation.sentences]
        passage = self._splitter.split(line) if self._splitter and targets else Passage.whole(line)
        if len(passage.sentences) != len(targets):
            passage, targets = Passage.whole(line), [translation.text]
        parts = self.score_pairs(passage.sentences, targets, attention=True)
        if self._splitter is None or len(parts) == 1:
            return parts[0]
        gaps = self._splitter.gaps(passage)
        return Translation.joined(translation.text, parts, list(zip(passage.gaps[1:-1], gaps[1:-1], strict=True)))

    def _search(
        self,
        rows: abc.Sequence[Sentence],
        options: SearchOptions,
        unknown: Filler | None,
        protection: Protection,
        glossary: RequiredTerms | None,
        watch: Watch,
        searched: abc.Callable[[int], None],
    ) -> list[Translation]:
        """The translations of sentences, searched in batches of like length; ``searched`` takes how many there are."""
        full = [place for place, row in enumerate(rows) if row.ids]
        found = [protection.copied(row, options.attention) for row in rows]
        done = len(rows) - len(full)
        given = [Given(rows[place].apart.text, rows[place].ids) for place in full]
        network, adapted = self._stepper(), None
        if options.adaptation is not None and given:
            texts, sides = [one.text for one in given], (self._source, self._target)
            adapted = Adapted(network, options.adaptation, sides, self._batches, texts)
        for batch in self._batches(given, beam=options.beam or 1):
            numbers = batch.example_ids_B.tolist()
            own = [rows[full[number]] for number in numbers]
            model = Without.special_tokens(adapted.over(numbers) if adapted else network, self._target.symbols)
            stepper = Watched(model, watch.check)
            most = [longest(len(row.ids)) for row in own]
            if options.candidates is not None:
                texts = [row.apart.text for row in own]
                batch = replace(
                    batch, constraints=Constraints(candidates=options.candidates.of(texts, self._source, self._target))
                )
            pointing = protection.pointing(stepper, batch, own, most)
            steering: list[Steering] = [pointing.steering] if pointing and not options.groups else []
            if glossary:
                # placeholders that are due have the last steps
                before = [length - len(row.apart.units) for length, row in zip(most, own, strict=True)]
                steering += glossary.steering([row.terms for row in own], before, protection.after_V, stepper.eos)
            hypotheses = search(
                pointing or stepper,
                batch,
                options,
                max_length=most,
                attention=options.attention or unknown is not None or any(row.apart.tags for row in own),
                steering=steering,
            )
            for number, of_one in zip(numbers, hypotheses, strict=True):
                place = full[number]
                found[place] = self._answer(rows[place], of_one, options, unknown, protection)
            done += len(hypotheses)
            searched(done)
        return found

    def _over(self, stepper: abc.Callable[[], Stepper]) -> "TranslationPredictor":
        """All else of this translator over another Stepper."""
        other = copy(self)
        other._stepper = stepper
        return other

    def _protection(self, options: SearchOptions) -> Protection:
        """What keeps the kinds that are asked for; without a word on them, the usual ones."""
        kinds = USUAL if options.protect is None else checked_kinds(options.protect)

        def stand_ins() -> abc.Sequence[StandIn]:
            with running(self._runtime):
                return best_copied(self._stepper(), self._source, self._target, self._batches)

        return Protection(self._source, self._target, kinds, stand_ins)

    def _answer(
        self,
        row: Sentence,
        hypotheses: list[Hypothesis],
        options: SearchOptions,
        unknown: Filler | None,
        protection: Protection,
    ) -> Translation:
        """The best hypothesis as a translation, with as many others of another text as are asked for."""

        def made(hypothesis: Hypothesis) -> Translation:
            if not unknown:
                return protection.restored(row, hypothesis, (), options.attention)
            words, bare = unknown.words(row.apart.text, row.ids, protection.hidden(row, hypothesis))
            bare = hypothesis if bare.ids == hypothesis.ids else bare
            return protection.restored(row, bare, words, options.attention)

        return best_of(map(made, hypotheses), options)


def _check_alike(members: abc.Sequence[TranslationPredictor]) -> None:
    """Raise ConfigError where translators do not go together."""
    first = members[0]
    for number, other in enumerate(members[1:], 2):
        if other.languages != first.languages:
            between, others = (" to ".join(member.languages) for member in (first, other))
            raise ConfigError(
                f"An ensemble needs translators of the same languages, but number {number} translates {others} and "
                f"number 1 {between}: leave one out."
            )
        for side, one, its in (("source", first._source, other._source), ("target", first._target, other._target)):
            if one.fingerprint != its.fingerprint:
                raise ConfigError(
                    f"An ensemble needs translators of the same vocabularies, but number {number} has another "
                    f"{side} vocabulary ({its.symbols.size:,} tokens) than number 1 ({one.symbols.size:,}): train "
                    f"them on the same data with the same [text]."
                )


class _Line(NamedTuple):
    """A line, and its sentences as ids."""

    passage: Passage
    sentences: list[Sentence]
