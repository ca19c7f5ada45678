"""``anaphora settings``: every option of an experiment, and what it says.

Examples:
    anaphora settings
    anaphora settings training
    anaphora settings decoder.cell
    anaphora settings training.schedule --json
"""

from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

from anaphora.cli.options import Json
from anaphora.cli.talk import print_json, show
from anaphora.options import Argument

if TYPE_CHECKING:
    from anaphora.experiment.settings import OwnedOption, Setting

_WIDTH = 110


def run(
    key: Annotated[str, Argument("Table such as training, or option such as training.seed.", metavar="[KEY]")] = "",
    json: Json = False,
) -> None:
    """List the options of a recipe with their defaults."""
    from dataclasses import asdict

    from anaphora.experiment.settings import every_setting, settings_at

    found = settings_at(key) if key else [("", owned) for owned in every_setting()]
    if json:
        return print_json([{"table": prefix.rstrip("."), **asdict(owned)} for prefix, owned in found])
    parts = [part_of(prefix, owned) for prefix, owned in found] if key else [tables(found)]
    show("\n\n".join("\n".join(part) for part in parts))


def tables(found: "list[tuple[str, OwnedOption]]") -> Iterator[str]:
    """Yield a line for each table and option at the top of an experiment."""
    names = dict.fromkeys(owned.setting.name for _, owned in found)
    width = max(map(len, names))
    for name in names:
        for owned in (one for _, one in found if one.setting.name == name):
            yield f"{name:<{width}}  {_plain(owned.setting.says)}{_of(owned)}"
    yield ""
    yield "anaphora settings TABLE shows what stands in one of them."


def part_of(prefix: str, owned: "OwnedOption") -> Iterator[str]:
    """Yield a setting with its sentence; of a table, all that it may hold."""
    key = f"{prefix}{owned.setting.name}"
    yield from _lines(key, owned.setting, "", _of(owned))
    for kind in owned.setting.kinds:
        if kind.name:
            yield ""
            yield f'"{kind.name}": {_plain(kind.says)}{"" if kind.settings else " It has no options."}'
        for inner in kind.settings:
            yield from (f"  {line}" for line in _lines(inner.name, inner, f"{key}.{inner.name}"))


def _lines(name: str, setting: "Setting", more: str, of: str = "") -> Iterator[str]:
    """Return the description of a setting; ``more`` is the key under which its own settings are shown."""
    yield f"{name} = {setting.default}{of}" if setting.default else f"{name}{of}"
    takes = setting.takes or "a table"
    if setting.kinds and more:
        takes += f"; see anaphora settings {more}"
    for text in filter(None, (_plain(setting.says), f"({takes})")):
        yield from wrap(text, _WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def _plain(text: str) -> str:
    """Return a sentence without the special tokens of code."""
    return text.replace("``", "")


def _of(owned: "OwnedOption") -> str:
    return f"  [{', '.join(owned.of)}]" if owned.of else ""
