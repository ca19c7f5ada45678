"""A model that writes known words alone: Bahdanau et al. (2015) compare translators so, beside the usual way."""

from typing import Any

from torch import Tensor, inf

from anaphora.protocols import Batch, Step, Stepper


class Known:
    """score = ln p for every symbol but ``<unk>``, whose score is minus infinity."""

    def __init__(self, model: Stepper) -> None:
        """Memory and state are those of ``model``."""
        self._model = model
        self.size, self.bos, self.eos, self.unk = model.size, model.bos, model.eos, model.unk

    def start(self, batch: Batch) -> tuple[Any, Any]:
        """What the model remembers and starts from."""
        return self._model.start(batch)

    def advance(self, memory: Any, state: Any, ids_N: Tensor) -> Step:
        """One symbol of every row."""
        step = self._model.advance(memory, state, ids_N)
        log_probs_NV = step.log_probs_NV.clone()
        log_probs_NV[:, self.unk] = -inf
        return step._replace(log_probs_NV=log_probs_NV)

    def select(self, state: Any, rows_N: Tensor) -> Any:
        """The states of the given rows."""
        return self._model.select(state, rows_N)

    def keep(self, memory: Any, sentences_B: Tensor) -> Any:
        """The memories of the given sentences."""
        return self._model.keep(memory, sentences_B)
