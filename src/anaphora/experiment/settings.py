"""Every option of every experiment: the key that ``--set`` takes, what it may be, its default, and its sentence.

All of it is read from the classes that own the options, so nothing here has to follow them.
"""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from anaphora.config import Config, as_toml, is_table, label_of, members, options_of
from anaphora.errors import ConfigError
from anaphora.experiment.overrides import Setting as Given
from anaphora.tasks.registry import every_task
from anaphora.wording import nearest

_NUMBERS = {int: "a whole number", float: "a number", str: "a string", bool: "true | false"}
_BOUNDS = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}


@dataclass(frozen=True)
class Setting:
    """One option, or a table of options."""

    name: str
    """Key inside the table that it stands in."""
    default: str
    """Default as TOML; nothing where it has to be given."""
    takes: str
    """Values that may be written, in words; empty for a table."""
    says: str
    """Sentence on its meaning."""
    kinds: tuple["TableKind", ...] = ()
    """Tables that it may hold: one kind without a name, or several of which it is one."""
    label: str = ""
    """The option that says which of several kinds it is."""


@dataclass(frozen=True)
class TableKind:
    """One of the kinds of a table."""

    name: str
    """Name as it is written; nothing where there is no other."""
    says: str
    """The first sentence of its class."""
    settings: tuple[Setting, ...]
    """Options of the table."""


@dataclass(frozen=True)
class OwnedOption:
    """An option at the top of an experiment, and the experiments that have it."""

    setting: Setting
    of: tuple[str, ...]
    """Labels of the experiments that have it; empty where all have it."""


_Experiments = tuple[tuple[type[Config], str], ...]
"""The classes of experiments, each with what its models are called."""


def every_setting() -> tuple[OwnedOption, ...]:
    """Return the options and tables at the top of all experiments, in the order of their classes."""
    return _find_owned(_experiments())


def _experiments() -> _Experiments:
    return tuple((task.experiment, task.plural) for task in every_task())


@cache
def _find_owned(experiments: _Experiments) -> tuple[OwnedOption, ...]:
    found: dict[Setting, list[str]] = {}
    for experiment, plural in experiments:
        for setting in _settings(experiment):
            found.setdefault(setting, []).append(plural)
    everyone = len(experiments)
    return tuple(OwnedOption(setting, () if len(of) == everyone else tuple(of)) for setting, of in found.items())


def settings_at(key: str) -> list[tuple[str, OwnedOption]]:
    """Return the settings at a dotted key, one for each of its meanings, with the key of their table.

    Old names of options stand for the new ones. Raises ConfigError for a key that no experiment has, with the nearest.
    """
    everything, key = _by_path(_experiments()), Given.parse(f"{key}=true").key or key
    if key not in everything:
        raise ConfigError(f"{key} is no setting.{nearest(key, everything)} anaphora settings lists the tables.")
    return list(dict.fromkeys(everything[key]))


@cache
def _by_path(experiments: _Experiments) -> Mapping[str, list[tuple[str, OwnedOption]]]:
    """Return every setting by its dotted key, with that of its table; what names a table's kind shows the table."""
    found: dict[str, list[tuple[str, OwnedOption]]] = {}

    def add(prefix: str, setting: Setting, of: tuple[str, ...]) -> None:
        path = f"{prefix}{setting.name}"
        for key in (path, f"{path}.{setting.label}") if setting.label else (path,):
            found.setdefault(key, []).append((prefix, OwnedOption(setting, of)))
        for kind in setting.kinds:
            for inner in kind.settings:
                add(f"{path}.", inner, of)

    for owned in _find_owned(experiments):
        add("", owned.setting, owned.of)
    return found


def _settings(config: type, but: str = "") -> tuple[Setting, ...]:
    return tuple(_setting(config, name, field) for name, field in options_of(config).items() if name != but)


def _setting(owner: type, name: str, field: FieldInfo) -> Setting:
    annotation: Any = field.annotation
    tables = [annotation] if is_table(annotation) else [*members(annotation)]
    kinds = tuple(_kind(table, alone=len(tables) == 1) for table in tables)
    given = field.default is not PydanticUndefined and len(tables) != 1
    takes = _one_of(tables) if tables else _takes(annotation, field.metadata)
    label = label_of(tables[0])[0] if len(tables) > 1 else ""
    says = _line(sentence_under(owner, name))
    return Setting(name, as_toml(field.default) if given else "", takes, says, kinds, label)


def _one_of(tables: list[type]) -> str:
    """Return the name of one of several tables; empty for one alone."""
    if len(tables) == 1:
        return ""
    labels = [label_of(table) for table in tables]
    names = " | ".join(f'"{name}"' for _, name in labels)
    return names if labels[0][0] == "kind" else f"a table with {labels[0][0]} = {names}"


def _kind(table: type, *, alone: bool) -> TableKind:
    says = _line((inspect.getdoc(table) or "").split("\n\n")[0])
    if alone:
        return TableKind("", says, _settings(table))
    label, name = label_of(table)
    return TableKind(name, says, _settings(table, but=label))


def _line(text: str) -> str:
    return " ".join(text.split())


def _takes(annotation: Any, metadata: list[Any]) -> str:
    """Return the values that an option takes, in words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _takes(arguments[0], [*metadata, *arguments[1:]])
    if origin is Literal:
        return " | ".join(map(as_toml, arguments))
    if origin is tuple:
        return f"an array, each {_takes(arguments[0], [])}"
    if annotation in _NUMBERS:
        return ", ".join([_NUMBERS[annotation], *_bounds(metadata)])
    return " or ".join(_takes(argument, metadata) for argument in arguments) or "a table"


def _bounds(metadata: list[Any]) -> Iterator[str]:
    for bound in metadata:
        if isinstance(bound, FieldInfo):
            yield from _bounds(bound.metadata)
        for name, words in _BOUNDS.items():
            if hasattr(bound, name):
                yield f"{words} {getattr(bound, name):g}"


def chosen(config: Any, prefix: str = "") -> Iterator[str]:
    """Yield the options of an experiment that differ from their defaults, as ``--set`` takes them."""
    for name, field in options_of(type(config)).items():
        value = getattr(config, name)
        if value == field.default:
            continue
        if is_table(type(value)) and not any(members(field.annotation)):
            yield from chosen(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}={as_toml(value)}"


def sentence_under(table: type, option: str) -> str:
    """Return the string under an option in its class or the first base that has one; else an empty one."""
    owners = (owner for owner in table.__mro__ if is_table(owner))
    texts = (_in_module(owner.__module__).get((owner.__qualname__, option), "") for owner in owners)
    return next(filter(None, texts), "")


@cache
def _in_module(name: str) -> Mapping[tuple[str, str], str]:
    """Return the sentences on options in a module, by the class at its top and by option."""
    tree = ast.parse(inspect.getsource(sys.modules[name]))
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef))
    return {(owner.name, option): text for owner in classes for option, text in _in_class(owner)}


def _in_class(owner: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for pair in pairwise(owner.body):
        match pair:
            case ast.AnnAssign(target=ast.Name(id=option)), ast.Expr(value=ast.Constant(value=str(text))):
                yield option, text
