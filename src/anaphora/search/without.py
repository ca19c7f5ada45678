"""A model without some tokens: special tokens that no text has, or ``<unk>`` (Bahdanau et al. 2015)."""

from collections.abc import Sequence
from typing import Any, Self

import torch
from torch import Tensor, inf

from anaphora.batch import Batch
from anaphora.protocols import (
    BeamSearch,
    BeamSteps,
    GreedySearch,
    GreedySteps,
    Narrows,
    SearchStart,
    Step,
    Stepper,
    TakesBeamSteps,
    TakesGreedySteps,
    VocabularyInfo,
)


class Without:
    """score = ln p for all tokens but some, whose score is minus infinity."""

    def __init__(self, model: Stepper, ids: Sequence[int]) -> None:
        """Memory and state are those of ``model``."""
        self._model, self._ids_X = model, torch.tensor(ids, dtype=torch.int64)
        self.size, self.bos, self.eos, self.unk = model.size, model.bos, model.eos, model.unk
        self.narrows = isinstance(model, Narrows) and model.narrows

    @classmethod
    def special_tokens(cls, model: Stepper, vocabulary: VocabularyInfo) -> Self:
        """A model without ``<pad>`` and ``<s>`` of its target vocabulary."""
        return cls(model, (vocabulary.pad, vocabulary.bos))

    def start(self, batch: Batch) -> SearchStart:
        return self._model.start(batch)

    def advance(self, memory: Any, state: Any, ids_N: Tensor) -> Step:
        """One token of every row."""
        step = self._model.advance(memory, state, ids_N)
        ids_X, candidates_BC = self._ids_X.to(ids_N.device), step.candidates_BC
        with torch.inference_mode():
            if candidates_BC is None:
                step.log_probs_NV.index_fill_(1, ids_X, -inf)
            else:
                of_sentences = step.log_probs_NV.view(len(candidates_BC), -1, candidates_BC.shape[1])
                for left_out in ids_X.tolist():
                    of_sentences.masked_fill_((candidates_BC == left_out)[:, None], -inf)
        return step

    def greedy_steps(self, start: SearchStart, search: GreedySearch) -> GreedySteps | None:
        if not isinstance(self._model, TakesGreedySteps):
            return None
        left_out = (*search.left_out, *self._ids_X.tolist())
        return self._model.greedy_steps(start, search._replace(left_out=left_out))

    def beam_steps(self, start: SearchStart, search: BeamSearch) -> BeamSteps | None:
        if not isinstance(self._model, TakesBeamSteps):
            return None
        left_out = (*search.left_out, *self._ids_X.tolist())
        return self._model.beam_steps(start, search._replace(left_out=left_out))

    def select(self, state: Any, rows_N: Tensor) -> Any:
        return self._model.select(state, rows_N)

    def keep(self, memory: Any, sentences_B: Tensor) -> Any:
        return self._model.keep(memory, sentences_B)
