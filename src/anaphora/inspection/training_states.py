"""A training split token by token, with the states that a model predicts its tokens from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from anaphora.batch import Batch
from anaphora.data.columns import Column, Integers
from anaphora.data.example_store import ExampleStore
from anaphora.data.pairs import scored_batches
from anaphora.data.ragged import Ragged
from anaphora.data.running_text import TextSentences, TextWindows, encoded_text
from anaphora.errors import AnaphoraError, DataError
from anaphora.events import Report, silent
from anaphora.inspection.subject import Subject
from anaphora.kernels.runtime import running
from anaphora.protocols import Carry
from anaphora.run import Run
from anaphora.tasks.language_model.training import LanguageModelJob
from anaphora.tasks.registry import task_of
from anaphora.tasks.training_job import TRAIN
from anaphora.tasks.translation import TranslatorJob
from anaphora.text.tokenizer import Tokenizer

_BATCH_TOKENS = 8000
_STEPS = 64
"""Tokens of a window of running text."""


class Row(NamedTuple):
    """A training pair, or a line."""

    number: int
    """In the training split, from 1."""
    source: str
    """Source of the pair; empty for language models."""
    pieces: tuple[str, ...]
    """The tokens that were predicted."""


class States(NamedTuple):
    """Some states of a split."""

    states_NW: Tensor
    rows_N: Integers
    """The row that each is from."""
    places_N: Integers
    """The place of its token in the row."""


@dataclass(frozen=True)
class Pairs:
    """The training pairs of a translator."""

    store: ExampleStore
    tokenizers: Mapping[str, Tokenizer]

    @cached_property
    def _sides(self) -> list[Ragged]:
        return self.store.all_rows()

    @property
    def fingerprint(self) -> str:
        """SHA-256 of pairs and tokenizers."""
        return self.store.digest

    @property
    def longest(self) -> int:
        """Tokens of the longest target, its end among them."""
        return int(self._sides[1].lengths.max()) + 1

    @property
    def tokens(self) -> int:
        """Tokens of all targets, their ends among them."""
        return int(self._sides[1].lengths.sum()) + len(self.store)

    def __len__(self) -> int:
        return len(self.store)

    def row(self, number: int) -> Row:
        """Return a pair."""
        source, target = self.tokenizers["source"], self.tokenizers["target"]
        sources, targets = self._sides
        ids = [*targets[number].tolist(), target.symbols.eos]
        read = source.decode(sources[number].tolist())
        return Row(int(self.store.numbers[number]) + 1, read, tuple(target.pieces(ids)))

    def states(self, model: Any) -> Iterator[States]:
        """Yield the decoder states of the targets."""
        for batch in scored_batches(self.store, _BATCH_TOKENS):
            states_BTW = model.target_states(batch).transpose(0, 1)
            yield from _by_row(batch, states_BTW)


@dataclass(frozen=True)
class Lines:
    """The training text of a language model."""

    ids: Column
    ends: Integers
    """Places of ``</s>`` in it; first the one in front."""
    tokenizer: Tokenizer
    fingerprint: str
    """SHA-256 of text and tokenizer."""
    of_sentences: bool
    """True if the model reads each line from its initial state."""

    @property
    def longest(self) -> int:
        """Tokens of the longest line, its end among them."""
        return int(np.diff(self.ends).max())

    @property
    def tokens(self) -> int:
        """Tokens of the text, without the one in front."""
        return len(self.ids) - 1

    def __len__(self) -> int:
        return len(self.ends) - 1

    def row(self, number: int) -> Row:
        """Return a line."""
        ids = self.ids[self.ends[number] + 1 : self.ends[number + 1] + 1]
        return Row(number + 1, "", tuple(self.tokenizer.pieces(ids.tolist())))

    def states(self, model: Any) -> Iterator[States]:
        """Yield the states that each token is predicted from, after its line or all of its stream."""
        if self.of_sentences:
            for batch in TextSentences(self.ids, self.tokenizer.symbols, batch_tokens=_BATCH_TOKENS, seed=0).epoch(1):
                yield from _by_row(batch, model.states_and_target_log_probs(batch)[0])
            return
        streams = max(1, min(_BATCH_TOKENS, len(self.ids) - 1) // _STEPS)
        carry: Carry | None = None
        for batch in TextWindows(self.ids, rows=streams, steps=_STEPS).epoch(1):
            states_BTW, _, carry = model.states_and_target_log_probs(batch, carry)
            width = states_BTW.shape[1]
            predicted_N = (batch.example_ids_B.numpy()[:, None] + 1 + np.arange(width)).ravel()
            rows_N = np.searchsorted(self.ends, predicted_N) - 1
            yield States(states_BTW.flatten(0, 1), rows_N, predicted_N - self.ends[rows_N] - 1)


TrainingSplit = Pairs | Lines


def training_split(subject: Subject, report: Report = silent) -> TrainingSplit:
    """Return the training split of a run, encoded; DataError where it is gone or another."""
    path, experiment, _, tokenizers, _ = subject.trained
    try:
        job = task_of(experiment).job(experiment, silent)
    except AnaphoraError as error:
        raise DataError(f"Neighbours are training data, but the training data of {path} is gone: {error}") from None
    run = Run.open(path, job.fingerprints)
    if "data/train" in run.changed(run.load("best")):
        raise DataError(f"Neighbours are training data, but the training data of {path} has changed: restore it.")
    if isinstance(job, TranslatorJob):
        return Pairs(job.encoded_train(tokenizers, path / TRAIN, report), tokenizers)
    assert isinstance(job, LanguageModelJob)
    corpus, tokenizer = job.splits.train, tokenizers["text"]
    ids = encoded_text(corpus, tokenizer, path / TRAIN, report=report)
    ends = np.flatnonzero(ids[:] == tokenizer.symbols.eos)
    of_sentences = not getattr(experiment, "reads_stream", True)
    return Lines(ids, ends, tokenizer, f"{corpus.fingerprint} {tokenizer.fingerprint}", of_sentences)


def all_states(subject: Subject, split: TrainingSplit) -> Iterator[States]:
    """Yield the states of a split, as the network of a run computes them."""
    with torch.no_grad(), running(subject.trained.runtime):
        yield from split.states(subject.trained.model.eval())


def example_states(subject: Subject, batch: Batch) -> Tensor:
    """Return the states that the tokens of one text are predicted from, T x W."""
    model: Any = subject.trained.model.eval()
    with torch.no_grad(), running(subject.trained.runtime):
        states_TW: Tensor = (
            model.target_states(batch)[:, 0]
            if hasattr(model, "target_states")
            else model.states_and_target_log_probs(batch)[0][0]
        )
    return states_TW


def _by_row(batch: Batch, states_BTW: Tensor) -> Iterator[States]:
    """Yield the states of each row of a batch."""
    numbers, lengths = batch.example_ids_B.tolist(), batch.target_ids.lengths_B.tolist()
    for states_TW, number, length in zip(states_BTW, numbers, lengths, strict=True):
        yield States(states_TW[:length], np.full(length, number), np.arange(length))
