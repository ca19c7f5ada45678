"""Texts translated, and given translations scored."""

from collections import abc
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch

from anaphora.batch import Constraints
from anaphora.errors import ConfigError
from anaphora.events import Report, silent
from anaphora.kernels.runtime import Runtime, running
from anaphora.prediction.arguments import demand_texts, given_text, sentence_of
from anaphora.prediction.limits import UNLIMITED, Limits, Watch
from anaphora.prediction.options import SearchOptions
from anaphora.prediction.running import ON_CPU
from anaphora.prediction.stream import answers
from anaphora.protocols import Stepper
from anaphora.search.beam import beam as beam_search
from anaphora.search.beam import check_size
from anaphora.search.ensemble import Ensemble, Mean
from anaphora.search.fusion import Fused
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.ranking import Ranking
from anaphora.search.watched import Watched
from anaphora.search.without import Without
from anaphora.tasks.language_model import LanguageModelPredictor
from anaphora.tasks.translation.config import SearchConfig
from anaphora.tasks.translation.forced import Given
from anaphora.tasks.translation.inspected import InspectedTranslator, longest
from anaphora.tasks.translation.protection import Found, Protection, Sentence
from anaphora.tasks.translation.restoring import Token, tokens_kept
from anaphora.tasks.translation.stand_ins import best_copied
from anaphora.tasks.translation.translation import Translation
from anaphora.tasks.translation.unknown import Filler, demand_unknown, filler
from anaphora.text.apart import StandIn
from anaphora.text.placeholders import USUAL, checked_kinds
from anaphora.text.sentences import Passage, Splitter, is_blank
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

        The alternatives of a text are those with another translation of one sentence, the best first. Where the run
        takes lines whole (text.sentences), a text is one sentence.
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
    ) -> abc.Iterator[Translation]:
        """The translations of lines as they come, in order; without ``split``, every line is one sentence.

        No more than a window of lines is held (see ``prediction.stream``). Raises ConfigError for a beam that
        ``search.beam`` refuses, and where nothing can be replaced or chosen among: tokens are not words, there is no
        attention, or the output is no softmax over words. Raises StoppedError as ``limits`` say, and DataError for a
        line too long to be a sentence, with its number, after the translations of the lines before it.
        """
        settled = options.settled(self.evaluation.beam, self.evaluation.length_penalty)
        assert settled.beam is not None
        check_size(settled.beam)
        unknown = filler(self._source, self._target, settled.replace_unknown, lambda: self.attends)
        splitter = self._splitter if split else None
        protection = self._protection(settled)

        def read(line: str, number: int) -> _Line:
            passage = protection.split(splitter, given_text(line, number))
            parts = [protection.apart(one) for one in passage.sentences]
            return _Line(passage, [Sentence(one, sentence_of(self._source, one.text, number)) for one in parts])

        def answer(
            lines: abc.Sequence[_Line], watch: Watch, answered: abc.Callable[[int], None]
        ) -> abc.Iterable[Translation]:
            rows = [row for line in lines for row in line.sentences]

            def searched(sentences: int) -> None:
                answered(len(lines) * sentences // len(rows))

            found = iter(self._search(rows, settled, unknown, protection, watch, searched))
            for line in lines:
                parts = [next(found) for _ in line.sentences]
                yield self._together(line.passage, parts, settled.alternatives, splitter)

        return answers(
            lines,
            read,
            answer,
            task="translate",
            unit="lines",
            runtime=self._runtime,
            limits=limits,
            report=report,
        )

    def _search(
        self,
        rows: abc.Sequence[Sentence],
        options: SearchOptions,
        unknown: Filler | None,
        protection: Protection,
        watch: Watch,
        searched: abc.Callable[[int], None],
    ) -> list[Translation]:
        """The translations of sentences, searched in batches of like length; ``searched`` takes how many there are."""
        model = Without.special_tokens(self._stepper(), self._target.symbols)
        stepper = Watched(model, watch.check)
        full = [place for place, row in enumerate(rows) if row.ids]
        ends = self._ends if options.attention else None
        found = [_copied(row.apart.before, ends) for row in rows]
        done = len(rows) - len(full)
        assert options.beam is not None and options.length_penalty is not None
        given = [Given(rows[place].apart.text, rows[place].ids) for place in full]
        for batch in self._batches(given, beam=options.beam):
            own = [rows[full[number]] for number in batch.example_ids_B.tolist()]
            most = [longest(len(row.ids)) for row in own]
            if options.candidates is not None:
                texts = [row.apart.text for row in own]
                batch = replace(
                    batch, constraints=Constraints(candidates=options.candidates.of(texts, self._source, self._target))
                )
            pointing = protection.pointing(stepper, batch, own, most)
            hypotheses = beam_search(
                pointing or stepper,
                batch,
                size=options.beam,
                n=max(0, options.alternatives) + 1,
                max_length=most,
                ranking=Ranking(options.length_penalty),
                steering=[pointing.steering] if pointing else [],
                attention=options.attention or unknown is not None or any(row.apart.tags for row in own),
            )
            for number, of_one in zip(batch.example_ids_B.tolist(), hypotheses, strict=True):
                place = full[number]
                found[place] = self._answer(rows[place], of_one, options, unknown, protection)
            done += len(hypotheses)
            searched(done)
        return found

    def _together(
        self, passage: Passage, parts: list[Translation], most: int, splitter: Splitter | None
    ) -> Translation:
        """One translation of the sentences of a passage, its alternatives with another translation of one of them."""
        if not parts:
            return Translation(passage.gaps[0], 0.0, True)
        if splitter is None:
            return parts[0]
        gaps = splitter.gaps(passage)

        def put(chosen: list[Translation]) -> Translation:
            text = passage.with_sentences([part.text for part in chosen], gaps)
            if len(chosen) == 1:
                return replace(chosen[0], text=text, alternatives=())
            return Translation.joined(text, chosen, list(zip(passage.gaps[1:-1], gaps[1:-1], strict=True)))

        others = [
            put([*parts[:place], other, *parts[place + 1 :]])
            for place, part in enumerate(parts)
            for other in part.alternatives
        ]
        others.sort(key=lambda other: -other.score)
        return replace(put(parts), alternatives=tuple(others[: max(0, most)]))

    def _over(self, stepper: abc.Callable[[], Stepper]) -> "TranslationPredictor":
        """All else of this translator over another Stepper."""
        other = copy(self)
        other._stepper = stepper
        return other

    @property
    def _ends(self) -> tuple[str, str]:
        """What ends the pieces of the source and of the translation."""
        source, target = self._source, self._target
        return source.pieces([source.symbols.eos])[0], target.pieces([target.symbols.eos])[0]

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
        by_text: dict[str, tuple[Found, Hypothesis]] = {}
        for hypothesis in hypotheses:
            if len(by_text) > max(0, options.alternatives):
                break
            words, bare = list[str](), hypothesis
            if unknown:
                words, bare = unknown.words(row.apart.text, row.ids, protection.hidden(row, hypothesis))
                bare = hypothesis if bare.ids == hypothesis.ids else bare
            found = protection.restored(row, bare, words, options.attention)
            by_text.setdefault(found.text, (found, bare))
        source = protection.source_tokens(row) if options.attention else []
        best, *others = (_translation(found, bare, source, self._ends) for found, bare in by_text.values())
        return replace(best, alternatives=tuple(others)) if others else best


def _copied(text: str, ends: tuple[str, str] | None) -> Translation:
    """A sentence that is its own translation; with what ends the pieces of both sides, each word looks at itself."""
    if ends is None or is_blank(text):
        return Translation(text, 0.0, True)
    pieces = [token.piece for token in tokens_kept(text)]
    weights = np.eye(len(pieces) + 1, dtype=np.float32)
    return Translation(text, 0.0, True, (*pieces, ends[0]), (*pieces, ends[1]), weights)


def _translation(
    found: Found, hypothesis: Hypothesis, source: abc.Sequence[Token], ends: tuple[str, str]
) -> Translation:
    """A hypothesis as a translation; without the tokens of the source, it has neither weights nor pieces."""
    unknown = hypothesis.ids.count(UNK)
    if not source:
        return Translation(found.text, hypothesis.score, hypothesis.finished, unknown=unknown)
    weights = hypothesis.weights
    if weights is not None:
        # what no step wrote looked nowhere, and nothing looked at it
        rows = [token.step for token in found.tokens] + [len(hypothesis.ids)] * hypothesis.finished
        padded = torch.nn.functional.pad(weights, (0, 1, 0, 1))
        weights = padded[rows][:, [*(token.step for token in source), weights.shape[1] - 1]]
    return Translation(
        text=found.text,
        score=hypothesis.score,
        finished=hypothesis.finished,
        source_pieces=(*(token.piece for token in source), ends[0]),
        target_pieces=(*(token.piece for token in found.tokens), *ends[1:] * hypothesis.finished),
        weights=None if weights is None else weights.numpy(),
        unknown=unknown,
    )


def _check_alike(members: abc.Sequence[TranslationPredictor]) -> None:
    """Raise ConfigError where translators do not go together."""
    first = members[0]
    for number, other in enumerate(members[1:], 2):
        if other._languages != first._languages:
            between, others = (" to ".join(member._languages) for member in (first, other))
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
