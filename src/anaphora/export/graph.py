"""An ONNX graph that is written node by node; names of nodes are made up, those of weights are of the checkpoint."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from anaphora.errors import ConfigError, MissingExtraError

OPSET = 18
IR_VERSION = 9
"""Version of ONNX 1.14 (2023): what every runtime since then reads."""

END = 1 << 40
"""The end of a slice that goes on to the last value."""
_LAST = -1
"""The axis of a vector, in one row as in many."""


def library(name: str) -> Any:
    """Return a module of the extra ``onnx``; MissingExtraError with the line that installs it."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(name.partition(".")[0], "onnx") from None


class Graphs(NamedTuple):
    """A network as ONNX models."""

    models: Mapping[str, Any]
    """Graphs by name."""
    config: Mapping[str, Any]
    """Names of signals and classes, and initial states; for ``config.json``."""


class Graph:
    """One graph; a signal is a name, and holds vectors along its last axis: one, or many rows of them."""

    def __init__(self, name: str, outer: "Graph | None" = None) -> None:
        """``outer`` is the graph around the body of a loop, which has the weights. Raises as ``library``."""
        self.name = name
        """Unlike those of other bodies of loops within the outermost graph."""
        self._root: Graph = outer._root if outer else self
        self._nodes: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._helper = library("onnx").helper
        if not outer:
            self._count = 0
            self._weights: dict[str, np.ndarray[Any, Any]] = {}

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Return the name of what an operator makes of signals."""
        [made] = self.nodes(operator, *inputs, outputs=1, **attributes)
        return made

    def nodes(self, operator: str, *inputs: str, outputs: int, **attributes: Any) -> list[str]:
        """Return the names of the several signals that an operator makes."""
        made = [self._fresh(operator) for _ in range(outputs)]
        self._nodes.append(self._helper.make_node(operator, inputs, made, **attributes))
        return made

    def weight(self, name: str, tensor: np.ndarray[Any, Any], *, transposed: bool = False) -> str:
        """Return a tensor of the network, perhaps transposed, which is stored once."""
        stored = f"{name}.transposed" if transposed else name
        values = tensor.astype(np.float32)
        self._root._weights.setdefault(stored, np.ascontiguousarray(values.T if transposed else values))
        return stored

    def constant(self, value: Any) -> str:
        """Return a number or a list: float32, or int64 for whole numbers."""
        array = np.asarray(value)
        array = array.astype(np.float32 if array.dtype.kind == "f" else np.int64)
        name = f"constant {array.dtype} {array.tolist()}"
        self._root._weights.setdefault(name, array)
        return name

    def input(self, name: str, shape: Sequence[int | str | None], kind: str = "FLOAT") -> str:
        """Return a signal from outside."""
        self._inputs.append(self._value(name, shape, kind))
        return name

    def output(self, name: str, signal: str, shape: Sequence[int | str | None]) -> None:
        """Give a signal out under a name."""
        self._nodes.append(self._helper.make_node("Identity", [signal], [name]))
        self._outputs.append(self._value(name, shape, "FLOAT"))

    def _value(self, name: str, shape: Sequence[int | str | None], kind: str) -> Any:
        return self._helper.make_tensor_value_info(name, getattr(library("onnx").TensorProto, kind), shape)

    def body(self) -> "Graph":
        """Return the body of a loop of this graph."""
        return Graph(self._fresh("body"), self)

    def scan(self, body: "Graph", first: Sequence[str], rows: Sequence[str], outputs: int) -> list[str]:
        """Run a body over rows; the last states and ``outputs`` signals of all steps."""
        attributes = {"body": body.proto(), "num_scan_inputs": len(rows)}
        return self.nodes("Scan", *first, *rows, outputs=len(first) + outputs, **attributes)

    def add(self, signals: Sequence[str]) -> str:
        """Return the sum of signals."""
        return signals[0] if len(signals) == 1 else self.node("Sum", *signals)

    def multiply(self, left: str, right: str) -> str:
        return self.node("Mul", left, right)

    def unsqueeze(self, signal: str, axis: int) -> str:
        """Return a signal with an axis of one value more."""
        return self.node("Unsqueeze", signal, self.constant([axis]))

    def length(self, signal: str) -> str:
        """Return the number of rows, as a list of one number."""
        return self.node("Shape", signal, start=0, end=1)

    def split(self, signal: str, parts: int) -> list[str]:
        """Return a vector in parts of one size."""
        if parts == 1:
            return [signal]
        return self.nodes("Split", signal, outputs=parts, axis=_LAST, num_outputs=parts)

    def join(self, signals: Sequence[str], axis: int = _LAST) -> str:
        """Return vectors one after the other; with axis 0 rows."""
        return signals[0] if len(signals) == 1 else self.node("Concat", *signals, axis=axis)

    def slice(self, signal: str, start: int, end: int, step: int = 1, axis: int = 0) -> str:
        """Return a part of a signal along an axis, perhaps backwards."""
        return self.node("Slice", signal, *(self.constant([number]) for number in (start, end, axis, step)))

    def proto(self) -> Any:
        """Return the graph as ONNX has it, without what leads to no output; the outermost one with all weights."""
        nodes, wanted = list[Any](), {output.name for output in self._outputs}
        for node in reversed(self._nodes):
            if wanted.isdisjoint(node.output):
                continue
            nodes.append(node)
            wanted.update(node.input)
            for attribute in node.attribute:
                wanted.update(name for inner in attribute.g.node for name in inner.input)
        weights: Mapping[str, Any] = self._weights if self._root is self else {}
        from_array = library("onnx").numpy_helper.from_array
        initializers = [from_array(array, name) for name, array in weights.items() if name in wanted]
        return self._helper.make_graph(nodes[::-1], self.name, self._inputs, self._outputs, initializers)

    def model(self) -> Any:
        """Return the graph as a model that was checked."""
        onnx = library("onnx")
        versions = {"opset_imports": [self._helper.make_opsetid("", OPSET)], "ir_version": IR_VERSION}
        made = self._helper.make_model(self.proto(), producer_name="anaphora", **versions)
        onnx.checker.check_model(made)
        return made

    def _fresh(self, operator: str) -> str:
        self._root._count += 1
        return f"{operator}.{self._root._count}"


def refuse_graph(what: str) -> ConfigError:
    """Return the refusal of a network that has no graph."""
    return ConfigError(
        f"Networks of recurrent encoders, cells with a derived gradient, and a softmax over the vocabulary can be "
        f"exported to ONNX, but not {what}: train a run without it to export it."
    )
