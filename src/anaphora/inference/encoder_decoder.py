"""Encoder-decoders, one step at a time, and language models beside their decoders."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from anaphora.batch import Batch, FeaturedIds
from anaphora.inference.operations import Graph, Recurrence
from anaphora.inference.outputs import NetworkStepper, output_of
from anaphora.inference.steps import advance, scan
from anaphora.inference.weights import NOTHING, Weights
from anaphora.kernels.alignments import POSITIONS, Alignments, filter_step, first_joint, forward_backward
from anaphora.kernels.compiled.library import Array
from anaphora.kernels.log_probs import Attended, to_host
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
        self.alignments = Alignments(**data["decoder"]["alignments"]) if "alignments" in data["decoder"] else None

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
    ) -> tuple[Arrays, Arrays]:
        """Return one step of K rows a sentence, K x B x width: its signals, and the new state."""
        signals = advance(self.program, _inputs(x_KBD, language_KBL), state, self.weights, memory)
        return signals, {name: signals[name] for name in self.program.carried}

    def scan(
        self, x_TBD: Any, lengths_B: Array, state: Arrays, memory: Arrays, language_TBL: Array | None = None
    ) -> Arrays:
        """Return what the program returns for whole sequences, T x B x width by signal."""
        inputs = _inputs(x_TBD, language_TBL)
        return dict(scan(self.program, inputs, state, self.weights, memory, lengths_B).outputs)


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
        self.attends = "weights" in self.decoder.program.returns or bool(self.decoder.alignments)
        """True if the decoder looks at positions of its input."""

    def words(self, ids: Array) -> Any:
        """Return words that are read, of any block of ids."""
        return self.embedding.run(NOTHING, ids=ids)["x"]

    def encode(self, batch: Batch) -> tuple[Arrays, Arrays, Array]:
        """Return the memory of the decoder, its initial state, and the positions of each row."""
        return self.decoder.encode(batch)

    def target_signals(self, batch: Batch) -> tuple[Arrays, Arrays]:
        """Return what the decoder returns for the targets of a batch, T x B x width by signal, and its memory."""
        memory, first, _ = self.encode(batch)
        ids_TB, lengths_B = batch.target_ids.ids_BT.T, batch.target_ids.lengths_B
        shifted_TB = np.concatenate([np.full_like(ids_TB[:1], self.symbols.bos), ids_TB[:-1]])
        language_TBL = None
        if beside := self.language_model:
            start = beside.recurrence.initial_state(len(lengths_B))
            language_TBL = beside.recurrence.scan(beside.read(shifted_TB), lengths_B, start)[0]
        return self.decoder.scan(self.words(shifted_TB), lengths_B, first, memory, language_TBL), memory

    def target_states(self, batch: Batch) -> Array:
        """Return the states that the targets of a batch are predicted from, T x B x width."""
        return self.target_signals(batch)[0]["o"]

    def stepper(self) -> "DecodingStepper":
        """Return the model one token at a time."""
        return DecodingStepper(self)


class DecodingState(NamedTuple):
    """The state of N rows: N x width by carried signal."""

    signals: dict[str, Any]
    """Signals of the decoder."""
    language: dict[str, Any]
    """Signals of the language model beside it."""
    joint: dict[str, Array]
    """State of hard attention: what ``kernels.alignments.filter_step`` returned last, N x S x V; empty without."""


class DecodingMemory(NamedTuple):
    """State that all rows of a sentence share."""

    sentences: int
    encoded: dict[str, Any]
    """Memory of attention, by signal, B in front."""
    shortlist: Any
    """The candidate words of the sentences (``CandidateLayer``); None for all words."""
    narrow: bool = False
    """True if steps are over these alone."""
    source_BS: Any = None
    """Ids of the source, for an output that copies them; None for others."""


class DecodingStepper(NetworkStepper):
    """An encoder-decoder for search: see ``search.compiled_search.CompiledStepper``.

    Its model computes with arrays, or with tensors: ``models.searches.TensorStepper``.
    """

    def start(self, batch: Batch) -> SearchStart:
        """Encode the sentences; ConfigError for candidates where the output is no softmax over words."""
        encoded, first, lengths_B = self._model.encode(batch)
        candidates, sentences = batch.constraints.candidates, len(lengths_B)
        shortlist = self._model.output.shortlist(candidates) if candidates else None
        memory = DecodingMemory(sentences, encoded, shortlist, batch.constraints.narrow, self.source(batch))
        state = self.initial_state(first, sentences)
        if self._model.decoder.alignments:
            state.joint["joint"] = first_joint(encoded["attention.closed"].shape[1], self.size, sentences)
        if isinstance(batch.inputs, FeaturedIds):  # which nothing looks at
            lengths_B = to_host(lengths_B) + np.count_nonzero(to_host(batch.inputs.features_BF), 1)
        return SearchStart(memory, state, lengths_B)

    def source(self, batch: Batch) -> Any:
        """Return the ids of the source for an output that copies them; None for others."""
        return batch.input_ids.ids_BT if self._model.output.copies else None

    def initial_state(self, first: dict[str, Any], sentences: int) -> DecodingState:
        """Return the initial state of a row for each sentence, from that of the decoder."""
        beside = self._model.language_model
        return DecodingState(first, beside.recurrence.initial_state(sentences) if beside else {}, {})

    def advance(self, memory: DecodingMemory, state: DecodingState, ids_N: Any) -> Step:
        """Read one token a row and predict the next; N is a multiple of the sentences."""
        sentences, encoded, shortlist, narrow, source_BS = memory

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
        written, after = self._model.decoder.advance(x_KBD, before, encoded, language_KBL)
        found = {name: by_row(written[name]) for name in self._model.decoder.program.returns}
        o_NH, weights_NS, candidates_BC, joint = found["o"], found.get("weights"), None, dict[str, Array]()
        if shortlist and narrow:
            log_probs_NV, candidates_BC = shortlist.narrow_log_probs(o_NH), shortlist.candidates.ids_BC
        elif self._model.decoder.alignments:
            log_probs_NV, weights_NS, joint["joint"] = self._align(memory, state.joint["joint"], ids_N, found)
        elif source_BS is not None:
            log_probs_NV = self._model.output.log_probs(o_NH, Attended(found["generates"], weights_NS, source_BS))
        else:
            log_probs_NV = (shortlist or self._model.output).log_probs(o_NH)
        signals = {name: by_row(block) for name, block in after.items()}
        return Step(log_probs_NV, weights_NS, DecodingState(signals, language, joint), o_NH, candidates_BC)

    def _align(self, memory: DecodingMemory, joint_NSV: Array, ids_N: Any, found: Arrays) -> tuple[Any, Any, Array]:
        """Return ln p of the words, p of the positions, and both together, of a step of hard attention."""
        states_XH, q_NSS = self._positions(found, memory.encoded, len(joint_NSV) // memory.sentences)
        o_NSV = to_host(self._model.output.log_probs(states_XH)).reshape(joint_NSV.shape)
        log_probs_NV, weights_NS, joint_NSV = filter_step(joint_NSV, to_host(ids_N), q_NSS, o_NSV)
        return self.as_given(log_probs_NV), self.as_given(weights_NS), joint_NSV

    def _positions(self, found: Arrays, encoded: Arrays, hypotheses: int = 1) -> tuple[Any, Array]:
        """Return o of each position of rows as one after the other, and the transitions between these.

        Rows are some ``hypotheses`` of each sentence, or steps of all.
        """
        arrays = {name: to_host(rows) for name, rows in found.items()}
        closed_XS, own_XSR = (to_host(encoded[name]).repeat(hypotheses, 0) for name in ("attention.closed", POSITIONS))
        states_XSR = np.tanh(arrays["o"][..., None, :] + own_XSR)
        q_XSS = self._model.decoder.alignments.transitions(arrays["scores"], arrays.get("jumps"), closed_XS)
        return self.as_given(states_XSR.reshape(-1, states_XSR.shape[-1])), q_XSS

    def posteriors(self, batch: Batch) -> Array | None:
        """Return p of each position of hard attention given all targets, B x T x S; None for other attention."""
        if not self._model.decoder.alignments:
            return None
        signals, memory = self._model.target_signals(batch)
        states_XH, q_TBSS = self._positions(signals, memory)
        targets, closed_BS = batch.target_ids, to_host(memory["attention.closed"])
        ids_X = targets.ids_BT.T.repeat(closed_BS.shape[1])
        o_X = self._model.output.log_probs_of(states_XH, np.arange(len(ids_X)), ids_X)
        o_TBS = np.where(closed_BS, -np.inf, o_X.reshape(q_TBSS.shape[:3]))
        gamma_TBS = forward_backward(o_TBS, q_TBSS, targets.lengths_B)[1]
        return gamma_TBS.swapaxes(0, 1).astype(np.float32)

    def as_given(self, array: Array) -> Any:
        """Return an array as the network computes with it."""
        return array

    def lower(self, start: SearchStart) -> SearchedNetwork | None:
        """Return the network from there for compiled searches; None where its steps have to be taken one by one."""
        model, memory = self._model, start.memory
        if model.language_model or model.decoder.alignments or (memory.shortlist and not memory.narrow):
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
        source_BS = None if memory.source_BS is None else memory.source_BS[sentences_B]
        return DecodingMemory(len(sentences_B), encoded, shortlist, memory.narrow, source_BS)
