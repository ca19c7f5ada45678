"""Options of a command that belong together, as the fields of one frozen dataclass."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def with_tables(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters that are dataclasses are given field by field, so that the parser sees options alone.

    A field is an option as a parameter would be: ``beam: Beam = None``.
    """
    hints, parameters, tables = get_type_hints(command, include_extras=True), [], {}
    for name, parameter in inspect.signature(command).parameters.items():
        if is_dataclass(hints[name]):
            tables[name] = hints[name]
            parameters += [_parameter(hints[name], field) for field in fields(hints[name])]
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    @wraps(command)
    def run(**given: Any) -> None:
        for name, table in tables.items():
            given[name] = table(**{field.name: given.pop(field.name) for field in fields(table)})
        command(**given)

    vars(run)["__signature__"] = inspect.Signature(parameters)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del vars(run)["__wrapped__"]  # the parser would read the signature of the command behind it
    return run


def _parameter(table: type, field: Field[Any]) -> inspect.Parameter:
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    hint = get_type_hints(table, include_extras=True)[field.name]
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
