"""The base of every part's configuration: frozen, closed, and able to say what is wrong with a value.

A part's class owns its config; the only thing that knows all of them is ``anaphora.experiment``.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic.functional_validators import AfterValidator, BeforeValidator, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from anaphora.errors import ConfigError, UnknownOptionError
from anaphora.options import SET, Conflict
from anaphora.records import Record, types_of
from anaphora.wording import nearest, unknown

Table = TypeVar("Table")


def refusal(conflict: Conflict, table: Any, at: str = "") -> str:
    """Return the message for a table that conflicts, whose keys begin with ``at``; empty for any other."""
    if callable(conflict.options):
        return f"{conflict.remedy.format(table=table, at=at)}." if conflict.options(table) else ""
    found = {name: _option(table, name) for name in conflict.options}
    if not all(value and _conflicts(*value, conflict.options[name]) for name, value in found.items()):
        return ""
    values = {name: value[0] for name, value in found.items() if value}
    first, *others = (f"{at}{name} = {as_toml(value)}" for name, value in values.items())
    what = f"does not go with {' and '.join(others)}" if others else "cannot be used here"
    return f"{first} {what}: {conflict.remedy.format(table=table, at=at)}."


def _option(table: Any, key: str) -> tuple[Any, Any] | None:
    """Return the value at a dotted key and its default; None where there is no such option."""
    *path, name = key.split(".")
    for part in path:
        table = getattr(table, part, None)
    options = options_of(type(table)) if is_table(type(table)) else {}
    return (getattr(table, name), options[name].default) if name in options else None


def _conflicts(value: Any, default: Any, wanted: Any) -> bool:
    if wanted is SET:
        return bool(value != default)
    if callable(wanted):
        return bool(wanted(value))
    return value in wanted if isinstance(wanted, tuple) else bool(value == wanted)


class Config(BaseModel):
    """A frozen table of options. Unknown keys are refused; the sentence under a field says what it is."""

    conflicts: ClassVar[tuple[Conflict, ...]] = ()
    """Conflicts between its options; subclasses add to those of their bases."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        # "3" is not 3 and true is not 1: what a person wrote is what is checked
        strict=True,
        allow_inf_nan=False,
        # a command starts with many tables, and validates few
        defer_build=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _arrays_are_tuples(cls, table: Any) -> Any:
        if not isinstance(table, Mapping):
            return table
        return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}

    @model_validator(mode="after")
    def _without_conflicts(self) -> Self:
        return _check_conflicts(self)

    def with_options(self, options: Mapping[str, Any]) -> Self:
        """Return a copy with other values of options, given by their dotted keys; they are not validated."""
        changed: dict[str, Any] = {}
        for key, value in options.items():
            name, _, inner = key.partition(".")
            table = changed.get(name, getattr(self, name))
            changed[name] = table.with_options({inner: value}) if inner else value
        return self.model_copy(update=changed)

    def refusals(self, at: str = "") -> Iterator[str]:
        """The messages for what a person wrote into this table, whose keys begin with ``at``, and into those in it."""
        for name, value in self:
            if isinstance(value, Config):
                yield from value.refusals(f"{at}{name}.")
        yield from filter(None, (refusal(conflict, self, at) for conflict in _conflicts_of(type(self), written=True)))

    @classmethod
    def parse(cls, table: Mapping[str, Any], where: str, others: Iterable[type["Config"]] = ()) -> Self:
        """Validate a table, as ``parse`` does."""
        return parse(cls, table, where, others)


def parse(kind: type[Table], table: Mapping[str, Any], where: str, others: Iterable[type] = ()) -> Table:
    """Validate a table that came from ``where`` (a file's name), or raise ConfigError with one sentence.

    ``others`` are tables of other kinds: a message about an option that only one of them has names that kind.
    """
    try:
        if issubclass(kind, BaseModel):
            return kind.model_validate(dict(table))
        checked: Any = Annotated[kind, _checked]
        return TypeAdapter[Table](checked).validate_python(dict(table))
    except ValidationError as error:
        raise _refusal(error, where, _Place("", kind, tuple(others))) from None


def _check_conflicts(table: Table) -> Table:
    """Return a table whose options do not conflict."""
    for conflict in _conflicts_of(type(table), written=False):
        if message := refusal(conflict, table):
            raise PydanticCustomError("conflict", "{message}", {"message": message, "in": (conflict, table)})
    return table


def _conflicts_of(table: type, *, written: bool) -> Iterator[Conflict]:
    """Return the conflicts of a table, those of its bases first."""
    every = (conflict for owner in reversed(table.__mro__) for conflict in vars(owner).get("conflicts", ()))
    return (conflict for conflict in every if conflict.written is written)


_checked = AfterValidator(lambda table: _check_conflicts(table) if isinstance(table, Record) else table)


def _name_alone(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


ByKind = Annotated[Table, Field(discriminator="kind"), BeforeValidator(_name_alone), _checked]
"""A union of tables that their ``kind`` tells apart: a bare string ``"gru"`` is short for ``{kind = "gru"}``.

    cell: ByKind[Lstm | Gru] = Lstm()
"""


def by_kind_or(kind: str) -> BeforeValidator:
    """``ByKind`` for a union whose ``kind`` was there before the others: a table that does not say its kind is it."""

    def named(value: Any) -> Any:
        return {"kind": kind, **value} if isinstance(value, Mapping) else _name_alone(value)

    return BeforeValidator(named)


_EXPECTED = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "a string",
    "tuple_type": "an array",
    "list_type": "an array",
    "dict_type": "a table",
    "model_type": "a table",
    "dataclass_type": "a table",
    "model_attributes_type": "a name or a table",
    "greater_than": "greater than {gt:,.12g}",
    "greater_than_equal": "at least {ge:,.12g}",
    "less_than": "less than {lt:,.12g}",
    "less_than_equal": "at most {le:,.12g}",
}
"""Expected values, by pydantic's name of the fault."""


class _Place(NamedTuple):
    """Place of a fault in a configuration."""

    key: str
    """Key with dots."""
    annotation: Any
    """The type there; for an unknown key, of the table it stands in."""
    kinds: tuple[type, ...]
    """The tables of which that one was chosen, itself among them; none where there is no choice."""


def _refusal(error: ValidationError, where: str, root: _Place) -> ConfigError:
    """The first fault that pydantic found, said the way a person would: file, dotted key, what came, what is known."""
    fault = error.errors(include_url=False)[0]
    place = _place(root, fault["loc"])
    if fault["type"] not in ("extra_forbidden", "unexpected_keyword_argument"):
        return ConfigError(f"{where}: {_complaint(fault, place.key, place.annotation)}")
    wrong, remedy = _of_another_kind(place) or (_not_an_option(place.key, place.annotation), "")
    return UnknownOptionError(f"{where}: {wrong}", place.key, remedy)


def _complaint(fault: ErrorDetails, key: str, annotation: Any) -> str:
    came = fault["input"]
    context = fault.get("ctx", {})
    match fault["type"]:
        case "missing":
            return f"{key} is missing; give it a value."
        case "union_tag_invalid":
            # a bare name stands for its kind; any other label was written out
            label = _label(context)
            return unknown(key if label == "kind" else f"{key}.{label}", str(context["tag"]), _tags(annotation))
        case "union_tag_not_found":
            option = f"{key}.{_label(context)}"
            return f"{key} needs {option} too: one of {', '.join(sorted(_tags(annotation)))}."
        case "literal_error" if isinstance(came, str):
            return unknown(key.removesuffix(".kind"), came, _literals(annotation))
        case "literal_error":
            return f"{key} should be {context['expected']}, but is {_as_toml(came)}."
        case "conflict":
            conflict, table = context["in"]
            return refusal(conflict, table, f"{key}." if key else "")
        case "value_error" | "assertion_error":
            return " ".join(part for part in (key, str(context["error"])) if part)
        case "model_attributes_type" if isinstance(came, str):  # names are taken where one says it all
            return f"{key} should be a table, but is {_as_toml(came)}."
        case kind if kind in _EXPECTED:
            return f"{key} should be {_EXPECTED[kind].format(**context)}, but is {_as_toml(came)}."
    return f"{key} cannot be {_as_toml(came)}: {fault['msg'][0].lower()}{fault['msg'][1:]}."


def _label(context: Mapping[str, Any]) -> str:
    """Return the option that tells the members of a union apart."""
    return str(context["discriminator"]).strip("'")


def _of_another_kind(place: _Place) -> tuple[str, str] | None:
    """Return a remedy for an option that its table would have if it were of another kind; else None."""
    table, _, name = place.key.rpartition(".")
    mine = _marks(place.annotation)
    having = [_marks(kind) for kind in place.kinds if name in options_of(kind)]
    differs = [next((label for label in mine if marks.get(label) != mine[label]), "") for marks in having]
    label = next((label for label in reversed(mine) if label in differs), "")  # another model rather than another task
    if not label:
        return None
    words = [marks[label] for marks, own in zip(having, differs, strict=True) if own == label]
    known = " or ".join(f'"{word}"' for word in dict.fromkeys(words))
    choice = f"{table}.{label}" if table else label
    return (
        f'{place.key} is for {choice} = {known}, but that is "{mine[label]}".',
        f"leave it out, or set {choice} = {known}",
    )


_SUGGESTED = 3
"""Most options of the same name in other tables that an unknown one is answered with."""


def _not_an_option(key: str, annotation: Any) -> str:
    """``annotation`` is the table that the unknown key stands in."""
    table, dot, name = key.rpartition(".")
    below = sorted(set(_keys_below(annotation, name)), key=lambda inner: (inner.count("."), inner))
    if below:
        near = [f"'{table}{dot}{inner}'" for inner in below if inner.count(".") == below[0].count(".")]
        return f"{key} is not an option. Did you mean {' or '.join(near[:_SUGGESTED])}?"
    known = sorted(options_of(annotation)) if is_table(annotation) else []
    listed = f" Known: {', '.join(known)}." if known else ""
    return f"{key} is not an option.{nearest(name, known) or listed}"


def _keys_below(annotation: Any, name: str) -> Iterator[str]:
    """Yield the dotted keys of the options of that name in the tables of this one."""
    for table in [annotation] if is_table(annotation) else members(annotation):
        for key, field in options_of(table).items():
            yield from (f"{key}.{inner}" for inner in _keys_below(field.annotation, name))
            if key == name:
                yield key


def _as_toml(value: Any) -> str:
    """Return a value as a person wrote it in TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return "an array"
    return f"'{value}'" if isinstance(value, str) else str(value)


def _place(root: _Place, loc: tuple[int | str, ...]) -> _Place:
    """Return the place below ``root`` that pydantic names.

    It puts the tag of a union among the keys ("cell", "lstm", "size"); nobody wrote it, so it is left out.
    """
    key, here, kinds = root
    for part in loc:
        if isinstance(part, int):
            key += f"[{part}]"
            arguments = get_args(here)
            here = arguments[min(part, len(arguments) - 1)] if arguments else Any
            if here is Ellipsis:
                here = arguments[0]
            continue
        tagged = next((member for member in members(here) if part in kind_names(member)), None)
        if tagged is not None:
            here, kinds = tagged, tuple(members(here))
            continue
        key = f"{key}.{part}" if key else part
        if is_table(here) and part in options_of(here):
            here, kinds = options_of(here)[part].annotation, ()
    return _Place(key, here, kinds)


def is_table(annotation: Any) -> bool:
    """True for a class of tables of options."""
    return isinstance(annotation, type) and issubclass(annotation, BaseModel | Record)


def options_of(table: Any) -> Mapping[str, FieldInfo]:
    """Return the options of a class of tables by name, each with its type, default and bounds."""
    return table.model_fields if issubclass(table, BaseModel) else _options_of_record(table)


@cache
def _options_of_record(kind: Any) -> Mapping[str, FieldInfo]:
    types = types_of(kind)
    return {one.name: FieldInfo.from_annotated_attribute(types[one.name], one.default) for one in fields(kind)}


def members(annotation: Any) -> Iterator[Any]:
    """Yield the tables that a union may be, through ``Annotated``; nothing for what is no union."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from members(get_args(annotation)[0])
    elif origin in (Union, UnionType):
        for member in get_args(annotation):
            yield from [member] if is_table(member) else members(member)


def kind_names(member: type) -> set[str]:
    """Return the names by which a union may know its member: the values of its one-word Literal fields."""
    return set(_marks(member).values())


def _marks(member: type) -> dict[str, Any]:
    """Return the one-word Literal fields of a table, and their words."""
    types = {name: field.annotation for name, field in options_of(member).items()}
    words = {name: get_args(annotation) for name, annotation in types.items() if _is_literal(annotation)}
    return {name: args[0] for name, args in words.items() if len(args) == 1}


def _tags(annotation: Any) -> list[str]:
    return [name for member in members(annotation) for name in kind_names(member)]


def _literals(annotation: Any) -> list[str]:
    return [str(value) for value in get_args(annotation)] if _is_literal(annotation) else []


def _is_literal(annotation: Any) -> bool:
    return get_origin(annotation) is Literal


def label_of(table: type) -> tuple[str, str]:
    """Return the option that tells a table from the others that may stand in its place, and what it is in this one."""
    return next(iter(_marks(table).items()), ("", ""))


def as_toml(value: Any) -> str:
    """Return a value as one writes it after ``--set KEY=``."""
    if is_table(type(value)):
        label, name = label_of(type(value))
        every = ((key, getattr(value, key), field.default) for key, field in options_of(type(value)).items())
        given = {key: inner for key, inner, default in every if key != label and inner != default}
        inside = ", ".join(f"{key} = {as_toml(inner)}" for key, inner in given.items())
        if label == "kind" and not inside:
            return f'"{name}"'
        return f'{{ {label} = "{name}"{inside and ", "}{inside} }}'
    if isinstance(value, tuple):
        return f"[{', '.join(map(as_toml, value))}]"
    if isinstance(value, Mapping):
        return "{}" if not value else json.dumps(dict(value))
    return json.dumps(value, ensure_ascii=False)
