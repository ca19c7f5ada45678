"""From a run folder to its vocabularies, and to a network with its trained weights."""

from typing import Any

import torch
from pydantic import TypeAdapter, ValidationError

from anaphora.errors import RunError
from anaphora.protocols import Growing
from anaphora.run import weights
from anaphora.run.checkpoint import Checkpoint
from anaphora.run.folder import Run
from anaphora.run.layout import EXPERIMENT
from anaphora.text import tokenization
from anaphora.text.tokenizer import Tokenizer


def load_tokenizers(run: Run) -> dict[str, Tokenizer]:
    try:
        config = TypeAdapter[Any](tokenization.TextConfig).validate_python(run.experiment.get("text"))
    except ValidationError:
        raise RunError(f"{run.path / EXPERIMENT} is damaged: it has no [text] table that can be read.") from None
    return tokenization.load(config, run.path / "vocabulary")


def load_weights(model: torch.nn.Module, checkpoint: Checkpoint) -> torch.nn.Module:
    """``model`` with the weights of a checkpoint, in evaluation mode; RunError where they do not belong to it."""
    if isinstance(model, Growing):
        model.allocate({name: tensor.shape for name, tensor in checkpoint.model.items()})
    weights.fill(model, checkpoint.model, checkpoint.path / "model.safetensors")
    return model.eval()
