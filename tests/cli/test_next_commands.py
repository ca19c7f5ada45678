"""What a finished command says to do next works as it stands, in a shell."""

import re
import subprocess
from pathlib import Path
from shlex import split

import pytest

from anaphora.tasks.registry import every_task
from tests.faults.tasks import SAMPLES, Sample

from ..conftest import Trained
from .conftest import Cli, Shown


def run_next(shown: Shown, cli: Cli) -> None:
    """Run the suggested line for a shell, perhaps a pipe into ``anaphora``, which prints something."""
    [line] = re.findall(r"Next: (.+)", shown.err)
    written, _, command = line.rpartition(" | ")
    program, *arguments = split(command)
    assert program == "anaphora"
    cli.pipe(subprocess.run(["sh", "-c", written or ":"], capture_output=True, check=True).stdout)
    assert cli(*arguments).out


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_the_suggested_command_works_and_so_does_evaluate_and_no_card_names_a_folder(sample: Sample, cli: Cli) -> None:
    work = cli.folder / "work"
    sample.write(work)
    cli.enter(work)
    *training, run = [work / part if part in ("data", "experiment.toml") else part for part in sample.training()]
    run = f"my {run}s/1"
    quick = ["--set", "training.epochs=1"] if "epochs" in sample.experiment else []
    run_next(cli(*training, run, *quick), cli)
    if sample.name != "align":
        assert "validation split is scored" in cli("evaluate", run).err
    # a model card may be passed on: it names no folder of the machine that it was written on
    card = Path(run, "card.md").read_text(encoding="utf-8")
    assert "## Data" in card and str(cli.folder) not in card


def test_the_command_that_mix_suggests_works(trained: Trained, cli: Cli) -> None:
    run_next(cli("mix", trained("counts"), "--cache", "--run", cli.folder / "my mix"), cli)
    assert {task.name for task in every_task()} <= {sample.name for sample in SAMPLES}


def test_a_run_in_the_place_of_a_recipe_is_told_from_one(cli: Cli) -> None:
    (cli.folder / "experiment.toml").touch()
    assert f"write --resume --run {cli.folder}." in cli.refuse("train", cli.folder)
