"""Names of the weights that a described network reads as operands of products alone.

In bf16 or int8 a product rounds the rows of both its operands, so that nothing is lost where these are stored so: a
matrix that is multiplied by, a table whose word vectors are multiplied, or one that is both. All else is read as it is.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import frexp
from typing import Any

_OF_OUTPUTS = ("weight", "class_weight", "nodes")
_OF_PARTS = {"Project": ["weight"], "Unit": ["h", "rh", "m", "c", "c_new"]}
_OF_PARTS |= {"Attend": ["query"], "Lexical": ["layer"], "ScorePositions": ["query"]}
"""Matrices by the class of a part; those that it has not are named in vain."""


def matrices_of(description: Mapping[str, Any]) -> set[str]:
    """Return the names of matrices and tables that are operands of products and nothing else."""
    tables = [description]
    named, operands = Counter[str](), Counter[str]()
    in_steps = set[str]()
    while tables:
        value = tables.pop()
        if isinstance(value, str):
            named[value] += 1
        operands.update(_operands(value))
        in_steps.update(_of_step(value))
        tables += value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return in_steps | {name for name, count in operands.items() if count == named[name]}


def _operands(value: Any) -> Iterator[str]:
    """Yield the name of a weight for each place in a part of a description that names it as an operand alone."""
    match value:
        case ["project" | "convolve", _, {"weight": str(name)}, _]:
            yield name
        case {"operations": list(operations), "outputs": dict(outputs)}:
            yield from _tables(operations, outputs.values())
        case {"output": dict(output)}:
            if not {"norm", "lexical_weight"} & output.keys():  # whose rows are changed before they are multiplied
                yield from (output[key] for key in _OF_OUTPUTS if isinstance(output.get(key), str))
            yield from _read_by_step(value)
        case {"embedding": _}:
            yield from _read_by_step(value)


def _of_step(value: Any) -> Iterator[str]:
    """Yield the matrices of a step."""
    match value:
        case {"program": {"parts": parts}, "weights": prefix}:
            for part in parts:
                yield from (f"{prefix}{part['name']}.{name}" for name in _OF_PARTS.get(part["part"], []))


def _read_by_step(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the table of the words that a step reads."""
    step = value.get("decoder") or value.get("recurrence") or value
    match value.get("embedding"):
        case {"operations": list(operations), "outputs": {"x": x}} if _multiplies_x(step):
            yield from _tables(operations, [], x)


def _tables(operations: Sequence[Any], kept: Any, multiplied: str = "") -> Iterator[str]:
    """Yield the tables whose vectors go into products alone.

    ``kept`` are signals that a graph gives for any use, ``multiplied`` is one that it gives for products.
    """
    for operation, _, attributes, [signal, *_] in operations:
        ends = signal == multiplied or _is_multiplied(signal, operations, kept)
        if operation == "embed" and "norm" not in attributes and frexp(attributes["scale"])[0] == 0.5 and ends:
            yield attributes["table"]  # which a power of two rounds not


def _is_multiplied(signal: str, operations: Sequence[Any], kept: Any) -> bool:
    """True if all that reads a signal multiplies it."""
    readers = [one for one in operations if signal in one[1]]
    return signal not in kept and all(
        _is_multiplied(made[0], operations, kept)
        if operation == "reverse"
        else operation == "scan" and _multiplies_x(attributes)
        for operation, _, attributes, made in readers
    )


def _multiplies_x(step: Mapping[str, Any]) -> bool:
    """True if all parts of a step that read ``x`` multiply it."""
    reads = [part for part in step["program"]["parts"] if "x" in _flat(part)]
    return all(part["part"] == "Project" for part in reads)


def _flat(part: Mapping[str, Any]) -> list[Any]:
    return [one for value in part.values() for one in (value if isinstance(value, list) else [value])]
