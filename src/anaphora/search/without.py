"""A model that may not write some symbols: the marks that no text has, or ``<unk>`` (Bahdanau et al. 2015)."""

from collections.abc import Sequence
from typing import Any, Self

import torch
from torch import Tensor, inf

from anaphora.protocols import Batch, Step, Stepper, VocabularyInfo


class Without:
    """score = ln p for every symbol but some, whose score is minus infinity."""

    def __init__(self, model: Stepper, ids: Sequence[int]) -> None:
        """Memory and state are those of ``model``."""
        self._model, self._ids_X = model, torch.tensor(ids)
        self.size, self.bos, self.eos, self.unk = model.size, model.bos, model.eos, model.unk

    @classmethod
    def special_tokens(cls, model: Stepper, symbols: VocabularyInfo) -> Self:
        """The same without ``<pad>`` and ``<s>`` of the vocabulary that it writes."""
        return cls(model, (symbols.pad, symbols.bos))

    def start(self, batch: Batch) -> tuple[Any, Any]:
        """What the model remembers and starts from."""
        return self._model.start(batch)

    def advance(self, memory: Any, state: Any, ids_N: Tensor) -> Step:
        """One symbol of every row."""
        step = self._model.advance(memory, state, ids_N)
        with torch.inference_mode():
            step.log_probs_NV.index_fill_(1, self._ids_X.to(ids_N.device), -inf)
        return step

    def select(self, state: Any, rows_N: Tensor) -> Any:
        """The states of the given rows."""
        return self._model.select(state, rows_N)

    def keep(self, memory: Any, sentences_B: Tensor) -> Any:
        """The memories of the given sentences."""
        return self._model.keep(memory, sentences_B)
