"""JoeyNMT's side: its own training and decoding, run by ``peers/joeynmt_run.py`` in an environment of its own."""

import json
import subprocess
from pathlib import Path

from anaphora.errors import AnaphoraError
from benchmarks.material import pairs_folder
from benchmarks.work import Sample, Setting

PEERS = Path(__file__).parent / "peers"

_PYTHON = PEERS / ".venv" / "bin" / "python"


class MissingPeerError(AnaphoraError):
    """A peer is not installed."""


def check_installed() -> None:
    """MissingPeerError with the command that installs it."""
    if not _PYTHON.is_file():
        raise MissingPeerError(
            "JoeyNMT should be installed in benchmarks/peers/.venv, but is not: run  make peers  first."
        )


def train_for(updates: int, config: str, units: int, setting: Setting, *, warm_up: int) -> Sample:
    """The target tokens of so many updates of ``peers/<config>.yaml``, and their time without the warm-up."""
    return _run("train", config, units, setting, "--warm-up", str(warm_up), "--updates", str(updates))


def decode(config: str, units: int, setting: Setting, *, sentences: int, length: int, beam: int) -> Sample:
    """The first sentences of the test part decoded to outputs of ``length`` units by new weights, and the time."""
    return _run(
        "decode", config, units, setting, "--sentences", str(sentences), "--length", str(length), "--beam", str(beam)
    )


def _run(verb: str, config: str, units: int, setting: Setting, *options: str) -> Sample:
    command = [
        str(_PYTHON), str(PEERS / "joeynmt_run.py"), verb, str(PEERS / f"{config}.yaml"),
        "--threads", str(setting.threads), "--seed", str(setting.seed), *options,
    ]  # fmt: skip
    done = subprocess.run(command, cwd=pairs_folder(units), capture_output=True, text=True)
    if done.returncode:
        raise MissingPeerError(f"JoeyNMT ended with an error: {' '.join(command)} says\n{done.stderr[-2000:]}")
    answer = json.loads(done.stdout.splitlines()[-1])
    return Sample(answer["amount"], answer["seconds"], answer["size"], answer["peak_mib"])
