"""Recipes: experiments that come with the package, one TOML file each. Names and texts only; nothing is run here."""

from importlib.util import find_spec
from pathlib import Path

from anaphora.errors import ConfigError
from anaphora.tasks.registry import TASKS
from anaphora.wording import nearest

_SUFFIX = ".toml"


def _files() -> dict[str, Path]:
    """Return the files of recipes by name.

    Most are the papers' and lie beside this file; the folder of a task may hold more in a folder ``recipes``.
    """
    specs = filter(None, map(find_spec, TASKS.values()))  # which imports no task
    places = [Path(place) / "recipes" for spec in specs for place in spec.submodule_search_locations or ()]
    files = [file for place in (Path(__file__).parent, *places) for file in place.glob(f"*{_SUFFIX}")]
    return {file.stem: file for file in files}


def names() -> list[str]:
    """Return the names of all recipes, in alphabetical order."""
    return sorted(_files())


def read(name: str) -> str:
    """Return the TOML text of a recipe; ConfigError with the nearest name when there is none called ``name``."""
    files = _files()
    if name not in files:
        raise ConfigError(
            f"There is no recipe called '{name}'.{nearest(name, files)} anaphora recipes lists all; name your own file "
            f"with its ending, .toml."
        )
    return files[name].read_text(encoding="utf-8")


def describe(name: str) -> str:
    """Return the description of a recipe, in one line."""
    return read(name).partition("\n")[0].removeprefix("#").strip()
