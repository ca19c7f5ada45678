"""The experiment that a verb was given: by a recipe's name, in a file, or by the look of the data."""

from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import tomli_w

from anaphora.errors import ConfigError
from anaphora.events import Note, Report

if TYPE_CHECKING:
    from anaphora.tasks.base import ExperimentBase as Experiment
    from anaphora.text.units import AnyUnits

AUTO = "auto"
"""What the experiment is called that the data chooses."""


def experiment_text(
    recipe: str,
    data: list[Path],
    source: str,
    target: str,
    settings: Sequence[str],
    report: Report,
    text: "AnyUnits | None" = None,
) -> tuple[str, str]:
    """The TOML of an experiment, and what messages call it; ConfigError when there is none.

    It is that of a recipe, of a file when the name ends in ``.toml``, or for ``auto`` and no name that chosen by the
    look of the data. ``settings`` will be put into it, and ``text`` is that of the run whose vocabulary it takes over,
    where it does.
    """
    if recipe in ("", AUTO):
        from anaphora.experiment.auto import automatic

        return automatic(data, source, target, report, settings=settings, text=text), f"{AUTO}.toml"
    if not recipe.endswith(".toml"):
        return _recipe(recipe, bool(data), settings, report), f"{recipe}.toml"
    try:
        return Path(recipe).read_text(encoding="utf-8-sig"), recipe
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(f"The experiment {recipe} cannot be read: {reason}.") from None


def say_columns(experiment: "Experiment", data: Sequence[Path], source: str, target: str, report: Report) -> None:
    """Say which languages the columns of a file are taken for, where nobody said which they are."""
    columns = [path for path in data if path.name.lower().removesuffix(".gz").endswith(".tsv")]
    languages = list(experiment.data.languages.values())
    if columns and not (source or target) and len(languages) > 1:
        report(
            Note(
                f"The columns of {columns[0]} are taken for '{languages[0]}' and '{languages[1]}': give --source and "
                f"--target if they are others."
            )
        )


def _recipe(name: str, own_text: bool, settings: Sequence[str], report: Report) -> str:
    """The TOML of a recipe, with the settings that its task has for text of one's own."""
    from anaphora import recipes
    from anaphora.experiment.overrides import override, read_table
    from anaphora.tasks.registry import named_in

    if name not in recipes.names() and Path(name).exists():
        use = f"--resume --run {quote(name)}" if (Path(name) / "experiment.toml").exists() else f"--data {quote(name)}"
        raise ConfigError(f"{name} is a file or folder, but a recipe was expected: write {use}.")
    text = recipes.read(name)
    table = read_table(text, f"{name}.toml")
    task, _ = named_in(table, f"{name}.toml")
    changes, note = task.own_text(table, settings, name) if own_text else ([], "")
    if note:
        report(Note(note))
    return tomli_w.dumps(override(table, changes)) if changes else text
