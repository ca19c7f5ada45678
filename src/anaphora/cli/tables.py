"""Options of a command that belong together, as the fields of one frozen dataclass, and options declared elsewhere."""

import inspect
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, wraps
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import typer

from anaphora.options import Argument, Excludes, Needs, Option, check_conflicts, declarations
from anaphora.wording import check_known

T = TypeVar("T")


def declared_option(table: type, field: str, **changes: Any) -> Option:
    """Return the declaration of a field of a table, with ``changes`` for the command line."""
    return declarations(table)[field][1]._replace(**changes)


def with_declared(
    table: Any, heading: str = "", *, without: Collection[str] = (), last: bool = False
) -> Callable[[type[T]], type[T]]:
    """Add the declared fields of a table to a class that is to be a dataclass: before its own, or ``last``."""
    names = [name for name in declarations(table) if name not in without]
    added = {
        name: Annotated[declarations(table)[name][0], declared_option(table, name, heading=heading)] for name in names
    }

    def add(owner: type[T]) -> type[T]:
        owner.__annotations__ = owner.__annotations__ | added if last else added | owner.__annotations__
        for name in names:
            setattr(owner, name, table._field_defaults[name])
        return owner

    return add


def declared_in(owner: Any, table: type) -> dict[str, Any]:
    """Return the values of the fields that ``with_declared`` added."""
    return {name: getattr(owner, name) for name in declarations(table) if hasattr(owner, name)}


def with_tables(command: Callable[..., None], conflicts: Iterable[Excludes | Needs] = ()) -> Callable[..., None]:
    """A command whose parameters that are dataclasses are given field by field, so that the parser sees options alone.

    A field is an option as a parameter would be: ``beam: Annotated[int, Option("Beam size.")] = 5``. Options in
    conflict, by ``conflicts`` or those of a dataclass, are refused before the command is called, and so is what is no
    value of a ``Literal``. An option that was given the value that turns it off is none.
    """
    hints, parameters, tables, rows = get_type_hints(command, include_extras=True), list[Parameter](), {}, [*conflicts]
    for name, parameter in inspect.signature(command).parameters.items():
        if is_dataclass(hints[name]):
            tables[name] = hints[name]
            parameters += _parameters(hints[name])
            rows += getattr(hints[name], "conflicts", ())
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY))
    if "context" not in hints:
        parameters.append(Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context))

    @wraps(command)
    def run(context: typer.Context, **given: Any) -> None:
        typed = [one for one in parameters if one.name in given and is_on_command_line(context, one.name)]
        check_conflicts(rows, [_option(one) for one in typed if given[one.name] or given[one.name] != one.default])
        for one in parameters:
            known = _choices(one)
            if known and given[one.name] != one.default:
                name = _option(one)
                check_known(name if name.startswith("--") else f"The {one.name}", given[one.name], known)
        for name, table in tables.items():
            given[name] = table(**{field.name: given.pop(field.name) for field in fields(table)})
        command(**given, **({"context": context} if "context" in hints else {}))

    vars(run)["__signature__"] = signature = inspect.Signature(list(map(_with_declaration, parameters)))
    run.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    del vars(run)["__wrapped__"]  # the parser would read the signature of the command behind it
    return run


def is_on_command_line(context: typer.Context, name: str) -> bool:
    """Return True if a parameter was given on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def changed_options(*tables: Any) -> list[str]:
    """Return the options in dataclasses that have another value than their default."""
    fields_of = ((table, one) for table in tables for one in _parameters(table.__class__))
    return [_option(one) for table, one in fields_of if getattr(table, one.name) != one.default]


def files_in(*tables: Any) -> list[Path]:
    """Return the paths in dataclasses."""
    return [value for table in tables for value in vars(table).values() if isinstance(value, Path)]


def _with_declaration(parameter: Parameter) -> Parameter:
    """Return a parameter with the parser's own declaration in place of an Option or an Argument."""
    kind, option = (*get_args(parameter.annotation), None, None)[:2]
    if isinstance(option, Argument):
        kind = str if _choices(parameter) else kind
        return parameter.replace(annotation=Annotated[kind, typer.Argument(metavar=option.metavar, help=option.help)])
    if not isinstance(option, Option):
        return parameter
    # the parser adds a twin that turns a flag off, unless the flag is named
    names = [_option(parameter)] if option.name or (kind is bool and not parameter.default) else []
    choices = _choices(parameter)
    found = typer.Option(
        *names,
        help=f"{option.help} [default: {option.default}]" if option.default else option.help,
        min=option.min,
        max=option.max,
        metavar=option.metavar or "|".join(choices) or None,
        rich_help_panel=option.heading or None,
    )
    return parameter.replace(annotation=Annotated[str | None if choices else kind, found])


def _choices(parameter: Parameter) -> list[str]:
    """Return the values of a ``Literal``, but for the empty one; none for another type."""
    kind = (*get_args(parameter.annotation), None)[0]
    kinds = (one for one in (kind, *get_args(kind)) if get_origin(one) is Literal)
    return [value for one in kinds for value in get_args(one) if value]


def _option(parameter: Parameter) -> str:
    """Return the name of an option on the command line, or the word that stands for an argument in the help."""
    [info] = getattr(parameter.annotation, "__metadata__", (None,))
    if isinstance(info, Argument):
        return re.sub(r"\[?([A-Z]+).*", r"\1", info.metavar)
    return getattr(info, "name", "") or f"--{parameter.name.replace('_', '-')}"


@cache
def _parameters(table: Any) -> list[Parameter]:
    """Return the fields of a dataclass as parameters, listed under its ``heading`` if they have none of their own."""
    hints = get_type_hints(table, include_extras=True)
    for name, hint in hints.items():
        kind, option = (*get_args(hint), None, None)[:2]
        if isinstance(option, Option) and not option.heading:
            hints[name] = Annotated[kind, option._replace(heading=getattr(table, "heading", ""))]
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(table)
    ]
