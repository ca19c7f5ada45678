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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from pydantic import model_validator

from anaphora import recipes
from anaphora.config import Config
from anaphora.errors import ConfigError
from anaphora.experiment.overrides import override, read_table
from anaphora.experiment.reading import read_experiment
from anaphora.tasks.base import ExperimentBase
from anaphora.wording import unknown
from benchmarks.reproduce.sizes import sizes_like
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
    like: str = ""
    """The system further up that it has as many numbers as: sizes of its recurrent layers are scaled until it does."""
    replace_unknown: bool = False
    """Whether unknown words of its translations are put in from the source, through the dictionary of an aligner."""
    candidates: int = 0
    """How many of the most frequent words a translation may be written with, beside what the dictionary of an aligner
    has for the words of its source; 0 for every word."""
    language_model: str = ""
    """The system further up, a language model, that has its say in search (shallow fusion); none without."""
    fusion_weight: float = 0.0
    """How much it counts."""
    beside: str = ""
    """The system further up whose translations its own are compared with, by paired bootstrap; none without."""
    seeds: tuple[int, ...] = ()
    """Those of the table's seeds that it is trained under; none for all of them."""
    ensemble: bool = False
    """Whether this is one row of the networks of all seeds together."""


class Finding(Config):
    """What a paper says of two systems."""

    claim: str
    """In a sentence, with the paper."""
    system: str
    """The system that it is said of."""
    beside: str = ""
    """The system that it is held against; none where the figure is itself a difference ("bleu ahead, at least")."""
    figure: str = "bleu"
    """The figure that they are compared by."""
    wanted: Literal["higher", "lower", "same"] = "higher"
    """What its figure should be: on one side of the other's under every seed, or no further from it than seeds are."""


class Table(Config):
    """A comparison."""

    title: str
    """What is compared."""
    seeds: tuple[int, ...] = (1, 2, 3)
    """The seeds that systems are trained under."""
    settings: tuple[str, ...] = ()
    """What is changed of every recipe, so that the systems compare: data, units, size, updates."""
    texts: tuple[Text, ...] = ()
    """What is made of known corpora first."""
    systems: tuple[System, ...]
    """The rows."""
    links: bool = False
    """Whether the word links of translators are measured by those of an aligner that learnt from the same pairs."""
    processor_time: bool = False
    """Whether the processor seconds of each training, since it was last resumed, are written beside its seconds."""
    findings: tuple[Finding, ...] = ()
    """What is to be checked."""

    @model_validator(mode="after")
    def _findings_are_about_systems(self) -> Self:
        names = [system.name for system in self.systems]
        for finding in self.findings:
            for name in (finding.system, finding.beside or finding.system):
                if name not in names:
                    raise ValueError(unknown("a finding's system", name, names))
            if finding.wanted == "same" and not finding.beside:
                raise ValueError("a finding that two are the same needs beside, the system that it is held against.")
        if len(set(names)) < len(names):
            raise ValueError("every system of a table should have a name of its own.")
        return self


@dataclass(frozen=True)
class Job:
    """A system under a seed: one training, and what is measured of it."""

    system: System
    seed: int
    experiment: ExperimentBase
    key: str
    """What tells its result apart: a sum of all that recipe and settings say, whatever options come to exist beside,
    and of how it is measured."""
    run: Path
    """The folder that it is trained in, which is the same for the same training."""
    language_model: Path | None
    """The run that has its say in search."""
    beside: Path | None
    """The run whose translations its own are compared with."""
    ensemble: tuple[Path, ...]
    """The runs that search together, its own among them; none where it searches by itself."""
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
    """Every row of a table: its systems under the first seed, then under the next; runs lie in ``runs``.

    An ensemble is one row, under the last seed. Raises ConfigError for settings that the recipe cannot have, or that
    name no text or no system further up.
    """
    rows = _Rows(table, runs)
    for seed in table.seeds:
        for system in table.systems:
            if seed in (system.seeds or table.seeds) and (not system.ensemble or seed == table.seeds[-1]):
                yield rows.add(system, seed)


def text_folder(text: Text, runs: Path) -> Path:
    """Where a text of a table is made."""
    return runs / "texts" / text.digest


class _Rows:
    """The jobs of a table so far, which the next may need."""

    def __init__(self, table: Table, runs: Path) -> None:
        self._table, self._runs = table, runs
        self._texts = {text.name: text_folder(text, runs) for text in table.texts}
        self._found: dict[int, dict[str, Job]] = {seed: {} for seed in table.seeds}

    def add(self, system: System, seed: int) -> Job:
        """The job of a system under a seed."""
        job = self._job(system, seed)
        self._found[seed][system.name] = job
        return job

    def _job(self, system: System, seed: int) -> Job:
        needs: dict[str, Job] = {}

        def further_up(name: str) -> Path:
            if name not in self._found[seed]:
                raise ConfigError(f"'{system.name}': {unknown('the system further up', name, self._found[seed])}")
            needs[name] = self._found[seed][name]
            return needs[name].run

        settings = self._settings(system, seed, further_up)
        text, where = recipes.read(system.recipe), f"{system.recipe}.toml of '{system.name}'"
        if system.like:
            if system.like not in self._found[seed]:
                raise ConfigError(
                    f"'{system.name}': {unknown('the system further up', system.like, self._found[seed])}"
                )
            settings += sizes_like(self._found[seed][system.like].experiment, read_experiment(text, where, settings))
        said = json.dumps(override(read_table(text, where), settings), sort_keys=True)
        run = self._runs / _sum(said)
        model, beside = (further_up(name) if name else None for name in (system.language_model, system.beside))
        members = self._members(system) if system.ensemble else ()
        for how in (
            " replace unknown" if system.replace_unknown else "",
            f" of {system.candidates} candidates" if system.candidates else "",
            f" with {model} {system.fusion_weight}" if model else "",
            f" beside {beside}" if beside else "",
            f" of {[str(member.run) for member in members]}" if members else "",
        ):
            said += how
        return Job(
            system,
            seed,
            read_experiment(text, where, settings),
            _sum(said),
            run,
            model,
            beside,
            tuple(member.run for member in members),
            (*needs.values(), *members),
        )

    def _settings(self, system: System, seed: int, further_up: Callable[[str], Path]) -> list[str]:
        """What is changed of a recipe, with paths in the place of names."""

        def path_of(match: re.Match[str]) -> str:
            kind, name = match.groups()
            if kind == "run":
                return str(further_up(name))
            if name not in self._texts:
                raise ConfigError(f"'{system.name}': {unknown('the text', name, self._texts)}")
            return str(self._texts[name])

        settings = [_PLACE.sub(path_of, setting) for setting in (*self._table.settings, *system.settings)]
        return [*settings, f"training.seed={seed}"]

    def _members(self, system: System) -> tuple[Job, ...]:
        """The same training under every seed."""
        alone = system.model_copy(update={"ensemble": False, "beside": ""})
        return tuple(self._job(alone, seed) for seed in self._found)


def _sum(said: str) -> str:
    return hashlib.sha256(said.encode()).hexdigest()[:16]
