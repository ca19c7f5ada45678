"""A model without some tokens: special tokens that no text has, or ``<unk>`` (Bahdanau et al. 2015)."""

from collections.abc import Sequence
from typing import Any, Self

import torch
from torch import Tensor, inf

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
from anaphora.search.wrapper import Wrapper


class Without(Wrapper):
    """score = ln p for all tokens but some, whose score is minus infinity."""

    def __init__(self, model: Stepper, ids: Sequence[int]) -> None:
        super().__init__(model)
        self._ids_X = torch.tensor(ids, dtype=torch.int64)
        self.narrows = isinstance(model, Narrows) and model.narrows

    @classmethod
    def special_tokens(cls, model: Stepper, vocabulary: VocabularyInfo) -> Self:
        """A model without ``<pad>`` and ``<s>`` of its target vocabulary."""
        return cls(model, (vocabulary.pad, vocabulary.bos))

    def advance(self, memory: Any, state: Any, ids_N: Tensor) -> Step:
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
