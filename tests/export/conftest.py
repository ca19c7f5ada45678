"""Networks with random weights, for the proof that their graphs compute the same."""

import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from anaphora.tasks.registry import parse, task_of
from anaphora.tasks.task import Trained
from anaphora.text.tokenizer import Tokenizer

ALONE = [
    sys.executable,
    "-c",
    "import os, runpy, sys; sys.modules['torch'] = sys.modules['anaphora'] = None; sys.argv = sys.argv[1:]; "
    "sys.path[0] = os.path.dirname(sys.argv[0]); runpy.run_path(sys.argv[0], run_name='__main__')",
]
"""A command that runs the file behind it as Python does, without torch and without the package."""
Untrained = Callable[[dict[str, Any], Mapping[str, Tokenizer]], Trained]
ASKED = Namespace(beam=None, length_penalty=None, scores=False)
"""The driver's options by default."""


@pytest.fixture
def untrained() -> Untrained:
    """A network of a table with weights large enough that no two answers are as good as equal."""

    def made(table: dict[str, Any], tokenizers: Mapping[str, Tokenizer]) -> Trained:
        experiment = parse(table, "test")
        model = task_of(experiment).build(experiment, dict(tokenizers), "test")
        generator = torch.Generator().manual_seed(3)
        with torch.no_grad():
            for weight in model.parameters():
                weight.copy_(0.7 * torch.randn(weight.shape, generator=generator))
        return Trained(Path("run"), experiment, model.eval(), tokenizers)

    return made
