"""Dataflow within one step of a recurrent unit, traced from its equations.

The reference step of a unit (``kernels/naive/units.py``) runs once over symbols, which record its operations. A diagram
therefore shows the equations, and a new unit needs no drawing code.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise
from typing import Any

import torch

from anaphora.errors import ConfigError
from anaphora.inspection.result import Result
from anaphora.kernels.cells import CELLS, Cell
from anaphora.kernels.naive.units import UNITS, unit_step
from anaphora.kernels.ops import BlockOps

_NOW, _BEFORE = "\u209c", "\u209c\u208b\u2081"
"""Indices t and t - 1."""
PEEPHOLES = {"c": "P", "c_new": "P", "c_i": "p_i", "c_f": "p_f", "c_o": "p_o"}
"""Symbols of the weights of a unit that its memory is multiplied by."""
SYMBOLS = {**PEEPHOLES, "x": "V"} | {f"{letter}{n}": f"{letter.upper()}{n}" for letter in "qr" for n in range(1, 10)}
"""Symbols of matrices by their names; all others are U."""


@dataclass(frozen=True)
class Node:
    """Value within a step."""

    label: str
    """"W_f x + U_f h", "f = \u03c3", "+"; the name of an input, a result, or a part with its shapes."""
    kind: str
    """"given", "matrix", "function", "point-wise" or "result"."""
    reads: tuple[int, ...]
    """Nodes that it is computed from."""


@dataclass(frozen=True)
class CellDiagram(Result):
    """One step of a unit."""

    name: str
    nodes: tuple[Node, ...]
    """Each after those that it reads."""
    finding: str = ""
    """Equations of what it carries on."""
    letters: str = ""
    """Words for its gates and its new value: "f: forget gate"."""

    def lines(self) -> Iterator[str]:
        yield f"one step of {self.name}" + (f": {self.finding}" if self.finding else "")
        for number, node in enumerate(self.nodes):
            reads = f" <- {', '.join(map(str, node.reads))}" if node.reads else ""
            yield f"  {number:>2} {' '.join(node.label.split())}{reads}"


@dataclass(frozen=True)
class Symbol:
    """Value by the operation that computes it; equal expressions are one symbol.

    It has the operators and methods of a tensor that the equations of units use.
    """

    done: str
    """"given", "affine", "+", "\u00d7", "\u00f7", "1 \u2212", or the name of a function."""
    reads: tuple["Symbol", ...] = ()
    names: tuple[str, ...] = ()
    """Name of an input or of a matrix; matrices of an affine map, one for each value that it reads.

    A matrix of several blocks has their letters after an underscore: "U_ifgo".
    """

    @property
    def T(self) -> "Symbol":
        """The symbol itself: a diagram does not show how a matrix is stored."""
        return self

    def split(self, *blocks: int) -> list["Symbol"]:
        """Return neighbouring blocks, whose names have their letters; of a function, that of the blocks it reads."""
        if not self.names:
            parts = zip(*(one.split(*blocks) for one in self.reads), strict=True)
            return [replace(self, reads=reads) for reads in parts]
        named = [(base, letters) for base, letters in (name.split("_") for name in self.names)]
        own = len(named[0][1]) // sum(blocks)
        return [
            replace(self, names=tuple(f"{base}_{letters[first * own : end * own]}" for base, letters in named))
            for first, end in pairwise(accumulate(blocks, initial=0))
        ]

    def chunk(self, count: int, dim: int = 0) -> list["Symbol"]:
        """Return equal parts of its blocks."""
        return self.split(*[1] * count)

    def operands(self) -> Iterator["Symbol"]:
        """Yield the values that it is computed from, each after its own, and then itself."""
        for read in self.reads:
            yield from read.operands()
        yield self

    def clamp(self, min: int) -> "Symbol":
        return Symbol("relu", (self,))

    def __matmul__(self, matrix: "Symbol") -> "Symbol":
        return Symbol("affine", (self,), matrix.names)

    def __add__(self, other: "Symbol | int") -> "Symbol":
        if isinstance(other, int):
            return self if other == 0 else Symbol(f"{other} +", (self,))
        if self.done == other.done == "affine":
            return Symbol("affine", self.reads + other.reads, self.names + other.names)
        return Symbol("+", (self, other))

    __radd__ = __add__

    def __mul__(self, other: "Symbol") -> "Symbol":
        return Symbol("\u00d7", (self, other))

    def __truediv__(self, other: "Symbol") -> "Symbol":
        return Symbol("\u00f7", (self, other))

    def __sub__(self, other: "Symbol") -> "Symbol":
        return Symbol("\u2212", (self, other))

    def __rsub__(self, one: int) -> "Symbol":
        return Symbol(f"{one} \u2212", (self,))

    def __neg__(self) -> "Symbol":
        return Symbol("neg", (self,))

    def __rtruediv__(self, one: int) -> "Symbol":
        """Return the sigmoid that 1 / (1 + exp(-a)) is; units divide no other number."""
        [[[argument]]] = ([two.reads for two in three.reads] for three in self.reads)
        return Symbol("\u03c3", (argument,))

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, arguments: Sequence["Symbol"], options: Any = None
    ) -> "Symbol":
        """Return the result of a function of torch, such as ``torch.tanh``."""
        [argument] = arguments
        return argument.T if function is torch.diag else Symbol(function.__name__, (argument,))


class SymbolOps(BlockOps):
    """Operations of a unit that has no reference step, over symbols."""

    library = torch

    def __init__(self, weights: Mapping[str, Symbol]) -> None:
        self._weights = weights

    def product(self, name: str, a: Symbol) -> Symbol:
        return a @ self._weights[name]

    def split(self, a: Symbol, *blocks: int) -> list[Symbol]:
        return a.split(*blocks)

    def sigmoid(self, a: Symbol) -> Symbol:
        return Symbol("\u03c3", (a,))


def cell_diagram(name: str, options: Cell | None = None) -> CellDiagram:
    """Return the step of a unit by its name in recipes, or with options; ConfigError if an operation has no symbol."""
    cell: Any = options or CELLS[name]()
    try:
        after = trace(cell)
    except (AttributeError, NotImplementedError, TypeError, ValueError):
        raise ConfigError(f"{name} has operations that a diagram has no symbols for: draw a run that has it.") from None
    values = {symbol: f"{field}{_NOW}" for field, symbol in zip(cell.state, after, strict=True)}
    finding = ", ".join(f"{name} = {_expression(one, values, whole=True)}" for one, name in values.items())

    places = {symbol: place for place, symbol in enumerate(dict.fromkeys(chain(*(one.operands() for one in after))))}
    nodes = [_node(symbol, tuple(places[one] for one in symbol.reads), values) for symbol in places]
    nodes += [Node(f"{field}{_NOW}", "result", (places[one],)) for field, one in zip(cell.state, after, strict=True)]
    names = {**cell.gate_names, cell.candidate: "new value"}
    letters = {*cell.blocks, *"".join(dict(cell.matmuls).values())}
    words = ", ".join(f"{letter}: {word}" for letter, word in names.items() if letter in letters)
    return CellDiagram(name, tuple(nodes), finding, words)


def trace(cell: Any) -> tuple[Symbol, ...]:
    """Return the values that a step of a unit carries on."""

    def symbol(base: str, blocks: str) -> str:
        return f"{base}_{blocks}" if cell.gates > 1 or len(blocks) > 1 else base

    x: Any = Symbol("affine", (Symbol("given", (), (f"x{_NOW}",)),), (symbol("W", cell.blocks),))
    before: Any = tuple(Symbol("given", (), (f"{field}{_BEFORE}",)) for field in cell.state)
    names = {short: symbol(SYMBOLS.get(short, "U"), blocks) for short, blocks in cell.matmuls}
    names |= {short: PEEPHOLES.get(short, short) for short in cell.vectors}
    weights: Any = {short: Symbol("given", (), (name,)) for short, name in names.items()}
    if type(cell) in UNITS or hasattr(cell, "step"):
        after: Any = unit_step(cell, x, before, weights)
    else:
        after = cell.forward(SymbolOps(weights), x, before)[0]
    return tuple(after)


def _gate(symbol: Symbol, values: Mapping[Symbol, str]) -> str:
    """Return the letter of a gate or a candidate: the one block that its function is taken of; empty without."""
    function = len(symbol.reads) == 1 and symbol.done != "affine"
    blocks = {*re.findall(r"_(\w)", _expression(symbol.reads[0], values))} if function else set()
    return blocks.pop() if len(blocks) == 1 else ""


def _expression(symbol: Symbol, values: Mapping[Symbol, str], whole: bool = False) -> str:
    """Return a value as a formula of inputs, gates and results; a gate or result itself only where it is ``whole``."""
    if named := not whole and (values.get(symbol) or _gate(symbol, values)):
        return named
    terms = [_expression(one, values) for one in symbol.reads]
    match symbol.done:
        case "given":
            return symbol.names[0]
        case "affine":
            terms = [f"({term})" if " " in term else term for term in terms]
            return " + ".join(f"{name} {term}" for name, term in zip(symbol.names, terms, strict=True))
        case "\u00d7" | "\u00f7":
            sums = [one.done in ("+", "\u2212") and " " in term for one, term in zip(symbol.reads, terms, strict=True)]
            terms = [f"({term})" if is_sum else term for term, is_sum in zip(terms, sums, strict=True)]
    if len(terms) > 1:
        return f" {symbol.done} ".join(terms)
    return f"({symbol.done} {terms[0]})" if symbol.done.endswith("\u2212") else f"{symbol.done}({terms[0]})"


def _node(symbol: Symbol, reads: tuple[int, ...], values: Mapping[Symbol, str]) -> Node:
    if symbol.done in ("given", "affine"):
        label = re.sub(r"\(.{13,}\)", "(..)", _expression(symbol, values, whole=True))  # a box has room for no more
        return Node(label, "matrix" if reads else "given", reads)
    pointwise = symbol.done.split()[-1] in ("+", "\u00d7", "\u00f7", "\u2212")
    gate = "" if symbol in values else _gate(symbol, values)
    return Node(f"{gate} = {symbol.done}" if gate else symbol.done, "point-wise" if pointwise else "function", reads)
