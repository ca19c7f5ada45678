"""Texts translated, and given translations scored."""

from collections import abc
from copy import copy
from functools import cached_property
from typing import Unpack

from anaphora.batch import Ids
from anaphora.errors import AnaphoraError, ConfigError
from anaphora.events import Report, silent
from anaphora.kernels.runtime import Runtime, running
from anaphora.options import with_known_names
from anaphora.prediction.candidates import Shortlist
from anaphora.prediction.limits import UNLIMITED, Limits
from anaphora.prediction.options import SearchKeywords, SearchOptions
from anaphora.prediction.running import ON_CPU
from anaphora.prediction.stream import answers
from anaphora.protocols import Stepper
from anaphora.search.ensemble import Ensemble, Fused, Mean
from anaphora.tasks.language_model import LanguageModelPredictor
from anaphora.tasks.translation.affixes import Framed, with_affixes
from anaphora.tasks.translation.confidence import Confidence, uncalibrated
from anaphora.tasks.translation.config import SearchConfig
from anaphora.tasks.translation.inspected import InspectedTranslator
from anaphora.tasks.translation.pipeline import TranslationModel, TranslationPipeline
from anaphora.tasks.translation.protection import best_copied
from anaphora.tasks.translation.shortlist import Rows, no_shortlist
from anaphora.tasks.translation.translation import Translation
from anaphora.tasks.translation.unknown import demand_unknown
from anaphora.text.masking import Placeholder
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
        calibrated: abc.Callable[[SearchOptions, Runtime], Confidence] = uncalibrated,
        shortlist: abc.Callable[[Rows, Shortlist, Rows], Ids] = no_shortlist,
    ) -> None:
        """Every call calls ``stepper`` again, so that a network may go on being trained in between.

        Only the words that stand for placeholders are chosen once, for the first one. Searches are as ``evaluation``
        says, the table of the run, unless a call asks otherwise. Running text is split into sentences by ``splitter``,
        or not at all. ``languages`` are those of source and target, where known. The network lies on the device
        of ``runtime``. Settled options and the runtime have the confidence that ``calibrated`` gives, or its
        ConfigError, and sentences the candidates that ``shortlist`` gives.
        """
        super().__init__(stepper, source, target, runtime)
        self.calibrated, self._shortlist = calibrated, shortlist
        self._splitter, self._languages, self.evaluation = splitter, languages, evaluation

    @property
    def runtime(self) -> Runtime:
        """Return the runtime of its network."""
        return self._runtime

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

    def knows(self, source: str, target: str) -> bool:
        """True if the vocabularies have all of a pair; ConfigError where no word is unknown, or all are annotated."""
        demand_unknown(self._source, self._target)
        return UNK not in self._source.encode(source) and UNK not in self._target.encode(target)

    @with_known_names
    def translate(
        self,
        texts: abc.Sequence[str],
        options: SearchOptions = _USUAL,
        *,
        prefixes: abc.Sequence[str] | None = None,
        suffixes: abc.Sequence[str] | None = None,
        limits: Limits = UNLIMITED,
        report: Report = silent,
        **asked: Unpack[SearchKeywords],
    ) -> list[Translation]:
        """The translation of every text as one sentence, in their order.

        A text of which nothing can be seen (white space, zero-width characters) is its own translation. ``prefixes``
        and ``suffixes`` are what the translations begin and end with, one a text, empty for none.
        ``asked`` are fields of ``SearchOptions``, as in ``translate(texts, beam=8)``. Raises as ``stream``.
        """
        lines = with_affixes(texts, prefixes, suffixes)
        asked_for = options._replace(suffixes=suffixes is not None, **asked)
        return list(self.stream(lines, asked_for, split=False, limits=limits, report=report))

    @with_known_names
    def translate_text(
        self,
        texts: abc.Sequence[str],
        options: SearchOptions = _USUAL,
        *,
        prefixes: abc.Sequence[str] | None = None,
        suffixes: abc.Sequence[str] | None = None,
        limits: Limits = UNLIMITED,
        report: Report = silent,
        **asked: Unpack[SearchKeywords],
    ) -> list[Translation]:
        """The translation of running text: ``translate`` of every sentence, with the white space around them as it was.

        The alternatives of a text are the best of all that the hypotheses of its sentences make. Where the run takes
        lines whole (text.sentences), a text is one sentence. A prefix is that of its first sentence,
        and a suffix that of its last one.
        """
        lines = with_affixes(texts, prefixes, suffixes)
        asked_for = options._replace(suffixes=suffixes is not None, **asked)
        return list(self.stream(lines, asked_for, limits=limits, report=report))

    @with_known_names
    def stream(
        self,
        lines: abc.Iterable[str | Framed],
        options: SearchOptions = _USUAL,
        *,
        split: bool = True,
        limits: Limits = UNLIMITED,
        report: Report = silent,
        refused: abc.Callable[[int, AnaphoraError], None] | None = None,
        first: int = 1,
    ) -> abc.Iterator[Translation]:
        """The translations of lines as they come, in order; without ``split``, every line is one sentence.

        A line that is ``Framed`` has a translation with its prefix and suffix; DataError as below where it cannot.
        Messages number lines from ``first``.

        No more than a window of lines is held (see ``prediction.stream``). Raises ConfigError for a beam that
        ``search.search`` refuses, and where nothing can be replaced or chosen among: tokens are not words, there is no
        attention, or the output is no softmax over words. Raises StoppedError as ``limits`` say, and DataError for a
        line too long to be a sentence, with its number, after the translations of the lines before it. With
        ``refused``, that is called with the number and the error instead, and the translation of the line is empty.
        """
        resolved = options.resolved(self.evaluation.beam, self.evaluation.length_penalty)
        confidence = self.calibrated(resolved, self._runtime) if resolved.confidence else None
        model = TranslationModel(
            self._stepper,
            self._source,
            self._target,
            self._batches,
            lambda: self.attends,
            self._shortlist,
            lambda: self._stand_ins,
        )
        pipeline = TranslationPipeline(model, resolved, self._splitter if split else None, confidence)

        def empty(number: int, error: AnaphoraError) -> Translation:
            assert refused is not None
            refused(number, error)
            return Translation("", 0.0, False)

        return answers(
            lines,
            pipeline.read,
            pipeline.answer,
            task="translate",
            unit="lines",
            runtime=self._runtime,
            limits=limits,
            report=report,
            refused=empty if refused else None,
            first=first,
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

    @cached_property
    def _stand_ins(self) -> abc.Sequence[Placeholder]:
        with running(self._runtime):
            return best_copied(self._stepper(), self._source, self._target, self._batches)

    def _over(self, stepper: abc.Callable[[], Stepper]) -> "TranslationPredictor":
        """All else of this translator over another Stepper."""
        other = copy(self)
        other._stepper, other.calibrated = stepper, uncalibrated
        vars(other).pop("_stand_ins", None)
        return other


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
