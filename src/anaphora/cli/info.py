"""``anaphora info``: what a run is, what it was trained on, and how good it was found to be.

Examples:
    anaphora info runs/en-de
    anaphora info runs/en-de --json
    anaphora info en-de.anaphora
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from anaphora.cli.options import Json, RunFolder
from anaphora.cli.talk import heading, print_json, show
from anaphora.errors import AnaphoraError

if TYPE_CHECKING:
    from anaphora.run.summary import RunInfo


def run(run_folder: RunFolder, as_json: Json = False) -> None:
    """Show data, size, scores and damaged files of a run.

    Of a bundle, show its card. Exits with 1 when no checkpoint can be used.
    """
    from anaphora.run.bundle import is_bundle
    from anaphora.run.summary import about, about_bundle

    if is_bundle(run_folder):
        bundle = about_bundle(run_folder)
        return print_json(bundle) if as_json else show("\n".join(f"{name}: {fact}" for name, fact in bundle.items()))
    found = about(run_folder)
    if as_json:
        print_json(found.json())
    else:
        _show(found)
    if not found.usable:
        raise typer.Exit(1)


def _show(found: "RunInfo") -> None:
    heading(found.path)
    for title, lines in found.sections().items():
        _section(title, lines)
        if title == "Vocabulary":
            _section("Settings", _chosen(found))


def _section(title: str, lines: Iterable[str]) -> None:
    """Print a title and what belongs to it; ``none`` where there is nothing."""
    for place, line in enumerate(list(lines) or ["none"]):
        heading(f"{'' if place else title:<14}", end="")
        show(line)


def _chosen(found: "RunInfo") -> Iterable[str]:
    from anaphora.tasks.registry import parse
    from anaphora.tasks.runs import demand_torch

    try:
        demand_torch()
    except AnaphoraError:
        return ["all are in experiment.toml; where torch is installed, those that are not defaults are shown here"]
    try:
        experiment = parse(found.experiment, found.path)
    except AnaphoraError as error:
        return [str(error)]
    from anaphora.experiment.settings import chosen

    elsewhere = ("task=", "data.")
    settings = (setting for setting in chosen(experiment) if not setting.startswith(elsewhere))
    return [*settings, "all else by default; experiment.toml has it written out"]
