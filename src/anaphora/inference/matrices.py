"""Names of the weights that a described network multiplies by as whole matrices, and reads in no other way.

In bf16 or int8 a product reads them rounded, so that nothing is lost where they are stored so. A table of word vectors,
or a matrix that is tied to one, is read as it is.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

_OF_OUTPUTS = ("weight", "class_weight", "nodes")
_OF_PARTS = {"Project": ["weight"], "Unit": ["h", "rh", "m", "c", "c_new"], "Attend": ["query"]}
"""Matrices by the class of a part; those that it has not are named in vain."""


def matrices_of(description: Mapping[str, Any]) -> set[str]:
    """Return names of weights that are matrices of products and nothing else."""
    named, matrices = Counter(_texts(description)), Counter(_matrices(description))
    return {name for name, count in matrices.items() if count == named[name]} | set(_of_steps(description))


def _matrices(value: Any) -> Iterator[str]:
    """Yield the name of a matrix for each place that names it as such."""
    match value:
        case ["project" | "convolve", _, {"weight": str(name)}, _]:
            yield name
        case {"output": dict(output)}:
            yield from (output[key] for key in _OF_OUTPUTS if isinstance(output.get(key), str))
    for one in _inner(value):
        yield from _matrices(one)


def _of_steps(value: Any) -> Iterator[str]:
    match value:
        case {"program": {"parts": parts}, "weights": prefix}:
            for part in parts:
                yield from (f"{prefix}{part['name']}.{name}" for name in _OF_PARTS.get(part["part"], []))
    for one in _inner(value):
        yield from _of_steps(one)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for one in _inner(value):
        yield from _texts(one)


def _inner(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else []
