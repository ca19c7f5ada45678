"""Exported models, asked as Python objects and as programs without torch and without the package."""

import os
import subprocess
import sys
from argparse import Namespace
from importlib import import_module
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from anaphora.export.driver import open_model
from anaphora.export.folder import write_folder
from anaphora.tasks.registry import task_of
from anaphora.tasks.task import TrainedModel

ALONE = [
    sys.executable,
    "-c",
    "import os, runpy, sys; sys.modules['torch'] = sys.modules['anaphora'] = None; sys.argv = sys.argv[1:]; "
    "sys.path[0] = os.path.dirname(sys.argv[0]); runpy.run_path(sys.argv[0], run_name='__main__')",
]
"""A command that runs the file behind it as Python does, without torch and without the package."""
ASKED = Namespace(beam=None, length_penalty=None, scores=False)
"""The driver's options by default."""


def exported(trained: TrainedModel, folder: Path) -> tuple[Path, Any]:
    """The folder of a network that is exported now, and the predictor of the package that has the same answers."""
    write_folder(trained, folder / "exported")
    return folder / "exported", task_of(trained.experiment).predictor(trained)


def both(trained: TrainedModel, folder: Path) -> tuple[Any, Any]:
    """The driver's model of a network, and the predictor of the package."""
    out, predictor = exported(trained, folder)
    return open_model(out), predictor


def answered(program: Path, *options: object, given: str = "") -> str:
    """What a program of an exported model prints, as the package has it."""
    module = import_module(f"anaphora.export.{program.stem}")
    printed = TextIOWrapper(BytesIO())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [str(program), "--folder", str(program.parent), *map(str, options)])
        patch.setattr(sys, "stdin", TextIOWrapper(BytesIO(given.encode())))
        patch.setattr(sys, "stdout", printed)
        module.main()
        printed.flush()
    return printed.buffer.getvalue().decode()  # type: ignore[attr-defined]


def answered_alone(program: Path, *options: object, given: str = "") -> str:
    """The same in a process without the package; the system's encoding is not that of texts."""
    command = [*ALONE, str(program), *map(str, options)]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    run = subprocess.run(command, input=given.encode(), capture_output=True, check=True, env=environment)
    return run.stdout.decode()
