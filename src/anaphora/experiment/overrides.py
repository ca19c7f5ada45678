"""TOML text and ``dotted.key=value`` settings put together into one table, before anything is checked."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import reduce
from typing import Any, NamedTuple

from anaphora.errors import ConfigError, UnknownOptionError
from anaphora.files import parse_toml
from anaphora.run.upgrade import RenamedKey, rename_keys

Table = dict[str, Any]


class Setting(NamedTuple):
    """One ``dotted.key=value``, in the names of the present format."""

    path: tuple[str, ...]
    """The key; empty for an option that is no more."""
    value: Any
    old: tuple[RenamedKey, ...]
    """Options written by older names."""

    @classmethod
    def parse(cls, text: str) -> "Setting":
        """Read a value as TOML; what is not TOML is a string. Raises ConfigError for what is no setting."""
        key, separator, value = text.partition("=")
        names = [name.strip() for name in key.split(".")]
        if not separator or not all(names):
            raise ConfigError(f"--set takes dotted.key=value, but got '{text}'.")
        given = reduce(lambda inner, name: {name: inner}, reversed(names), _value(value.strip()))
        table, old = rename_keys(given, "--set")
        path: list[str] = []
        here: Any = table
        while isinstance(here, dict) and here and len(path) < len(names):
            [(name, here)] = here.items()
            path.append(name)
        return cls(tuple(path) if len(path) == len(names) else (), here, tuple(old))

    @property
    def key(self) -> str:
        """Key with dots."""
        return ".".join(self.path)


def read_table(text: str, where: str) -> Table:
    """Return the table that a TOML text from ``where`` holds; ConfigError names the line that is not TOML."""
    try:
        return parse_toml(text)
    except ValueError as error:
        raise ConfigError(f"{where} should be TOML, but is not: {error}.") from None


def override(table: Table, settings: Iterable[str]) -> Table:
    """Return a copy of ``table`` with settings such as ``training.epochs=5`` put in, the later ones last.

    A value is read as TOML; what is not TOML is taken as a string, so that ``cell=gru`` needs no quotes. A part
    given by its name alone becomes a table when one of its options is set. Old names of options count as their new
    ones. Raises ConfigError for what is no setting.
    """
    changed = deepcopy(table)
    for setting in map(Setting.parse, settings):
        if setting.path:
            _set(changed, setting.path, setting.value)
    return changed


@contextmanager
def explaining_leftovers(settings: Sequence[str], where: str) -> Iterator[None]:
    """Add what to do where an option of ``where`` is unknown because ``settings`` changed another beside it."""
    try:
        yield
    except UnknownOptionError as error:
        keys = [Setting.parse(setting).key for setting in settings]
        table, _, name = error.key.rpartition(".")
        beside = [key.rpartition(".")[2] for key in keys if key.rpartition(".")[0] == table]
        if not beside or name in beside:
            raise
        cure = (
            f"give the whole table, as in --set '{table}={{{beside[-1]}=..}}'"
            if table
            else f"take a recipe with another {beside[-1]} (anaphora recipes)"
        )
        raise ConfigError(
            f"{error.wrong} It stands in {where}, and may not go with the {beside[-1]} set: {cure}."
        ) from None


def _set(table: Table, names: Sequence[str], value: Any) -> None:
    here = table
    for name in names[:-1]:
        inside = here.get(name)
        if isinstance(inside, str):
            inside = {"kind": inside}
        here[name] = inside if isinstance(inside, dict) else {}
        here = here[name]
    here[names[-1]] = value


def _value(text: str) -> Any:
    try:
        table = parse_toml(f"value = {text}")
    except ValueError:
        return text
    return table["value"] if table.keys() == {"value"} else text
