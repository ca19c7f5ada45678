"""Records: frozen dataclasses of plain values, read without pydantic.

Some are what a file in JSON has, others are options that predictions read too: of cells, scores, tokenizers. What was
stored is read by ``from_table``. What a person writes is a table of a ``config.Config``, which may have records as
fields; there pydantic checks them.
"""

import operator
import sys
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from itertools import product
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, ClassVar, Literal, Self, dataclass_transform, get_args, get_origin, get_type_hints

from anaphora.files import DamagedError

_NAMES = {int: "integer", float: "number", str: "string", bool: "boolean", list: "list", dict: "dictionary"}
_BOUNDS = {"gt": "greater than", "ge": "greater than or equal to", "lt": "less than", "le": "less than or equal to"}
"""Bounds by the names that ``annotated_types`` and ``operator`` give them."""


class _Fault(ValueError):
    """A value that is not what its annotation says, with its dotted key."""


@dataclass_transform(frozen_default=True)
class Record:
    """Base of records: each subclass is a dataclass. A value of another type is refused, never converted."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
    __pydantic_config__: ClassVar[dict[str, Any]] = {"strict": True, "allow_inf_nan": False}

    def __init_subclass__(cls, *, extra: Literal["ignore", "forbid"] | None = None, frozen: bool = True) -> None:
        """``extra`` are values that it does not name, by default those of its base, which ignores them."""
        super().__init_subclass__()
        if extra is not None:
            cls.__pydantic_config__ = cls.__pydantic_config__ | {"extra": extra}
        dataclass(frozen=frozen)(cls)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Let pydantic take a table for it, and be strict about the values in that."""
        schema = handler(source)
        handler.resolve_ref_schema(schema)["strict"] = False
        return schema

    @classmethod
    def from_table(cls, table: Mapping[str, Any], path: Path, what: str) -> Self:
        """Return the record in a table from ``path``; DamagedError where it does not describe ``what`` it should."""
        try:
            found: Self = _read(cls, table, "")
            return found
        except _Fault as fault:
            key, wrong = fault.args
            raise DamagedError(f"{path} does not describe {what}: {key!r}: {wrong}.") from None

    def with_options(self, options: Mapping[str, Any]) -> Self:
        """Return a copy with other values, which are not checked."""
        return replace(self, **options)


@cache
def types_of(kind: Any) -> dict[str, Any]:
    """Return the annotations of the fields of a class by name, with their bounds."""
    return get_type_hints(kind, include_extras=True)


def _read(kind: Any, table: Any, key: str) -> Any:
    """Return the record of a kind; ``key`` is that of its table."""
    if not isinstance(table, Mapping):
        raise _Fault(key, f"input should be a valid dictionary or instance of {kind.__name__}")
    at, known = f"{key}." if key else "", {one.name: one for one in fields(kind)}
    if kind.__pydantic_config__.get("extra") == "forbid" and not table.keys() <= known.keys():
        raise _Fault(f"{at}{next(name for name in table if name not in known)}", "extra inputs are not permitted")
    missing = [name for name, one in known.items() if name not in table and one.default is MISSING]
    if missing:
        raise _Fault(f"{at}{missing[0]}", "field required")
    return kind(**{name: _value(types_of(kind)[name], table[name], f"{at}{name}") for name in known if name in table})


def _value(annotation: Any, value: Any, key: str) -> Any:
    """Return a value that is of an annotated type."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation is Any or (value is None and NoneType in arguments):
        return value
    if NoneType in arguments:
        return _value(arguments[0], value, key)
    if origin is Annotated:
        return _within(arguments[1:], _value(arguments[0], value, key), key)
    if origin is Literal:
        if value in arguments:
            return value
        raise _Fault(key, f"input should be {' or '.join(map(repr, arguments))}")
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return _read(annotation, value, key)
    plain: Any = list if origin is tuple else origin or annotation
    if plain is float and type(value) is int and abs(value) <= sys.float_info.max:
        return float(value)
    if type(value) is not plain:
        raise _Fault(key, f"input should be a valid {_NAMES[plain]}")
    if plain is float and not abs(value) <= sys.float_info.max:
        raise _Fault(key, "input should be a finite number")
    if plain is list:
        return origin(_value(arguments[0], one, f"{key}.{number}") for number, one in enumerate(value))
    if plain is dict:
        of_keys, of_values = arguments
        return {_value(of_keys, name, key): _value(of_values, one, f"{key}.{name}") for name, one in value.items()}
    return value


def _within(bounds: tuple[Any, ...], value: Any, key: str) -> Any:
    """Return a value that is within its bounds."""
    for one, name in product(bounds, _BOUNDS):
        if hasattr(one, name) and not getattr(operator, name)(value, getattr(one, name)):
            raise _Fault(key, f"input should be {_BOUNDS[name]} {getattr(one, name)}")
    return value
