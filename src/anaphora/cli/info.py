"""``anaphora info``: what a run is, what it was trained on, and how good it was found to be."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from anaphora.cli.options import Json, RunFolder
from anaphora.cli.talk import heading, print_json, show
from anaphora.errors import AnaphoraError
from anaphora.wording import inflect

if TYPE_CHECKING:
    from anaphora.run.logs import Evaluation
    from anaphora.run.summary import CheckpointInfo, RunInfo

EXAMPLES = ("anaphora info runs/en-de", "anaphora info runs/en-de --json", "anaphora info en-de.anaphora")


def run(run_folder: RunFolder, as_json: Json = False) -> None:
    """Show a run: data, model size, scores, checkpoints, damaged files.

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
    from anaphora.run.logs import newest

    heading(found.path)
    _section("Task", [f"{found.task}, format {found.format}"])
    parts = [f"  {part}: {count:,}" for part, count in found.parameters.items()]
    _section("Parameters", [f"{found.total_parameters:,}", *parts] if parts else [])
    if found.mixed:
        _section("Mixed of", (f"{weight:.4f}  {name}" for name, weight in found.mixed.items()))
    _section("Vocabulary", (f"{side}: {inflect(size, 'token')}" for side, size in found.vocabularies.items()))
    _section("Settings", _chosen(found))
    _section("Data", _data(found))
    _section("Validation", (f"{name} {value:.4f}" for name, value in found.validation.items()))
    _section("Evaluations", (line for evaluation in newest(found.evaluations) for line in _format_metrics(evaluation)))
    _section("Checkpoints", map(_checkpoint, found.checkpoints))
    _section("Memory", [inflect(found.memory, "segment")] if found.memory else [])
    _section("Written with", [found.environment] if found.environment else [])
    _section("Files", found.faults or ["all whole"])


def _section(title: str, lines: Iterable[str]) -> None:
    """A title and what belongs to it; ``none`` where there is nothing."""
    for place, line in enumerate(list(lines) or ["none"]):
        heading(f"{'' if place else title:<14}", end="")
        show(line)


def _chosen(found: "RunInfo") -> Iterable[str]:
    from anaphora.tasks.registry import parse
    from anaphora.tasks.runs import demand_torch

    try:
        demand_torch()  # which tells an option from a default
        experiment = parse(found.experiment, found.path)
    except AnaphoraError as error:
        return [str(error)]
    from anaphora.experiment.settings import chosen

    elsewhere = ("task=", "data.")
    settings = (setting for setting in chosen(experiment) if not setting.startswith(elsewhere))
    return [*settings, "all else by default; experiment.toml has it written out"]


def _data(found: "RunInfo") -> Iterable[str]:
    data = found.experiment.get("data", {})
    yield from (f"{key} = {value}" for key, value in data.items() if value not in ("none", [], ""))
    yield from (f"{part}: SHA-256 {digest}" for part, digest in found.fingerprints.items())
    yield f"licence: {found.licence or 'that of the files; it was not recorded'}"


def _format_metrics(evaluation: "Evaluation") -> Iterable[str]:
    where = f"{evaluation.date[:10]}, {evaluation.text}, {evaluation.checkpoint}"
    yield from (f"{where}: {metric.name} {metric.shown} ({metric.conditions})" for metric in evaluation.metrics)


def _checkpoint(checkpoint: "CheckpointInfo") -> str:
    marks = ["damaged" if checkpoint.fault else "whole"] + ["best"] * checkpoint.best
    return f"{checkpoint.name}: {checkpoint.bytes / 1e6:,.1f} MB, {', '.join(marks)}"
