"""Encoder-decoders, one step at a time, and language models beside their decoders."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from anaphora.batch import Batch
from anaphora.inference.operations import Graph, Recurrence
from anaphora.inference.outputs import NetworkStepper, output_of
from anaphora.inference.steps import advance, scan
from anaphora.inference.weights import NOTHING, Weights
from anaphora.kernels.compiled.library import Array
from anaphora.kernels.program_data import program_from_data
from anaphora.kernels.search_step import SearchedNetwork
from anaphora.protocols import SearchStart, Step, VocabularyInfo

Arrays = dict[str, Array]


class Decoder:
    """An encoder, and the step of a decoder over what it gives."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        """``data`` has both."""
        self._encoder = Graph(weights, data["encoder"])
        self.program = program_from_data(data["decoder"]["program"])
        self.weights = weights.by_prefix(data["decoder"]["weights"])

    def encode(self, batch: Batch) -> tuple[Arrays, Arrays, Array]:
        """Return the memory and the initial state, B in front, and the positions of each row."""
        found, lengths_B = self._encoder.read(batch.inputs)
        memory, state = (
            {name.removeprefix(group): found[name] for name in found if name.startswith(group)}
            for group in ("memory ", "state ")
        )
        return memory, state, lengths_B

    def advance(
        self, x_KBD: Any, state: Arrays, memory: Arrays, language_KBL: Array | None = None
    ) -> tuple[Array, Array | None, Arrays]:
        """Return one step of K rows a sentence, K x B x width: o, with attention its weights, and the new state."""
        signals = advance(self.program, _inputs(x_KBD, language_KBL), state, self.weights, memory)
        return signals["o"], signals.get("weights"), {name: signals[name] for name in self.program.carried}

    def scan(
        self, x_TBD: Any, lengths_B: Array, state: Arrays, memory: Arrays, language_TBL: Array | None = None
    ) -> Array:
        """Return o of whole sequences, T x B x width."""
        inputs = _inputs(x_TBD, language_TBL)
        return scan(self.program, inputs, state, self.weights, memory, lengths_B).outputs["o"]


def _inputs(x_XBD: Any, language_XBL: Array | None) -> Mapping[str, Any]:
    return {"x": x_XBD} if language_XBL is None else {"x": x_XBD, "language": language_XBL}


class LanguageModelBeside:
    """The language model of deep fusion: see ``nn/fusion.py``."""

    def __init__(self, weights: Weights, data: Mapping[str, Any], bos: int) -> None:
        """``bos`` is the id that a target begins with, which it reads as its own."""
        self.recurrence = Recurrence(weights, data)
        self._embedding, self._bos, self._begin = Graph(weights, data["embedding"]), bos, data["begin"]

    def read(self, ids_TB: Array) -> Any:
        """Return the vectors of words."""
        return self._embedding.run(NOTHING, ids=np.where(ids_TB == self._bos, self._begin, ids_TB))["x"]

    def advance(self, ids_N: Array, state: Arrays) -> tuple[Array, Arrays]:
        """Return its top state after one more word of every row, N x width, and all that it carries on."""
        return self.recurrence.advance(self.read(ids_N[None]), state)


class EncoderDecoder:
    """An encoder, a decoder, an output layer, and perhaps a language model beside the decoder."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        self.symbols = VocabularyInfo(*data["symbols"])
        self.decoder, self.output = Decoder(weights, data), output_of(weights, data["output"])
        self.embedding = Graph(weights, data["embedding"])
        beside = data["language_model"]
        self.language_model = LanguageModelBeside(weights, beside, self.symbols.bos) if beside else None

    @property
    def attends(self) -> bool:
        """True if the decoder looks at positions of its input."""
        return "weights" in self.decoder.program.returns

    def words(self, ids: Array) -> Any:
        """Return words that are read, of any block of ids."""
        return self.embedding.run(NOTHING, ids=ids)["x"]

    def encode(self, batch: Batch) -> tuple[Arrays, Arrays, Array]:
        """Return the memory of the decoder, its initial state, and the positions of each row."""
        return self.decoder.encode(batch)

    def target_states(self, batch: Batch) -> Array:
        """Return the states that the targets of a batch are predicted from, T x B x width."""
        memory, first, _ = self.encode(batch)
        ids_TB, lengths_B = batch.target_ids.ids_BT.T, batch.target_ids.lengths_B
        shifted_TB = np.concatenate([np.full_like(ids_TB[:1], self.symbols.bos), ids_TB[:-1]])
        language_TBL = None
        if beside := self.language_model:
            start = beside.recurrence.initial_state(len(lengths_B))
            language_TBL = beside.recurrence.scan(beside.read(shifted_TB), lengths_B, start)[0]
        return self.decoder.scan(self.words(shifted_TB), lengths_B, first, memory, language_TBL)

    def stepper(self) -> "DecodingStepper":
        """Return the model one token at a time."""
        return DecodingStepper(self)


class DecodingState(NamedTuple):
    """The state of N rows: N x width by carried signal."""

    signals: dict[str, Any]
    """Of the decoder."""
    language: dict[str, Any]
    """Of the language model beside it."""


class DecodingMemory(NamedTuple):
    """State that all rows of a sentence share."""

    sentences: int
    encoded: dict[str, Any]
    """Memory of attention, by signal, B in front."""
    shortlist: Any
    """The candidate words of the sentences (``CandidateLayer``); None for all words."""
    narrow: bool = False
    """True if steps are over these alone."""


class DecodingStepper(NetworkStepper):
    """An encoder-decoder for search: see ``search.compiled_search.CompiledStepper``.

    Its model computes with arrays, or with tensors: ``models.searches.TensorStepper``.
    """

    def start(self, batch: Batch) -> SearchStart:
        """Encode the sentences; ConfigError for candidates where the output is no softmax over words."""
        encoded, first, lengths_B = self._model.encode(batch)
        candidates, sentences = batch.constraints.candidates, len(lengths_B)
        shortlist = self._model.output.shortlist(candidates) if candidates else None
        memory = DecodingMemory(sentences, encoded, shortlist, batch.constraints.narrow)
        return SearchStart(memory, self.initial_state(first, sentences), lengths_B)

    def initial_state(self, first: dict[str, Any], sentences: int) -> DecodingState:
        """Return the initial state of a row for each sentence, from that of the decoder."""
        beside = self._model.language_model
        return DecodingState(first, beside.recurrence.initial_state(sentences) if beside else {})

    def advance(self, memory: DecodingMemory, state: DecodingState, ids_N: Any) -> Step:
        """Read one token a row and predict the next; N is a multiple of the sentences."""
        sentences, encoded, shortlist, narrow = memory

        def by_sentence(rows_NW: Any) -> Any:
            return rows_NW.reshape(sentences, -1, rows_NW.shape[-1]).swapaxes(0, 1)

        def by_row(block_KBW: Any) -> Any:
            return block_KBW.swapaxes(0, 1).reshape(-1, block_KBW.shape[-1])

        x_KBD = self._model.words(by_sentence(ids_N[:, None])[..., 0])
        language, language_KBL = state.language, None
        if beside := self._model.language_model:
            language_NL, language = beside.advance(ids_N, language)
            language_KBL = by_sentence(language_NL)
        before = {name: by_sentence(rows) for name, rows in state.signals.items()}
        o_KBH, weights_KBS, after = self._model.decoder.advance(x_KBD, before, encoded, language_KBL)
        o_NH, candidates_BC = by_row(o_KBH), None
        if shortlist and narrow:
            log_probs_NV, candidates_BC = shortlist.narrow_log_probs(o_NH), shortlist.candidates.ids_BC
        else:
            log_probs_NV = (shortlist or self._model.output).log_probs(o_NH)
        weights_NS = None if weights_KBS is None else by_row(weights_KBS)
        signals = {name: by_row(block) for name, block in after.items()}
        return Step(log_probs_NV, weights_NS, DecodingState(signals, language), o_NH, candidates_BC)

    def lower(self, start: SearchStart) -> SearchedNetwork | None:
        """Return the network from there for compiled searches; None where its steps have to be taken one by one."""
        model, memory = self._model, start.memory
        if model.language_model or (memory.shortlist and not memory.narrow):
            return None
        output = memory.shortlist or model.output
        return self.lower_layers(model.decoder, memory.encoded, start.state.signals, output)

    def target_states(self, batch: Batch) -> Array:
        """Return the states that the targets of a batch are predicted from, T x B x H."""
        found: Array = self._model.target_states(batch)
        return found

    def select(self, state: DecodingState, rows_N: Array) -> DecodingState:
        """Return the state of the given rows."""
        return DecodingState(*({name: rows[rows_N] for name, rows in carried.items()} for carried in state))

    def keep(self, memory: DecodingMemory, sentences_B: Array) -> DecodingMemory:
        """Return the memory of the given sentences."""
        encoded = {name: block[sentences_B] for name, block in memory.encoded.items()}
        shortlist = memory.shortlist.keep(sentences_B) if memory.shortlist else None
        return DecodingMemory(len(sentences_B), encoded, shortlist, memory.narrow)
