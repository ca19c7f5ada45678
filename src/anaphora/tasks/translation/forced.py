"""Given translations scored and aligned by a translator: forced decoding."""

from collections import abc
from typing import NamedTuple

from anaphora.data.pairs import LazyBatches, search_batches
from anaphora.data.ragged import Ragged
from anaphora.errors import ConfigError
from anaphora.events import Progress, Report, silent
from anaphora.formats.figures import LN_10
from anaphora.formats.pharaoh import Links
from anaphora.formats.tsv import split_pairs
from anaphora.kernels.runtime import Runtime, running
from anaphora.prediction.arguments import demand_pairs, pieces_of, sentences_of
from anaphora.prediction.running import ON_CPU
from anaphora.prediction.scores import LineScore
from anaphora.prediction.stream import windows
from anaphora.protocols import Stepper
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.scoring import score
from anaphora.tasks.translation.translation import NO_LINKS, Translation
from anaphora.text.coder import UNK, TextCoder, is_unknown
from anaphora.text.rare import AnnotatedCoder

_BATCH_TOKENS = 2048
"""Source tokens that are searched side by side, in a beam of at most ``_BEAM``; the wider it is, the fewer."""
_BEAM = 32


class Given(NamedTuple):
    """A source sentence, as it was given and as ids, and the place of its line in its window."""

    text: str
    ids: list[int]
    line: int


class ForcedDecoding:
    """A translator's Stepper and the coders of both sides, over translations that are given."""

    def __init__(
        self, stepper: abc.Callable[[], Stepper], source: TextCoder, target: TextCoder, runtime: Runtime = ON_CPU
    ) -> None:
        """Every call calls ``stepper`` again, so that a network may be trained further in between."""
        self._stepper, self._source, self._target, self._runtime = stepper, source, target, runtime

    @property
    def attends(self) -> bool:
        """Whether it looks at the source as it writes, which one step shows; of several, whether all of them do."""
        [batch] = self._batches([Given("", [UNK], 0)], [[]])
        with running(self._runtime):
            return score(self._stepper(), batch)[0].weights is not None

    def score_pairs(
        self, sources: abc.Sequence[str], targets: abc.Sequence[str], *, report: Report = silent
    ) -> list[Translation]:
        """The given translations with the scores and the attention that the model gives them, in their order.

        Raises DataError for unequal counts, and as ``score_stream``.
        """
        demand_pairs(sources, targets)
        return list(self.score_stream(list(zip(sources, targets, strict=True)), report=report))

    def score_stream(
        self, pairs: abc.Iterable[tuple[str, str]], *, report: Report = silent
    ) -> abc.Iterator[Translation]:
        """Given translations with their scores and attention as they come, in order; see ``stream``.

        Raises ConfigError for a translator that annotates, DataError for a side too long to be a sentence.
        """
        if isinstance(self._target, AnnotatedCoder):
            raise ConfigError(
                f"Translations that are given have no annotations, but this translator expects them (text.rare = "
                f"'{self._target.rare}'): score them by one without."
            )
        stepper = self._stepper()
        total, done = len(pairs) if isinstance(pairs, abc.Sized) else 0, 0
        for window in windows(pairs):
            sources, targets = [source for source, _ in window], [target for _, target in window]
            source_rows = sentences_of(self._source, sources, done + 1)
            rows = [Given(*row, place) for place, row in enumerate(zip(sources, source_rows, strict=True))]
            answers: dict[int, Translation] = {}
            for batch in self._batches(rows, sentences_of(self._target, targets, done + 1)):
                with running(self._runtime):
                    found = score(stepper, batch)
                for number, hypothesis in zip(batch.example_ids_B.tolist(), found, strict=True):
                    pieces = pieces_of(self._target, targets[number], hypothesis.ids)
                    answers[number] = self._translation(targets[number], rows[number], hypothesis, pieces)
                report(Progress("score", done + len(answers), total, "pairs"))
            done += len(window)
            yield from (answers[number] for number in range(len(rows)))

    def score_lines_of(self, lines: abc.Iterable[str], where: str, report: Report = silent) -> abc.Iterator[LineScore]:
        """The scores of lines of a file, each a source, a tab and its translation."""
        for scored in self.score_stream(split_pairs(lines, where), report=report):
            pieces = scored.target_pieces
            yield LineScore(scored.score / LN_10, len(pieces), sum(map(is_unknown, pieces)))

    def align(
        self,
        sources: abc.Sequence[str],
        targets: abc.Sequence[str],
        *,
        symmetrise: str | None = None,
        report: Report = silent,
    ) -> list[Links]:
        """The links between the space-separated words of every pair: where attention is greatest.

        Raises DataError for unequal counts, and as ``align_stream``.
        """
        demand_pairs(sources, targets)
        return list(self.align_stream(list(zip(sources, targets, strict=True)), symmetrise=symmetrise, report=report))

    def align_stream(
        self, pairs: abc.Iterable[tuple[str, str]], *, symmetrise: str | None = None, report: Report = silent
    ) -> abc.Iterator[Links]:
        """The links of pairs as they come, in order; see ``stream``.

        Raises DataError for a side that is too long to be a sentence, ConfigError without attention, and where two
        directions should be joined.
        """
        if symmetrise:
            raise ConfigError("--symmetrise joins two directions, but a translator has one: leave it out.")
        if not self.attends:
            raise ConfigError(NO_LINKS)
        for pair in self.score_stream(pairs, report=report):
            yield pair.links()

    def _batches(
        self, sources: abc.Sequence[Given], targets: abc.Sequence[list[int]] | None = None, beam: int = 1
    ) -> LazyBatches:
        return search_batches(
            Ragged.of(row.ids for row in sources),
            self._source.symbols,
            batch_tokens=_BATCH_TOKENS * _BEAM // max(_BEAM, beam),
            targets=None if targets is None else Ragged.of(targets),
            target=self._target.symbols,
        )

    def _translation(
        self, text: str, row: Given, hypothesis: Hypothesis, pieces: list[str], attention: bool = True
    ) -> Translation:
        end = self._target.pieces([self._target.symbols.eos]) if hypothesis.finished else []
        weights = hypothesis.weights if attention else None
        return Translation(
            text=text,
            score=hypothesis.score,
            finished=hypothesis.finished,
            source_pieces=(
                *pieces_of(self._source, row.text, row.ids),
                *self._source.pieces([self._source.symbols.eos]),
            ),
            target_pieces=(*pieces, *end),
            weights=None if weights is None else weights.numpy(),
        )
