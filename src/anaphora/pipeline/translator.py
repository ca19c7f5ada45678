"""Texts translated, and given translations scored."""

from collections import abc
from copy import copy
from dataclasses import replace
from typing import NamedTuple

from anaphora.batch import Constraints
from anaphora.data.pairs import LazyBatches, search_batches
from anaphora.data.ragged import Ragged
from anaphora.errors import ConfigError
from anaphora.evaluation.config import TranslationEvaluation
from anaphora.events import Progress, Report, silent
from anaphora.formats.pharaoh import Links
from anaphora.pipeline.arguments import demand_pairs, demand_texts, pieces_of, sentences_of
from anaphora.pipeline.candidates import Candidates
from anaphora.pipeline.language_model import LanguageModel
from anaphora.pipeline.translation import Translation
from anaphora.pipeline.unknown import Filler, demand_unknown, filler
from anaphora.protocols import Stepper
from anaphora.search.beam import beam as beam_search
from anaphora.search.ensemble import Ensemble, Mean
from anaphora.search.fusion import Fused
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.scoring import score
from anaphora.search.without import Without
from anaphora.text.coder import UNK, TextCoder
from anaphora.text.rare import AnnotatedCoder
from anaphora.text.sentences import Passage, Splitter

_BATCH_TOKENS = 2048
"""Source tokens that are searched side by side, in a beam of at most ``_BEAM``; the wider it is, the fewer."""

_BEAM = 32

_EVALUATION = TranslationEvaluation()


class Translator:
    """Translates texts, and scores translations that are given."""

    def __init__(
        self,
        stepper: abc.Callable[[], Stepper],
        source: TextCoder,
        target: TextCoder,
        evaluation: TranslationEvaluation = _EVALUATION,
        splitter: Splitter | None = None,
        languages: tuple[str, str] = ("", ""),
    ) -> None:
        """Every call calls ``stepper`` again, so that a network may go on being trained in between.

        Searches are as ``evaluation`` says, the table of the run, unless a call asks otherwise. Running text is split
        into sentences by ``splitter``, or not at all. It translates between the two ``languages``, where they are told.
        """
        self._splitter = splitter
        self._languages = languages
        self._stepper = stepper
        self._source = source
        self._target = target
        self.evaluation = evaluation

    @staticmethod
    def ensemble(members: abc.Sequence["Translator"], mean: Mean = "arithmetic") -> "Translator":
        """Translators that are searched as one, with the evaluation and the sentences of the first.

        What each expects next is averaged (see ``search.ensemble``), and so is where they look. Raises ConfigError
        where their languages or their vocabularies are not the same.
        """
        _check_alike(members)
        return members[0]._over(lambda: Ensemble([member._stepper() for member in members], mean))

    def fused(self, model: LanguageModel, weight: float) -> "Translator":
        """This translator, whose every symbol scores ln p + ``weight`` ln p by a language model of its target side.

        (Gulcehre et al. 2015, shallow fusion.) Raises ConfigError where the vocabularies are not the same, and for a
        weight that is not above 0.
        """

        def stepper() -> Fused:
            return Fused(self._stepper(), model.stepper_over(self._target), weight)

        stepper()  # what does not go together is found here
        return self._over(stepper)

    @property
    def attends(self) -> bool:
        """Whether it looks at the source as it writes, which one step shows; of several, whether all of them do."""
        [batch] = self._batches([_Given("", [UNK])], [[]])
        return score(self._stepper(), batch)[0].weights is not None

    def without_unknown(self) -> "Translator":
        """This translator, which writes no ``<unk>``; ConfigError where it spells words, or annotates unknown ones."""
        demand_unknown(self._source, self._target)
        return self._over(lambda: Without(self._stepper(), (UNK,)))

    def knows(self, source: str, target: str) -> bool:
        """Whether the vocabularies have all of a pair."""
        return UNK not in self._source.encode(source) and UNK not in self._target.encode(target)

    def translate(
        self,
        texts: abc.Sequence[str],
        *,
        beam: int | None = None,
        length_penalty: float | None = None,
        alternatives: int = 0,
        replace_unknown: abc.Mapping[str, str] | None = None,
        candidates: Candidates | None = None,
        report: Report = silent,
    ) -> list[Translation]:
        """The translation of every text, in their order; an empty text has an empty one.

        ``beam`` and ``length_penalty`` are the run's own where they are None. With ``alternatives``, as many others as
        the beam finished besides, up to that number. With ``replace_unknown``, a dictionary that may be empty, every
        ``<unk>`` becomes the source word that was looked at most, or its translation. With ``candidates``, each
        translation is written with these words alone. Raises DataError, before anything is translated, for a text too
        long to be a sentence, ConfigError for a beam that ``search.beam`` refuses, and where nothing can be replaced or
        chosen among: units are not words, there is no attention, or the output is no softmax over words.
        """
        size = self.evaluation.beam if beam is None else beam
        penalty = self.evaluation.length_penalty if length_penalty is None else length_penalty
        stepper = Without.special_tokens(self._stepper(), self._target.symbols)
        unknown = filler(self._source, self._target, replace_unknown, lambda: self.attends)
        rows = self._encode(texts)
        full = [place for place, row in enumerate(rows) if row.ids]
        answers = [Translation("", 0.0, True, (), (), None)] * len(rows)
        done = len(rows) - len(full)
        for batch in self._batches([rows[place] for place in full], beam=size):
            if candidates is not None:
                texts_of_batch = [rows[full[number]].text for number in batch.example_ids_B.tolist()]
                words = candidates.of(texts_of_batch, self._source, self._target)
                batch = replace(batch, constraints=Constraints(candidates=words))
            found = beam_search(
                stepper,
                batch,
                size=size,
                max_length=[longest(length - 1) for length in batch.input_ids.lengths_B.tolist()],
                length_penalty=penalty,
            )
            for number, hypotheses in zip(batch.example_ids_B.tolist(), found, strict=True):
                place = full[number]
                answers[place] = self._answer(rows[place], hypotheses, alternatives, unknown)
            done += len(found)
            report(Progress("translate", done, len(rows), "sentences"))
        return answers

    def translate_text(
        self,
        texts: abc.Sequence[str],
        *,
        beam: int | None = None,
        length_penalty: float | None = None,
        alternatives: int = 0,
        replace_unknown: abc.Mapping[str, str] | None = None,
        candidates: Candidates | None = None,
        report: Report = silent,
    ) -> list[Translation]:
        """The translation of running text: ``translate`` of every sentence, with the white space around them as it was.

        The alternatives of a text are those with another translation of one sentence, the best first. Where the run
        takes lines whole (text.sentences), a text is one sentence.
        """
        demand_texts(texts)
        split = self._splitter.split if self._splitter else Passage.whole
        passages = [split(text) for text in texts]
        every = [sentence for passage in passages for sentence in passage.sentences]
        found = iter(
            self.translate(
                every,
                beam=beam,
                length_penalty=length_penalty,
                alternatives=alternatives,
                replace_unknown=replace_unknown,
                candidates=candidates,
                report=report,
            )
        )
        return [self._together(passage, [next(found) for _ in passage.sentences], alternatives) for passage in passages]

    def _together(self, passage: Passage, parts: list[Translation], most: int) -> Translation:
        """One translation of the sentences of a passage, its alternatives with another translation of one of them."""
        gaps = self._splitter.gaps(passage) if self._splitter else passage.gaps

        def put(chosen: list[Translation]) -> Translation:
            text = passage.with_sentences([part.text for part in chosen], gaps)
            if len(chosen) == 1:
                return replace(chosen[0], text=text, alternatives=())
            return Translation.joined(text, chosen, list(zip(passage.gaps[1:-1], gaps[1:-1], strict=True)))

        if not parts:
            return Translation(gaps[0], 0.0, True, (), (), None)
        others = [
            put([*parts[:place], other, *parts[place + 1 :]])
            for place, part in enumerate(parts)
            for other in part.alternatives
        ]
        others.sort(key=lambda other: -other.score)
        return replace(put(parts), alternatives=tuple(others[: max(0, most)]))

    def score_pairs(
        self, sources: abc.Sequence[str], targets: abc.Sequence[str], *, report: Report = silent
    ) -> list[Translation]:
        """The given translations with the scores and the attention that the model gives them, in their order.

        Raises DataError for unequal counts or a side too long, ConfigError for a translator that annotates.
        """
        demand_pairs(sources, targets)
        if isinstance(self._target, AnnotatedCoder):
            raise ConfigError(
                f"Translations that are given have no annotations, but this translator expects them (text.rare = "
                f"'{self._target.rare}'): score them by one without."
            )
        stepper = self._stepper()
        rows = self._encode(sources)
        answers: dict[int, Translation] = {}
        for batch in self._batches(rows, sentences_of(self._target, targets)):
            found = score(stepper, batch)
            for number, hypothesis in zip(batch.example_ids_B.tolist(), found, strict=True):
                pieces = pieces_of(self._target, targets[number], hypothesis.ids)
                answers[number] = self._translation(targets[number], rows[number], hypothesis, pieces)
            report(Progress("score", len(answers), len(rows), "pairs"))
        return [answers[number] for number in range(len(rows))]

    def align(self, sources: abc.Sequence[str], targets: abc.Sequence[str], *, report: Report = silent) -> list[Links]:
        """The links between the space-separated words of every pair: where the model looks most as it reads the target.

        Raises DataError for unequal counts, and for a side that is too long to be a sentence.
        """
        return [pair.links() for pair in self.score_pairs(sources, targets, report=report)]

    def _over(self, stepper: abc.Callable[[], Stepper]) -> "Translator":
        """All else of this translator over another Stepper."""
        other = copy(self)
        other._stepper = stepper
        return other

    def _encode(self, texts: abc.Sequence[str]) -> list["_Given"]:
        return [_Given(*row) for row in zip(texts, sentences_of(self._source, texts), strict=True)]

    def _batches(self, sources: list["_Given"], targets: list[list[int]] | None = None, beam: int = 1) -> LazyBatches:
        return search_batches(
            Ragged.of(row.ids for row in sources),
            self._source.symbols,
            batch_tokens=_BATCH_TOKENS * _BEAM // max(_BEAM, beam),
            targets=None if targets is None else Ragged.of(targets),
            target=self._target.symbols,
        )

    def _answer(
        self, row: "_Given", hypotheses: list[Hypothesis], alternatives: int, unknown: Filler | None
    ) -> Translation:
        by_text: dict[str, Hypothesis] = {}
        for hypothesis in hypotheses:
            text, bare = (
                unknown.filled(row.text, row.ids, hypothesis)
                if unknown
                else (self._target.decode(hypothesis.ids), hypothesis)
            )
            by_text.setdefault(text, bare)
        best, *others = (
            self._translation(text, row, hypothesis, self._target.pieces(hypothesis.ids))
            for text, hypothesis in by_text.items()
        )
        return replace(best, alternatives=tuple(others[: max(0, alternatives)]))

    def _translation(self, text: str, row: "_Given", hypothesis: Hypothesis, pieces: list[str]) -> Translation:
        end = self._target.pieces([self._target.symbols.eos]) if hypothesis.finished else []
        return Translation(
            text=text,
            score=hypothesis.score,
            finished=hypothesis.finished,
            source_pieces=(
                *pieces_of(self._source, row.text, row.ids),
                *self._source.pieces([self._source.symbols.eos]),
            ),
            target_pieces=(*pieces, *end),
            weights=None if hypothesis.weights is None else hypothesis.weights.numpy(),
        )


def _check_alike(members: abc.Sequence[Translator]) -> None:
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
                    f"{side} vocabulary ({its.symbols.size:,} units) than number 1 ({one.symbols.size:,}): train "
                    f"them on the same data with the same [text]."
                )


class _Given(NamedTuple):
    """A source, as it was given and as ids."""

    text: str
    ids: list[int]


def longest(units: int) -> int:
    """How many symbols a translation of ``units`` may take, ``</s>`` included: far more than it ever should."""
    return min(3 * units + 10, 2 * units + 200)
