"""Language models: recurrent ones, and those that read a fixed number of tokens."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from anaphora.batch import Batch
from anaphora.inference.operations import Graph, Recurrence
from anaphora.inference.outputs import NetworkStepper, output_of
from anaphora.inference.weights import NOTHING, Weights
from anaphora.kernels.compiled.library import Array
from anaphora.kernels.search_step import SearchedNetwork
from anaphora.protocols import SearchStart, Step, VocabularyInfo

State = dict[str, Array]
"""B in front, by name."""


class TextNetwork(ABC):
    """A network of running text: see ``protocols.StateModel``."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        self.symbols, self.output = VocabularyInfo(*data["symbols"]), output_of(weights, data["output"])

    @abstractmethod
    def initial_state(self, rows: int) -> State:
        """Return the state before anything was read."""

    @abstractmethod
    def read_token(self, state: State, ids_N: Array) -> tuple[Array, State]:
        """Return the states to predict from, N x width, after one more token of every row, and the new state."""

    @abstractmethod
    def read(self, batch: Batch, before: State) -> tuple[Array, State]:
        """Return the states to predict from, T x B x width, and the state for the next batch."""

    def target_log_probs(self, batch: Batch, carry: Mapping[str, Array] | None = None) -> tuple[Array, State]:
        """ln p of each target of a window: see ``protocols.TextModel``."""
        return self.states_and_target_log_probs(batch, carry)[1:]

    def states_and_target_log_probs(
        self, batch: Batch, carry: Mapping[str, Array] | None = None
    ) -> tuple[Array, Array, State]:
        """Return the same, with the states: see ``protocols.StateModel``."""
        states_TBH, after = self.read(batch, self._before(batch, carry))
        return states_TBH.swapaxes(0, 1), self.output.target_log_probs(states_TBH, batch.target_ids), after

    def carry_after(self, batch: Batch, carry: Mapping[str, Array] | None = None) -> State:
        """Return the state at the end of a window: see ``protocols.TextModel``."""
        return self.read(batch, self._before(batch, carry))[1]

    def _before(self, batch: Batch, carry: Mapping[str, Array] | None) -> State:
        """Return the state that each row starts from: the carried one where it continues another."""
        fresh, continues_B1 = self.initial_state(batch.size), batch.carry_mask_B[:, None]
        return {name: np.where(continues_B1, carry[name], rows) for name, rows in fresh.items()} if carry else fresh

    def stepper(self) -> "TextStepper":
        """Return the model one token at a time."""
        return TextStepper(self, self.symbols.eos)


class LanguageModel(TextNetwork):
    """An embedding, recurrent layers, and an output layer."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        super().__init__(weights, data)
        self.embedding, self.recurrence = Graph(weights, data["embedding"]), Recurrence(weights, data["recurrence"])
        self._reads_sentences = data["reads"] == "sentences"

    def words(self, ids: Array) -> Any:
        """Return words that are read, of any block of ids."""
        return self.embedding.run(NOTHING, ids=ids)["x"]

    def initial_state(self, rows: int) -> State:
        return self.recurrence.initial_state(rows)

    def read_token(self, state: State, ids_N: Array) -> tuple[Array, State]:
        return self.recurrence.advance(self.words(ids_N[None]), state)

    def following_log_probs(
        self, carry: Mapping[str, Array] | None, ids_N: Array, rows_E: Array, ids_E: Array
    ) -> tuple[Array, State]:
        """Read one token after what every row has read: nothing where there is no ``carry``.

        Returns ln p of words that may follow, each after one of the rows, which ascend; and what the rows carry on.
        """
        states_NH, after = self.read_token(dict(carry) if carry else self.initial_state(len(ids_N)), ids_N)
        return self.output.log_probs_of(states_NH, rows_E, ids_E), after

    def read(self, batch: Batch, before: State) -> tuple[Array, State]:
        ids = batch.input_ids
        states_TBH, after = self.recurrence.scan(self.words(ids.ids_BT.T), ids.lengths_B, before)
        return states_TBH, {} if self._reads_sentences else after

    def stepper(self) -> "RecurrentStepper":
        return RecurrentStepper(self, self.symbols.bos if self._reads_sentences else self.symbols.eos)


class FeedForwardLanguageModel(TextNetwork):
    """An embedding, a body that reads a few tokens at a time, and an output layer; the state is the ids before."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        super().__init__(weights, data)
        self._window, self.steps = Graph(weights, data["window"]), data["steps"]

    def initial_state(self, rows: int) -> State:
        return {"ids": np.full((rows, self.steps - 1), self.symbols.eos)}

    def read_token(self, state: State, ids_N: Array) -> tuple[Array, State]:
        ids_NL = np.concatenate([state["ids"], ids_N[:, None]], 1)
        return self._states(ids_NL)[0], {"ids": ids_NL[:, 1:]}

    def read(self, batch: Batch, before: State) -> tuple[Array, State]:
        ids_BL = np.concatenate([before["ids"], batch.input_ids.ids_BT], 1)
        ends_BE = batch.input_ids.lengths_B[:, None] + np.arange(self.steps - 1)
        return self._states(ids_BL), {"ids": np.take_along_axis(ids_BL, ends_BE, 1)}

    def _states(self, ids_BL: Array) -> Array:
        states_TBH: Array = self._window.run(NOTHING, ids=ids_BL.T)["states"]
        return states_TBH

    def stepper(self) -> "TextStepper":
        return TextStepper(self, self.symbols.eos, self.steps + 1)


class TextStepper(NetworkStepper):
    """A network of text for search: see ``protocols.TextStepper``. It needs no memory."""

    def __init__(self, model: Any, bos: int, order: int = 0) -> None:
        """``bos`` is what texts begin with; ``order``: see ``protocols.TextStepper``."""
        super().__init__(model)
        self.bos, self.order = bos, order

    def start(self, batch: Batch) -> SearchStart:
        """Return the initial state for each row of the batch."""
        return SearchStart(None, self._model.initial_state(batch.size), np.zeros(batch.size, np.int64))

    def advance(self, memory: None, state: Any, ids_N: Any) -> Step:
        """Read one token a row and predict the next."""
        states_NH, after = self._model.read_token(state, ids_N)
        return Step(self._model.output.log_probs(states_NH), None, after)

    def select(self, state: Any, rows_N: Array) -> Any:
        """Return the state of the given rows."""
        return {name: rows[rows_N] for name, rows in state.items()}

    def keep(self, memory: None, sentences_B: Array) -> None:
        """Keep nothing: such a model has no memory of a sentence."""

    def unconditional(self) -> Step:
        """Return the prediction after the end of a line: the network has learnt no other one without context."""
        return self.advance(None, self._model.initial_state(1), np.array([self.bos]))

    def match_length(self, state: Any, ids_N: Array, read: int) -> int:
        """Return as many tokens as predictions depend on."""
        return min(read + 1, self.order) if self.order else read + 1


class RecurrentStepper(TextStepper):
    """A recurrent language model for search: see ``search.compiled_search.CompiledStepper``."""

    def lower(self, start: SearchStart) -> SearchedNetwork | None:
        """Return the network from there for compiled searches; None where its steps have to be taken one by one."""
        return self.lower_layers(self._model.recurrence, {}, start.state, self._model.output)
