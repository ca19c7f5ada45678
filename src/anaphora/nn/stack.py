"""A stack of recurrent layers walked from left to right: the body of encoders and of language models."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from anaphora.config import Config
from anaphora.errors import ConfigError
from anaphora.kernels.cells import AnyCell, Cell, Lstm
from anaphora.kernels.parts import Mask, Part, Project, Unit
from anaphora.kernels.program import Program
from anaphora.kernels.scan import Scanned, advance, scan
from anaphora.nn.randomness import dropout_mask
from anaphora.nn.weights import Matrix, Start, Weights


class RecurrentConfig(Config):
    """Layers of one recurrent unit."""

    cell: AnyCell = Lstm()
    """The unit."""
    layers: int = 1
    """How many layers stand on each other."""
    size: int = 256
    """Units of a layer (in each direction, where there are two)."""
    dropout: float = 0.0
    """Share of every layer's outputs that is dropped on the way up (Zaremba et al. 2014)."""
    bias: bool = True
    """Whether units have a bias."""

    def check_bias(self) -> None:
        """Refuse a forget bias where there is no bias to hold it.

        Raises:
            ConfigError: it says which of the two to change.
        """
        if not self.bias and isinstance(self.cell, Lstm) and self.cell.forget_bias:
            raise ConfigError(
                f"a forget bias of {self.cell.forget_bias} needs units with a bias, but bias = false: "
                f'set bias = true, or cell = {{kind = "{self.cell.kind}", forget_bias = 0}}.'
            )


def unit_matrices(name: str, cell: Cell, size: int) -> dict[str, Matrix]:
    """The recurrent matrices and the vectors of a unit."""
    matrices = {f"{name}.{short}": Matrix(blocks * size, size, blocks, True) for short, blocks in cell.products}
    return matrices | {f"{name}.{short}": Matrix(size) for short in cell.vectors}


def projection_matrices(name: str, rows: int, columns: int, bias: bool, blocks: int = 1) -> dict[str, Matrix]:
    """The matrix of a projection, and its bias."""
    matrices = {f"{name}.weight": Matrix(rows, columns, blocks)}
    return matrices | ({f"{name}.bias": Matrix(rows)} if bias else {})


class Stack(nn.Module):
    """Recurrent layers; the carried state has one tensor for each field of each layer, ``layer0.h``."""

    def __init__(self, config: RecurrentConfig, width: int, name: str) -> None:
        """``width`` of the inputs; ``name`` tells its dropout masks apart from those of others.

        Raises:
            ConfigError: the options do not go together.
        """
        super().__init__()
        config.check_bias()
        self.config = config
        self.name = name
        matrices: dict[str, Matrix] = {}
        for layer in range(config.layers):
            columns, cell = (width if layer == 0 else config.size), config.cell
            matrices |= projection_matrices(
                f"input{layer}", cell.gates * config.size, columns, config.bias, cell.gates
            ) | unit_matrices(f"layer{layer}", cell, config.size)
        self.weights = Weights(matrices)
        self._plain, self._masked = self._program(masked=False), self._program(masked=True)

    def _program(self, masked: bool) -> Program:
        """One step of the stack; ``masked`` with dropout behind every layer."""
        parts: list[Part] = []
        source = "x"
        for layer in range(self.config.layers):
            unit = Unit(f"layer{layer}", self.config.cell, (f"a{layer}",))
            parts += [Project(f"input{layer}", source, f"a{layer}", self.config.bias), unit]
            source = unit.writes[0]
            if masked:
                parts.append(Mask(f"dropout{layer}", source, f"mask{layer}", f"dropped{layer}"))
                source = f"dropped{layer}"
        return Program(tuple(parts), (source,))

    def zeros(self, sentences: int) -> dict[str, Tensor]:
        """The state before anything was read."""
        like = next(self.parameters())
        return {name: like.new_zeros(sentences, self.config.size) for name in self._plain.carried}

    def forward(self, x_TBD: Tensor, lengths_B: Tensor, first: Mapping[str, Tensor] | None = None) -> Scanned:
        """The outputs of the top layer (T x B x H) and the state at the end of each row."""
        rate = self.config.dropout if self.training else 0.0
        inputs, shape = {"x": x_TBD}, (*x_TBD.shape[:2], self.config.size)
        if rate:
            names = (f"{self.name}.{layer}" for layer in range(self.config.layers))
            inputs |= {f"mask{n}": dropout_mask(name, shape, rate, x_TBD) for n, name in enumerate(names)}
        program, state = self._masked if rate else self._plain, first or self.zeros(x_TBD.shape[1])
        scanned = scan(program, inputs, state, self.weights.tensors(), {}, lengths_B)
        return Scanned({"h": scanned.outputs[program.returns[0]]}, scanned.state)

    def advance(self, x_XBD: Tensor, state: Mapping[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        """One step: the output of the top layer, and the new state."""
        signals = advance(self._plain, {"x": x_XBD}, state, self.weights.tensors(), {})
        return signals[self._plain.returns[0]], {name: signals[name] for name in self._plain.carried}

    def initialise(self, start: Start, generator: torch.Generator) -> None:
        """Fill the weights with what training starts from."""
        self.weights.initialise(start, generator)
        if self.config.bias:
            with torch.no_grad():
                for layer in range(self.config.layers):
                    self.config.cell.start_bias(self.weights.tensors()[f"input{layer}.bias"])
