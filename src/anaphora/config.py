"""The base of every part's configuration: frozen, closed, and able to say what is wrong with a value.

A part's class owns its config; the only thing that knows all of them is ``anaphora.experiment``.
"""

import difflib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from anaphora.errors import ConfigError, UnknownOptionError

MAX_UNITS = 1 << 16
"""Most units of a layer."""

MAX_LAYERS = 64
"""Most layers on top of each other."""

MAX_LENGTH = 1 << 20
"""Most tokens of a row, steps of a window, or hypotheses of a beam."""

MAX_BEAM = 1_000
"""Maximum beam size. Each hypothesis takes the scores of a whole vocabulary at every step, 200 MB in all for 50,000
words; and translations get worse long before (Koehn and Knowles 2017, section 3.6)."""

MAX_COUNT = 100_000_000
"""Most words of a vocabulary, draws from it, or tokens of a batch."""

SET = object()
"""In a conflict: any value but the default."""


class Conflict(NamedTuple):
    """Options that cannot be combined, or one that has no effect beside others."""

    options: Mapping[str, Any] | Callable[[Any], Any]
    """Dotted key to the value that conflicts, a tuple of such values, ``SET``, or whether a value conflicts. Where that
    cannot be said option by option: whether a table conflicts."""
    remedy: str
    """Why, and what to do instead; the whole sentence where ``options`` looks at a table. ``{at}size`` is the key of an
    option of the table, ``{table.size}`` its value."""
    written: bool = False
    """True if only experiments that a person writes are refused; stored runs of older versions may have it."""

    def refusal(self, table: BaseModel, at: str = "") -> str:
        """Return the message for a table that conflicts, whose keys begin with ``at``; empty for any other."""
        if callable(self.options):
            return f"{self.remedy.format(table=table, at=at)}." if self.options(table) else ""
        found = {name: _option(table, name) for name in self.options}
        if not all(value and _conflicts(*value, self.options[name]) for name, value in found.items()):
            return ""
        values = {name: value[0] for name, value in found.items() if value}
        first, *others = (f"{at}{name} = {as_toml(value)}" for name, value in values.items())
        what = f"does not go with {' and '.join(others)}" if others else "cannot be used here"
        return f"{first} {what}: {self.remedy.format(table=table, at=at)}."


def _option(table: Any, key: str) -> tuple[Any, Any] | None:
    """Return the value at a dotted key and its default; None where there is no such option."""
    *path, name = key.split(".")
    for part in path:
        table = getattr(table, part, None)
    fields = getattr(type(table), "model_fields", {})
    return (getattr(table, name), fields[name].default) if name in fields else None


def _conflicts(value: Any, default: Any, wanted: Any) -> bool:
    if wanted is SET:
        return bool(value != default)
    if callable(wanted):
        return bool(wanted(value))
    return value in wanted if isinstance(wanted, tuple) else bool(value == wanted)


def other_than(*values: str) -> Callable[[str], bool]:
    """In a conflict: any value but these."""
    return lambda value: value not in values


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
        for conflict in self._conflicts(written=False):
            if message := conflict.refusal(self):
                raise PydanticCustomError("conflict", "{message}", {"message": message, "in": (conflict, self)})
        return self

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
        yield from filter(None, (conflict.refusal(self, at) for conflict in self._conflicts(written=True)))

    @classmethod
    def _conflicts(cls, *, written: bool) -> Iterator[Conflict]:
        """Return those of its bases first."""
        every = (conflict for owner in reversed(cls.__mro__) for conflict in vars(owner).get("conflicts", ()))
        return (conflict for conflict in every if conflict.written is written)

    @classmethod
    def parse(cls, table: Mapping[str, Any], where: str, others: Iterable[type["Config"]] = ()) -> Self:
        """Validate a table that came from ``where`` (a file's name), or raise ConfigError with one sentence.

        ``others`` might stand in its place, if it said that it is of another kind.
        """
        try:
            return cls.model_validate(dict(table))
        except ValidationError as error:
            raise _refusal(error, where, _Place("", cls, tuple(others))) from None


def _name_alone(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


by_kind = BeforeValidator(_name_alone)
"""For a union of parts told apart by ``kind``: a bare string ``"gru"`` is short for ``{kind = "gru"}``.

    cell: Annotated[Lstm | Gru, Field(discriminator="kind"), by_kind] = Lstm()
"""


def by_kind_or(kind: str) -> BeforeValidator:
    """``by_kind`` for a union whose ``kind`` was there before the others: a table that does not say its kind is it."""

    def named(value: Any) -> Any:
        return {"kind": kind, **value} if isinstance(value, Mapping) else _name_alone(value)

    return BeforeValidator(named)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint " Did you mean 'x'?" when a known name is close, else nothing."""
    matches = difflib.get_close_matches(name, list(known), n=1, cutoff=0.65)
    return f" Did you mean '{matches[0]}'?" if matches else ""


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return the sentences for a name that is none of the known ones, with the nearest of them."""
    names = sorted(known)
    return f"{what} '{name}' is unknown.{nearest(name, names)} Known: {', '.join(names)}."


def check_known(what: str, name: str, known: Collection[str]) -> None:
    """Raise ConfigError for a name that is none of the known ones, with the nearest of them."""
    if name not in known:
        raise ConfigError(unknown(what, name, known))


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
    """With dots."""
    annotation: Any
    """The type there; for an unknown key, of the table it stands in."""
    kinds: tuple[type[BaseModel], ...]
    """The tables of which that one was chosen, itself among them; none where there is no choice."""


def _refusal(error: ValidationError, where: str, root: _Place) -> ConfigError:
    """The first fault that pydantic found, said the way a person would: file, dotted key, what came, what is known."""
    fault = error.errors(include_url=False)[0]
    place = _place(root, fault["loc"])
    if fault["type"] != "extra_forbidden":
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
            return str(conflict.refusal(table, f"{key}." if key else ""))
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
    having = [_marks(kind) for kind in place.kinds if name in kind.model_fields]
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
    known = sorted(annotation.model_fields) if _is_config(annotation) else []
    listed = f" Known: {', '.join(known)}." if known else ""
    return f"{key} is not an option.{nearest(name, known) or listed}"


def _keys_below(annotation: Any, name: str) -> Iterator[str]:
    """Yield the dotted keys of the options of that name in the tables of this one."""
    for table in [annotation] if _is_config(annotation) else members(annotation):
        for key, field in table.model_fields.items():
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
        if _is_config(here) and part in here.model_fields:
            here, kinds = here.model_fields[part].annotation, ()
    return _Place(key, here, kinds)


def _is_config(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def members(annotation: Any) -> Iterator[Any]:
    """Yield the tables that a union may be, through ``Annotated``; nothing for what is no union."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from members(get_args(annotation)[0])
    elif origin in (Union, UnionType):
        for member in get_args(annotation):
            yield from [member] if _is_config(member) else members(member)


def kind_names(member: type[BaseModel]) -> set[str]:
    """Return the names by which a union may know its member: the values of its one-word Literal fields."""
    return set(_marks(member).values())


def _marks(member: type[BaseModel]) -> dict[str, Any]:
    """Return the one-word Literal fields of a table, and their words."""
    fields = {name: field.annotation for name, field in member.model_fields.items()}
    words = {name: get_args(annotation) for name, annotation in fields.items() if _is_literal(annotation)}
    return {name: args[0] for name, args in words.items() if len(args) == 1}


def _tags(annotation: Any) -> list[str]:
    return [name for member in members(annotation) for name in kind_names(member)]


def _literals(annotation: Any) -> list[str]:
    return [str(value) for value in get_args(annotation)] if _is_literal(annotation) else []


def _is_literal(annotation: Any) -> bool:
    return get_origin(annotation) is Literal


def label_of(table: type[Config]) -> tuple[str, str]:
    """Return the option that tells a table from the others that may stand in its place, and what it is in this one."""
    return next(iter(_marks(table).items()), ("", ""))


def as_toml(value: Any) -> str:
    """Return a value as one writes it after ``--set KEY=``."""
    if isinstance(value, Config):
        label, name = label_of(type(value))
        fields = type(value).model_fields
        given = {key: inner for key, inner in value if key != label and inner != fields[key].default}
        inside = ", ".join(f"{key} = {as_toml(inner)}" for key, inner in given.items())
        if label == "kind" and not inside:
            return f'"{name}"'
        return f'{{ {label} = "{name}"{inside and ", "}{inside} }}'
    if isinstance(value, tuple):
        return f"[{', '.join(map(as_toml, value))}]"
    if isinstance(value, Mapping):
        return "{}" if not value else json.dumps(dict(value))
    return json.dumps(value, ensure_ascii=False)
