"""Texts continued, scored, and measured."""

from collections import abc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, cast

import numpy as np
import torch

from anaphora.data.pairs import LazyBatches
from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.adaptation import Adaptation, Static, adapted_log_probs, fitted_adaptation, is_fitted
from anaphora.evaluation.perplexity import Prediction, TextSize, text_size
from anaphora.evaluation.sentences import sentence_log_probs
from anaphora.events import Progress, Report, silent
from anaphora.pipeline.context import Context
from anaphora.pipeline.context import State as Place
from anaphora.pipeline.network import TextNetwork
from anaphora.protocols import Batch, Sequence, TextStepper
from anaphora.search.beam import beam as beam_search
from anaphora.search.sampling import sample
from anaphora.search.scoring import score
from anaphora.text.coder import TextCoder

_ROWS = 64
"""Lines that are scored side by side."""

_STATIC = Static()

_LN_10 = float(np.log(10))


@dataclass(frozen=True)
class Generation:
    """A text that a language model wrote."""

    text: str
    """The prompt as the model read it, and what it went on with."""
    score: float
    """ln p of all of it, the prompt included, and of the line end when it is finished."""
    finished: bool
    """Whether the model ended the line, and was not cut at the given length."""


class FullScore(NamedTuple):
    """What a model says of one word."""

    log_prob: float
    """log10 p of the word given what stands before it."""
    ngram_length: int
    """How many words that was looked up with, itself included: of a count model, the longest n-gram that it has; a
    recurrent model remembers every word."""
    oov: bool
    """Whether the word, or a part of it, is ``<unk>`` to the model."""


@dataclass(frozen=True)
class LineScore:
    """What a model says of one line, each read on its own."""

    log10: float
    """log10 p of the line and its end."""
    units: int
    """Predictions: the units of the line, and ``</s>``."""
    unknown: int
    """Units that were ``<unk>``."""

    @property
    def nats(self) -> float:
        """ln p of the line and its end."""
        return self.log10 * _LN_10

    @property
    def perplexity(self) -> float:
        """10 to the mean -log10 p of a unit."""
        return float(10 ** (-self.log10 / self.units))


class LanguageModel:
    """Continues texts, scores them, and measures how well it predicts them. A line end is ``</s>`` to it.

    What ``score``, ``full_scores``, ``perplexity``, ``in`` and the methods over a ``State`` are called, and what they
    mean, is that of the Python interface of KenLM (Heafield 2011): logarithms to base 10, words between white space,
    a sentence by itself between ``<s>`` and ``</s>``.
    """

    def __init__(self, model: TextNetwork, coder: TextCoder) -> None:
        """The network may go on being trained in between: it is read anew by every call."""
        self._model = model
        self._coder = coder

    def stepper_over(self, coder: TextCoder) -> TextStepper:
        """The model one symbol at a time, over text that ``coder`` cuts; ConfigError where its own cuts otherwise."""
        if coder.fingerprint != self._coder.fingerprint:
            raise ConfigError(
                f"Fusion needs a language model of the translator's target vocabulary ({coder.symbols.size:,} units), "
                f"but this one has another ({self._coder.symbols.size:,}): train it with --from RUN --vocabulary only."
            )
        return self._stepper()

    def generate(
        self,
        prompt: str = "",
        *,
        length: int = 200,
        beam: int = 0,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 0,
        heard: Callable[[str], None] = lambda text: None,
    ) -> Generation:
        """Go on from ``prompt`` to the end of the line, or for ``length`` units.

        A ``beam`` of 0 draws at the given temperature and seed, from the ``top_k`` likeliest units (0: from all) and
        from the likeliest that make up the share ``top_p``; 1 takes the likeliest unit every time, more search for the
        likeliest line. ``heard`` is told what is drawn piece by piece, and the whole of what a beam found.

        Raises ConfigError for a length below 1, a negative beam, lines that a model of sentences cannot go on from, and
        what ``search.sampling`` refuses.
        """
        if length < 1:
            raise ConfigError(f"A text should go on for a length of at least 1 unit, but {length} was given: raise it.")
        if "\n" in prompt and self._of_sentences:
            raise ConfigError(
                "A model of sentences knows nothing of the line before, but a prompt of several came: give one."
            )
        stepper = self._model.stepper()
        begin = self._encode(prompt)
        batch = _one_row([stepper.bos], begin)
        aloud = _Aloud(self._decode, begin, heard)
        if beam:
            [[found, *_]] = beam_search(stepper, batch, size=beam, max_length=len(begin) + length)
        else:
            [found] = sample(
                stepper,
                batch,
                max_length=len(begin) + length,
                temperature=temperature,
                top_k=top_k,
                top_p=top_p,
                seed=seed,
                heard=lambda _, unit: aloud.add(unit) if unit != stepper.eos else None,
            )
        text = self._decode(found.ids)
        aloud.close(text)
        return Generation(text, found.score, found.finished)

    def adapted(self, lines: Iterable[str], adaptation: Adaptation) -> Adaptation:
        """``adaptation`` with the numbers that suit a text best where they are not given; raises as ``evaluate``."""
        if is_fitted(adaptation):
            return adaptation
        self._refuse_sentences(adaptation)
        text = _Reading(lines, self._coder)
        return fitted_adaptation(self._model, text, self._coder.symbols.eos, adaptation)

    def evaluate(
        self, lines: Iterable[str], adaptation: Adaptation = _STATIC, *, report: Report = silent
    ) -> Prediction:
        """How well the model predicts lines of running text.

        They are read in one pass, the state carried from line to line, and each by itself; by a model of sentences in
        the second way alone. Every unit counts, and the ``</s>`` of every line; in front of the first, ``</s>`` stands
        for ``<s>``. With an ``adaptation``, the pass also remembers or learns from what is behind it, which single
        lines have no use for.

        Raises DataError for a text without lines, ConfigError for a model that cannot adapt so.
        """
        self._refuse_sentences(adaptation)
        by_line, text = self._of_sentences, _Reading(lines, self._coder)
        _, _, unk, bos, eos = self._coder.symbols
        nats = unknown_nats = sentence_nats = 0.0
        tokens = unknown = 0
        for ids_N, log_probs_N in (
            sentence_log_probs(self._model, text, bos, eos)
            if by_line
            else adapted_log_probs(self._model, text, eos, adaptation)
        ):
            nats -= float(log_probs_N.sum())
            unknown_nats -= float(log_probs_N[ids_N == unk].sum())
            again = () if by_line else sentence_log_probs(self._model, chain.from_iterable(text.take()), eos, eos)
            sentence_nats -= sum(float(more.sum()) for _, more in again)
            tokens, unknown = tokens + len(ids_N), unknown + int((ids_N == unk).sum())
            report(Progress("evaluate", tokens, 0, "tokens"))
        if not tokens:
            raise DataError("A language model can be measured on a text only, but there is no line: give a text.")
        sentence_nats = nats if by_line else sentence_nats
        return Prediction(nats, tokens, unknown, text.size, unknown_nats, sentence_nats, not by_line, str(adaptation))

    def score_lines(self, lines: abc.Sequence[str], *, report: Report = silent) -> list[LineScore]:
        """The score of every line by itself, in their order; its neighbours do not change a bit of it."""
        if isinstance(lines, str):
            raise TypeError("Several lines were expected, but one came: put it into a list, as in [line].")
        rows = [[*self._coder.encode(line), self._coder.symbols.eos] for line in lines]
        stepper, done = self._model.stepper(), 0
        nats = [0.0] * len(rows)
        for batch in _by_length(rows, stepper.bos):
            for number, found in zip(batch.numbers_B.tolist(), score(stepper, batch), strict=True):
                nats[number] = found.score
            done += len(batch.numbers_B)
            report(Progress("score", done, len(rows), "lines"))
        unknown = self._coder.symbols.unk
        return [
            LineScore(of_row / _LN_10, len(row), row.count(unknown)) for of_row, row in zip(nats, rows, strict=True)
        ]

    def score(self, sentence: str, bos: bool = True, eos: bool = True) -> float:
        """log10 p of a sentence; without ``bos`` it may stand anywhere, without ``eos`` it may go on."""
        return sum(word.log_prob for word in self.full_scores(sentence, bos, eos))

    def full_scores(self, sentence: str, bos: bool = True, eos: bool = True) -> Iterator[FullScore]:
        """The score of every word, and of ``</s>`` with ``eos``."""
        state, after = self.State(), self.State()
        (self.BeginSentenceWrite if bos else self.NullContextWrite)(state)
        for word in self._words(sentence):
            yield self._full_score(state, word, after)
            state, after = after, state
        if eos:
            yield self._full_score(state, [self._coder.symbols.eos], after)

    def perplexity(self, sentence: str) -> float:
        """10 to the mean -log10 p of a word, ``</s>`` among the words."""
        scores = [word.log_prob for word in self.full_scores(sentence)]
        return float(10 ** (-sum(scores) / len(scores)))

    @property
    def order(self) -> int:
        """How many words an n-gram of a count model has at most; 0 for a model that remembers everything."""
        return self._stepper().order

    def __contains__(self, word: str) -> bool:
        """Whether the model knows a word, or can spell it."""
        units = self._coder.encode(word)
        return bool(units) and self._coder.symbols.unk not in units

    State = Place

    def BeginSentenceWrite(self, state: Place) -> None:
        """Let ``state`` be the begin of a sentence."""
        stepper = self._stepper()
        _, before = stepper.start(_one_row([stepper.bos], []))
        step = stepper.advance(None, before, torch.tensor([stepper.bos]))
        state.become(Context(step.log_probs_NV[0], step.state, 1, False))

    def NullContextWrite(self, state: Place) -> None:
        """Let ``state`` be a place of which nothing is known; to a recurrent model, the begin of a sentence."""
        step = self._stepper().nothing()
        state.become(Context(step.log_probs_NV[0], step.state, 0, False))

    def BaseScore(self, before: Place, word: str, after: Place) -> float:
        """log10 p of ``word`` behind ``before``, and ``after`` becomes the state behind it; they may be one."""
        return self.BaseFullScore(before, word, after).log_prob

    def BaseFullScore(self, before: Place, word: str, after: Place) -> FullScore:
        """``BaseScore`` with all that is known of the word."""
        if word == "</s>":
            units = [self._coder.symbols.eos]
        elif before.context.inside:
            # as it stands behind another word: with the space between them, for units that have one
            units = self._coder.encode(f"a {word}")[len(self._coder.encode("a")) :]
        else:
            units = self._coder.encode(word)
        return self._full_score(before, units, after)

    def _full_score(self, before: Place, units: abc.Sequence[int], after: Place) -> FullScore:
        """The score of a word by its units, one step each."""
        stepper, context, nats, length = self._stepper(), before.context, 0.0, 0
        for unit in units:
            ids_N = torch.tensor([unit])
            nats += float(context.log_probs_V[unit])
            length = stepper.matched(context.state, ids_N, context.read)
            step = stepper.advance(None, context.state, ids_N)
            context = Context(step.log_probs_NV[0], step.state, context.read + 1, True)
        after.become(context)
        return FullScore(nats / _LN_10, length, self._coder.symbols.unk in units)

    def _stepper(self) -> TextStepper:
        return cast(TextStepper, self._model.stepper())

    def _refuse_sentences(self, adaptation: Adaptation) -> None:
        if self._of_sentences and not isinstance(adaptation, Static):
            raise ConfigError(
                "A neural cache and dynamic evaluation use the text behind a line, but a model of sentences begins "
                "every line anew: leave them out."
            )

    @property
    def _of_sentences(self) -> bool:
        """Whether the model begins every line anew; puts it into evaluation mode."""
        stepper = self._stepper()
        return stepper.bos != stepper.eos

    def _words(self, sentence: str) -> list[list[int]]:
        """The units of every word of a sentence, the space before it with it."""
        units, words = self._coder.encode(sentence), list[list[int]]()
        for unit, piece in zip(units, self._coder.pieces(units), strict=True):
            if not words or piece.startswith("\u2581"):
                words.append([])
            words[-1].append(unit)
        return words

    def _encode(self, prompt: str) -> list[int]:
        eos = self._coder.symbols.eos
        ids = [unit for line in prompt.split("\n") for unit in [eos, *self._coder.encode(line)]]
        return ids[1:]

    def _decode(self, ids: abc.Sequence[int]) -> str:
        lines: list[list[int]] = [[]]
        for unit in ids:
            if unit == self._coder.symbols.eos:
                lines.append([])
            else:
                lines[-1].append(unit)
        return "\n".join(self._coder.decode(line) for line in lines)


class _Aloud:
    """Tells a text as it grows, and never anything that is not sure to stay."""

    def __init__(
        self, decode: Callable[[abc.Sequence[int]], str], begin: abc.Sequence[int], heard: Callable[[str], None]
    ) -> None:
        self._decode, self._ids, self._heard = decode, list(begin), heard
        self._told = ""
        self._tell(decode(begin))

    def add(self, unit: int) -> None:
        """One more unit; bytes that are no character yet wait for the others."""
        self._ids.append(unit)
        text = self._decode(self._ids)
        if text.startswith(self._told) and not text.endswith("\N{REPLACEMENT CHARACTER}"):
            self._tell(text)

    def close(self, text: str) -> None:
        """The text as it is in the end; all of it on a new line where the end changed what was told."""
        if not text.startswith(self._told):
            self._heard("\n")
            self._told = ""
        self._tell(text)

    def _tell(self, text: str) -> None:
        if len(text) > len(self._told):
            self._heard(text[len(self._told) :])
            self._told = text


def _by_length(rows: abc.Sequence[abc.Sequence[int]], begin: int) -> LazyBatches:
    """Rows to be scored, each by itself, long ones with long ones."""
    places = np.array(sorted(range(len(rows)), key=lambda place: len(rows[place])), dtype=np.int64)

    def batch(numbers: np.ndarray) -> Batch:
        some = [rows[number] for number in numbers]
        ids_BT = torch.zeros(len(some), max(map(len, some)), dtype=torch.int64)
        for ids_T, row in zip(ids_BT, some, strict=True):
            ids_T[: len(row)] = torch.tensor(row)
        ones_B = torch.ones(len(some), dtype=torch.int64)
        return Batch(
            inputs=Sequence(torch.full((len(some), 1), begin), ones_B),
            targets=Sequence(ids_BT, torch.tensor([len(row) for row in some])),
            numbers_B=torch.from_numpy(numbers),
            continues_B=ones_B.bool().logical_not(),
        )

    return LazyBatches([places[first : first + _ROWS] for first in range(0, len(places), _ROWS)], batch)


class _Reading:
    """The units of a text line by line, each line closed by ``</s>``, which keeps what was read until it is taken."""

    def __init__(self, lines: Iterable[str], coder: TextCoder) -> None:
        self._lines = lines
        self._coder = coder
        self._rows: list[list[int]] = []
        self.size = TextSize(0, 0)

    def __iter__(self) -> Iterator[int]:
        for line in self._lines:
            more = text_size([line])
            self.size = TextSize(self.size.characters + more.characters, self.size.bytes + more.bytes)
            row = [*self._coder.encode(line), self._coder.symbols.eos]
            self._rows.append(row)
            yield from row

    def take(self) -> list[list[int]]:
        """The lines that were begun since the last time."""
        taken, self._rows = self._rows, []
        return taken


def _one_row(inputs: list[int], targets: list[int]) -> Batch:
    def row(ids: list[int]) -> Sequence:
        return Sequence(torch.tensor([ids], dtype=torch.int64), torch.tensor([len(ids)]))

    return Batch(row(inputs), row(targets) if targets else None, torch.tensor([0]), torch.tensor([False]))
