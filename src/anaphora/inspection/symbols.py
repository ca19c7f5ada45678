"""Equations run over symbols in place of tensors: what is computed from what, without a number.

A symbol knows the operators and the few functions of torch that the reference steps of units use
(``kernels/naive/units.py``). Equal expressions are one symbol. Blocks of a sum or product are sums and products of
blocks, 1 / (1 + exp(-a)) is sigma(a), and a sum of matrix products is one affine map.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Union

import torch

Term = Union["Symbol", float]


@dataclass(frozen=True)
class Matrix:
    """A weight, or a block of one."""

    name: str

    @property
    def T(self) -> "Matrix":
        """The same: a picture does not tell which way round it is stored."""
        return self

    def chunk(self, count: int, dim: int = 0) -> tuple["Matrix", ...]:
        """Its blocks."""
        return tuple(Matrix(f"{self.name}{number}") for number in range(count))

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> "Matrix":
        if function is torch.diag:
            return args[0]  # type: ignore[no-any-return]
        raise NotImplementedError(f"{function} of a weight has no picture.")


@dataclass(frozen=True)
class Symbol:
    """A value, by what was done to get it."""

    done: str
    """"given", "affine", "block", "+", "x", "1 -", or the name of a function."""
    reads: tuple["Symbol", ...] = ()
    names: tuple[str, ...] = ()
    """Of what is given, its name; of an affine map, the matrix of each that it reads."""

    def __add__(self, other: Term) -> "Symbol":
        if not isinstance(other, Symbol):
            return self if other == 0 else Symbol(f"{other:g} +", (self,))
        if self.done == other.done == "affine":
            return Symbol("affine", self.reads + other.reads, self.names + other.names)
        return Symbol("+", (self, other))

    __radd__ = __add__

    def __mul__(self, other: "Symbol") -> "Symbol":
        return Symbol("\u00d7", (self, other))

    def __neg__(self) -> "Symbol":
        return Symbol("-", (self,))

    def __rsub__(self, other: float) -> "Symbol":
        return Symbol(f"{other:g} \u2212", (self,))

    def __rtruediv__(self, other: float) -> "Symbol":
        match self:
            case Symbol("1 +", (Symbol("exp", (Symbol("-", (argument,)),)),)) if other == 1:
                return Symbol("\u03c3", (argument,))
        return Symbol(f"{other:g} /", (self,))

    def __matmul__(self, matrix: Matrix) -> "Symbol":
        return Symbol("affine", (self,), (matrix.name,))

    def chunk(self, count: int, dim: int = -1) -> tuple["Symbol", ...]:
        """Its blocks: of an affine map, the maps by the blocks of its matrices."""
        assert self.done == "affine"
        return tuple(
            Symbol("affine", self.reads, tuple(f"{name}{number}" for name in self.names)) for number in range(count)
        )

    def clamp(self, min: float) -> "Symbol":
        """max(0, a), as it is used by a unit."""
        return Symbol("relu", (self,))

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> "Symbol":
        names: dict[Callable[..., Any], str] = {torch.tanh: "tanh", torch.exp: "exp"}
        if function in names:
            return cls(names[function], (args[0],))
        raise NotImplementedError(f"{function} has no picture.")


def in_order(results: Sequence[Symbol]) -> list[Symbol]:
    """All symbols that lead to ``results``, each once and after those that it reads."""
    found: dict[Symbol, None] = {}

    def visit(symbol: Symbol) -> None:
        if symbol not in found:
            for read in symbol.reads:
                visit(read)
            found[symbol] = None

    for symbol in results:
        visit(symbol)
    return list(found)
