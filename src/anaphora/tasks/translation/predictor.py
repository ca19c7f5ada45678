"""Texts translated, and given translations scored."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from anaphora.errors import AnaphoraError, ConfigError
from anaphora.events import Report, silent
from anaphora.kernels.runtime import running
from anaphora.languages import choose_direction
from anaphora.options import with_known_names
from anaphora.prediction.arguments import EncodedSentence, pieces_of, sentence_of
from anaphora.prediction.examples import Example, Search
from anaphora.prediction.limits import UNLIMITED, Limits, Streaming
from anaphora.prediction.options import SearchKeywords, SearchOptions
from anaphora.prediction.stream import answers
from anaphora.protocols import Stepper
from anaphora.run.calibrations import Calibration
from anaphora.search.ensemble import Ensemble, FusedStepper, Mean
from anaphora.search.ranking import LengthModel
from anaphora.search.request import SearchRequest
from anaphora.search.search import search
from anaphora.tasks.translation.confidence import RunCalibrations
from anaphora.tasks.translation.constraints import Framed, max_length, with_affixes
from anaphora.tasks.translation.forced_decoding import ForcedDecoder
from anaphora.tasks.translation.pipeline import TranslationPipeline
from anaphora.tasks.translation.shortlist import RunShortlist
from anaphora.tasks.translation.translation import Translation
from anaphora.tasks.translation.unmasking import demand_unknown
from anaphora.text.sentences import Passage, Splitter
from anaphora.text.tokenizer import BOS, EOS, MARKS, UNK, language_tag
from anaphora.text.words import spellings

if TYPE_CHECKING:
    from anaphora.tasks.language_model.predictor import LanguageModelPredictor
    from anaphora.tasks.runs import LoadKeywords

_USUAL = SearchOptions()


class TranslateKeywords(SearchKeywords, Streaming, total=False):
    """Keyword arguments of ``translate``."""

    prefixes: Sequence[str] | None
    suffixes: Sequence[str] | None
    to: str
    source: str


@dataclass(eq=False, repr=False, kw_only=True)
class TranslationPredictor(ForcedDecoder):
    """Translates texts, and scores translations that are given.

    >>> translator = anaphora.load("runs/en-fr", kind=anaphora.TranslationPredictor)
    >>> translator.translate(["The cat sees a very small bird"])[0].text
    'Le chat voit un tout petit oiseau'
    """

    noun: ClassVar = "a translator"

    beam: int = 5
    """Hypotheses kept at each step, unless a call asks for others."""
    length_penalty: float = 0.0
    """Strength of the reward for length, likewise."""
    length_models: Sequence[LengthModel] = ()
    """Length models of its directions; none without."""
    splitter: Splitter | None = None
    """Running text is split into sentences by it; None for not at all."""
    languages: tuple[str, str] = ("", "")
    """Codes of source and target, each empty where it is not known."""
    calibrations: RunCalibrations | None = None
    """Calibrations of the run."""

    @staticmethod
    def ensemble(members: Sequence["TranslationPredictor"], mean: Mean = "arithmetic") -> "TranslationPredictor":
        """Translators that are searched as one, with the searches and the sentences of the first.

        What each expects next is averaged (see ``search.ensemble``), and so is where they look. Raises ConfigError
        where their languages or their vocabularies are not the same.

        >>> together = anaphora.TranslationPredictor.ensemble([translator, anaphora.load("runs/en-fr")])
        >>> together.translate(["The cat sees a very small bird"])[0].text
        'Le chat voit un tout petit oiseau'
        """
        _check_alike(members)
        return members[0]._with_stepper(lambda: Ensemble([member.stepper() for member in members], mean))

    def fuse_with(self, model: "LanguageModelPredictor", weight: float) -> "TranslationPredictor":
        """This translator, whose every symbol scores ln p + ``weight`` ln p by a language model of its target side.

        (Gulcehre et al. 2015, shallow fusion.) Raises ConfigError where the vocabularies are not the same, and for a
        weight that is not above 0.

        >>> fused = translator.fuse_with(anaphora.load("runs/french"), weight=0.01)
        >>> fused.translate(["The cat sees a very small bird"])[0].text
        'Le chat voit un tout petit oiseau'
        """

        def stepper() -> FusedStepper:
            return FusedStepper(self.stepper(), model.stepper_over(self.target), weight)

        stepper()  # what does not go together is found here
        return self._with_stepper(stepper)

    def with_languages(self, target: str = "", source: str = "") -> "TranslationPredictor":
        """Return the translator into ``target``; ``source`` decides how running text is split, where there are several.

        Raises ConfigError for languages that it does not translate, and where it has several targets and none is named.

        >>> translator.with_languages("fr").languages
        ('en', 'fr')
        """
        languages = choose_direction(self.directions or (self.languages,), target, source)
        if not self.directions:
            return self
        tags = self.source.tag_ids([language_tag(languages[1])])
        splitter = self.splitter and Splitter(*languages)
        models = [one for one, own in zip(self.length_models, self.directions, strict=False) if own == languages]
        return replace(self, languages=languages, directions=(), splitter=splitter, tags=tags, length_models=models)

    def knows(self, source: str, target: str) -> bool:
        """True if the vocabularies have all of a pair; ConfigError where no word is unknown, or all are annotated.

        >>> translator.knows("cat", "chat"), translator.knows("zebra", "chat")
        (True, False)
        """
        demand_unknown(self)
        return UNK not in self.source.encode(source) and UNK not in self.target.encode(target)

    @with_known_names
    def translate(
        self,
        texts: Sequence[str],
        options: SearchOptions = _USUAL,
        *,
        prefixes: Sequence[str] | None = None,
        suffixes: Sequence[str] | None = None,
        to: str = "",
        source: str = "",
        split: bool = False,
        limits: Limits = UNLIMITED,
        report: Report = silent,
        **asked: Unpack[SearchKeywords],
    ) -> list[Translation]:
        """Return the translation of every text in their order, each as one sentence unless they are ``split``.

        A text of which nothing can be seen (white space, zero-width characters) is its own translation. ``prefixes``
        and ``suffixes`` are what the translations begin and end with, one a text, empty for none. ``to`` and ``source``
        are the languages, for a translator of several, as for ``with_languages``.
        ``asked`` are fields of ``SearchOptions``, as in ``translate(texts, beam=8)``. Raises as ``stream``.

        >>> [found] = translator.translate(["The cat sees a very small bird"], beam=5)
        >>> found.text
        'Le chat voit un tout petit oiseau'
        """
        lines = with_affixes(texts, prefixes, suffixes)
        options = options._replace(suffixes=suffixes is not None, **asked)
        translator = self.with_languages(to, source) if to or source else self
        return list(translator.stream(lines, options, split=split, limits=limits, report=report))

    @with_known_names
    def translate_text(
        self, texts: Sequence[str], options: SearchOptions = _USUAL, **asked: Unpack[TranslateKeywords]
    ) -> list[Translation]:
        """The translation of running text: ``translate`` of every sentence, with the white space around them as it was.

        The alternatives of a text are the best of all that the hypotheses of its sentences make. Where the run takes
        lines whole (text.sentences), a text is one sentence. A prefix is that of its first sentence, a suffix that of
        its last one.

        >>> translator.translate_text(["The cat sees a very small bird"])[0].text
        'Le chat voit un tout petit oiseau'
        """
        return self.translate(texts, options, split=True, **asked)

    @with_known_names
    def calibration(self, options: SearchOptions) -> Calibration:
        """Return what confidence is computed from in a search; ConfigError where it was not calibrated."""
        if self.calibrations is None:
            raise ConfigError(
                "Confidence is calibrated for one run by itself, not for an ensemble or with a language model: "
                "translate with one run, or leave it out."
            )
        resolved = options.resolve(self.beam, self.length_penalty, self.length_models)
        return self.calibrations.calibration(resolved, self.runtime)

    def stream(
        self,
        lines: Iterable[str | Framed],
        options: SearchOptions = _USUAL,
        *,
        split: bool = True,
        refused: Callable[[int, AnaphoraError], None] | None = None,
        first: int = 1,
        **streaming: Unpack[Streaming],
    ) -> Iterator[Translation]:
        """Return the translations of lines as they come, in order; without ``split``, every line is one sentence.

        A line that is ``Framed`` has a translation with its prefix and suffix; DataError as below where it cannot.
        Messages number lines from ``first``.

        No more than a window of lines is held (see ``prediction.stream``). Raises ConfigError for a beam that
        ``search.search`` refuses, and where nothing can be replaced or chosen among: tokens are not words, there is no
        attention, or the output is no softmax over words. Raises StoppedError as ``limits`` say, and DataError for a
        line too long to be a sentence, with its number, after the translations of the lines before it. With
        ``refused``, that is called with the number and the error instead, and the translation of the line is empty.

        >>> for found in translator.stream(["The cat sees a very small bird", "The dog sees a very small rat"]):
        ...     print(found.text)
        Le chat voit un tout petit oiseau
        Le cheval voit un tout petit rat
        """
        resolved = options.resolve(self.beam, self.length_penalty, self.length_models)
        calibration = self.calibration(options) if options.confidence else None
        pipeline = TranslationPipeline(self, resolved, self.splitter if split else None, calibration)

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
            runtime=self.runtime,
            refused=empty if refused else None,
            first=first,
            **streaming,
        )

    def align_translation(self, line: str, translation: Translation) -> Translation:
        """Return a translation of a line with the attention of this translator, by forced decoding; ``links`` align it.

        It is decoded sentence by sentence where it was translated so. Errors are those of ``score_pairs``.

        >>> [found] = translator.translate(["The cat sees a very small bird"])
        >>> sorted(translator.align_translation("The cat sees a very small bird", found).links())[:2]
        [(0, 0), (1, 1)]
        """
        targets = [part.text for part in translation.sentences]
        passage = self.splitter.split(line) if self.splitter and targets else Passage.whole(line)
        if len(passage.sentences) != len(targets):
            passage, targets = Passage.whole(line), [translation.text]
        parts = self.score_pairs(passage.sentences, targets, attention=True)
        if self.splitter is None or len(parts) == 1:
            return parts[0]
        gaps = self.splitter.gaps(passage)
        return Translation.join(translation.text, parts, list(zip(passage.gaps[1:-1], gaps[1:-1], strict=True)))

    def example(self, text: str, target: str | None = None) -> Example:
        """Return a sentence with its given translation, or with the greedy one."""
        source = EncodedSentence(text, sentence_of(self.source, text, 1))
        if target is None:
            searched = self.search_for(text)
            with running(self.runtime):
                [[best]] = search(searched.stepper, searched.batch, replace(searched.request, beam=1))
            ids = list(best.ids)
            pieces = self.target.pieces(ids)
        else:
            ids = sentence_of(self.target, target, 1)
            pieces = pieces_of(self.target, target, ids)
        [batch] = self.batches([source], [ids])
        read = (MARKS[BOS], *pieces)
        tags = [spellings(self.source)[tag] for tag in self.tags]
        of_source = (*tags, *pieces_of(self.source, *source), MARKS[EOS])
        length = int(batch.input_ids.lengths_B[0])
        sides = {"encoder": of_source[:length], "features": of_source[length:], "decoder": read, "language_model": read}
        return Example(batch, sides, (*pieces, MARKS[EOS]))

    def search_for(self, text: str) -> Search:
        """Return the search for the translation of a sentence."""
        ids = sentence_of(self.source, text, 1)
        [batch] = self.batches([EncodedSentence(text, ids)])
        request = SearchRequest(max_length=max_length(len(ids)), banned_tokens=self.target.unwritten)
        return Search(self.stepper(), batch, 0, request, self.target.pieces)

    def search(self, texts: Sequence[str], beam: int) -> Iterator[tuple[str, float]]:
        """Return the translations of sentences by a beam of this size, unnormalised."""
        rows = [EncodedSentence(text, sentence_of(self.source, text, number)) for number, text in enumerate(texts, 1)]
        stepper, banned = self.stepper(), self.target.unwritten
        found: dict[int, tuple[str, float]] = {}
        for batch in self.batches(rows, beam=beam):
            numbers = batch.example_ids_B.tolist()
            most = [max_length(len(rows[number].ids)) for number in numbers]
            request = SearchRequest(max_length=most, beam=beam, banned_tokens=banned, attention=False)
            with running(self.runtime):
                hypotheses = search(stepper, batch, request)
            for number, [best, *_] in zip(numbers, hypotheses, strict=True):
                found[number] = self.target.decode(best.ids), best.score
        return (found[number] for number in range(len(texts)))

    def _with_stepper(self, stepper: Callable[[], Stepper]) -> "TranslationPredictor":
        """Return a copy with another stepper, for which nothing is calibrated."""
        return replace(self, stepper=stepper, calibrations=None)


def make_predictor(trained: Any) -> TranslationPredictor:
    """Return the predictor of a ``TrainedModel``."""
    experiment = trained.experiment
    languages = experiment.data.source, experiment.data.target
    lengths = (getattr(experiment.evaluation, name, ()) for name in ("length_ratios", "length_variances"))
    source, target = trained.tokenizers["source"], trained.tokenizers["target"]
    predictor = TranslationPredictor(
        trained.model.stepper,
        source,
        target,
        runtime=trained.runtime,
        shortlist=RunShortlist(trained.path, source, target),
        beam=experiment.evaluation.beam,
        length_penalty=experiment.evaluation.length_penalty,
        length_models=[LengthModel(*one) for one in zip(*lengths, strict=True)],
        protect=tuple(getattr(experiment.evaluation, "protect", ())),  # which earlier runs did not have
        splitter=None if experiment.text.sentences == "whole" else Splitter(*languages),
        languages=languages,
        calibrations=RunCalibrations(trained.path, trained.weights),
        directions=getattr(experiment.data, "directions", ()),
    )
    return predictor if "," in languages[1] else predictor.with_languages()


def load_together(
    runs: Sequence[Path],
    mean: Mean = "arithmetic",
    fusion: tuple[Path, float] | None = None,
    **options: "Unpack[LoadKeywords]",
) -> TranslationPredictor:
    """Translators as one, beside the language model of ``fusion`` with its weight, where there is one.

    Raises RunError for another kind of model, ConfigError where models do not go together, and as ``load``.
    """
    from anaphora.tasks.language_model.predictor import LanguageModelPredictor
    from anaphora.tasks.runs import load

    translators = [load(run, kind=TranslationPredictor, **options) for run in runs]
    together = translators[0] if len(translators) == 1 else TranslationPredictor.ensemble(translators, mean)
    if fusion is None:
        return together
    run, weight = fusion
    return together.fuse_with(load(run, kind=LanguageModelPredictor, **options), weight)


def _check_alike(members: Sequence[TranslationPredictor]) -> None:
    """Raise ConfigError where translators do not go together."""
    first = members[0]
    for number, other in enumerate(members[1:], 2):
        if other.languages != first.languages:
            between, others = (" to ".join(member.languages) for member in (first, other))
            raise ConfigError(
                f"An ensemble needs translators of the same languages, but number {number} translates {others} and "
                f"number 1 {between}: leave one out."
            )
        for side, one, its in (("source", first.source, other.source), ("target", first.target, other.target)):
            if (one.fingerprint, one.tags) != (its.fingerprint, its.tags):
                raise ConfigError(
                    f"An ensemble needs translators of the same vocabularies, but number {number} has another "
                    f"{side} vocabulary ({its.symbols.size:,} tokens) than number 1 ({one.symbols.size:,}): train "
                    f"them on the same data with the same [text]."
                )
