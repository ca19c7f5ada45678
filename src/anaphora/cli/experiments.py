"""The experiment that a verb was given: by a recipe's name, in a file, or by the look of the data."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import tomli_w

from anaphora.errors import ConfigError
from anaphora.events import Note, Report

if TYPE_CHECKING:
    from anaphora.experiment.schema import Experiment
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
    from anaphora.experiment.data_table import PairData

    columns = [path for path in data if path.name.lower().removesuffix(".gz").endswith(".tsv")]
    if columns and not (source or target) and isinstance(experiment.data, PairData):
        report(
            Note(
                f"The columns of {columns[0]} are taken for '{experiment.data.source}' and '{experiment.data.target}': "
                f"give --source and --target if they are others."
            )
        )


def _recipe(name: str, own_text: bool, settings: Sequence[str], report: Report) -> str:
    """The TOML of a recipe; a translator's without the lower case and the scores of its corpus, for text of one's own.

    These are the conditions that others published their figures under. People want their letters back.
    """
    from anaphora import recipes
    from anaphora.experiment.overrides import override, read_table

    text = recipes.read(name)
    table = read_table(text, f"{name}.toml")
    if not own_text or table["task"] != "translate" or not table.get("text", {}).get("lowercase", False):
        return text
    cased = override(table, ["text.lowercase=false", "evaluation.conditions=raw"])
    if not override(cased, settings)["text"].get("lowercase", False):
        report(
            Note(
                f"Your own text keeps its capitals and is scored with them, though {name} lower-cases its corpus; "
                f"--set text.lowercase=true --set evaluation.conditions=moses-lowercase does so here too."
            )
        )
    return tomli_w.dumps(cased)
