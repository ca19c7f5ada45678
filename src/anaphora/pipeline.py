"""Raw text in, raw text out: a trained network with its coders, a search and a decoder of ids.

    text -> ids -> batches -> model -> search -> ids -> text

What comes out for a text is a function of that text alone, to the last bit: batches hold sentences of one padded
width, and neither their order nor their size plays a part.
"""

from collections import abc
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, Self, cast

import numpy as np
import numpy.typing as npt
import torch

from anaphora.data.pairs import LazyBatches, search_batches
from anaphora.data.ragged import Ragged
from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.alignment import Links, hard_links, merge, spaced, words_of
from anaphora.evaluation.config import TranslationEvaluation
from anaphora.evaluation.perplexity import Prediction, TextSize, text_size
from anaphora.evaluation.stream import stream_loss
from anaphora.events import Progress, Report, silent
from anaphora.protocols import Batch, Model, Sequence
from anaphora.run import Which
from anaphora.run.loading import load_model
from anaphora.search.beam import beam as beam_search
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.sampling import sample
from anaphora.search.scoring import score
from anaphora.text.coder import TextCoder
from anaphora.text.sentences import Passage, Splitter

_BATCH_TOKENS = 2048
"""Source tokens that are searched side by side."""

_EVALUATION = TranslationEvaluation()


class Network(Model, Protocol):
    """A Model that is a torch module."""

    def eval(self) -> Any:
        """Turn off what only training does."""


def load(run: str | Path, which: Which = "best", *, report: Report = silent) -> "Translator | LanguageModel":
    """A checkpoint of a run folder, ready to use; RunError when there is none that is whole."""
    path = Path(run)
    model, coders, experiment = load_model(path, which, report)
    network = cast(Network, model)
    if experiment["task"] == "language-model":
        return LanguageModel(network, coders["text"])
    evaluation = TranslationEvaluation.parse(experiment.get("evaluation", {}), str(path / "experiment.toml"))
    return Translator(network, coders["source"], coders["target"], evaluation, _splitter(experiment))


def _splitter(experiment: Mapping[str, Any]) -> Splitter | None:
    """How running text is split for a run; None for one that takes lines whole."""
    if experiment.get("text", {}).get("sentences", "split") == "whole":
        return None
    data = experiment.get("data", {})
    return Splitter(str(data.get("source", "")), str(data.get("target", "")))


@dataclass(frozen=True)
class Translation:
    """A translation, and where the model looked as it wrote it."""

    text: str
    score: float
    """ln p of the translation given its source, ``</s>`` included."""
    finished: bool
    """Whether it was closed by ``</s>``, and not cut for its length."""
    source_pieces: tuple[str, ...]
    """What the source was cut into, ``</s>`` included."""
    target_pieces: tuple[str, ...]
    """What the translation was put together from, with ``</s>`` when it is finished."""
    weights: npt.NDArray[np.float32] | None = field(compare=False, repr=False)
    """Attention [target pieces, source pieces]; None for models without."""
    alternatives: tuple["Translation", ...] = ()
    """Other translations that the beam finished, best first, no text twice."""
    sentences: tuple["Translation", ...] = field(default=(), compare=False, repr=False)
    """The translations of its sentences, where the text was split into them; ``weights`` is None then."""

    def links(self) -> Links:
        """Links between the space-separated words of the source and the translation, by where it looked most."""
        links: set[tuple[int, int]] = set()
        sources = targets = 0
        for part in self.sentences or (self,):
            source, target = part._units()
            if part.weights is not None:
                found = hard_links(part.weights, len(source), len(target))
                links |= {(sources + i, targets + j) for i, j in found}
            sources, targets = sources + len(source), targets + len(target)
        source, target = self._units()
        return merge(links, words_of(source), words_of(target))

    def _units(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The pieces of both sides without ``</s>``."""
        return self.source_pieces[:-1], self.target_pieces[: len(self.target_pieces) - self.finished]

    @classmethod
    def joined(cls, text: str, parts: abc.Sequence["Translation"], gaps: abc.Sequence[tuple[str, str]]) -> Self:
        """The translation ``text`` that the translations of its sentences make, with no alternatives.

        ``gaps`` are what stands in front of every sentence but the first, in the source and in the translation.
        """
        pieces: tuple[list[str], list[str]] = ([], [])
        for part, spaces in zip(parts, (("", ""), *gaps), strict=True):
            for side, units, space in zip(pieces, part._units(), spaces, strict=True):
                side += spaced(units, bool(space)) if side else units
        finished = all(part.finished for part in parts)
        return cls(
            text=text,
            score=sum(part.score for part in parts),
            finished=finished,
            source_pieces=(*pieces[0], *parts[-1].source_pieces[-1:]),
            target_pieces=(*pieces[1], *(parts[-1].target_pieces[-1:] if finished else ())),
            weights=None,
            sentences=tuple(parts),
        )


class Translator:
    """Translates texts, and scores translations that are given."""

    def __init__(
        self,
        model: Network,
        source: TextCoder,
        target: TextCoder,
        evaluation: TranslationEvaluation = _EVALUATION,
        splitter: Splitter | None = None,
    ) -> None:
        """The network may go on being trained in between: it is read anew by every call.

        Searches are as ``evaluation`` says, the table of the run, unless a call asks otherwise. Running text is split
        into sentences by ``splitter``, or not at all.
        """
        self._splitter = splitter
        self._model = model
        self._source = source
        self._target = target
        self.evaluation = evaluation

    def translate(
        self,
        texts: abc.Sequence[str],
        *,
        beam: int | None = None,
        length_penalty: float | None = None,
        alternatives: int = 0,
        report: Report = silent,
    ) -> list[Translation]:
        """The translation of every text, in their order; an empty text has an empty one.

        ``beam`` and ``length_penalty`` are the run's own where they are None. With ``alternatives``, as many others as
        the beam finished besides, up to that number. Raises ConfigError for a beam below 1.
        """
        size = self.evaluation.beam if beam is None else beam
        penalty = self.evaluation.length_penalty if length_penalty is None else length_penalty
        stepper = self._model.stepper()
        rows = self._encode(texts)
        full = [place for place, row in enumerate(rows) if row]
        answers = [Translation("", 0.0, True, (), (), None)] * len(rows)
        done = len(rows) - len(full)
        for batch in self._batches([rows[place] for place in full]):
            found = beam_search(
                stepper,
                batch,
                size=size,
                max_length=[longest(length - 1) for length in batch.inputs.lengths_B.tolist()],
                length_penalty=penalty,
            )
            for number, hypotheses in zip(batch.numbers_B.tolist(), found, strict=True):
                answers[full[number]] = self._answer(rows[full[number]], hypotheses, alternatives)
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
        report: Report = silent,
    ) -> list[Translation]:
        """The translation of running text: ``translate`` of every sentence, with the white space around them as it was.

        The alternatives of a text are those with another translation of one sentence, the best first. Where the run
        takes lines whole (text.sentences), a text is one sentence.
        """
        _demand_several(texts)
        split = self._splitter.split if self._splitter else Passage.whole
        passages = [split(text) for text in texts]
        every = [sentence for passage in passages for sentence in passage.sentences]
        found = iter(
            self.translate(every, beam=beam, length_penalty=length_penalty, alternatives=alternatives, report=report)
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

        Raises DataError for unequal counts.
        """
        if len(sources) != len(targets):
            raise DataError(
                f"Sources and translations should be equally many, but there are {len(sources):,} sources and "
                f"{len(targets):,} translations: give both sides of the same pairs."
            )
        stepper = self._model.stepper()
        rows = self._encode(sources)
        answers: dict[int, Translation] = {}
        for batch in self._batches(rows, [self._target.encode(text) for text in targets]):
            found = score(stepper, batch)
            for number, hypothesis in zip(batch.numbers_B.tolist(), found, strict=True):
                answers[number] = self._translation(targets[number], rows[number], hypothesis)
            report(Progress("score", len(answers), len(rows), "pairs"))
        return [answers[number] for number in range(len(rows))]

    def _encode(self, texts: abc.Sequence[str]) -> list[list[int]]:
        _demand_several(texts)
        return [self._source.encode(text) for text in texts]

    def _batches(self, sources: list[list[int]], targets: list[list[int]] | None = None) -> LazyBatches:
        return search_batches(
            Ragged.of(sources),
            self._source.symbols,
            batch_tokens=_BATCH_TOKENS,
            targets=None if targets is None else Ragged.of(targets),
            target=self._target.symbols,
        )

    def _answer(self, row: list[int], hypotheses: list[Hypothesis], alternatives: int) -> Translation:
        by_text: dict[str, Hypothesis] = {}
        for hypothesis in hypotheses:
            by_text.setdefault(self._target.decode(hypothesis.ids), hypothesis)
        (text, best), *others = by_text.items()
        return self._translation(
            text,
            row,
            best,
            tuple(self._translation(text, row, other) for text, other in others[: max(0, alternatives)]),
        )

    def _translation(
        self, text: str, row: list[int], hypothesis: Hypothesis, alternatives: tuple[Translation, ...] = ()
    ) -> Translation:
        end = [self._target.symbols.eos] if hypothesis.finished else []
        return Translation(
            text=text,
            score=hypothesis.score,
            finished=hypothesis.finished,
            source_pieces=tuple(self._source.pieces([*row, self._source.symbols.eos])),
            target_pieces=tuple(self._target.pieces([*hypothesis.ids, *end])),
            weights=None if hypothesis.weights is None else hypothesis.weights.numpy(),
            alternatives=alternatives,
        )


def _demand_several(texts: abc.Sequence[str]) -> None:
    if isinstance(texts, str):
        raise TypeError("Several texts were expected, but one came: put it into a list, as in [text].")


def longest(units: int) -> int:
    """How many symbols a translation of ``units`` may take, ``</s>`` included: far more than it ever should."""
    return min(3 * units + 10, 2 * units + 200)


@dataclass(frozen=True)
class Generation:
    """A text that a language model wrote."""

    text: str
    """The prompt as the model read it, and what it went on with."""
    score: float
    """ln p of all of it, the prompt included, and of the line end when it is finished."""
    finished: bool
    """Whether the model ended the line, and was not cut at the given length."""


class LanguageModel:
    """Continues texts, and measures how well it predicts them. A line end is ``</s>`` to it."""

    def __init__(self, model: Network, coder: TextCoder) -> None:
        """The network may go on being trained in between: it is read anew by every call."""
        self._model = model
        self._coder = coder

    def generate(
        self, prompt: str = "", *, length: int = 200, beam: int = 0, temperature: float = 1.0, seed: int = 0
    ) -> Generation:
        """Go on from ``prompt`` to the end of the line, or for ``length`` units.

        A ``beam`` of 0 draws at the given temperature and seed, 1 takes the likeliest unit every time, more search for
        the likeliest line. Raises ConfigError for a length below 1, a negative beam or a temperature not above 0.
        """
        if length < 1:
            raise ConfigError(f"A text should go on for a length of at least 1 unit, but {length} was given: raise it.")
        stepper = self._model.stepper()
        begin = self._encode(prompt)
        batch = _one_row([stepper.bos], begin)
        if beam:
            [[found, *_]] = beam_search(stepper, batch, size=beam, max_length=len(begin) + length)
        else:
            [found] = sample(stepper, batch, max_length=len(begin) + length, temperature=temperature, seed=seed)
        return Generation(self._decode(found.ids), found.score, found.finished)

    def evaluate(self, lines: Iterable[str], *, report: Report = silent) -> Prediction:
        """How well the model predicts lines of running text, in one pass with the state carried from line to line.

        Every unit counts, and the ``</s>`` of every line; in front of the first, ``</s>`` stands for ``<s>``. Raises
        DataError for a text without lines.
        """
        self._model.eval()
        text = _Reading(lines, self._coder)
        nats, tokens = stream_loss(
            self._model, text, self._coder.symbols.eos, lambda done: report(Progress("evaluate", done, 0, "tokens"))
        )
        if not tokens:
            raise DataError("A language model can be measured on a text only, but there is no line: give a text.")
        return Prediction(nats, tokens, text.unknown, text.size)

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


class _Reading:
    """The units of a text line by line, each line closed by ``</s>``; counts what was read so far."""

    def __init__(self, lines: Iterable[str], coder: TextCoder) -> None:
        self._lines = lines
        self._coder = coder
        self.size = TextSize(0, 0)
        self.unknown = 0

    def __iter__(self) -> Iterator[int]:
        for line in self._lines:
            more = text_size([line])
            self.size = TextSize(self.size.characters + more.characters, self.size.bytes + more.bytes)
            units = self._coder.encode(line)
            self.unknown += units.count(self._coder.symbols.unk)
            yield from units
            yield self._coder.symbols.eos


def _one_row(inputs: list[int], targets: list[int]) -> Batch:
    def row(ids: list[int]) -> Sequence:
        return Sequence(torch.tensor([ids], dtype=torch.int64), torch.tensor([len(ids)]))

    return Batch(row(inputs), row(targets) if targets else None, torch.tensor([0]), torch.tensor([False]))
