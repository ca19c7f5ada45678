"""The weights of a program as parameters of a module, and what they start from."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, cast

import torch
from pydantic import Field
from torch import Tensor, nn

from anaphora.batch import Batch
from anaphora.config import ByKind, Config
from anaphora.errors import ShapeError
from anaphora.kernels.linear import linear
from anaphora.nn.device import device_of
from anaphora.nn.randomness import dropout_mask, generator
from anaphora.protocols import Carry


class Matrix(NamedTuple):
    """The shape of one weight of a program."""

    rows: int
    columns: int = 0
    """0 for a vector."""
    blocks: int = 1
    """Number of blocks one above the other: the gates of a unit."""
    recurrent: bool = False
    """True if it maps a state to the next, in square blocks."""
    gain: bool = False
    """True if it is a vector that scales, and so starts from 1 whatever the others start from."""


def projection_matrices(name: str, rows: int, columns: int, bias: bool, blocks: int = 1) -> dict[str, Matrix]:
    matrices = {f"{name}.weight": Matrix(rows, columns, blocks)}
    return matrices | ({f"{name}.bias": Matrix(rows)} if bias else {})


def project(weights: Mapping[str, Tensor], name: str, x: Tensor) -> Tensor:
    """W x + b of a projection, b where there is one; each row has the same bits in any batch."""
    y, bias = linear(x, weights[f"{name}.weight"]), weights.get(f"{name}.bias")
    return y if bias is None else y + bias


class _Blocks(Config):
    def fill(self, weight: Tensor, matrix: Matrix, generator: torch.Generator) -> None:
        if not matrix.columns:
            nn.init.zeros_(weight)
            return
        for block in weight.chunk(matrix.blocks):
            nn.init.xavier_uniform_(block, generator=generator)

    def fill_table(self, weight_VE: Tensor, generator: torch.Generator) -> None:
        """Fill an embedding with numbers of variance 1, what the matrices after it are made for."""
        nn.init.normal_(weight_VE, generator=generator)


class Xavier(_Blocks):
    """Uniform within sqrt(6 / (fan in + fan out)) (Glorot and Bengio 2010), block by block; biases and vectors 0."""

    kind: Literal["xavier"] = "xavier"


class Orthogonal(_Blocks):
    """Recurrent matrices orthogonal, block by block (Saxe, McClelland and Ganguli 2014); the rest as with xavier."""

    kind: Literal["orthogonal"] = "orthogonal"

    def fill(self, weight: Tensor, matrix: Matrix, generator: torch.Generator) -> None:
        if not matrix.recurrent:
            super().fill(weight, matrix, generator)
            return
        for block in weight.chunk(matrix.blocks):
            nn.init.orthogonal_(block, generator=generator)


class Uniform(Config):
    """Uniform between -range and range, for every weight and bias alike (Sutskever et al. 2014: 0.08)."""

    kind: Literal["uniform"] = "uniform"
    range: float = Field(0.1, gt=0)
    """The largest absolute value."""

    def fill(self, weight: Tensor, matrix: Matrix, generator: torch.Generator) -> None:
        self.fill_table(weight, generator)

    def fill_table(self, weight_VE: Tensor, generator: torch.Generator) -> None:
        nn.init.uniform_(weight_VE, -self.range, self.range, generator=generator)


Start = Orthogonal | Xavier | Uniform
AnyStart = ByKind[Start]
"""Initializer of weights, as a recipe names it: ``"orthogonal"``, or ``{kind = "uniform", range = 0.08}``."""


class Weights(nn.Module):
    """Parameters under the names that a program uses: ``cell0.h`` is matrix ``h`` of part ``cell0``."""

    def __init__(self, matrices: Mapping[str, Matrix]) -> None:
        """One parameter for each ``part.matrix``, zero until ``initialise``."""
        super().__init__()
        self._matrices = dict(matrices)
        for name, matrix in matrices.items():
            part, short = name.split(".")
            if part not in self._modules:
                self.add_module(part, nn.ParameterDict())
            shape = (matrix.rows, matrix.columns) if matrix.columns else (matrix.rows,)
            self.get_submodule(part).register_parameter(short, nn.Parameter(torch.zeros(shape)))

    def tensors(self) -> dict[str, Tensor]:
        """Return all of them by name, as ``scan`` and ``advance`` take them."""
        found = dict[str, Tensor]()  # named_parameters would take longer than a step of search
        for part, module in self._modules.items():
            assert module is not None
            found |= {f"{part}.{short}": cast(Tensor, weight) for short, weight in module._parameters.items()}
        return found

    def with_dropout(self, owner: str, rate: float) -> dict[str, Tensor]:
        """Return all of them by name, with a fraction of every recurrent matrix dropped for this batch.

        ``owner`` tells their masks apart from those of others (Merity et al. 2018, section 2).
        """
        return {
            name: weight * dropout_mask(f"{owner}.{name}", tuple(weight.shape), rate, weight)
            if rate and self._matrices[name].recurrent
            else weight
            for name, weight in self.tensors().items()
        }

    def initialise(self, start: Start, generator: torch.Generator) -> None:
        with torch.no_grad():
            for name, weight in self.named_parameters():
                matrix = self._matrices[name]
                if matrix.gain:
                    nn.init.ones_(weight)
                else:
                    start.fill(weight, matrix, generator)


class Layer(nn.Module):
    """A module whose parameters are ``Weights``."""

    weights: Weights

    def initialise(self, start: Start, generator: torch.Generator) -> None:
        """Fill the weights with what training starts from."""
        self.weights.initialise(start, generator)


class Network(nn.Module):
    """A whole model: layers, in the order in which they are filled."""

    config: Any
    """Options, ``initializer`` among them."""

    def __call__(self, batch: Batch, carry: Carry | None = None) -> Any:
        """Return the result of ``forward`` for a batch of arrays, or of tensors anywhere: see ``protocols.Model``."""
        return super().__call__(batch.to(device_of(self)), carry)

    def initialise(self, seed: int) -> None:
        """Fill the weights with their initial values under this seed, but those of layers without ``initialise``."""
        source = generator(seed, "initialise")
        for layer in self.children():
            if hasattr(layer, "initialise"):
                cast(Any, layer).initialise(self.config.initializer, source)


def demand_carry(carry: Mapping[str, Tensor], fresh: Mapping[str, Tensor]) -> None:
    """Raise ShapeError where a carried state, perhaps of a checkpoint, is not like a ``fresh`` one of the same rows."""
    for name, tensor in fresh.items():
        there = carry.get(name)
        if there is None or there.shape != tensor.shape or there.is_floating_point() != tensor.is_floating_point():
            shape = tuple(tensor.shape)
            raise ShapeError(f"The saved state {name} has not the shape {shape}: it belongs to another experiment.")


def demand_lists(shapes: Mapping[str, tuple[int, ...]], names: Sequence[str]) -> None:
    """Raise ShapeError where saved tensors of these names, as far as they are there, are not lists of one length."""
    found = {name: tuple(shapes[name]) for name in names if name in shapes}
    if len({*found.values()}) > 1 or any(len(shape) != 1 for shape in found.values()):
        raise ShapeError(f"{', '.join(found)} should be lists of one length, but have the shapes {[*found.values()]}.")
