"""Dataflow within one step of a recurrent unit, traced from its equations.

The reference step of a unit (``kernels/naive/units.py``) runs once over the proxies of ``torch.fx``, which record its
operations. A diagram therefore shows the equations, and a new unit needs no drawing code.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from torch import fx
from torch.fx.proxy import GraphAppendingTracer

from anaphora.formats.json_text import Jsonable
from anaphora.kernels.cells import AnyCell, Cell
from anaphora.kernels.naive.units import unit_step

MATRICES = {"h": "U", "rh": "U_g", "c": "P", "c_i": "p_i", "c_f": "p_f", "c_o": "p_o", "c_new": "P_o", "m": "U_m"}
"""Symbols of the matrices of a unit."""
_SIGNS = {"add": "+", "mul": "\u00d7", "sub": "\u2212"}


@dataclass(frozen=True)
class Node:
    """Value within a step."""

    label: str
    """"W_f x + U_f h", "tanh", "+"; the name of an input or a result."""
    kind: str
    """"given", "matrix", "function", "point-wise" or "result"."""
    reads: tuple[int, ...]
    """Nodes that it is computed from."""


@dataclass(frozen=True)
class CellDiagram(Jsonable):
    """One step of a unit."""

    name: str
    nodes: tuple[Node, ...]
    """Each after those that it reads."""

    def __str__(self) -> str:
        lines = [f"one step of {self.name}"]
        for number, node in enumerate(self.nodes):
            reads = f" <- {', '.join(map(str, node.reads))}" if node.reads else ""
            lines.append(f"  {number:>2} {node.label}{reads}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Symbol:
    """Value by the operation that computes it; equal expressions are one symbol."""

    done: str
    """"given", "affine", "+", "\u00d7", "1 \u2212", or the name of a function."""
    reads: tuple["Symbol", ...] = ()
    names: tuple[str, ...] = ()
    """Name of an input; matrices of an affine map, one for each value that it reads."""


def cells() -> dict[str, type[Cell]]:
    """Return every unit by its name in recipes."""
    union, *_ = get_args(AnyCell)
    return {one.model_fields["kind"].default: one for one in get_args(union)}


def cell_diagram(name: str) -> CellDiagram:
    """Return the step of a unit, by its name in recipes."""
    cell: Any = cells()[name].parse({}, name)
    after = traced(cell)
    places: dict[Symbol, int] = {}

    def visit(symbol: Symbol) -> None:
        """Give a symbol a place after those that it reads."""
        if symbol not in places:
            for read in symbol.reads:
                visit(read)
            places[symbol] = len(places)

    for symbol in after:
        visit(symbol)
    gates = getattr(cell, "blocks", {4: "ifgo", 3: "rzg"}.get(cell.gates, ""))
    nodes = [_node(symbol, tuple(places[one] for one in symbol.reads), gates) for symbol in places]
    nodes += [Node(f"{field} after", "result", (places[one],)) for field, one in zip(cell.state, after, strict=True)]
    return CellDiagram(name, tuple(nodes))


def traced(cell: Any) -> tuple[Symbol, ...]:
    """Return the values that a step of a unit carries on."""
    graph = fx.Graph()
    tracer, found = GraphAppendingTracer(graph), dict[fx.Node, Any]()

    def given(value: Symbol | str) -> Any:
        node = graph.placeholder("given")
        found[node] = value
        return fx.Proxy(node, tracer)

    x = given(Symbol("affine", (Symbol("given", (), ("x",)),), ("W",)))
    before = tuple(given(Symbol("given", (), (f"{field} before",))) for field in cell.state)
    weights = {short: given(MATRICES.get(short, f"U_{short} ")) for short, _ in cell.matmuls}
    weights |= {short: given(MATRICES.get(short, short)) for short in cell.vectors}
    after: Any = unit_step(cell, x, before, weights)
    for node in graph.nodes:
        if node not in found:
            found[node] = _value(node, [found.get(one, one) for one in node.args])
    return tuple(found[one.node] for one in after)


def _value(node: fx.Node, arguments: Sequence[Any]) -> Any:
    """Return the symbol of an operation; of weights a name, and of blocks a tuple."""
    function = node.target if isinstance(node.target, str) else node.target.__name__
    match function, arguments:
        case ("getattr" | "diag", [matrix, *_]):  # a diagram does not show how a matrix is stored
            return matrix
        case ("chunk", [str(matrix), count, *_]):
            return tuple(f"{matrix}{number}" for number in range(count))
        case ("chunk", [Symbol("affine", names=names) as whole, count, *_]):
            return tuple(replace(whole, names=tuple(f"{name}{n}" for name in names)) for n in range(count))
        case ("getitem", [blocks, number]):
            return blocks[number]
        case ("matmul", [read, matrix]):
            return Symbol("affine", (read,), (matrix,))
        case ("add", [0, same] | [same, 0]):
            return same
        case ("add", [Symbol("affine") as one, Symbol("affine") as other]):
            return Symbol("affine", one.reads + other.reads, one.names + other.names)
        case ("truediv", [1, Symbol("1 +", (Symbol("exp", (Symbol("neg", (argument,)),)),))]):
            return Symbol("\u03c3", (argument,))
    reads = [Symbol("given", (), (one,)) if isinstance(one, str) else one for one in arguments]
    numbers = [f"{one:g} " for one in reads if not isinstance(one, Symbol)]
    done = "relu" if function == "clamp" else _SIGNS.get(function, function)
    return Symbol("".join([*numbers, done]), tuple(one for one in reads if isinstance(one, Symbol)))


def _node(symbol: Symbol, reads: tuple[int, ...], gates: str) -> Node:
    match symbol.done:
        case "given":
            return Node(symbol.names[0], "given", ())
        case "affine":
            # an input that a matrix multiplies by its name, or a bracket
            shorts = [one.names[0].removesuffix(" before") if one.done == "given" else "(..)" for one in symbol.reads]
            terms = zip(symbol.names, shorts, strict=True)
            return Node(" + ".join(f"{_block(name, gates)} {short}" for name, short in terms), "matrix", reads)
    pointwise = symbol.done.split()[-1] in _SIGNS.values()
    return Node(symbol.done, "point-wise" if pointwise else "function", reads)


def _block(name: str, gates: str) -> str:
    """Return the name of a block of a matrix, after its gate."""
    base = name.rstrip("0123456789")
    digits = name[len(base) :]
    return f"{base}_{gates[int(digits)]}" if digits and int(digits) < len(gates) else base
