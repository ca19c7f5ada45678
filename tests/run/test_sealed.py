"""Run folders with damaged content under checksums that fit: one sentence, exit code 2, little memory."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import torch

from anaphora.cli.app import main
from anaphora.memory import Memory, Segment
from anaphora.run import weights
from tests.sealing import reseal

RUNS = Path(__file__).parents[1] / "runs"
ALL = {
    "translator": "format-2",
    "language model": "kinds-2/language-model",
    "n-grams": "kinds-2/counts",
    "mixture": "kinds-2/mixture",
}
SAYING = {
    "bytes behind": "is not a safetensors file",
    **dict.fromkeys(("missing", "longer", "another type", "one more"), "model.safetensors"),
    "overflowing": "overflow",
}
"""How the weights of a run are changed, and what is said of it."""


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[str], Path]:
    """A copy of a stored run by its kind, beside a text."""
    (tmp_path / "text").write_text("a man walks .\n")
    return lambda kind: Path(shutil.copytree(RUNS / ALL[kind], tmp_path / "run"))


def refused(capsys: pytest.CaptureFixture[str], arguments: list[str | Path], saying: str, code: int = 2) -> None:
    """Demand that a command line ends with one line that says something."""
    assert main([str(one) for one in arguments]) == code
    printed = capsys.readouterr()
    if code == 2:
        assert printed.err.startswith("anaphora: ") and printed.err.count("\n") == 1
    assert saying in printed.err + printed.out
    assert "Traceback" not in printed.err


def changed(file: Path, how: str) -> bytes:
    """The bytes of a file of weights that was changed in one of the ways of ``SAYING``."""
    content = file.read_bytes()
    tensors = weights.as_tensors(weights.parse(bytearray(content), file))
    name = next(name for name in sorted(tensors) if tensors[name].is_floating_point())
    tensor = tensors[name]
    if how == "bytes behind":
        return content + bytes(4)
    if how == "missing":
        del tensors[name]
    else:
        tensors |= {
            "longer": {name: torch.cat([tensor.flatten(), tensor.flatten()]).unsqueeze(1)},
            "another type": {name: tensor.to(torch.int32)},
            "one more": {"zzz": tensor},
            "overflowing": {name: torch.full_like(tensor, -1e20)},
        }[how]
    return weights.serialise(tensors)


@pytest.mark.matrix
@pytest.mark.parametrize("how", SAYING)
@pytest.mark.parametrize("kind", ALL)
def test_weights_of_another_network_or_of_no_use_are_refused(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str], kind: str, how: str
) -> None:
    run = copied(kind)
    for file in run.glob("checkpoints/*/model.safetensors"):
        file.write_bytes(changed(file, how))
    reseal(run)
    refused(capsys, ["translate" if kind == "translator" else "score", run, run.parent / "text"], SAYING[how])


@pytest.fixture
def remembering(copied: Callable[[str], Path]) -> Path:
    """A translator with a memory."""
    run = copied("translator")
    with Memory(run, create=True) as memory:
        memory.confirm(Segment("a man walks .", "un homme marche ."))
    return run


def test_a_trigger_named_like_those_of_sqlite_is_found(remembering: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(remembering / "memory.sqlite", isolation_level=None)) as database:
        database.execute("CREATE TRIGGER more AFTER INSERT ON segments BEGIN DELETE FROM segments; END")
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_schema SET name = 'sqlite_more' WHERE name = 'more'")
    refused(capsys, ["memory", remembering, "list"], "memory.sqlite")


@pytest.mark.matrix
@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("put", [os.mkfifo, os.mkdir, lambda file: file.symlink_to("/dev/zero")])
def test_what_is_no_file_beside_a_memory_is_refused_by_every_verb(
    remembering: Path, capsys: pytest.CaptureFixture[str], put: Callable[[Path], object], ending: str
) -> None:
    file = remembering / f"memory.sqlite{ending}"
    file.unlink(missing_ok=True)
    put(file)
    text, saying = remembering.parent / "text", f"{file} should be a regular file"
    for verb in (["list"], ["list", "--text", "a man walks ."], ["add", text]):
        refused(capsys, ["memory", remembering, *verb], saying)
    refused(capsys, ["translate", remembering, text, "--memory"], saying)
    refused(capsys, ["info", remembering], saying, 0)


def test_no_journal_removes_another_file(remembering: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    precious = tmp_path / "thesis.txt"
    precious.write_text("years of work")
    name, magic = os.fsencode(precious), bytes.fromhex("d9d505f920a163d7")
    pages = (remembering / "memory.sqlite").stat().st_size // 4096
    numbers = (0, 0, pages, 512, 4096)
    head = (magic + b"".join(one.to_bytes(4, "big") for one in numbers)).ljust(512, b"\0")
    tail = [(0x40000000 // 4096 + 1).to_bytes(4, "big"), name, len(name).to_bytes(4, "big")]
    checksum = sum(one - 256 * (one > 127) for one in name) % (1 << 32)
    (remembering / "memory.sqlite-journal").write_bytes(head + b"".join([*tail, checksum.to_bytes(4, "big"), magic]))
    refused(capsys, ["memory", remembering, "list"], "names another file")
    assert precious.read_text() == "years of work"
