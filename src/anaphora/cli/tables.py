"""Options of a command that belong together, as the fields of one frozen dataclass, and options declared elsewhere."""

import inspect
from collections.abc import Callable, Collection
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from anaphora.options import declared

T = TypeVar("T")


def declared_option(table: type, name: str, *names: str, heading: str | None = None) -> Any:
    """Return the option of a declared field, under a heading of the help; ``names`` where it has others."""
    kind, option = declared(table)[name]
    flag = (f"--{name.replace('_', '-')}",) if kind is bool else ()
    default = f" [default: {option.default}]" if option.default else ""
    return typer.Option(
        *(names or flag),
        help=option.help + default,
        min=option.min,
        max=option.max,
        metavar=option.metavar,
        rich_help_panel=heading,
    )


def with_declared(
    table: Any, heading: str | None = None, *, without: Collection[str] = (), last: bool = False
) -> Callable[[type[T]], type[T]]:
    """Add the declared fields of a table to a class that is to be a dataclass: before its own, or ``last``."""
    names = [name for name in declared(table) if name not in without]
    added = {name: Annotated[declared(table)[name][0], declared_option(table, name, heading=heading)] for name in names}

    def add(owner: type[T]) -> type[T]:
        owner.__annotations__ = owner.__annotations__ | added if last else added | owner.__annotations__
        for name in names:
            setattr(owner, name, table._field_defaults[name])
        return owner

    return add


def declared_in(owner: Any, table: type) -> dict[str, Any]:
    """Return the values of the fields that ``with_declared`` added."""
    return {name: getattr(owner, name) for name in declared(table) if hasattr(owner, name)}


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
