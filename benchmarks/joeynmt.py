"""JoeyNMT's side: its own training and decoding, run by ``peers/joeynmt_run.py`` in an environment of its own."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from anaphora.errors import AnaphoraError
from benchmarks.compare import answers
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


def follow(config: str, units: int, setting: Setting, *, every: int, minutes: float) -> Iterator[Mapping[str, Any]]:
    """Translations of the test part after each ``every`` updates of a training, with its processor minutes until then.

    It has one thread, and ends by itself or after so many minutes.
    """
    options = ("--every", str(every), "--minutes", str(minutes))
    lines = _answers("follow", config, units, replace(setting, threads=1), *options)
    return (line for line in lines if "outputs" in line)


def _run(verb: str, config: str, units: int, setting: Setting, *options: str) -> Sample:
    *_, answer = _answers(verb, config, units, setting, *options)
    return Sample(answer["amount"], answer["seconds"], answer["size"], answer["peak_mib"])


def _answers(verb: str, config: str, units: int, setting: Setting, *options: str) -> Iterator[Mapping[str, Any]]:
    command = [
        str(_PYTHON), str(PEERS / "joeynmt_run.py"), verb, str(PEERS / f"{config}.yaml"),
        "--threads", str(setting.threads), "--seed", str(setting.seed), *options,
    ]  # fmt: skip
    return answers(command, pairs_folder(units))
