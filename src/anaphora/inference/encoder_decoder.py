"""Encoder-decoders, one step at a time, and language models beside their decoders."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from anaphora.batch import Batch
from anaphora.inference import machinery
from anaphora.inference.machinery import Array
from anaphora.inference.operations import NOTHING, Graph, Recurrence, Weights
from anaphora.inference.outputs import CandidateOutput, output_of
from anaphora.kernels.program_data import program_from_data
from anaphora.protocols import SearchStart, Step, VocabularyInfo

Arrays = dict[str, Array]


class Decoder:
    """An encoder, and the step of a decoder over what it gives."""

    def __init__(self, weights: Weights, data: Mapping[str, Any]) -> None:
        """``data`` has both."""
        self._encoder = Graph(weights, data["encoder"])
        self.program = program_from_data(data["decoder"]["program"])
        self.weights = weights.under(data["decoder"]["weights"])

    def encode(self, batch: Batch) -> tuple[Arrays, Arrays, Array]:
        """Return the memory and the initial state, B in front, and the positions of each row."""
        found, lengths_B = self._encoder.read(batch.inputs)
        memory, state = (
            {name.removeprefix(group): found[name] for name in found if name.startswith(group)}
            for group in ("memory ", "state ")
        )
        return memory, state, lengths_B

    def advance(self, inputs: Mapping[str, Any], state: Arrays, memory: Arrays) -> tuple[Array, Array | None, Arrays]:
        """Return one step of K rows a sentence, K x B x width: o, with attention its weights, and the new state."""
        signals = machinery.advance(self.program, inputs, state, self.weights, memory)
        return signals["o"], signals.get("weights"), {name: signals[name] for name in self.program.carried}

    def scan(self, inputs: Mapping[str, Any], lengths_B: Array, state: Arrays, memory: Arrays) -> Array:
        """Return o of whole sequences, T x B x width."""
        return machinery.scan(self.program, inputs, state, self.weights, memory, lengths_B)[0]["o"]


class LanguageModelBeside:
    """The language model of deep fusion: see ``nn/fusion.py``."""

    def __init__(self, weights: Weights, data: Mapping[str, Any], bos: int) -> None:
        """``bos`` is the id that a target begins with, which it reads as its own."""
        self.recurrence = Recurrence(weights, data)
        self._embedding, self._bos, self._begin = Graph(weights, data["embedding"]), bos, data["begin"]

    def read(self, ids_TB: Array) -> Any:
        """Return the vectors of words."""
        return self._embedding.run(NOTHING, ids=np.where(ids_TB == self._bos, self._begin, ids_TB))["x"]


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

    def target_states(self, batch: Batch) -> Array:
        """Return the states that the targets of a batch are predicted from, T x B x width."""
        memory, first, _ = self.decoder.encode(batch)
        ids_TB, lengths_B = batch.target_ids.ids_BT.T, batch.target_ids.lengths_B
        shifted_TB = np.concatenate([np.full_like(ids_TB[:1], self.symbols.bos), ids_TB[:-1]])
        inputs = {"x": self.words(shifted_TB)}
        if beside := self.language_model:
            start = beside.recurrence.initial_state(len(lengths_B))
            inputs["language"] = beside.recurrence.scan(beside.read(shifted_TB), lengths_B, start)[0]
        return self.decoder.scan(inputs, lengths_B, first, memory)

    def stepper(self) -> "DecodingStepper":
        """Return the model one token at a time."""
        return DecodingStepper(self)


class DecodingState(NamedTuple):
    """The state of N rows: N x width by carried signal."""

    signals: Arrays
    """Of the decoder."""
    language: Arrays
    """Of the language model beside it."""


class DecodingMemory(NamedTuple):
    """State that all rows of a sentence share."""

    sentences: int
    encoded: Arrays
    """By signal, B in front."""
    shortlist: CandidateOutput | None
    """The candidate words of the sentences; None for all words."""
    narrow: bool
    """True if steps are over these alone."""


class DecodingStepper:
    """An encoder-decoder for search: see ``search.compiled_search.CompiledStepper``."""

    def __init__(self, model: EncoderDecoder) -> None:
        self._model = model
        self.size, _, self.unk, self.bos, self.eos = model.symbols

    def start(self, batch: Batch) -> SearchStart:
        """Encode the sentences; ConfigError for candidates where the output is no softmax over words."""
        encoded, first, lengths_B = self._model.decoder.encode(batch)
        candidates, beside = batch.constraints.candidates, self._model.language_model
        shortlist = self._model.output.shortlist(candidates) if candidates else None
        memory = DecodingMemory(len(lengths_B), encoded, shortlist, batch.constraints.narrow)
        language = beside.recurrence.initial_state(len(lengths_B)) if beside else {}
        return SearchStart(memory, DecodingState(first, language), lengths_B)

    def advance(self, memory: DecodingMemory, state: DecodingState, ids_N: Array) -> Step:
        """Read one token a row and predict the next; N is a multiple of the sentences."""
        sentences, encoded, shortlist, narrow = memory

        def by_sentence(rows_NW: Array) -> Array:
            return np.ascontiguousarray(rows_NW.reshape(sentences, -1, rows_NW.shape[-1]).swapaxes(0, 1))

        def by_row(block_KBW: Array) -> Array:
            return np.ascontiguousarray(block_KBW.swapaxes(0, 1)).reshape(-1, block_KBW.shape[-1])

        inputs = {"x": self._model.words(by_sentence(ids_N[:, None])[..., 0])}
        language = state.language
        if beside := self._model.language_model:
            language_NL, language = beside.recurrence.advance(beside.read(ids_N[None]), language)
            inputs["language"] = by_sentence(language_NL)
        before = {name: by_sentence(rows) for name, rows in state.signals.items()}
        o_KBH, weights_KBS, after = self._model.decoder.advance(inputs, before, encoded)
        o_NH, candidates_BC = by_row(o_KBH), None
        if shortlist and narrow:
            log_probs_NV, candidates_BC = shortlist.narrow_log_probs(o_NH), shortlist.ids_BC
        else:
            log_probs_NV = (shortlist or self._model.output).log_probs(o_NH)
        weights_NS = None if weights_KBS is None else by_row(weights_KBS)
        signals = {name: by_row(block) for name, block in after.items()}
        return Step(log_probs_NV, weights_NS, DecodingState(signals, language), o_NH, candidates_BC)

    def lower(self, start: SearchStart) -> Any:
        """Return the network from there for compiled searches; None where its steps have to be taken one by one."""
        model, (_, encoded, shortlist, narrow) = self._model, start.memory
        if model.language_model or (shortlist and not narrow):
            return None
        words = model.words(np.full((len(start.memory_lengths_B), 1), self.bos))
        decoder, output = model.decoder, shortlist or model.output
        return machinery.lower(self, decoder.program, decoder.weights, encoded, start.state.signals, words, output)

    def target_states(self, batch: Batch) -> Array:
        """Return the states that the targets of a batch are predicted from, T x B x H."""
        return self._model.target_states(batch)

    def select(self, state: DecodingState, rows_N: Array) -> DecodingState:
        """Return the state of the given rows."""
        return DecodingState(*({name: rows[rows_N] for name, rows in carried.items()} for carried in state))

    def keep(self, memory: DecodingMemory, sentences_B: Array) -> DecodingMemory:
        """Return the memory of the given sentences."""
        encoded = {name: block[sentences_B] for name, block in memory.encoded.items()}
        shortlist = memory.shortlist.keep(sentences_B) if memory.shortlist else None
        return DecodingMemory(len(sentences_B), encoded, shortlist, memory.narrow)
