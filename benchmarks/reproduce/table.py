"""What is compared: systems, each a recipe with settings, trained under several seeds; and what is claimed of them.

A table is a TOML file in ``tables/``:

    title = "Reversing the source"
    seeds = [1, 2, 3]
    settings = ["training.epochs=5"]            for every system

    [[systems]]
    name = "sutskever2014"
    recipe = "sutskever2014"
    settings = ["encoder.reversed=true"]

    [[findings]]
    claim = "reversing the source helps where there is no attention (Sutskever et al. 2014)"
    system = "sutskever2014"
    beside = "sutskever2014-forwards"
    figure = "bleu"
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from pydantic import model_validator

from anaphora import recipes
from anaphora.config import Config, unknown
from anaphora.errors import ConfigError
from anaphora.experiment.overrides import override, read_table
from anaphora.experiment.schema import Experiment, read_experiment

FOLDER = Path(__file__).parent / "tables"


class System(Config):
    """One row."""

    name: str
    """What the row is called."""
    recipe: str
    """The recipe that it is trained by."""
    settings: tuple[str, ...] = ()
    """What is changed of the recipe, as ``anaphora train --set`` takes it, after the settings of the table."""


class Finding(Config):
    """What a paper says of two systems."""

    claim: str
    """In a sentence, with the paper."""
    system: str
    """The system that it is said of."""
    beside: str
    """The system that it is held against."""
    figure: str = "bleu"
    """The figure that they are compared by."""
    wanted: Literal["higher", "lower", "same"] = "higher"
    """What its figure should be: on one side of the other's under every seed, or no further from it than seeds are."""


class Table(Config):
    """A comparison."""

    title: str
    """What is compared."""
    seeds: tuple[int, ...] = (1, 2, 3)
    """The seeds that every system is trained under."""
    settings: tuple[str, ...] = ()
    """What is changed of every recipe, so that the systems compare: data, units, size, updates."""
    systems: tuple[System, ...]
    """The rows."""
    findings: tuple[Finding, ...] = ()
    """What is to be checked."""

    @model_validator(mode="after")
    def _findings_are_about_systems(self) -> Self:
        names = [system.name for system in self.systems]
        for finding in self.findings:
            for name in (finding.system, finding.beside):
                if name not in names:
                    raise ValueError(unknown("a finding's system", name, names))
        if len(set(names)) < len(names):
            raise ValueError("every system of a table should have a name of its own.")
        return self


@dataclass(frozen=True)
class Job:
    """One training of a table."""

    system: str
    seed: int
    experiment: Experiment
    key: str
    """What tells its result apart: a sum of all that recipe and settings say, whatever options come to exist beside."""


def names() -> list[str]:
    """The tables that there are."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read(name: str, folder: Path = FOLDER) -> Table:
    """A table by its name; ConfigError where there is none, or where it is not as it should be."""
    path = folder / f"{name}.toml"
    if not path.is_file():
        raise ConfigError(unknown("table", name, names()))
    return Table.parse(read_table(path.read_text(encoding="utf-8"), path.name), path.name)


def jobs(table: Table) -> Iterator[Job]:
    """Every training of a table: all systems under the first seed, then under the next."""
    for seed in table.seeds:
        for system in table.systems:
            settings = [*table.settings, *system.settings, f"training.seed={seed}"]
            text, where = recipes.read(system.recipe), f"{system.recipe}.toml of '{system.name}'"
            said = json.dumps(override(read_table(text, where), settings), sort_keys=True)
            key = hashlib.sha256(said.encode()).hexdigest()[:16]
            yield Job(system.name, seed, read_experiment(text, where, settings), key)
