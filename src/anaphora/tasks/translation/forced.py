"""Given translations scored and aligned by a translator: forced decoding."""

from collections import abc
from typing import Any, Protocol, TypeVar, Unpack

from anaphora.batch import Batch
from anaphora.data.example_batches import LazyBatches, Side, prediction_batches
from anaphora.data.fields.tokens import Tokens
from anaphora.data.ragged import Ragged
from anaphora.errors import ConfigError
from anaphora.events import Report, silent
from anaphora.formats.json_text import LN_10
from anaphora.formats.pharaoh import Links
from anaphora.formats.tsv import split_pairs
from anaphora.kernels.backends import precision_of
from anaphora.kernels.compiled import PackedPrecision
from anaphora.kernels.runtime import Runtime, running
from anaphora.prediction.arguments import Given, given_pairs, given_text, pieces_of, sentence_of
from anaphora.prediction.limits import Streaming, Watch
from anaphora.prediction.running import ON_CPU
from anaphora.prediction.scores import LineScore
from anaphora.prediction.stream import answers, by_row
from anaphora.protocols import Stepper
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.scoring import score
from anaphora.tasks.translation.translation import NO_LINKS, Translation
from anaphora.text.rare_word_annotation import AnnotatedTokenizer
from anaphora.text.tokenizer import UNK, Tokenizer

_BATCH_TOKENS = 2048
"""Source tokens that are searched side by side, in a beam of at most ``_BEAM``; the wider it is, the fewer."""
_BEAM = 32
_FEW, _TIMES = 512, 4
"""A target vocabulary of at most so many tokens (letters, sounds) leaves room for several times as many."""


class Batches(Protocol):
    """Batches of sentences of like length, perhaps with their translations, for a beam."""

    def __call__(
        self, sources: abc.Sequence[Given], targets: abc.Sequence[list[int]] | None = None, beam: int = 1
    ) -> LazyBatches: ...


Pair = tuple[Given, Given]
"""A source and its given translation."""
Found = TypeVar("Found")


class ForcedDecoding:
    """A translator's Stepper and the tokenizers of both sides, over translations that are given."""

    def __init__(
        self, stepper: abc.Callable[[], Stepper], source: Tokenizer, target: Tokenizer, runtime: Runtime = ON_CPU
    ) -> None:
        """Every call calls ``stepper`` again, so that a network may be trained further in between."""
        self._stepper, self._source, self._target, self._runtime = stepper, source, target, runtime

    @property
    def precision(self) -> PackedPrecision:
        """Precision of matrix products."""
        return precision_of(self._runtime.inference_backend)

    @property
    def attends(self) -> bool:
        """True if it looks at the source as it writes, which one step shows; of several, whether all of them do."""
        [batch] = self._batches([Given("", [UNK])], [[]])
        with running(self._runtime):
            return score(self._stepper(), batch)[0].weights is not None

    def score_pairs(
        self,
        sources: abc.Sequence[str],
        targets: abc.Sequence[str],
        *,
        attention: bool = False,
        **streaming: Unpack[Streaming],
    ) -> list[Translation]:
        """The given translations with the scores that the model gives them, in their order.

        Raises DataError for unequal counts, and as ``score_stream``.
        """
        pairs = given_pairs(sources, targets)
        return list(self.score_stream(pairs, attention=attention, **streaming))

    def score_stream(
        self, pairs: abc.Iterable[tuple[str, str]], *, attention: bool = False, **streaming: Unpack[Streaming]
    ) -> abc.Iterator[Translation]:
        """Given translations with their scores as they come, in order; with ``attention``, weights and pieces too.

        No more than a window of pairs is held (see ``prediction.stream``). Raises ConfigError for a translator that
        annotates, StoppedError as ``limits`` say, and DataError for a side too long to be a sentence, with its number,
        after the pairs before it.
        """

        def scored(pair: Pair, hypothesis: Hypothesis) -> Translation:
            pieces = pieces_of(self._target, pair[1].text, hypothesis.ids) if attention else []
            return self._translation(pair[1].text, pair[0], hypothesis, pieces, attention)

        return self._forced(pairs, scored, attention, **streaming)

    def score_lines_of(self, lines: abc.Iterable[str], where: str, report: Report = silent) -> abc.Iterator[LineScore]:
        """The scores of lines of a file, each a source, a tab and its translation."""

        def scored(pair: Pair, hypothesis: Hypothesis) -> LineScore:
            return LineScore(hypothesis.score / LN_10, len(pair[1].ids) + 1, pair[1].ids.count(UNK))

        return self._forced(split_pairs(lines, where), scored, False, report=report)

    def align(
        self,
        sources: abc.Sequence[str],
        targets: abc.Sequence[str],
        *,
        symmetrise: str | None = None,
        **streaming: Unpack[Streaming],
    ) -> list[Links]:
        """The links between the space-separated words of every pair: where attention is greatest.

        Raises DataError for unequal counts, and as ``align_stream``.
        """
        pairs = given_pairs(sources, targets)
        return list(self.align_stream(pairs, symmetrise=symmetrise, **streaming))

    def align_stream(
        self, pairs: abc.Iterable[tuple[str, str]], *, symmetrise: str | None = None, **streaming: Unpack[Streaming]
    ) -> abc.Iterator[Links]:
        """The links of pairs as they come, in order; see ``score_stream``, and its errors.

        Raises ConfigError without attention, and where two directions should be joined.
        """
        if symmetrise:
            raise ConfigError("--symmetrise joins two directions, but a translator has one: leave it out.")
        if not self.attends:
            raise ConfigError(NO_LINKS)

        def linked(pair: Pair, hypothesis: Hypothesis) -> Links:
            pieces = pieces_of(self._target, pair[1].text, hypothesis.ids)
            return self._translation(pair[1].text, pair[0], hypothesis, pieces, True).links()

        return self._forced(pairs, linked, True, **streaming)

    def _forced(
        self,
        pairs: abc.Iterable[tuple[str, str]],
        make: abc.Callable[[Pair, Hypothesis], Found],
        attention: bool,
        **streaming: Unpack[Streaming],
    ) -> abc.Iterator[Found]:
        """Yield ``make`` of each pair and its target as a hypothesis; otherwise as ``score_stream``."""
        if isinstance(self._target, AnnotatedTokenizer):
            raise ConfigError(
                f"Translations that are given have no annotations, but this translator expects them (text.rare = "
                f"'{self._target.rare}'): score them by one without."
            )

        def read(pair: tuple[str, str], number: int) -> Pair:
            source, target = (given_text(text, number) for text in pair)
            return (
                Given(source, sentence_of(self._source, source, number)),
                Given(target, sentence_of(self._target, target, number)),
            )

        def answer(rows: abc.Sequence[Pair], watch: Watch, answered: abc.Callable[[int], None]) -> abc.Iterable[Found]:
            stepper = self._stepper()

            def made(batch: Batch) -> abc.Iterator[Found]:
                pairs_of_batch = (rows[number] for number in batch.example_ids_B.tolist())
                return map(make, pairs_of_batch, score(stepper, batch, attention, check=watch.check))

            batches = self._batches([source for source, _ in rows], [target.ids for _, target in rows])
            return by_row(batches, made, watch, answered).values()

        return answers(pairs, read, answer, task="score", unit="pairs", runtime=self._runtime, **streaming)

    def _batches(
        self, sources: abc.Sequence[Given], targets: abc.Sequence[list[int]] | None = None, beam: int = 1
    ) -> LazyBatches:
        tokens = _BATCH_TOKENS * (_TIMES if self._target.symbols.size <= _FEW else 1)
        inputs = Side(Tokens("source", self._source), Ragged.of(row.ids for row in sources))
        outputs = None if targets is None else Side(Tokens("target", self._target), Ragged.of(targets))
        return prediction_batches(inputs, tokens * _BEAM // max(_BEAM, beam), outputs)

    def _translation(
        self, text: str, row: Given, hypothesis: Hypothesis, pieces: list[str], attention: bool
    ) -> Translation:
        """A hypothesis as a translation; without ``attention``, neither weights nor ``pieces`` are in it."""
        counts: dict[str, Any] = {
            "unknown": hypothesis.ids.count(UNK),
            "rank": hypothesis.rank,
            "tokens": len(hypothesis.ids) + hypothesis.finished,
        }
        if not attention:
            return Translation(text, hypothesis.score, hypothesis.finished, **counts)
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
            **counts,
        )
