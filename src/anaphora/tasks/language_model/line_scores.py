"""Lines and n-best lists scored as they come, each line by itself or each after those before it."""

import math
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import NamedTuple, Unpack

import numpy as np

from anaphora.errors import ConfigError
from anaphora.evaluation.adaptation import Adaptation, Static, adapted_log_probs, network_of
from anaphora.evaluation.perplexity import TextSize, size_of_line
from anaphora.evaluation.segments import Floats
from anaphora.evaluation.sentences import TOKENS, line_log_probs
from anaphora.events import Progress, Report, silent
from anaphora.formats.json_text import LN_10
from anaphora.formats.nbest import Entry, NbestFormat, check_name, check_new
from anaphora.prediction.arguments import demand_short, demand_texts, given_text
from anaphora.prediction.limits import UNLIMITED, Count, Limits, Streaming, Watch
from anaphora.prediction.running import each_within
from anaphora.prediction.scores import LineScore
from anaphora.prediction.stream import answers
from anaphora.tasks.language_model.word_scores import WordScores
from anaphora.text.special_tokens import without_special_tokens
from anaphora.text.tokenizer import Tokenizer

STATIC = Static()


class Rescored(NamedTuple):
    """A line of an n-best list with a score more."""

    line: str
    """The line, the score in it."""
    score: LineScore
    """The score of its hypothesis."""


class LineScores(WordScores):
    """Scores of lines by a language model."""

    def check(self, adaptation: Adaptation) -> None:
        """Raise ConfigError where the model cannot adapt so."""
        if isinstance(adaptation, Static):
            return
        if self._of_sentences:
            raise ConfigError(
                "A neural cache and dynamic evaluation use the text before a line, but a model of sentences begins "
                "every line from nothing: leave them out."
            )
        network_of(self._model)

    def score_lines(
        self, lines: Sequence[str], adaptation: Adaptation = STATIC, **streaming: Unpack[Streaming]
    ) -> list[LineScore]:
        """The score of every line, each read by itself; with an ``adaptation`` in their order, one after the other.

        Raises as ``score_stream``, and TypeError for one text alone or what is none.
        """
        demand_texts(lines)
        return list(self.score_stream(lines, adaptation, **streaming))

    def score_lines_of(self, lines: Iterable[str], where: str, report: Report = silent) -> Iterator[LineScore]:
        return self.score_stream(lines, report=report)

    def score_stream(
        self, lines: Iterable[str], adaptation: Adaptation = STATIC, **streaming: Unpack[Streaming]
    ) -> Iterator[LineScore]:
        """The scores of lines as they come, in order; no more than a window of lines is held (``prediction.stream``).

        With an ``adaptation`` they are those of running text, which is read in windows of its own: a line is answered
        when its window is full. Raises StoppedError as ``limits`` say, ConfigError for a model that cannot adapt so,
        and DataError for a line too long to be read by itself, with its number, after the scores of those before it.
        """
        self.check(adaptation)
        if not isinstance(adaptation, Static):
            return self._one_after_another(lines, adaptation, **streaming)
        read, runtime = self._read_alone, self._runtime
        return answers(lines, read, self._alone, task="score", unit="lines", runtime=runtime, **streaming)

    def rescore_stream(
        self,
        lines: Iterable[str],
        form: NbestFormat,
        *,
        feature: str = "LM0",
        where: str = "line",
        **streaming: Unpack[Streaming],
    ) -> Iterator[Rescored]:
        """The lines of an n-best list (``formats.nbest``) as they come, in order, with the scores of their hypotheses.

        ``feature`` names the score in a format that names them; ``where`` is what errors call the list. No more than a
        window of lines is held. Raises ConfigError for a name that cannot be given, StoppedError as ``limits`` say, and
        for the first line that is none of a list, that has the feature, or that is too long, DataError or ConfigError
        with its number, after the lines before it.
        """
        if form.names_features:
            check_name(feature)

        def read(line: str, number: int) -> tuple[Entry, list[int]]:
            entry = form.parse(line, f"{where}:{number}")
            check_new(feature, entry, f"{where}:{number}")
            return entry, self._read_alone(entry.text, number)

        def answer(rows: Sequence[tuple[Entry, list[int]]], watch: Watch, answered: Count) -> Iterator[Rescored]:
            scores = self._alone([row for _, row in rows], watch, answered)
            for (entry, _), score in zip(rows, scores, strict=True):
                yield Rescored(form.scored(entry, score.log10, feature), score)

        return answers(lines, read, answer, task="rescore", unit="hypotheses", runtime=self._runtime, **streaming)

    def _read_alone(self, line: str, number: int) -> list[int]:
        """The tokens of line ``number`` and its end; DataError where they are too many to be read at once."""
        row = self._line(given_text(line, number))
        demand_short(row, TOKENS, number, "split it, or measure it as running text (anaphora evaluate)")
        return row

    def _alone(self, rows: Sequence[list[int]], watch: Watch, answered: Count) -> Iterable[LineScore]:
        """The scores of lines with nothing before them, the longest scored first."""
        nats, done = [0.0] * len(rows), 0
        begin = self._stepper().bos  # a stepper also puts the model into evaluation mode
        for places, log_probs in line_log_probs(self._model, rows, begin):
            watch.check()
            for place, log_probs_T in zip(places, log_probs, strict=True):
                nats[place] = math.fsum(log_probs_T.tolist())
            done += len(places)
            answered(done)
        return map(self._scored, rows, nats)

    def _one_after_another(
        self, lines: Iterable[str], adaptation: Adaptation, limits: Limits = UNLIMITED, report: Report = silent
    ) -> Iterator[LineScore]:
        watch, total = limits.start(), len(lines) if isinstance(lines, Sized) else 0
        rows, found = deque[list[int]](), deque[float]()

        def tokens() -> Iterator[int]:
            for number, line in enumerate(lines, 1):
                watch.check()
                rows.append(self._line(given_text(line, number)))
                yield from rows[-1]

        for _, log_probs_N in each_within(
            self._runtime, adapted_log_probs(self._model, tokens(), self._tokenizer.symbols.eos, adaptation)
        ):
            watch.check()
            found.extend(log_probs_N.tolist())
            while rows and len(found) >= len(rows[0]):
                row = rows.popleft()
                yield self._scored(row, math.fsum(found.popleft() for _ in row))
                report(Progress("score", watch.line, total, "lines"))
                watch.line += 1

    def _scored(self, row: list[int], nats: float) -> LineScore:
        return LineScore(nats / LN_10, len(row), row.count(self._tokenizer.symbols.unk))

    def _line(self, line: str) -> list[int]:
        return [*self._tokenizer.encode(line), self._tokenizer.symbols.eos]

    @property
    def _of_sentences(self) -> bool:
        """True if the model begins every line from nothing; puts it into evaluation mode."""
        stepper = self._stepper()
        return stepper.bos != stepper.eos


class Reading:
    """The tokens of a text line by line, each line closed by ``</s>``, which keeps what was read until it is taken.

    ``size`` is that of the text so far, ``known_size`` that of what its known tokens write, line ends included.
    """

    def __init__(self, lines: Iterable[str], tokenizer: Tokenizer) -> None:
        self._lines = lines
        self._tokenizer = tokenizer
        self._rows: list[list[int]] = []
        self.size = self.known_size = TextSize(0, 0, 0)
        self._sizes = array("q")

    def __iter__(self) -> Iterator[int]:
        for line in map(without_special_tokens, self._lines):
            ids, symbols = self._tokenizer.encode(line), self._tokenizer.symbols
            size = size_of_line(line)
            known = [number for number in ids if number != symbols.unk]
            self.size += size
            self._sizes.extend((size.characters, size.bytes, size.words))
            self.known_size += size if len(known) == len(ids) else size_of_line(self._tokenizer.decode(known))
            row = [*ids, symbols.eos]
            self._rows.append(row)
            yield from row

    def sizes(self) -> Floats:
        """Characters, bytes and words of every line so far."""
        return np.array(self._sizes, dtype=np.float64).reshape(-1, 3)

    def take(self) -> list[list[int]]:
        """The lines that were begun since the last time."""
        taken, self._rows = self._rows, []
        return taken
