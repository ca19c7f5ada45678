"""What is compared: systems, each a recipe with settings, trained under several seeds; and what is claimed of them.

A table is a TOML file in ``tables/``. In settings, ``@run(NAME)`` is the run folder of a system further up, under the
same seed, and ``@text(NAME)`` the folder of a text that the table makes:

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
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from pydantic import model_validator

from anaphora import recipes
from anaphora.config import Config, unknown
from anaphora.errors import ConfigError
from anaphora.experiment.overrides import override, read_table
from anaphora.experiment.schema import Experiment, read_experiment
from benchmarks.reproduce.texts import Text

FOLDER = Path(__file__).parent / "tables"
RUNS = Path("runs") / "reproduce"

_PLACE = re.compile(r"@(run|text)\(([^)]*)\)")


class System(Config):
    """One row."""

    name: str
    """What the row is called."""
    recipe: str
    """The recipe that it is trained by."""
    settings: tuple[str, ...] = ()
    """What is changed of the recipe, as ``anaphora train --set`` takes it, after the settings of the table. Systems of
    the same recipe and settings are one training, measured in several ways."""
    replace_unknown: bool = False
    """Whether unknown words of its translations are put in from the source, through the dictionary of an aligner."""
    language_model: str = ""
    """The system further up, a language model, that has its say in search (shallow fusion); none without."""
    fusion_weight: float = 0.0
    """How much it counts."""


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
    texts: tuple[Text, ...] = ()
    """What is made of known corpora first."""
    systems: tuple[System, ...]
    """The rows."""
    links: bool = False
    """Whether the word links of translators are measured by those of an aligner that learnt from the same pairs."""
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
    """A system under a seed: one training, and what is measured of it."""

    system: System
    seed: int
    experiment: Experiment
    key: str
    """What tells its result apart: a sum of all that recipe and settings say, whatever options come to exist beside,
    and of how it is measured."""
    run: Path
    """The folder that it is trained in, which is the same for the same training."""
    language_model: Path | None
    """The run that has its say in search."""
    needs: tuple["Job", ...]
    """Those whose runs are needed."""


def names() -> list[str]:
    """The tables that there are."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read(name: str, folder: Path = FOLDER) -> Table:
    """A table by its name; ConfigError where there is none, or where it is not as it should be."""
    path = folder / f"{name}.toml"
    if not path.is_file():
        raise ConfigError(unknown("table", name, names()))
    return Table.parse(read_table(path.read_text(encoding="utf-8"), path.name), path.name)


def jobs(table: Table, runs: Path = RUNS) -> Iterator[Job]:
    """Every row of a table: all systems under the first seed, then under the next; runs lie in ``runs``.

    Raises ConfigError for settings that the recipe cannot have, or that name no text or no system further up.
    """
    texts = {text.name: text_folder(text, runs) for text in table.texts}
    for seed in table.seeds:
        before: dict[str, Job] = {}
        for system in table.systems:
            before[system.name] = _job(table, system, seed, before, texts, runs)
            yield before[system.name]


def text_folder(text: Text, runs: Path) -> Path:
    """Where a text of a table is made."""
    return runs / "texts" / text.digest


def _job(
    table: Table, system: System, seed: int, before: Mapping[str, Job], texts: Mapping[str, Path], runs: Path
) -> Job:
    needs: dict[str, Job] = {}

    def run_of(name: str) -> Path:
        if name not in before:
            raise ConfigError(f"'{system.name}': {unknown('the system further up', name, before)}")
        needs[name] = before[name]
        return before[name].run

    def path_of(match: re.Match[str]) -> str:
        kind, name = match.groups()
        if kind == "run":
            return str(run_of(name))
        if name not in texts:
            raise ConfigError(f"'{system.name}': {unknown('the text', name, texts)}")
        return str(texts[name])

    settings = [_PLACE.sub(path_of, setting) for setting in (*table.settings, *system.settings)]
    settings.append(f"training.seed={seed}")
    text, where = recipes.read(system.recipe), f"{system.recipe}.toml of '{system.name}'"
    said = json.dumps(override(read_table(text, where), settings), sort_keys=True)
    run = runs / _sum(said)
    model = run_of(system.language_model) if system.language_model else None
    if system.replace_unknown:
        said += " replace unknown"
    if model:
        said += f" with {model} {system.fusion_weight}"
    experiment = read_experiment(text, where, settings)
    return Job(system, seed, experiment, _sum(said), run, model, tuple(needs.values()))


def _sum(said: str) -> str:
    return hashlib.sha256(said.encode()).hexdigest()[:16]
