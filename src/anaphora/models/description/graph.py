"""Operations on whole sequences, listed as data; ``inference.operations`` says what each computes."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from anaphora.errors import ConfigError
from anaphora.kernels.cells.recorded import AutogradCell
from anaphora.kernels.parts import Unit
from anaphora.kernels.program import Program
from anaphora.kernels.program_data import program_to_data
from anaphora.nn.stack import Stack
from anaphora.nn.weights import Weights

Table = dict[str, Any]


class Names:
    """The names of a network's weights in its checkpoint; a tied weight has one, the first."""

    def __init__(self, model: nn.Module) -> None:
        """``model`` has the weights that are named."""
        tensors = model.state_dict(keep_vars=True)
        self._names = {id(tensor): name for name, tensor in reversed(tensors.items())}

    def of(self, tensor: Tensor) -> str:
        return self._names[id(tensor)]

    def prefix(self, weights: Weights) -> str:
        """Return what stands before the names that a program has for its weights."""
        short, tensor = next(iter(weights.tensors().items()))
        return self.of(tensor).removesuffix(short)

    def stack(self, stack: Stack) -> Table:
        """Return layers as data: their step, and what they start from where that is not zero."""
        first = {name: self.of(tensor) for name, tensor in stack.initial.tensors().items()}
        return {**self.step(stack.program, stack.weights), "size": stack.config.size, "first": first}

    def step(self, program: Program, weights: Weights) -> Table:
        """Return a step as data; ConfigError for a unit that autograd runs."""
        for part in program.parts:
            if isinstance(part, Unit) and isinstance(part.cell, AutogradCell):
                raise ConfigError(f'The cell "{part.cell.kind}" runs in PyTorch alone: train a run with another one.')
        return {"program": program_to_data(program), "weights": self.prefix(weights)}


class Graph:
    """Operations in order; a signal is a name, and holds a vector for each row or for each step of each row."""

    def __init__(self, names: Names) -> None:
        """``names`` are those of the weights."""
        self.names = names
        self._operations: list[tuple[str, list[str], Table, list[str]]] = []

    def add(self, operation: str, *signals: str, **attributes: Any) -> str:
        """Return the name of what an operation makes of signals."""
        return self.add_several(operation, signals, [""], attributes)[0]

    def add_several(self, operation: str, signals: tuple[str, ...], outputs: list[str], attributes: Table) -> list[str]:
        """Return the names of the signals that an operation makes, each with its own ending."""
        made = [f"{operation}{len(self._operations)}{f' {output}' if output else ''}" for output in outputs]
        self._operations.append((operation, list(signals), attributes, made))
        return made

    def named(self, weight: Tensor | None) -> str:
        """Return a weight as operations have it among their attributes: its name, none for none."""
        return "" if weight is None else self.names.of(weight)

    def project(self, weights: Mapping[str, Tensor], part: str, signal: str) -> str:
        """Return W x + b of a projection, b where there is one."""
        names = {name: self.named(weights.get(f"{part}.{name}")) for name in ("weight", "bias")}
        return self.add("project", signal, **names)

    def join(self, signals: list[str]) -> str:
        """Return vectors one after the other."""
        return signals[0] if len(signals) == 1 else self.add("join", *signals)

    def data(self, outputs: Mapping[str, str]) -> Table:
        """Return the graph as data: the operations that lead to outputs, and the signals of these by name."""
        wanted, operations = {*outputs.values()}, list[list[Any]]()
        for operation, inputs, attributes, made in reversed(self._operations):
            if not wanted.isdisjoint(made):
                wanted.update(inputs)
                operations.append([operation, inputs, attributes, made])
        return {"operations": operations[::-1], "outputs": dict(outputs)}
