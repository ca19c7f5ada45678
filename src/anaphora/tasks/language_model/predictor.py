"""Texts continued, scored, and measured."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from anaphora.batch import Batch, pad
from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.adaptation import Adaptation, adapted_log_probs, fitted_adaptation
from anaphora.evaluation.perplexity import LineSums, Prediction
from anaphora.evaluation.segments import counts
from anaphora.evaluation.sentences import sentence_log_probs
from anaphora.events import Progress, Report, silent
from anaphora.kernels.runtime import running
from anaphora.options import with_known_names
from anaphora.prediction.arguments import demand_several, demand_short, demand_text, one_text
from anaphora.prediction.examples import Example, Search
from anaphora.prediction.limits import UNLIMITED, Count, Limits, Watch
from anaphora.prediction.runtime import iterate_within
from anaphora.prediction.stream import answers
from anaphora.protocols import TextStepper
from anaphora.search.request import SearchRequest
from anaphora.search.sampling import Sampling, SamplingKeywords
from anaphora.search.search import search
from anaphora.tasks.language_model.arpa import load_arpa
from anaphora.tasks.language_model.generation import Generation, StreamedText, check_lines, continue_prompt
from anaphora.tasks.language_model.scores import STATIC, Reading, TextScores, prompt_batch
from anaphora.text.special_tokens import without_special_tokens
from anaphora.text.tokenizer import MARKS, Tokenizer

_LINE = 200
"""Tokens of a line at most, where nothing else is asked for."""

_BESIDE = 64
"""Hypotheses that are written side by side."""

_LONGEST = 65_536
"""Tokens of a text that is looked into."""


class InspectedLanguageModel(TextScores):
    """Texts as a language model reads and continues them."""

    def example(self, text: str, target: str | None = None) -> Example:
        """A text, of several lines for a model of running text; each token is the target of the one before it."""
        if target is not None:
            raise ConfigError("A language model predicts the text that it reads, but a target was given: leave it out.")
        ids, stepper = self._readable(text), self._stepper()
        batch = Batch.of_rows([0], pad([[stepper.bos, *ids]]), pad([[*ids, stepper.eos]]))
        pieces = tuple(self._tokenizer.pieces(ids))
        return Example(batch, {"recurrence": (MARKS[stepper.bos], *pieces)}, (*pieces, MARKS[stepper.eos]))

    def search_for(self, text: str) -> Search:
        """Return the search for the rest of a line."""
        ids, model = self._readable(text), self._stepper()
        request = SearchRequest(max_length=len(ids) + _LINE, banned_tokens=self._tokenizer.symbols.unwritten)
        return Search(model, prompt_batch(model.bos, [ids], [0]), len(ids), request, self._tokenizer.pieces)

    def _encode(self, text: str) -> list[int]:
        """Return the tokens of a text, its line ends among them."""
        eos = self._tokenizer.symbols.eos
        return [token for line in text.split("\n") for token in [eos, *self._tokenizer.encode(line)]][1:]

    def _readable(self, text: str) -> list[int]:
        """Return the same of a text that can be looked into; DataError for others."""
        if "\n" in one_text(text) and self._of_sentences:
            raise DataError("A model of sentences reads one line at a time, but the text has several: give one.")
        ids = self._encode(text)
        demand_short(ids, _LONGEST, 1, "give a part of it")
        return ids


class LanguageModelPredictor(InspectedLanguageModel):
    """Continues texts, scores them, and measures how well it predicts them. A line end is ``</s>`` to it.

    >>> model = anaphora.load("runs/book", kind=anaphora.LanguageModelPredictor)
    >>> round(model.score("line 3 of the little book"), 1), round(model.perplexity("line 3 of the little book"))
    (-1.8, 2)
    >>> [(round(word.log_prob, 1), word.oov) for word in model.full_scores("a line")]
    [(-3.6, True), (-1.9, False), (-2.2, False)]
    >>> [round(line.log10, 1) for line in model.score_lines(["line 3 of the little book"])]
    [-1.8]
    >>> [round(line.log10, 1) for line in model.score_stream(["line 3 of the little book", "a line"])]
    [-1.8, -7.7]

    A list of hypotheses of another program, with a score more:

    >>> from anaphora.formats.nbest import FORMATS
    >>> nbest = ["0 ||| line 3 of the book ||| TM= -1 ||| -1"]
    >>> [one.line for one in model.rescore_stream(nbest, FORMATS["moses"], feature="LM0", where="list")]
    ['0 ||| line 3 of the book ||| TM= -1 LM0= -12.973241 ||| -1']

    Words one by one, by the methods of KenLM:

    >>> model.BeginSentenceWrite(begin := model.State())
    >>> round(model.BaseScore(begin, "line", after := model.State()), 2)
    -0.02
    >>> model.BaseFullScore(after, "zebra", model.State()).oov
    True
    >>> model.NullContextWrite(begin)
    """

    noun = "a language model"

    def stepper_over(self, tokenizer: Tokenizer) -> TextStepper:
        """Return the model one symbol at a time, over text of ``tokenizer``; ConfigError where its own is another."""
        if tokenizer.fingerprint != self._tokenizer.fingerprint:
            raise ConfigError(
                f"Fusion needs a language model of the target vocabulary ({tokenizer.symbols.size:,} tokens), "
                f"but this one has another ({self._tokenizer.symbols.size:,}): train it from the translator's alone "
                f"(start.vocabulary = 'only')."
            )
        return self._stepper()

    @with_known_names
    def generate(
        self,
        prompt: str = "",
        *,
        length: int | None = None,
        lines: int | None = None,
        beam: int = 0,
        on_text: Callable[[str], None] | None = None,
        limits: Limits = UNLIMITED,
        **sampling: Unpack[SamplingKeywords],
    ) -> Generation:
        """Continue ``prompt`` to the end of its line; or for ``length`` tokens, line ends among them, or ``lines``.

        Where both are given, whichever is reached first; a line that has no end is cut after 200 tokens. A model of
        sentences begins every further line from nothing. A ``beam`` of 0 draws at the given temperature and seed, from
        the ``top_k`` most probable tokens (0: all) and from the most probable ones of total probability ``top_p``; 1
        takes the most probable token every time, more is the size of a beam search. ``on_text`` is called with each
        piece of the text as it is written, or once with what a beam found.

        Raises ConfigError for a length or lines below 1, prompts of several lines that a model of sentences
        cannot continue, several lines of a beam, and what ``search.search`` refuses; StoppedError
        as ``limits`` say; TypeError for what is no text.

        >>> model.generate("line 3", beam=1).text
        'line 3 of the little book'
        """
        if lines is None and (length is None or beam > 1):
            lines = 1
        request, prompt = self._request(beam, Sampling(**sampling), lines), one_text(prompt)
        check_lines(request)  # before the prompt is shown
        left = _LINE * (lines or 1) if length is None else length
        begin = self._begin(prompt, left, lines)
        decode = continue_prompt(prompt, begin, self._decode)
        streamed = StreamedText(decode, begin, on_text, self._tokenizer.symbols.eos) if on_text else None
        stepper, watch = self._model.stepper(), limits.start()
        ids, score, prefix = list[int](), 0.0, begin
        at_once = 1 if self._of_sentences else lines
        on_token = streamed.add if streamed and beam < 2 else None
        for number in count():
            batch = prompt_batch(stepper.bos, [prefix], [number])
            own = replace(request, max_length=[len(prefix) + left], lines=at_once, on_token=on_token, check=watch.check)
            with running(self._runtime):
                [[found]] = search(stepper, batch, own)
            ids, score = [*ids, *found.ids], score + found.score
            left -= len(found.ids) - len(prefix) + found.finished
            if not found.finished or left < 1 or at_once == lines or number + 1 == lines:
                break
            ids, prefix = [*ids, stepper.eos], []
        text = decode(ids)
        if streamed:
            streamed.close(text)
        return Generation(text, score, found.finished, begin.count(stepper.unk))

    @with_known_names
    def generate_stream(
        self,
        prompts: Iterable[str],
        *,
        length: int = _LINE,
        beam: int = 0,
        limits: Limits = UNLIMITED,
        report: Report = silent,
        **sampling: Unpack[SamplingKeywords],
    ) -> Iterator[Generation]:
        """Prompts continued as they come, in order, each to the end of its line, for ``length`` tokens at most.

        No more than a window of them is held (``prediction.stream``), and a line end in a prompt does not end it.
        Draws depend on the seed and on the number of the prompt in the stream: the first is continued as ``generate``
        continues it. Raises as ``generate``, for one of the prompts after those before it.

        >>> for written in model.generate_stream(["line 3", "line 4"], beam=1):
        ...     print(written.text)
        line 3 of the little book
        line 4 of the little book
        """
        request = self._request(beam, Sampling(**sampling))
        check_lines(request)
        beside = max(1, _BESIDE // max(1, beam))

        def read(prompt: str, number: int) -> tuple[int, list[int], str]:
            demand_text(prompt, number)
            return number, self._begin(prompt, length), prompt

        def answer(rows: Sequence[tuple[int, list[int], str]], watch: Watch, answered: Count) -> Iterable[Generation]:
            stepper, found = self._model.stepper(), dict[int, Generation]()
            by_length = sorted(rows, key=lambda row: len(row[1]))
            for start in range(0, len(rows), beside):
                numbers, begins, texts = zip(*by_length[start : start + beside], strict=True)
                batch = prompt_batch(stepper.bos, begins, [number - 1 for number in numbers])
                lengths = [len(begin) + length for begin in begins]
                written = search(stepper, batch, replace(request, max_length=lengths, check=watch.check))
                for number, begin, prompt, [one] in zip(numbers, begins, texts, written, strict=True):
                    text = continue_prompt(prompt, begin, self._decode)(one.ids)
                    found[number] = Generation(text, one.score, one.finished, begin.count(stepper.unk))
                answered(len(found))
            return (found[number] for number, _, _ in rows)

        return answers(
            prompts, read, answer, task="generate", unit="prompts", runtime=self._runtime, limits=limits, report=report
        )

    def _request(self, beam: int, sampling: Sampling, lines: int | None = 1) -> SearchRequest:
        """Return the request of a beam of this size, or of samples for 0."""
        return SearchRequest(
            max_length=1,
            beam=beam,
            sampling=None if beam else sampling,
            banned_tokens=self._tokenizer.symbols.unwritten,
            lines=lines,
        )

    def _begin(self, prompt: str, length: int, lines: int | None = None) -> list[int]:
        """Return the tokens of a text that can be continued for ``length`` tokens; errors as for ``generate``.

        Special tokens at the ends of its lines are not read, as in training text.
        """
        if length < 1 or (lines is not None and lines < 1):
            raise ConfigError(
                f"A text should be continued for at least 1 token and 1 line, not {length} and {lines}: raise them."
            )
        if "\n" in prompt and self._of_sentences:
            raise ConfigError(
                "A model of sentences reads each line by itself, but the prompt has several lines: give one."
            )
        return self._encode("\n".join(map(without_special_tokens, prompt.split("\n"))))

    def adapt(self, adaptation: Adaptation, lines: Iterable[str], trained_on: Iterable[str] = ()) -> Adaptation:
        """``adaptation`` with the numbers under which ``lines`` are most probable, where they are not given.

        ``trained_on`` is the text of the training, which dynamic evaluation by the rule "rms" alone looks at. Raises
        ConfigError for a model that cannot adapt so, DataError for too little text.

        >>> from anaphora.evaluation.adaptation import NeuralCache
        >>> network = anaphora.load("runs/network")
        >>> cache = network.adapt(NeuralCache(tokens=20), ["the old man sees a cat .", "the cat sees a book ."])
        >>> print(cache)
        neural cache of 20 tokens, theta 0.05, weight 0.4461
        """
        demand_several(lines)
        self.check(adaptation)
        tokens, seen = (chain.from_iterable(map(self._line, some)) for some in (lines, trained_on))
        with running(self._runtime):
            return fitted_adaptation(self._model, tokens, seen, self._tokenizer.symbols.eos, adaptation)

    def evaluate(self, lines: Iterable[str], adaptation: Adaptation = STATIC, *, report: Report = silent) -> Prediction:
        """Evaluate the model on lines of running text.

        They are read in one pass, the state carried from line to line, and each by itself; by a model of sentences in
        the second way alone. Every token counts, and the ``</s>`` of every line; in front of the first, ``</s>`` stands
        for ``<s>``. With an ``adaptation``, the pass also remembers or learns from what it has read, which single
        lines have no use for.

        Raises DataError for a text without lines, ConfigError for a model that cannot adapt so.

        >>> measured = model.evaluate(["line 3 of the little book", "line 4 of the little book"])
        >>> measured.tokens, round(measured.bits_per_character, 1)
        (14, 0.2)
        """
        demand_several(lines)
        self.check(adaptation)
        by_line, text = self._of_sentences, Reading(lines, self._tokenizer)
        _, _, unk, bos, eos = self._tokenizer.symbols
        of_lines, of_sentences = LineSums(eos), LineSums(eos)
        tokens = 0
        read = adapted_log_probs(self._model, text, eos, adaptation)
        if by_line:
            read = sentence_log_probs(self._model, text, bos, eos)
        for ids_N, log_probs_N in iterate_within(self._runtime, read):
            unknown_N, nats_N = ids_N == unk, -log_probs_N
            numbers = nats_N, np.where(unknown_N, nats_N, 0.0), np.ones(len(ids_N)), unknown_N
            of_lines.add(ids_N, counts(numbers))
            again = () if by_line else sentence_log_probs(self._model, chain.from_iterable(text.take()), eos, eos)
            for more_N, more_log_probs_N in iterate_within(self._runtime, again):
                of_sentences.add(more_N, counts([-more_log_probs_N]))
            tokens += len(ids_N)
            report(Progress("evaluate", tokens, 0, "tokens"))
        if not tokens:
            raise DataError("A language model can be measured on a text only, but there is no line: give a text.")
        lines_L4 = of_lines.lines()
        sentences_L1 = lines_L4[:, :1] if by_line else of_sentences.lines()
        by_line_L8 = np.concatenate([lines_L4, sentences_L1, text.sizes()], axis=1)
        nats, unknown_nats, _, unknown, sentence_nats, *_ = by_line_L8.sum(0).tolist()
        return Prediction(
            nats=nats,
            tokens=tokens,
            unknown=int(unknown),
            size=text.size,
            known_size=text.known_size,
            unknown_nats=unknown_nats,
            sentence_nats=sentence_nats,
            carried=not by_line,
            adaptation=str(adaptation),
            by_line=by_line_L8,
        )

    def _decode(self, ids: Sequence[int]) -> str:
        lines: list[list[int]] = [[]]
        for token in ids:
            if token == self._tokenizer.symbols.eos:
                lines.append([])
            else:
                lines[-1].append(token)
        return "\n".join(self._tokenizer.decode(line) for line in lines)


def make_predictor(trained: Any) -> LanguageModelPredictor:
    """Return the predictor of a ``TrainedModel``."""
    return LanguageModelPredictor(trained.model, trained.tokenizers["text"], trained.path, trained.runtime)


def open_file(path: Path) -> LanguageModelPredictor:
    """Return the predictor of an ARPA file; errors as for ``load_arpa``."""
    return LanguageModelPredictor(*load_arpa(path), path)
