"""The training data whose states are nearest to those of a text: where a model learnt its tokens.

The state of a token is the vector that the output layer predicts it from, as in nearest-neighbour language models
(Khandelwal et al. 2020, section 2) and machine translation (2021, section 2). The index is a table of all states of the
training split in the run folder, in half precision; it is searched from end to end, so that what is found is exact.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from anaphora.batch import Batch
from anaphora.data.columns import Bound, Column, Integers, Table, Writer
from anaphora.data.example_store import ExampleStore
from anaphora.data.pairs import scored_batches
from anaphora.data.running_text import TextSentences, TextWindows, encoded_text
from anaphora.errors import AnaphoraError, ConfigError, DataError
from anaphora.evaluation.alignment import words_of
from anaphora.events import Note, Report, silent
from anaphora.files import sha256
from anaphora.inspection.labels import labels
from anaphora.inspection.result import Result
from anaphora.inspection.subject import Subject, demand_page
from anaphora.kernels.runtime import running
from anaphora.models.encoder_decoder import EncoderDecoder
from anaphora.models.language_model import LanguageModel
from anaphora.prediction.examples import GivesExamples
from anaphora.protocols import Array, Carry
from anaphora.run import Run
from anaphora.run.weights import serialise, tensors_of
from anaphora.tasks.language_model.training import LanguageModelJob
from anaphora.tasks.registry import task_of
from anaphora.tasks.training_job import TRAIN
from anaphora.tasks.translation.training import TranslatorJob
from anaphora.text.tokenizer import EOS, MARKS, Tokenizer
from anaphora.wording import inflect

INDEX = Path("encoded") / "states"
"""Place of the states in a run's folder; like what lies beside them, it can be removed and is then made again."""

_HALF = np.dtype("<f2")
_BLOCK = 1 << 15
"""States that are compared at once."""
_END = (MARKS[EOS],)
_CONTEXT = 4
"""Tokens that a text shows on either side of a neighbour."""
_BATCH_TOKENS = 8000
_STEPS = 64
"""Tokens of a window of running text."""


@dataclass(frozen=True)
class Neighbour:
    """A token of a training pair, or of a line that a language model was trained on."""

    pair: int
    """The number of its pair or line in the training split, from 1."""
    source: str
    """Source of the pair; empty for language models."""
    target_pieces: tuple[str, ...]
    place: int
    """Place of the token in ``target_pieces``, from 0."""
    distance: float
    """Euclidean, between its state and that of the output token."""

    @property
    def context(self) -> str:
        """The token in brackets, and what stands around it."""
        shown = labels(self.target_pieces)
        shown[self.place] = f"[{shown[self.place]}]"
        low, high = max(0, self.place - _CONTEXT), self.place + _CONTEXT + 1
        return " ".join([*(["\u2026"] if low else []), *shown[low:high], *(["\u2026"] if high < len(shown) else [])])


@dataclass(frozen=True)
class TrainingNeighbours(Result):
    """The tokens of the training split that are nearest to each token of one output."""

    run: str
    text: str
    outputs: tuple[str, ...]
    nearest: tuple[tuple[Neighbour, ...], ...]
    """Neighbours of each of them, the nearest first."""

    def by_word(self, most: int) -> list[list[Neighbour]]:
        """Return at most ``most`` neighbours of the tokens of each word between spaces: nearest first, a pair once."""
        tokens = self.outputs[:-1] if self.outputs[-1:] == _END else self.outputs
        words = words_of(tokens)
        found: list[dict[int, Neighbour]] = [{} for word in {*words} - {None}]
        pairs = [(one, word) for word, own in zip(words, self.nearest, strict=False) for one in own]
        for one, word in sorted(pairs, key=lambda pair: pair[0].distance):
            if word is not None:
                found[word].setdefault(one.pair, one)
        return [list(own.values())[:most] for own in found]

    def lines(self) -> Iterator[str]:
        yield f"{self.run}: {self.text}"
        for token, own in zip(labels(self.outputs), self.nearest, strict=True):
            yield f"  {token}"
            for one in own:
                read = f"   <- {one.source}" if one.source else ""
                yield f"    {one.distance:7.3f}  {one.pair:>9,}  {one.context}{read}"


Row = tuple[int, str, tuple[str, ...]]
"""A training pair, or a line: number, from 1, source and tokens that were predicted, as ``Neighbour`` has them."""

Confirm = Callable[[int, float], bool]
"""Function from the bytes of an index and the seconds it takes, estimated by the pace of training: True to make it."""

States = tuple[Array, Integers, Integers]
"""Some states of a split, N x W, and of each its row and the place of its token in that."""


class TrainingSplit(NamedTuple):
    """Training pairs of a translator, or training text of a language model."""

    fingerprint: str
    """SHA-256 of data and tokenizers."""
    lengths: Integers
    """Tokens of each target or line, its end among them."""
    row: Callable[[int], Row]
    """Function from the number of a pair or line, from 0, to it."""
    states: Callable[[Any], Iterator[States]]
    """Function from the model to the states that each token is predicted from."""


def _pairs(store: ExampleStore, tokenizers: Mapping[str, Tokenizer]) -> TrainingSplit:
    source, target = tokenizers["source"], tokenizers["target"]
    sources, targets = store.all_rows()

    def row(number: int) -> Row:
        ids = [*targets[number].tolist(), target.symbols.eos]
        return int(store.numbers[number]) + 1, source.decode(sources[number].tolist()), tuple(target.pieces(ids))

    def states(model: Any) -> Iterator[States]:
        for batch in scored_batches(store, _BATCH_TOKENS):
            yield from _by_row(batch, model.target_states(batch).swapaxes(0, 1))

    return TrainingSplit(store.table.digest, targets.lengths + 1, row, states)


def _lines(ids: Column, tokenizer: Tokenizer, fingerprint: str, *, of_sentences: bool) -> TrainingSplit:
    """``of_sentences``: the model reads each line from its initial state."""
    ends = np.flatnonzero(ids[:] == tokenizer.symbols.eos)

    def row(number: int) -> Row:
        return number + 1, "", tuple(tokenizer.pieces(ids[ends[number] + 1 : ends[number + 1] + 1].tolist()))

    def states(model: Any) -> Iterator[States]:
        if of_sentences:
            for batch in TextSentences(ids, tokenizer.symbols, batch_tokens=_BATCH_TOKENS, seed=0).epoch(1):
                yield from _by_row(batch, model.states_and_target_log_probs(batch)[0])
            return
        streams = max(1, min(_BATCH_TOKENS, len(ids) - 1) // _STEPS)
        carry: Carry | None = None
        for batch in TextWindows(ids, rows=streams, steps=_STEPS).epoch(1):
            states_BTW, _, carry = model.states_and_target_log_probs(batch, carry)
            width = states_BTW.shape[1]
            predicted_N = (batch.example_ids_B[:, None] + 1 + np.arange(width)).ravel()
            rows_N = np.searchsorted(ends, predicted_N) - 1
            yield states_BTW.reshape(-1, states_BTW.shape[2]), rows_N, predicted_N - ends[rows_N] - 1

    return TrainingSplit(fingerprint, np.diff(ends), row, states)  # the first end is in front of the text


def training_split(subject: Subject, report: Report = silent) -> TrainingSplit:
    """Return the training split of a run, encoded; DataError where it is gone or another."""
    path, experiment, _, tokenizers, *_ = subject.trained
    try:
        job = task_of(experiment).job(experiment, silent)
    except AnaphoraError as error:
        raise DataError(f"Neighbours are training data, but the training data of {path} is gone: {error}") from None
    run = Run.open(path, job.fingerprints)
    if "data/train" in run.changed_fingerprints(run.load("best")):
        raise DataError(f"Neighbours are training data, but the training data of {path} has changed: restore it.")
    if isinstance(job, TranslatorJob):
        return _pairs(job.encoded_train(tokenizers, path / TRAIN, report), tokenizers)
    assert isinstance(job, LanguageModelJob)
    corpus, tokenizer = job.splits.train, tokenizers["text"]
    ids = encoded_text(corpus, tokenizer, path / TRAIN, report=report)
    of_sentences = not getattr(experiment, "reads_stream", True)
    return _lines(ids, tokenizer, f"{corpus.fingerprint} {tokenizer.fingerprint}", of_sentences=of_sentences)


def example_states(subject: Subject, batch: Batch) -> Array:
    """Return the states that the tokens of one text are predicted from, T x W."""
    model: Any = subject.trained.model.eval()
    with running(subject.trained.runtime):
        if hasattr(model, "target_states"):
            return np.asarray(model.target_states(batch)[:, 0])
        return np.asarray(model.states_and_target_log_probs(batch)[0][0])


def _by_row(batch: Batch, states_BTW: Array) -> Iterator[States]:
    """Yield the states of each row of a batch."""
    numbers, lengths = batch.example_ids_B.tolist(), batch.target_ids.lengths_B.tolist()
    for states_TW, number, length in zip(states_BTW, numbers, lengths, strict=True):
        yield states_TW[:length], np.full(length, number), np.arange(length)


class Index(NamedTuple):
    """The states of a training split."""

    states: Any
    """A column of N x ``width`` numbers, one row after the other."""
    rows: Any
    """[N]: the row of the split that each state is from."""
    places: Any
    """[N]: the place of its token in the row."""
    width: int
    split: TrainingSplit


def lacks_neighbours(subject: Subject) -> str:
    """Return the reason that a run has no training data to show; empty where it has."""
    model = subject.trained.model
    if not isinstance(model, EncoderDecoder | LanguageModel) or not isinstance(subject.predictor, GivesExamples):
        return "it is neither a translator nor a recurrent language model"
    reads = "text" if isinstance(model, LanguageModel) else "source"
    return "" if reads in subject.trained.tokenizers else "it reads no text"


def neighbours(
    subject: Subject,
    text: str,
    target: str | None = None,
    nearest: int = 5,
    report: Report = silent,
    confirm: Confirm = lambda size, seconds: True,
) -> TrainingNeighbours:
    """Return the neighbours of each token of ``target`` or the greedy translation; of a language model, of ``text``.

    The first call makes the index, in the run folder, where ``confirm`` agrees. Raises ConfigError for a run of another
    kind, for a sentence longer than a page, and where it does not; DataError where the training data is gone or is not
    what the run was trained on.
    """
    return neighbours_in(index_of(subject, report, confirm), subject, text, target, nearest)


def neighbours_in(index: Index, subject: Subject, text: str, target: str | None, nearest: int) -> TrainingNeighbours:
    """Return the same from an open index."""
    example = subject.example(text, target)
    demand_page(example.predicts)
    found = []
    queries_TW = example_states(subject, example.batch)
    for distances, places in zip(*nearest_of(queries_TW, index, nearest), strict=True):
        own = []
        for distance, place in zip(distances.tolist(), places.tolist(), strict=True):
            row = index.split.row(int(index.rows[place]))
            own.append(Neighbour(*row, int(index.places[place]), distance))
        found.append(tuple(own))
    return TrainingNeighbours(subject.name, text, example.predicts, tuple(found))


def index_of(subject: Subject, report: Report = silent, confirm: Confirm = lambda size, seconds: True) -> Index:
    """Return the index of a run, read or made; errors as for ``neighbours``."""
    subject.demand("has no training data to show", lacks_neighbours(subject))
    split = training_split(subject, report)
    example = subject.example("a", "" if "target" in subject.trained.tokenizers else None)
    width = example_states(subject, example.batch).shape[1]

    def fill(into: Writer) -> dict[str, int]:
        done, updates = 0, [line for line in Run.open(subject.trained.path).metrics.lines() if line.get("seconds")]
        # a training step goes forward once and back at twice the cost
        pace = sum(line["seconds"] for line in updates) / max(1, sum(line["tokens"] for line in updates)) / 3
        if not confirm(total * width * _HALF.itemsize, total * pace):
            raise ConfigError("Neighbours are found in an index, which was not made: answer yes to make it.")
        with running(subject.trained.runtime):
            for states_NW, rows_N, places_N in split.states(subject.trained.model.eval()):
                into.write("states", states_NW.astype(np.float16).ravel())
                into.write("rows", rows_N.tolist())
                into.write("places", places_N.tolist())
                done += len(rows_N)
                into.tell(done)
        return {"width": width}

    total = int(split.lengths.sum())
    columns: dict[str, Bound] = {"states": _HALF, "rows": len(split.lengths), "places": int(split.lengths.max())}
    folder = subject.trained.path / INDEX
    made_from = [split.fingerprint, sha256(serialise(tensors_of(subject.trained.model)))]
    what = "states of the training split"
    table = Table(folder, made_from, columns, fill, task=what, total=total, report=report)
    size = len(table["states"]) * _HALF.itemsize
    report(Note(f"{folder}: {inflect(len(table['rows']), 'state')} of {width} numbers, {size / 1e6:,.1f} MB."))
    return Index(table["states"], table["rows"], table["places"], width, split)


def nearest_of(queries_TW: Array, index: Index, count: int) -> tuple[Array, Array]:
    """Distances and places of the nearest states of each query, T x K, the nearest first."""
    given_TW, size = torch.from_numpy(queries_TW), len(queries_TW)
    best_TK, places_TK = torch.empty(size, 0), torch.empty(size, 0, dtype=torch.int64)
    for start in range(0, len(index.rows), _BLOCK):
        flat = index.states[start * index.width : (start + _BLOCK) * index.width]
        states_NW = torch.from_numpy(np.asarray(flat, dtype=np.float32)).view(-1, index.width)
        here_N = torch.arange(start, start + len(states_NW))
        values_TM = torch.hstack([best_TK, torch.cdist(given_TW, states_NW)])
        best_TK, least_TK = values_TM.topk(min(count, values_TM.shape[1]), largest=False)
        places_TK = torch.hstack([places_TK, here_N.expand(size, -1)]).gather(1, least_TK)
    return best_TK.numpy(), places_TK.numpy()
