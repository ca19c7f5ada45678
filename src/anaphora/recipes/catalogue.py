"""The recipes by name: their texts, and the first line of their comment head as a description."""

from importlib import resources

from anaphora.config import unknown
from anaphora.errors import ConfigError

_SUFFIX = ".toml"


def names() -> list[str]:
    """The names of all recipes, in alphabetical order."""
    files = (file.name for file in resources.files(__package__).iterdir())
    return sorted(name.removesuffix(_SUFFIX) for name in files if name.endswith(_SUFFIX))


def read(name: str) -> str:
    """The TOML text of a recipe; ConfigError with the nearest name when there is none called ``name``."""
    known = names()
    if name not in known:
        raise ConfigError(f"{unknown('The recipe', name, known)} A file of your own is named with its ending, .toml.")
    return resources.files(__package__).joinpath(name + _SUFFIX).read_text(encoding="utf-8")


def describe(name: str) -> str:
    """What a recipe is, in one line."""
    return read(name).partition("\n")[0].removeprefix("#").strip()
