"""Texts continued, scored, and measured."""

import math
from collections import abc, deque
from collections.abc import Callable, Iterable
from itertools import chain

from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.adaptation import Adaptation, Static, adapted_log_probs, fitted_adaptation, network_of
from anaphora.evaluation.perplexity import Prediction
from anaphora.evaluation.sentences import UNITS, line_log_probs, sentence_log_probs
from anaphora.events import Progress, Report, silent
from anaphora.formats.figures import LN_10
from anaphora.kernels.runtime import running
from anaphora.prediction.arguments import demand_several, demand_short, demand_texts, one_text
from anaphora.prediction.running import each_within
from anaphora.prediction.scores import LineScore
from anaphora.prediction.stream import windows
from anaphora.protocols import TextStepper
from anaphora.search.beam import beam as beam_search
from anaphora.search.beam import check_size
from anaphora.search.greedy import greedy
from anaphora.search.sampling import check_sampling, sample
from anaphora.search.without import Without
from anaphora.tasks.language_model.generation import Generation, StreamedText
from anaphora.tasks.language_model.lines import Reading, one_row
from anaphora.tasks.language_model.word_scores import WordScores
from anaphora.text.coder import TextCoder

_STATIC = Static()


class LanguageModelPredictor(WordScores):
    """Continues texts, scores them, and measures how well it predicts them. A line end is ``</s>`` to it."""

    def stepper_over(self, coder: TextCoder) -> TextStepper:
        """The model one symbol at a time, over text that ``coder`` cuts; ConfigError where its own cuts otherwise."""
        if coder.fingerprint != self._coder.fingerprint:
            raise ConfigError(
                f"Fusion needs a language model of the translator's target vocabulary ({coder.symbols.size:,} units), "
                f"but this one has another ({self._coder.symbols.size:,}): train it from the translator's alone "
                f"(start.vocabulary = 'only')."
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
        on_text: Callable[[str], None] = lambda text: None,
    ) -> Generation:
        """Go on from ``prompt`` to the end of the line, or for ``length`` units.

        A ``beam`` of 0 draws at the given temperature and seed, from the ``top_k`` likeliest units (0: from all) and
        from the likeliest that make up the share ``top_p``; 1 takes the likeliest unit every time, more search for the
        likeliest line. ``on_text`` is called with each piece of the text as it is written, or once with what a beam
        found.

        Raises ConfigError for a length below 1, lines that a model of sentences cannot go on from, and what
        ``search.beam`` or ``search.sampling`` refuse; TypeError for what is no text.
        """
        prompt = self._prompt(prompt, length)
        if beam:  # before the prompt is shown
            check_size(beam)
        else:
            check_sampling(temperature, top_k, top_p, seed)
        stepper = Without.special_tokens(self._model.stepper(), self._coder.symbols)
        begin = self._encode(prompt)
        batch = one_row([stepper.bos], begin)
        streamed = StreamedText(self._decode, begin, on_text)
        room = len(begin) + length

        def on_unit(number: int, unit: int) -> None:
            if unit != stepper.eos:
                streamed.add(unit)

        with running(self._runtime):
            if beam == 1:
                [found] = greedy(stepper, batch, max_length=room, on_token=on_unit)
            elif beam:
                [[found, *_]] = beam_search(stepper, batch, size=beam, max_length=room)
            else:
                [found] = sample(
                    stepper,
                    batch,
                    max_length=room,
                    temperature=temperature,
                    top_k=top_k,
                    top_p=top_p,
                    seed=seed,
                    on_token=on_unit,
                )
        text = self._decode(found.ids)
        streamed.close(text)
        return Generation(text, found.score, found.finished, begin.count(stepper.unk))

    def _prompt(self, prompt: str, length: int) -> str:
        """A text that can be gone on with for ``length`` units; errors as for ``generate``."""
        text = one_text(prompt)
        if length < 1:
            raise ConfigError(f"A text should go on for a length of at least 1 unit, but {length} was given: raise it.")
        if "\n" in text and self._of_sentences:
            raise ConfigError(
                "A model of sentences knows nothing of the line before, but a prompt of several was given: give one."
            )
        return text

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

    def adapted(self, adaptation: Adaptation, lines: Iterable[str], trained_on: Iterable[str] = ()) -> Adaptation:
        """``adaptation`` with the numbers under which ``lines`` are likeliest, where they are not given.

        ``trained_on`` is the text of the training, which dynamic evaluation by the rule "rms" alone looks at. Raises
        ConfigError for a model that cannot adapt so, DataError for too little text.
        """
        demand_several(lines)
        self.check(adaptation)
        units, seen = (chain.from_iterable(map(self._line, some)) for some in (lines, trained_on))
        with running(self._runtime):
            return fitted_adaptation(self._model, units, seen, self._coder.symbols.eos, adaptation)

    def evaluate(
        self, lines: Iterable[str], adaptation: Adaptation = _STATIC, *, report: Report = silent
    ) -> Prediction:
        """How well the model predicts lines of running text.

        They are read in one pass, the state carried from line to line, and each by itself; by a model of sentences in
        the second way alone. Every unit counts, and the ``</s>`` of every line; in front of the first, ``</s>`` stands
        for ``<s>``. With an ``adaptation``, the pass also remembers or learns from what it has read, which single
        lines have no use for.

        Raises DataError for a text without lines, ConfigError for a model that cannot adapt so.
        """
        demand_several(lines)
        self.check(adaptation)
        by_line, text = self._of_sentences, Reading(lines, self._coder)
        _, _, unk, bos, eos = self._coder.symbols
        nats = unknown_nats = sentence_nats = 0.0
        tokens = unknown = 0
        read = (
            sentence_log_probs(self._model, text, bos, eos)
            if by_line
            else adapted_log_probs(self._model, text, eos, adaptation)
        )
        for ids_N, log_probs_N in each_within(self._runtime, read):
            nats -= float(log_probs_N.sum())
            unknown_nats -= float(log_probs_N[ids_N == unk].sum())
            again = () if by_line else sentence_log_probs(self._model, chain.from_iterable(text.take()), eos, eos)
            sentence_nats -= sum(float(more.sum()) for _, more in each_within(self._runtime, again))
            tokens, unknown = tokens + len(ids_N), unknown + int((ids_N == unk).sum())
            report(Progress("evaluate", tokens, 0, "tokens"))
        if not tokens:
            raise DataError("A language model can be measured on a text only, but there is no line: give a text.")
        sentence_nats = nats if by_line else sentence_nats
        return Prediction(
            nats=nats,
            tokens=tokens,
            unknown=unknown,
            size=text.size,
            known_size=text.known_size,
            unknown_nats=unknown_nats,
            sentence_nats=sentence_nats,
            carried=not by_line,
            adaptation=str(adaptation),
        )

    def score_lines(
        self, lines: abc.Sequence[str], adaptation: Adaptation = _STATIC, *, report: Report = silent
    ) -> list[LineScore]:
        """The score of every line, each read by itself; with an ``adaptation`` in their order, one after the other.

        Raises as ``score_stream``, and TypeError for one text alone or what is none.
        """
        demand_texts(lines)
        return list(self.score_stream(lines, adaptation, report=report))

    def score_lines_of(self, lines: abc.Iterable[str], where: str, report: Report = silent) -> abc.Iterator[LineScore]:
        """The scores of the lines of a file."""
        return self.score_stream(lines, report=report)

    def score_stream(
        self, lines: abc.Iterable[str], adaptation: Adaptation = _STATIC, *, report: Report = silent
    ) -> abc.Iterator[LineScore]:
        """The scores of lines as they come, in order; no more than a window of lines is held (``prediction.stream``).

        Raises DataError for a line too long to be read by itself, with its number, ConfigError for a model that cannot
        adapt so.
        """
        self.check(adaptation)
        total, unknown = len(lines) if isinstance(lines, abc.Sized) else 0, self._coder.symbols.unk
        alone = isinstance(adaptation, Static)
        found = self._alone(lines) if alone else self._one_after_another(lines, adaptation)
        for done, (row, nats) in enumerate(each_within(self._runtime, found), 1):
            yield LineScore(nats / LN_10, len(row), row.count(unknown))
            report(Progress("score", done, total, "lines"))

    def _alone(self, lines: abc.Iterable[str]) -> abc.Iterator[tuple[list[int], float]]:
        """The units of every line and their ln p, nothing before them."""
        first = 1
        begin = self._stepper().bos  # a stepper also puts the model into evaluation mode
        for window in windows(lines):
            rows = [self._line(line) for line in window]
            demand_short(rows, UNITS, "split it, or measure it as running text (anaphora evaluate)", first)
            nats = [0.0] * len(rows)
            for places, log_probs in line_log_probs(self._model, rows, begin):
                for place, log_probs_T in zip(places, log_probs, strict=True):
                    nats[place] = math.fsum(log_probs_T.tolist())
            yield from zip(rows, nats, strict=True)
            first += len(rows)

    def _one_after_another(
        self, lines: abc.Iterable[str], adaptation: Adaptation
    ) -> abc.Iterator[tuple[list[int], float]]:
        """The units of every line and their ln p after the lines before."""
        rows, found = deque[list[int]](), deque[float]()

        def units() -> abc.Iterator[int]:
            for line in lines:
                rows.append(self._line(line))
                yield from rows[-1]

        for _, log_probs_N in adapted_log_probs(self._model, units(), self._coder.symbols.eos, adaptation):
            found.extend(log_probs_N.tolist())
            while rows and len(found) >= len(rows[0]):
                row = rows.popleft()
                yield row, math.fsum(found.popleft() for _ in row)

    def _line(self, line: str) -> list[int]:
        """The units of a line, and its end."""
        return [*self._coder.encode(line), self._coder.symbols.eos]

    @property
    def _of_sentences(self) -> bool:
        """Whether the model begins every line from nothing; puts it into evaluation mode."""
        stepper = self._stepper()
        return stepper.bos != stepper.eos

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
