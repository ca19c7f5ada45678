"""Forced decoding: translations that are given, scored and aligned by a translator; and what follows from that."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from anaphora.batch import Batch
from anaphora.data.example_batches import LazyBatches, Side, prediction_batches
from anaphora.data.fields.tokens import Tokens
from anaphora.data.ragged import Ragged
from anaphora.errors import ConfigError
from anaphora.events import Report, silent
from anaphora.formats.json_text import LN_10
from anaphora.formats.pharaoh import Links
from anaphora.formats.tsv import split_pairs
from anaphora.kernels.runtime import Runtime, running
from anaphora.languages import choose_direction
from anaphora.prediction.adaptation import Adaptation, SimilarPair
from anaphora.prediction.arguments import EncodedSentence, given_pairs, given_text, pieces_of, sentence_of
from anaphora.prediction.limits import Streaming, Watch
from anaphora.prediction.options import MAX_TOKENS
from anaphora.prediction.runtime import runtime_for
from anaphora.prediction.scores import LineScore
from anaphora.prediction.stream import answers, by_row
from anaphora.protocols import GivesStates, Stepper
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.mixing import MixedStepper, Neighbours
from anaphora.search.scoring import score
from anaphora.tasks.translation.shortlist import RunShortlist
from anaphora.tasks.translation.translation import NO_LINKS, Translation
from anaphora.text.masking import Placeholder
from anaphora.text.placeholders import RESERVED, Kind
from anaphora.text.rare_word_annotation import AnnotatedTokenizer
from anaphora.text.tokenizer import MARKS, SPACE, UNK, Tokenizer
from anaphora.text.words import WordTokenizer, spellings

_BATCH_TOKENS = 2048
"""Source tokens that are searched side by side, in a beam of at most ``_BEAM``; the wider it is, the fewer."""
_BEAM = 32
_FEW, _TIMES = 512, 4
"""A target vocabulary of at most so many tokens (letters, sounds) leaves room for several times as many."""

COUNT = 16
"""Stand-ins for placeholders that are kept: as many placeholders of a sentence have different ones."""
_TRIED = 256
"""Words that are tried."""
_LOOKED_AT = 5000
"""Words of a vocabulary that are looked at."""
_UNKNOWN = "Xqzvk"
"""A word that no vocabulary has."""

Pair = tuple[EncodedSentence, EncodedSentence]
"""A source and its given translation."""
States = dict[tuple[str, str], tuple[npt.NDArray[Any], npt.NDArray[np.int64]]]
"""States that the target tokens are predicted from, and the tokens, by a source and its translation."""


@dataclass(eq=False, repr=False)
class ForcedDecoder:
    """A translator's Stepper and the tokenizers of both sides, over translations that are given."""

    stepper: Callable[[], Stepper]
    """Every call calls it again, so that a network may be trained further in between."""
    source: Tokenizer
    target: Tokenizer
    _: KW_ONLY
    runtime: Runtime = field(default_factory=runtime_for)
    """The network lies on its device."""
    shortlist: RunShortlist | None = None
    """Shortlist of the run."""
    tags: tuple[int, ...] = ()
    """Tokens in front of every source."""
    directions: tuple[tuple[str, str], ...] = ()
    """Pairs of languages of which one is still to be chosen."""
    protect: tuple[Kind, ...] = ()
    """Kinds of text that translations keep beside the usual ones, unless a call asks for others."""

    @property
    def attends(self) -> bool:
        """True if it looks at the source as it writes, which one step shows; of several, whether all of them do."""
        [batch] = self.batches([EncodedSentence("", [UNK])], [[]])
        with running(self.runtime):
            return score(self.stepper(), batch)[0].weights is not None

    def score_pairs(
        self, sources: Sequence[str], targets: Sequence[str], *, attention: bool = False, **streaming: Unpack[Streaming]
    ) -> list[Translation]:
        """Return the given translations with the scores that the model gives them, in their order.

        Raises DataError for unequal counts, and as ``score_stream``.

        >>> [good, bad] = translator.score_pairs(2 * ["The cat sees a very small bird"], ["Le chat", "chat chat"])
        >>> good.score > bad.score
        True
        """
        pairs = given_pairs(sources, targets)
        return list(self.score_stream(pairs, attention=attention, **streaming))

    def score_stream(
        self, pairs: Iterable[tuple[str, str]], *, attention: bool = False, **streaming: Unpack[Streaming]
    ) -> Iterator[Translation]:
        """Given translations with their scores as they come, in order; with ``attention``, weights and pieces too.

        No more than a window of pairs is held (see ``prediction.stream``). Raises ConfigError for a translator that
        annotates, StoppedError as ``limits`` say, and DataError for a side too long to be a sentence, with its number,
        after the pairs before it.

        >>> pairs = [("The cat sees a very small bird", "Le chat voit un tout petit oiseau")]
        >>> [found.score > -10 for found in translator.score_stream(pairs)]
        [True]
        """
        if isinstance(self.target, AnnotatedTokenizer):
            raise ConfigError(
                f"Translations that are given have no annotations, but this translator expects them (text.rare = "
                f"'{self.target.rare}'): score them by one without."
            )
        return self._score(pairs, attention, **streaming)

    def score_lines_of(self, lines: Iterable[str], where: str, report: Report = silent) -> Iterator[LineScore]:
        """Return the scores of lines of a file, each a source, a tab and its translation."""
        scored = self.score_stream(split_pairs(lines, where), report=report)
        return (LineScore(one.score / LN_10, one.tokens, one.unknown) for one in scored)

    def align(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        symmetrise: str | None = None,
        **streaming: Unpack[Streaming],
    ) -> list[Links]:
        """Return the links between the space-separated words of every pair: where attention is greatest.

        Raises DataError for unequal counts, and as ``align_stream``.

        >>> [links] = translator.align(["The cat sees a very small bird"], ["Le chat voit un tout petit oiseau"])
        >>> sorted(links)[:2]
        [(0, 0), (1, 1)]
        """
        pairs = given_pairs(sources, targets)
        return list(self.align_stream(pairs, symmetrise=symmetrise, **streaming))

    def align_stream(
        self, pairs: Iterable[tuple[str, str]], *, symmetrise: str | None = None, **streaming: Unpack[Streaming]
    ) -> Iterator[Links]:
        """Return the links of pairs as they come, in order; see ``score_stream``, and its errors.

        Raises ConfigError without attention, and where two directions should be joined.

        >>> pairs = [("The cat sees a very small bird", "Le chat voit un tout petit oiseau")]
        >>> [len(links) for links in translator.align_stream(pairs)]
        [7]
        """
        if symmetrise:
            raise ConfigError("--symmetrise joins two directions, but a translator has one: leave it out.")
        if not self.attends:
            raise ConfigError(NO_LINKS)

        return (one.links() for one in self.score_stream(pairs, attention=True, **streaming))

    def _score(
        self, pairs: Iterable[tuple[str, str]], attention: bool, **streaming: Unpack[Streaming]
    ) -> Iterator[Translation]:
        """Yield given translations as ``score_stream``, whatever the target."""

        def read(pair: tuple[str, str], number: int) -> Pair:
            source, target = (given_text(text, number) for text in pair)
            ids = sentence_of(self.source, source, number), sentence_of(self.target, target, number)
            return EncodedSentence(source, ids[0]), EncodedSentence(target, ids[1])

        def answer(rows: Sequence[Pair], watch: Watch, answered: Callable[[int], None]) -> Iterable[Translation]:
            stepper = self.stepper()

            def scored(batch: Batch) -> Iterator[Translation]:
                hypotheses = score(stepper, batch, attention, check=watch.check)
                for number, scored in zip(batch.example_ids_B.tolist(), hypotheses, strict=True):
                    hypothesis = without_tags(scored, self.tags)
                    source, target = rows[number]
                    found = Translation.of(target.text, hypothesis)
                    if attention:
                        pieces = pieces_of(self.source, *source), pieces_of(self.target, *target)
                        found = found.with_attention(*pieces, hypothesis.weights)
                    yield found

            batches = self.batches([source for source, _ in rows], [target.ids for _, target in rows])
            return by_row(batches, scored, watch, answered).values()

        return answers(pairs, read, answer, task="score", unit="pairs", runtime=self.runtime, **streaming)

    def batches(
        self, sources: Sequence[EncodedSentence], targets: Sequence[list[int]] | None = None, beam: int = 1
    ) -> LazyBatches:
        """Return sentences in batches of like length, perhaps with their translations, for a beam.

        Raises ConfigError where the languages are still open.
        """
        if self.directions:
            choose_direction(self.directions)
        tokens = _BATCH_TOKENS * (_TIMES if self.target.symbols.size <= _FEW else 1)
        inputs = Side(Tokens("source", self.source), Ragged.of((*self.tags, *row.ids) for row in sources))
        outputs = None if targets is None else Side(Tokens("target", self.target), Ragged.of(targets))
        return prediction_batches(inputs, tokens * _BEAM // max(_BEAM, beam), outputs)

    @cached_property
    def stand_ins(self) -> tuple[Placeholder, ...]:
        """The words that the model copies best, best first: they stand for placeholders.

        Reserved words that it was trained on (``data.placeholders``) are known to be. Others are rated by the
        probability that a sentence of the word and a full stop is its own translation: it is that of names, numbers and
        words that both languages have. Of these, those that begin with a capital or a digit are tried where there are
        enough.
        """
        if reserved := [one for word in RESERVED if (one := _placeholder(word, self.source, self.target))]:
            return tuple(reserved)
        tried = _candidates(self.source, self.target)
        texts = [f"{one.word}." for one in tried]
        scores = [one.score for one in self._score(list(zip(texts, texts, strict=True)), False)]
        order = sorted(range(len(tried)), key=lambda number: -scores[number])
        return tuple(tried[number] for number in order[:COUNT]) or (Placeholder(chr(0xE000), UNK),)


def without_tags(hypothesis: Hypothesis, tags: Sequence[int]) -> Hypothesis:
    """Return a hypothesis with its attention to the text alone, behind the tags."""
    weights = hypothesis.weights
    return hypothesis if weights is None else replace(hypothesis, weights=weights[:, len(tags) :])


class AdaptedDecoder:
    """A translator that is adapted to what is known of the sentences of one window: see ``prediction.adaptation``."""

    def __init__(self, decoder: ForcedDecoder, adaptation: Adaptation, texts: Sequence[str]) -> None:
        """Find the pairs of all ``texts``, and decode each of them once.

        Raises ConfigError for an ensemble and for fused models, whose predictions come from no single state.
        """
        stepper = decoder.stepper()
        if not isinstance(stepper, GivesStates):
            raise ConfigError("Adaptation needs a single translator: leave out the other models, or the adaptation.")
        self._stepper, self._adaptation = stepper, adaptation
        self._found = [list(adaptation.find(text))[: adaptation.pairs] for text in texts]
        self._states = _states(decoder, stepper, chain.from_iterable(self._found))

    def stepper(self, places: Sequence[int]) -> Stepper:
        """Return the Stepper of a batch of the texts in these places."""
        neighbours = [self._neighbours(self._found[place]) for place in places]
        if not any(neighbours):
            return self._stepper
        return MixedStepper(self._stepper, neighbours, self._adaptation.temperature)

    def _neighbours(self, pairs: Sequence[SimilarPair]) -> Neighbours | None:
        there = [pair for pair in pairs if (pair.source, pair.target) in self._states]
        if not there:
            return None
        keys, ids = zip(*(self._states[pair.source, pair.target] for pair in there), strict=True)
        weight = self._adaptation.weight_for(max(pair.similarity for pair in there))
        return Neighbours(np.concatenate(keys), np.concatenate(ids), weight)


def _states(decoder: ForcedDecoder, stepper: GivesStates, pairs: Iterable[SimilarPair]) -> States:
    """Return the states that the target tokens of each pair are predicted from; none for pairs that are too long."""
    sides = {(pair.source, pair.target): decoder.target.encode(pair.target) for pair in pairs}
    encoded = [
        (pair, EncodedSentence(pair[0], decoder.source.encode(pair[0])), target) for pair, target in sides.items()
    ]
    fitting = [row for row in encoded if 0 < len(row[1].ids) <= MAX_TOKENS and 0 < len(row[2]) <= MAX_TOKENS]
    found: States = {}
    for batch in decoder.batches([source for _, source, _ in fitting], [target for *_, target in fitting]):
        states_TBH, targets = stepper.target_states(batch), batch.target_ids
        for row, number in enumerate(batch.example_ids_B.tolist()):
            pair, length = fitting[number][0], int(targets.lengths_B[row])
            found[pair] = states_TBH[:length, row].copy(), targets.ids_BT[row, :length]
    return found


def _candidates(source: Tokenizer, target: Tokenizer) -> list[Placeholder]:
    """Return words that are one token on either side, spread over the vocabulary."""
    pieces = spellings(target)
    numbers = range(len(MARKS), len(pieces))
    spread = numbers[:: max(1, len(numbers) // _LOOKED_AT)]
    whole = [(number, piece) for number in spread if (piece := _word(target, pieces[number]))]
    named = [one for one in whole if one[1][0].isupper() or one[1].isdecimal()]
    for some in (named, whole):
        found = [one for number, word in some if (one := _placeholder(word, source, target)) and one.token == number]
        if len(found) >= COUNT:
            break
    found = found[:: max(1, len(found) // _TRIED)]
    unknown = [Placeholder(_UNKNOWN, UNK)] if source.encode(_UNKNOWN) == [UNK] == target.encode(_UNKNOWN) else []
    return [*unknown, *found[:_TRIED]]


def _placeholder(word: str, source: Tokenizer, target: Tokenizer) -> Placeholder | None:
    """Return a word that is one known token on either side; None for another."""
    ids, of_source = target.encode(word), source.encode(word)
    return Placeholder(word, ids[0]) if len(ids) == len(of_source) == 1 and UNK not in (*ids, *of_source) else None


def _word(target: Tokenizer, piece: str) -> str:
    """Return the word that a piece is; nothing where it is a part of one."""
    if target.context_free and not isinstance(target, WordTokenizer):
        return piece.removeprefix(SPACE) if piece.startswith(SPACE) and piece[1:].isalnum() else ""
    return piece if piece.isalnum() else ""
