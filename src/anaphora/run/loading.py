"""From a run folder to a network that is ready to use."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from pydantic import TypeAdapter, ValidationError

from anaphora.errors import RunError
from anaphora.events import Report, silent
from anaphora.models import registry
from anaphora.protocols import Growing
from anaphora.run import weights
from anaphora.run.folder import Run, Which
from anaphora.text import units
from anaphora.text.coder import TextCoder
from anaphora.text.words import WordCoder


def load_model(
    path: Path, which: Which = "best", report: Report = silent
) -> tuple[torch.nn.Module, dict[str, TextCoder], dict[str, Any]]:
    """The network of a run with its trained weights, in evaluation mode, its coders by side, and its experiment.

    Raises RunError naming the file when the folder is none, damaged, or its parts do not belong together.
    """
    run = Run.open(path)
    coders = load_coders(run)
    checkpoint = run.load(which, report)
    model = build_model(run.experiment, coders, str(path / "experiment.toml"))
    if isinstance(model, Growing):
        model.allocate({name: tensor.shape for name, tensor in checkpoint.model.items()})
    weights.fill(model, checkpoint.model, checkpoint.path / "model.safetensors")
    return model.eval(), coders, run.experiment


def load_coders(run: Run) -> dict[str, TextCoder]:
    """The coders of a run, by side."""
    try:
        config = TypeAdapter[Any](units.TextConfig).validate_python(run.experiment.get("text"))
    except ValidationError:
        raise RunError(f"{run.path / 'experiment.toml'} is damaged: it has no [text] table that can be read.") from None
    return units.load(config, run.path / "vocabulary")


def build_model(experiment: Mapping[str, Any], coders: Mapping[str, TextCoder], where: str) -> torch.nn.Module:
    """A new network as ``experiment`` describes it, for the vocabularies of ``coders``; ``where`` is for messages."""
    symbols = {side: coder.symbols for side, coder in coders.items()}
    words = {side: coder.vocabulary for side, coder in coders.items() if isinstance(coder, WordCoder)}
    task = str(experiment.get("task", ""))
    try:
        return registry.build(task, experiment, symbols, where, words)
    except KeyError as error:
        sides = ", ".join(sorted(coders)) or "none"
        raise RunError(
            f"{where}: task '{task}' needs a vocabulary {error}, but there are: {sides}; "
            f"restore the file or the vocabulary from a copy."
        ) from None
