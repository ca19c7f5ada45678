"""The experiment that a verb was given: by a recipe's name, in a file, or by the look of the data."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import tomli_w

from anaphora import recipes
from anaphora.cli.options import ColumnsOption, SettingsOption, TrainingThreads, columns_in
from anaphora.errors import ConfigError
from anaphora.events import Note, Report
from anaphora.files import MEGABYTE
from anaphora.languages import code_of
from anaphora.options import MAX_COUNT, Argument, Option
from anaphora.tasks.registry import TASKS, find_tasks, named_in

if TYPE_CHECKING:
    from anaphora.experiment.overrides import Table
    from anaphora.tasks.base import ExperimentBase, StartConfig
    from anaphora.text.tokenization import AnyTokenizer

AUTO = "auto"
"""Name of the experiment that the data chooses."""


@dataclass(frozen=True)
class ExperimentRequest:
    """An experiment as the command line asks for it."""

    recipe: Annotated[
        str, Argument("Recipe name, or TOML file. [default: chosen by the data]", metavar="RECIPE|FILE.toml")
    ] = ""
    """``auto`` or nothing for an experiment that the data chooses."""
    data: Annotated[
        list[Path] | None, Option("Your own data instead of the recipe's; may be repeated.", metavar="FOLDER|FILE")
    ] = None
    task: Annotated[str, Option("Without a recipe: the task, e.g. tag.", default="by the data", metavar="NAME")] = ""
    columns: ColumnsOption = ""
    source: Annotated[str, Option("Source language code (also the file suffix), e.g. en.")] = ""
    target: Annotated[str, Option("Target language code (also the file suffix), e.g. cs.")] = ""
    synthetic: Annotated[
        list[str] | None, Option("Pairs that a program wrote, tagged in training; may be repeated.", metavar="FILE")
    ] = None
    settings: SettingsOption = None
    threads: TrainingThreads = None

    @property
    def changes(self) -> list[str]:
        """Every value that is put into the experiment."""
        lists = {"columns": columns_in(self.columns), "synthetic": self.synthetic}
        data = [f"data.{name}={json.dumps(found, ensure_ascii=False)}" for name, found in lists.items() if found]
        threads = [] if self.threads is None else [f"training.threads={self.threads}"]
        return [*data, *(self.settings or []), *threads]


def experiment_text(
    asked: ExperimentRequest, report: Report, text: "AnyTokenizer | None" = None, at_most: int = MAX_COUNT
) -> tuple[str, str]:
    """Return the TOML of an experiment, and what messages call it; ConfigError when there is none.

    ``text`` is that of the run whose vocabulary it takes over, where it does. What the data chooses is sized for
    ``at_most`` so much.
    """
    recipe, data, settings, task = asked.recipe, asked.data or [], asked.changes, asked.task
    if recipe in ("", AUTO):
        from anaphora.experiment.auto import automatic

        languages = (asked.source, asked.target)
        chosen = automatic(data, *languages, report, settings=settings, text=text, task=task, at_most=at_most)
        return chosen, f"the experiment for {data[0]}"
    if task:
        raise ConfigError(f"--task chooses an experiment by the data, but {recipe} names one: keep one of them.")
    if not recipe.endswith(".toml"):
        return _recipe(recipe, bool(data), settings, report), f"{recipe}.toml"
    try:
        with Path(recipe).open(encoding="utf-8-sig") as file:
            written = file.read(MEGABYTE + 1)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(f"The experiment {recipe} cannot be read: {reason}.") from None
    if len(written) > MEGABYTE:
        raise ConfigError(f"The experiment {recipe} should be TOML, but has more than {MEGABYTE:,} characters.")
    return written, recipe


def with_languages(asked: ExperimentRequest, report: Report) -> ExperimentRequest:
    """The same with the languages of a person's own pairs, where none are given: those in the names of the files.

    They are reported. Where a TOML file or a setting names them, or the recipe is not about pairs, they stay as they
    are. Raises ConfigError for columns whose languages nothing names, DataError as ``data.directions.direction_of``
    does.
    """
    from anaphora.data.directions import direction_of, languages_named
    from anaphora.data.entry_files import declared_languages, holds_pairs
    from anaphora.experiment.auto import layout_in
    from anaphora.experiment.overrides import override, read_table

    recipe, data, source, target, settings = asked.recipe, asked.data, asked.source, asked.target, asked.changes
    for name in (source, target):
        if (code := code_of(name)) not in ("", name):
            report(Note(f"Languages are named by their codes: write {code} for {name}.", warning=True))
    named_elsewhere = any(setting.startswith(("data.source", "data.target")) for setting in settings)
    resolved = (source and target) or named_elsewhere or languages_named(data or ())
    if not data or resolved or recipe.endswith(".toml") or not _of_pairs(asked.task):
        return asked
    usual = ("en", "")
    if recipe not in ("", AUTO):
        table = read_table(recipes.read(recipe), recipe).get("data", {})
        if not isinstance(table, dict) or "source" not in table:
            return asked
        usual = (table["source"], table["target"])
    found = direction_of(data, (source, target), usual, layout=layout_in(override({}, settings)))
    if found is not None:
        source, target = found
        report(Note(f"Source language {source}, target language {target}: by the names or headings."))
        return replace(asked, source=source, target=target)
    open_ones = [path for path in data if holds_pairs(path)]
    if open_ones and not (source or target):
        languages = declared_languages(open_ones[:1])
        which = f" (it names {', '.join(languages)})" if len(languages) > 2 else ""
        raise ConfigError(
            f"Nothing says which two languages {open_ones[0]} is in{which}, source first: name them with --source and "
            f"--target."
        )
    return asked


def requested_experiment(
    asked: ExperimentRequest,
    report: Report,
    text: "tuple[str | Table, str] | None" = None,
    start: "StartConfig | None" = None,
) -> "ExperimentBase":
    """Return the experiment, in a TOML ``text`` or that of ``experiment_text``.

    Errors as for ``reading.read_experiment``.
    """
    from anaphora.experiment.reading import read_experiment

    toml, where = text or experiment_text(asked, report)
    languages = {"source": asked.source, "target": asked.target}
    return read_experiment(toml, where, asked.changes, data=asked.data or [], **languages, start=start, report=report)


def _of_pairs(task: str) -> bool:
    """True if the data of a task, or of the one that is chosen by the data, may be pairs in two languages."""
    kinds = find_tasks(task) if task in TASKS else ()
    tables: list[Any] = [kind.experiment.model_fields["data"].annotation for kind in kinds]
    return not task or any("source" in table.model_fields for table in tables)


def _recipe(name: str, own_text: bool, settings: Sequence[str], report: Report) -> str:
    """Return the TOML of a recipe, with the settings that its task has for text of one's own."""
    from anaphora.experiment.overrides import override, read_table

    if name not in recipes.names() and Path(name).exists():
        use = f"--resume --run {quote(name)}" if (Path(name) / "experiment.toml").exists() else f"--data {quote(name)}"
        what = "folder" if Path(name).is_dir() else "file"
        raise ConfigError(f"{name} is a {what}, but a recipe or a file ending in .toml was expected: write {use}.")
    text = recipes.read(name)
    table = read_table(text, f"{name}.toml")
    task = named_in(table, f"{name}.toml")
    changes, note = task.own_text(table, settings, name) if own_text else ([], "")
    if note:
        report(Note(note))
    return tomli_w.dumps(override(table, changes)) if changes else text
