"""A stack of recurrent layers read from left to right: the body of encoders and of language models."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import torch
from pydantic import Field, PlainSerializer, WrapValidator
from torch import Tensor, nn

from anaphora.config import ByKind, Config, parse
from anaphora.errors import ConfigError, ShapeError
from anaphora.kernels.cells import CELLS, AnyCell, Cell, Lstm
from anaphora.kernels.description import describe
from anaphora.kernels.normalisation import Normalise
from anaphora.kernels.parts import Add, Part, Project, Unit, previous
from anaphora.kernels.program import Program
from anaphora.kernels.scan import advance
from anaphora.kernels.truncation import Windows, scan_windows
from anaphora.kernels.word_tables import Words, read_words, read_words_of_step
from anaphora.nn.dropout import AnyDropout, IndependentDropout, Rate
from anaphora.nn.weights import Matrix, Start, Weights, demand_carry, projection_matrices
from anaphora.options import MAX_LAYERS, MAX_UNITS, Conflict
from anaphora.protocols import PartDescription


def registered_or(value: Any, validate: Callable[[Any], Any]) -> Any:
    """Return the unit that a table describes: one that is registered, or one of the package."""
    table = asdict(value) if isinstance(value, Cell) else {"kind": value} if isinstance(value, str) else value
    unit = CELLS.get(str(table.get("kind"))) if isinstance(table, Mapping) else None
    return parse(unit, table, "cell") if unit and unit not in get_args(AnyCell) else validate(value)


class RecurrentConfig(Config):
    """Layers of one recurrent unit."""

    cell: Annotated[ByKind[AnyCell], WrapValidator(registered_or), PlainSerializer(asdict)] = Lstm()
    """The unit."""
    layers: int = Field(1, ge=1, le=MAX_LAYERS)
    """Number of layers."""
    size: int = Field(256, ge=1, le=MAX_UNITS)
    """Hidden size of a layer, per direction."""
    residual: bool = False
    """True if every layer from the second on adds its input to its output (Wu et al. 2016, section 3.1)."""
    dropout: AnyDropout = IndependentDropout()
    """Dropout of every layer's outputs: probability and kind; "variational" drops more."""
    weight_dropout: Rate = 0.0
    """Dropout probability of the recurrent matrices, drawn once per batch (Merity et al. 2018, section 2)."""
    layer_norm: bool = False
    """True if a unit's projected input and each of its recurrent products are normalised (Ba et al. 2016)."""
    bias: bool = True
    """True if cells have a bias."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            {"cell.forget_bias": bool, "bias": False},
            'set {at}bias = true, or {at}cell = {{kind = "{table.cell.kind}", forget_bias = 0}}',
        ),
        Conflict(
            {"weight_dropout": lambda rate: rate > 0, "cell": lambda cell: not cell.matmuls},
            "this cell has no recurrent matrix: set {at}weight_dropout = 0, and {at}dropout in its place",
        ),
        Conflict(
            {"residual": True, "layers": 1},
            "it goes around layers from the second on; leave it out, or set {at}layers = 2",
            written=True,
        ),
    )

    @property
    def input_bias(self) -> bool:
        """True if the projection before a unit has a bias; with normalisation, that has it."""
        return self.bias and not self.layer_norm


class StackConfig(RecurrentConfig):
    """Layers that read a sequence by themselves."""

    initial_state: Literal["zero", "learned"] = "zero"
    """State before the first step: zero, or a learned vector for each layer. Of a text in chunks, the first alone
    trains that vector, also with windows of truncation: later chunks carry no gradient to it."""


class BetweenTransitions(NamedTuple):
    """Attention between the two transitions of a step: the state after the first is the query, the second reads it."""

    attend: tuple[Part, ...]
    """Parts from ``ask.h`` to ``context``."""
    project: Project
    """The context on its way into the second transition."""


class Layers:
    """The recurrent layers of a stack or of a decoder, as matrices and step parts.

    Layer l from the second on (l = 1, ..) with input x^l, which is the output x^{l+1} of the layer below:

        a^l = W x^l + b               or, normalised, gain * normal(W x^l) + b
        h^l = unit(a^l, h^l_{t-1})
        x^{l+1} = dropout(h^l)        or, with residual connections, dropout(h^l) + x^l

    The bottom layer has no residual connection: its input is of another kind. All sizes from there on are equal.
    Dropout acts before the sum, so that what a lower layer said is not dropped again and again on its way up. All
    blocks of a product are normalised together, each recurrent product by itself (Ba et al. 2016, appendix; there the
    memory of an LSTM is normalised as well on its way out, here it is not).

    With attention ``between``, the bottom layer's step has two transitions, each its own unit (the conditional
    unit of Sennrich et al. 2017, with any unit in the place of their GRU):

        s'_t = ask(a^0, h^0_{t-1})
        h^0_t = unit(W c(s'_t) + b, s'_t)
    """

    def __init__(
        self, config: RecurrentConfig, between: BetweenTransitions | None = None, conditioned: bool = False
    ) -> None:
        """``conditioned`` is of the bottom unit: see ``Ops.with_transforms``."""
        self.config, self.between, self._conditioned = config, between, conditioned

    def matrices(self, width: int) -> dict[str, Matrix]:
        """Return the weights of all layers; ``width`` of what the bottom one reads."""
        config, gates = self.config, self.config.cell.gates
        rows = gates * config.size
        matrices: dict[str, Matrix] = {}
        for layer in range(config.layers):
            columns = width if layer == 0 else config.size
            matrices |= projection_matrices(f"input{layer}", rows, columns, config.input_bias, gates)
            matrices |= self._of_unit(f"layer{layer}", f"norm{layer}")
        return matrices | (self._of_unit("ask", "norm_ask") if self.between else {})

    def _of_unit(self, name: str, norm: str) -> dict[str, Matrix]:
        config, cell = self.config, self.config.cell
        size = config.size
        heights = {short: len(blocks) for short, blocks in cell.matmuls}
        matrices = {f"{name}.{short}": Matrix(high * size, size, high, True) for short, high in heights.items()}
        matrices |= {f"{name}.{short}": Matrix(size) for short in cell.vectors}
        if config.layer_norm:
            matrices[f"{norm}.gain"] = Matrix(cell.gates * size, gain=True)
            matrices |= {f"{norm}.bias": Matrix(cell.gates * size)} if config.bias else {}
            for short, high in heights.items():
                matrices[f"{name}.{short}_gain"] = Matrix(high * size, gain=True)
        return matrices

    @property
    def units(self) -> dict[str, int]:
        """The width of every unit's state, by the unit's name."""
        names = [*(("ask",) if self.between else ()), *(f"layer{layer}" for layer in range(self.config.layers))]
        return dict.fromkeys(names, self.config.size)

    def parts(self, beside: tuple[str, ...], training: bool, masked: int) -> tuple[list[Part], str]:
        """Return the parts of a step, and the signal that leaves the top; the bottom layer reads ``x``.

        Args:
            beside: projected signals that enter the bottom layer's unit with it.
            training: whether dropout takes part.
            masked: how many layers from the bottom have dropout after them.
        """
        config, dropout = self.config, self.config.dropout
        parts: list[Part] = []
        source = "x"
        for layer in range(config.layers):
            below = source
            parts.append(Project(f"input{layer}", below, f"a{layer}", config.input_bias))
            inputs: tuple[str, ...] = (f"a{layer}", *(beside if layer == 0 else ()))
            before: tuple[str, ...] = ()
            if self.between and layer == 0:
                fields = config.cell.state
                own = tuple(previous(f"layer0.{field}") for field in fields)
                parts += [*self._unit("ask", "norm_ask", inputs, own, training), *self.between.attend]
                parts.append(self.between.project)
                inputs, before = (self.between.project.target,), tuple(f"ask.{field}" for field in fields)
            parts += self._unit(f"layer{layer}", f"norm{layer}", inputs, before, training)
            source = f"layer{layer}.h"
            if training and dropout.probability and layer < masked:
                parts.append(dropout.part(f"dropout{layer}", source, f"dropped{layer}"))
                source = f"dropped{layer}"
            if config.residual and layer:
                parts.append(Add(f"residual{layer}", (source, below), f"sum{layer}"))
                source = f"sum{layer}"
        return parts, source

    def _unit(
        self, name: str, norm: str, inputs: tuple[str, ...], before: tuple[str, ...], training: bool
    ) -> list[Part]:
        config = self.config
        parts: list[Part] = []
        if config.layer_norm:
            parts.append(Normalise(norm, inputs, f"{norm}.n", config.bias))
            inputs = (f"{norm}.n",)
        forgets = training and config.dropout.of_state > 0
        conditioned = self._conditioned and name == "layer0"
        return [*parts, Unit(name, config.cell, inputs, forgets, config.layer_norm, before, conditioned)]

    @torch.no_grad()
    def initialise(self, weights: Weights, start: Start, generator: torch.Generator) -> None:
        weights.initialise(start, generator)
        cell, tensors = self.config.cell, weights.tensors()
        for unit in self.units:
            cell.start_vectors({short: tensors[f"{unit}.{short}"] for short in cell.vectors})
        if not self.config.bias:
            return
        part = "norm" if self.config.layer_norm else "input"
        biased = [f"{part}{layer}" for layer in range(self.config.layers)]
        if self.between:
            biased.append("norm_ask" if self.config.layer_norm else self.between.project.name)
        for name in biased:
            cell.start_bias(tensors[f"{name}.bias"])


class Stack(nn.Module):
    """Recurrent layers; the carried state has one tensor for each field of each layer, ``layer0.h``."""

    def __init__(self, config: StackConfig, width: int, name: str, undropped: bool = False) -> None:
        """``width`` of the inputs; ``name`` tells its dropout masks apart from those of others.

        With ``undropped`` it also gives what the top unit puts out before dropout and residual sum, in training.
        """
        super().__init__()
        self.config = config
        self.name = name
        self._undropped = undropped
        self._layers = Layers(config)
        self.weights = Weights(self._layers.matrices(width))
        self.program, self._training = self._program(training=False), self._program(training=True)
        learned = self.program.carried if config.initial_state == "learned" else ()
        self.initial = Weights({name: Matrix(config.size) for name in learned})
        self.given: dict[str, Tensor] = {}
        """Vectors that sequences start from in place of zeros or learned ones, H numbers by name (``start_from``)."""

    def _program(self, training: bool) -> Program:
        """Return one step of the stack; ``training`` with dropout after every layer."""
        parts, top = self._layers.parts((), training, masked=self.config.layers)
        beside = [f"layer{self.config.layers - 1}.h"] if training and self._undropped else []
        return Program(tuple(parts), tuple(dict.fromkeys([top, *beside])))

    def initial_state(
        self, sentences: int, carry: Mapping[str, Tensor] | None = None, carry_mask_B: Tensor | None = None
    ) -> dict[str, Tensor]:
        """Return the state before anything was read.

        That of ``carry``, B x H by name, where ``carry_mask_B`` is true.
        """
        like, vectors = next(self.parameters()), {**self.initial.tensors(), **self.given}
        state = {name: like.new_zeros(sentences, self.config.size) for name in self.program.carried}
        mask_B = like.new_zeros(sentences, dtype=torch.bool)
        if carry and carry_mask_B is not None:
            demand_carry(carry, state)
            mask_B = carry_mask_B
            state = {name: carry[name].where(mask_B.unsqueeze(1), zeros_BH) for name, zeros_BH in state.items()}
        return state | {name: state[name].where(mask_B.unsqueeze(1), value_H) for name, value_H in vectors.items()}

    def forward(
        self,
        x_TBD: Tensor | Words,
        lengths_B: Tensor,
        first: Mapping[str, Tensor] | None = None,
        back: int | None = None,
        context: int = 0,
    ) -> Windows:
        """Return the outputs of the top layer as "h" (T x B x H), and the state at the end of each row.

        ``first`` is the initial state and ``back``, the steps that each step's gradient goes back over, all of them if
        not given. The first ``context`` steps have no outputs: see ``scan_windows``.
        """
        program, weights, x_TBW = read_words(self.program, self.weights.tensors(), x_TBD)
        inputs, memory = {"x": x_TBW}, dict[str, Tensor]()
        config, state = self.config, first or self.initial_state(x_TBW.shape[1])
        if self.training:
            program, weights = self._training, self.weights.with_dropout(self.name, config.weight_dropout)
            widths = {f"dropout{layer}": config.size for layer in range(config.layers)}
            masks = config.dropout.draw(self.name, widths, self._layers.units, x_TBW)
            inputs, memory = inputs | masks.inputs, masks.memory
        back = x_TBW.shape[0] if back is None else back
        scanned = scan_windows(program, inputs, state, weights, memory, lengths_B, back, context)
        outputs = {"h": scanned.outputs[program.returns[0]]}
        if self.training and self._undropped:
            outputs["undropped"] = scanned.outputs[program.returns[-1]]
        return scanned._replace(outputs=outputs)

    def advance(self, x_1ND: Tensor | Words, state: Mapping[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        """Return one step of N rows: the output of the top layer, N x H, and the new state, N x H by carried signal."""
        program, weights, x_1NW = read_words_of_step(self.program, self.weights.tensors(), x_1ND)
        before = {name: rows.unsqueeze(0) for name, rows in state.items()}
        signals = advance(program, {"x": x_1NW}, before, weights, {})
        return signals[self.program.returns[0]][0], {name: signals[name][0] for name in self.program.carried}

    def describe(self) -> tuple[PartDescription, ...]:
        """Return the parts of a step without dropout."""
        weights = self.weights.tensors()
        x_11D = weights["input0.weight"].new_zeros(1, 1, weights["input0.weight"].shape[1])
        state = {name: rows.unsqueeze(0) for name, rows in self.initial_state(1).items()}
        return describe(self.program, {"x": x_11D}, state, weights, {})

    def initialise(self, start: Start, generator: torch.Generator) -> None:
        """Fill the weights with what training starts from."""
        self._layers.initialise(self.weights, start, generator)
        self.initial.initialise(start, generator)


def start_from(model: nn.Module, state: Mapping[str, npt.ArrayLike]) -> None:
    """Let every sequence start from these vectors, H numbers each; what is not named starts as before.

    They are named by layer and field in language models (``layer0.h``), and by layer, direction and field in encoders
    (``0.left_to_right.h``). Raises ConfigError for a name that the model has not, or a model without such states,
    ShapeError for a vector of another size, and for what is no finite number.
    """
    places = {
        _state_name(path, signal): (stack, signal)
        for path, stack in model.named_modules()
        if isinstance(stack, Stack)
        for signal in stack.program.carried
    }
    if not places:
        raise ConfigError("An initial state was given, but this model has no recurrent layers: leave it out.")
    for name, values in state.items():
        if name not in places:
            raise ConfigError(f"The initial state has '{name}', but the model has {', '.join(places)}: rename it.")
        stack, signal = places[name]
        try:
            vector_H = np.asarray(values, dtype=np.float32)
        except (TypeError, ValueError):
            raise ShapeError(
                f"The initial state '{name}' should be numbers, but is {values!r:.40}: correct it."
            ) from None
        if vector_H.shape != (stack.config.size,):
            raise ShapeError(
                f"The initial state '{name}' should have the shape ({stack.config.size},), but has {vector_H.shape}: "
                f"give one vector."
            )
        if not np.isfinite(vector_H).all():
            raise ShapeError(f"The initial state '{name}' has a number that is not finite: correct it.")
        stack.given[signal] = torch.from_numpy(vector_H).to(next(stack.parameters()))


def _state_name(path: str, signal: str) -> str:
    _, layers, place = path.rpartition("layers.")
    return f"{place}.{signal.removeprefix('layer0.')}" if layers else signal
