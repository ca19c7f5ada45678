"""Programs as JSON-able data, and back: the parts by their class, their options by their kind."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, get_args

from anaphora.kernels.attention import Attend, ScorePositions
from anaphora.kernels.cells import CELLS
from anaphora.kernels.lexical import Lexical
from anaphora.kernels.normalisation import Normalise
from anaphora.kernels.normalizers import AnyNormalizer
from anaphora.kernels.parts import Activate, Add, Clock, Column, Constant, Gated, Maxout, Part, Project, Unit
from anaphora.kernels.program import Program
from anaphora.kernels.scores import AnyScore
from anaphora.kernels.spans import AnySpan
from anaphora.kernels.window import GaussianWindow, Move
from anaphora.records import Record
from anaphora.wording import check_known

_PARTS: tuple[Any, ...] = (Activate, Add, Attend, Clock, Column, Constant, Gated, GaussianWindow, Maxout, Move)
_PARTS += (Lexical, Normalise, Project, ScorePositions, Unit)
"""Classes of the parts of inference."""

_OPTIONS = {"score": AnyScore, "span": AnySpan, "normalizer": AnyNormalizer}
"""Options that parts are built from, by the field that holds them."""


def program_to_data(program: Program) -> dict[str, Any]:
    """Return a program as data; ValueError for a part that inference has not."""
    return {"parts": [_part_to_data(part) for part in program.parts], "returns": list(program.returns)}


def program_from_data(data: Mapping[str, Any]) -> Program:
    """Return the program that ``program_to_data`` made data of.

    Raises KeyError or TypeError for data of no program, DamagedError for options that are out of bounds.
    """
    classes = {one.__name__: one for one in _PARTS}
    parts = []
    for part in data["parts"]:
        values = {name: _value_from_data(name, value) for name, value in part.items() if name != "part"}
        parts.append(classes[part["part"]](**values))
    return Program(tuple(parts), tuple(data["returns"]))


def _part_to_data(part: Part) -> dict[str, Any]:
    if not isinstance(part, _PARTS):
        raise ValueError(f"A part of inference is one of {_PARTS}, but not a {type(part).__name__}.")
    values = {field.name: getattr(part, field.name) for field in fields(part)}
    return {"part": type(part).__name__} | {
        name: asdict(value) if isinstance(value, Record) else value for name, value in values.items()
    }


def _value_from_data(name: str, value: Any) -> Any:
    if name == "cell" or name in _OPTIONS:
        classes: Any = CELLS if name == "cell" else {one.kind: one for one in get_args(_OPTIONS[name])}
        check_known(f"The {name} of the network", value["kind"], classes)
        return classes[value["kind"]].from_table(value, Path("the network"), f"a {name}")
    return tuple(value) if isinstance(value, list) else value
