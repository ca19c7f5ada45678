"""Scores of texts: words one by one, each at its place; lines and n-best lists as they come, alone or after others."""

import math
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Sized
from copy import copy
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Unpack, cast

import numpy as np

from anaphora.batch import Batch, Constraints, pad
from anaphora.errors import ConfigError
from anaphora.evaluation.adaptation import Adaptation, Static, adapted_log_probs, network_of
from anaphora.evaluation.perplexity import TextSize, perplexity_of_log10, size_of_line
from anaphora.evaluation.segments import Floats
from anaphora.evaluation.sentences import TOKENS, line_log_probs
from anaphora.events import Progress, Report, silent
from anaphora.formats.json_text import LN_10
from anaphora.formats.nbest import Entry, NbestFormat, check_name, check_new
from anaphora.kernels.log_probs import to_host
from anaphora.kernels.runtime import Runtime, running
from anaphora.prediction.arguments import demand_short, demand_texts, given_text, one_text
from anaphora.prediction.limits import UNLIMITED, Count, Limits, Streaming, Watch
from anaphora.prediction.runtime import iterate_within, runtime_for
from anaphora.prediction.scores import LineScore
from anaphora.prediction.stream import answers
from anaphora.protocols import DeviceArray, TextModel, TextStepper
from anaphora.text.special_tokens import without_special_tokens
from anaphora.text.tokenizer import EOS, MARKS, Tokenizer
from anaphora.text.whitespace import by_word, words_in


@dataclass(frozen=True)
class Context:
    """A place in a text."""

    log_probs_V: DeviceArray
    """ln p of every symbol there."""
    state: Any
    """State of the stepper, of one row."""
    read: int
    """Tokens before it, ``<s>`` among them."""
    inside: bool
    """True if a word of its sentence stands before it, and the tokens of the next depend on that."""


class State:
    """A place in a text that a model writes into: ``model.BeginSentenceWrite(state)``.

    Two states are equal when the same model can no longer tell them apart.
    """

    def __init__(self) -> None:
        """An empty state, for a model to write into."""
        self._context: Context | None = None

    @property
    def context(self) -> Context:
        """Return the context of a model's file; raise ValueError for anything else."""
        if self._context is None:
            raise ValueError("A state should be written before it is read: call BeginSentenceWrite(state) first.")
        return self._context

    def become(self, context: Context) -> None:
        """Hold another place."""
        self._context = context

    def _key(self) -> tuple[bytes, ...]:
        if self._context is None:
            return ()
        return (str(self._context.inside).encode(), *(to_host(one).tobytes() for one in _arrays(self._context.state)))

    def __eq__(self, other: object) -> bool:
        """True if what both hold is the same to the last bit."""
        return self._key() == other._key() if isinstance(other, State) else NotImplemented

    def __hash__(self) -> int:
        """Equal states have equal ones; a state that is written again has another."""
        return hash(self._key())

    def __deepcopy__(self, memo: object) -> "State":
        return copy(self)


def _arrays(state: Any) -> Iterator[DeviceArray]:
    """Yield the arrays of a state, in an order that is always the same."""
    if hasattr(state, "shape"):
        yield state
        return
    for part in [state[name] for name in sorted(state)] if isinstance(state, dict) else state:
        yield from _arrays(part)


Place = State

STATIC = Static()


class RescoredLine(NamedTuple):
    """A line of an n-best list with a score more."""

    line: str
    """The line, the score in it."""
    score: LineScore
    """The score of its hypothesis."""


class FullScore(NamedTuple):
    """Score of one word by a language model."""

    log_prob: float
    """log10 p of the word given what stands before it."""
    ngram_length: int
    """Number of words of the matched n-gram, itself included; for a recurrent model, all words of the line so
    far."""
    oov: bool
    """True if the word, or a part of it, is ``<unk>`` to the model."""


class TextScores:
    """Scores of words and of lines by a language model.

    What ``score``, ``full_scores``, ``perplexity``, ``in`` and the methods over a ``State`` are called, and what they
    mean, is that of the Python interface of KenLM (Heafield 2011): logarithms to base 10, words between ASCII white
    space, a sentence by itself between ``<s>`` and ``</s>``. Where tokens spell white space, it is scored with the word
    or the ``</s>`` that comes after it. Sentences and words may be bytes, which are UTF-8.
    """

    def __init__(
        self, model: TextModel, tokenizer: Tokenizer, path: Path | None = None, runtime: Runtime | None = None
    ) -> None:
        """The network may go on being trained in between: every call reads it again.

        It lies on the device of ``runtime``.
        """
        self._model = model
        self._tokenizer = tokenizer
        self._runtime = runtime or runtime_for()
        self.path = bytes(path.absolute()) if path else b""
        """Path it was loaded from, as KenLM gives it; empty for a model that was not."""

    def score(self, sentence: str | bytes, bos: bool = True, eos: bool = True) -> float:
        """log10 p of a sentence; without ``bos`` it may stand anywhere, without ``eos`` it may go on."""
        return sum(word.log_prob for word in self.full_scores(sentence, bos, eos))

    def full_scores(self, sentence: str | bytes, bos: bool = True, eos: bool = True) -> Iterator[FullScore]:
        """Yield the score of every word, and of ``</s>`` with ``eos``."""
        state, after = self.State(), self.State()
        (self.BeginSentenceWrite if bos else self.NullContextWrite)(state)
        *words, behind = by_word(self._tokenizer, one_text(sentence))
        for word in words:
            yield self._full_score(state, word, after)
            state, after = after, state
        if eos:
            yield self._full_score(state, [*behind, self._tokenizer.symbols.eos], after)

    def perplexity(self, sentence: str | bytes) -> float:
        """10 to the mean -log10 p of a word, ``</s>`` among the words."""
        scores = [word.log_prob for word in self.full_scores(sentence)]
        return perplexity_of_log10(sum(scores), len(scores))

    @property
    def order(self) -> int:
        """Maximum number of words of an n-gram of an n-gram language model; 0 for a model that remembers everything."""
        return self._stepper().order

    def __contains__(self, word: str | bytes) -> bool:
        """True if the model knows a word, ``</s>`` among them, or can spell it; several words are none."""
        word = one_text(word)
        if word == MARKS[EOS]:
            return True
        tokens = self._tokenizer.encode(word) if words_in(word) == [word] else []
        return bool(tokens) and self._tokenizer.symbols.unk not in tokens

    State = Place

    def BeginSentenceWrite(self, state: Place) -> None:
        """Let ``state`` be the start of a sentence."""
        stepper = self._stepper()
        with running(self._runtime):
            before = stepper.start(prompt_batch(stepper.bos, [[]], [0])).state
            step = stepper.advance(None, before, np.array([stepper.bos]))
        state.become(Context(step.log_probs_NV[0], step.state, 1, False))

    def NullContextWrite(self, state: Place) -> None:
        """Let ``state`` be a place of which nothing is known; to a recurrent model, the start of a sentence."""
        with running(self._runtime):
            step = self._stepper().unconditional()
        state.become(Context(step.log_probs_NV[0], step.state, 0, False))

    def BaseScore(self, before: Place, word: str | bytes, after: Place) -> float:
        """log10 p of ``word`` after ``before``, and ``after`` becomes the state after it; they may be one."""
        return self.BaseFullScore(before, word, after).log_prob

    def BaseFullScore(self, before: Place, word: str | bytes, after: Place) -> FullScore:
        """``BaseScore`` with all that is known of the word."""
        word = one_text(word)
        if word == "</s>":
            tokens = [self._tokenizer.symbols.eos]
        elif before.context.inside:
            # as it stands after another word, which may have a space between them
            _, *words = by_word(self._tokenizer, f"a {word}")
            tokens = list(chain.from_iterable(words))
        else:
            tokens = self._tokenizer.encode(word)
        return self._full_score(before, tokens, after)

    def _full_score(self, before: Place, tokens: Sequence[int], after: Place) -> FullScore:
        """Return the score of a word by its tokens, one step each."""
        stepper, context, nats, length = self._stepper(), before.context, 0.0, 0
        for token in tokens:
            ids_N = np.array([token])
            nats += float(context.log_probs_V[token])
            with running(self._runtime):
                length = stepper.match_length(context.state, ids_N, context.read)
                step = stepper.advance(None, context.state, ids_N)
            inside = not self._tokenizer.context_free
            context = Context(step.log_probs_NV[0], step.state, context.read + 1, inside)
        after.become(context)
        return FullScore(nats / LN_10, length, self._tokenizer.symbols.unk in tokens)

    def _stepper(self) -> TextStepper:
        return cast(TextStepper, self._model.stepper())

    def check(self, adaptation: Adaptation) -> None:
        """Raise ConfigError where the model cannot adapt so."""
        if isinstance(adaptation, Static):
            return
        if self._of_sentences:
            raise ConfigError(
                "A neural cache and dynamic evaluation use the text before a line, but a model of sentences begins "
                "every line from nothing: leave them out."
            )
        network_of(self._model, adaptation)

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
        return answers(lines, read, self._score_alone, task="score", unit="lines", runtime=runtime, **streaming)

    def rescore_stream(
        self,
        lines: Iterable[str],
        form: NbestFormat,
        *,
        feature: str = "LM0",
        where: str = "line",
        **streaming: Unpack[Streaming],
    ) -> Iterator[RescoredLine]:
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

        def answer(rows: Sequence[tuple[Entry, list[int]]], watch: Watch, answered: Count) -> Iterator[RescoredLine]:
            scores = self._score_alone([row for _, row in rows], watch, answered)
            for (entry, _), score in zip(rows, scores, strict=True):
                yield RescoredLine(form.score(entry, score.log10, feature), score)

        return answers(lines, read, answer, task="rescore", unit="hypotheses", runtime=self._runtime, **streaming)

    def _read_alone(self, line: str, number: int) -> list[int]:
        """Return the tokens of line ``number`` and its end; DataError where they are too many to be read at once."""
        row = self._line(given_text(line, number))
        demand_short(row, TOKENS, number, "split it, or measure it as running text (anaphora evaluate)")
        return row

    def _score_alone(self, rows: Sequence[list[int]], watch: Watch, answered: Count) -> Iterable[LineScore]:
        """Return the scores of lines with nothing before them, the longest scored first."""
        nats, done = [0.0] * len(rows), 0
        begin = self._stepper().bos  # a stepper also puts the model into evaluation mode
        for places, log_probs in line_log_probs(self._model, rows, begin):
            watch.check()
            for place, log_probs_T in zip(places, log_probs, strict=True):
                nats[place] = math.fsum(log_probs_T.tolist())
            done += len(places)
            answered(done)
        return map(self._score, rows, nats)

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

        for _, log_probs_N in iterate_within(
            self._runtime, adapted_log_probs(self._model, tokens(), self._tokenizer.symbols.eos, adaptation)
        ):
            watch.check()
            found.extend(log_probs_N.tolist())
            while rows and len(found) >= len(rows[0]):
                row = rows.popleft()
                yield self._score(row, math.fsum(found.popleft() for _ in row))
                report(Progress("score", watch.line, total, "lines"))
                watch.line += 1

    def _score(self, row: list[int], nats: float) -> LineScore:
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
        """Return the lines that were begun since the last time."""
        taken, self._rows = self._rows, []
        return taken


def prompt_batch(bos: int, prompts: Sequence[list[int]], example_ids: Sequence[int]) -> Batch:
    """Return lines that a search begins after ``bos``, and that must continue these prompts, perhaps empty ones."""
    constraints = Constraints(prefixes=pad(prompts) if any(prompts) else None)
    return Batch.of_rows(example_ids, pad([[bos]] * len(prompts)), constraints=constraints)
