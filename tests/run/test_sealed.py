"""Run folders with damaged content under checksums that fit: one sentence, exit code 2, little memory."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from anaphora.cli.app import main
from anaphora.errors import RunError
from anaphora.memory import Memory, Segment
from anaphora.run import weights
from tests.sealing import entry, reseal, safetensors_bytes

RUNS = Path(__file__).parents[1] / "runs"
NESTED = b'{"a":' * 50_000 + b"1" + b"}" * 50_000
ALL = {"translator": "format-2", "language model": "kinds-2/language-model", "n-grams": "kinds-2/counts"}


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[str], Path]:
    """A copy of a stored run by its kind."""

    def copy(kind: str) -> Path:
        return Path(shutil.copytree(RUNS / ALL.get(kind, kind), tmp_path / "run"))

    return copy


def models(run: Path) -> list[Path]:
    return sorted(run.glob("checkpoints/*/model.safetensors"))


def rewrite(run: Path, change: Callable[[dict[str, Any], bytes], tuple[Any, bytes]]) -> None:
    """Change the header and the numbers of every model of a run, and seal it again."""
    for file in models(run):
        content = file.read_bytes()
        begin = 8 + int.from_bytes(content[:8], "little")
        file.write_bytes(safetensors_bytes(*change(json.loads(content[8:begin]), content[begin:])))
    reseal(run)


def refused(capsys: pytest.CaptureFixture[str], arguments: list[str | Path], saying: str, code: int = 2) -> None:
    """Demand that a command line ends with one line that says something."""
    assert main([str(one) for one in arguments]) == code
    printed = capsys.readouterr()
    if code == 2:
        assert printed.err.startswith("anaphora: ") and printed.err.count("\n") == 1
    assert saying in printed.err + printed.out
    assert "Traceback" not in printed.err


@pytest.mark.parametrize("kind", ALL)
def test_tensors_that_do_not_fill_their_file_are_refused(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str], kind: str, tmp_path: Path
) -> None:
    run, text = copied(kind), tmp_path / "text"
    text.write_text("a man\n")
    rewrite(run, lambda header, numbers: (header, numbers + bytes(4)))
    refused(capsys, ["translate" if kind == "translator" else "score", run, text], "is not a safetensors file")


def test_eight_megabytes_never_become_more_memory() -> None:
    numbers = bytes(8_000_000)
    header = {f"t{number}": entry([2_000_000], 0, len(numbers)) for number in range(4_000)}
    with pytest.raises(RunError, match="does not fit its numbers"):
        weights.parse(bytearray(safetensors_bytes(header, numbers)), Path("here"))


@pytest.mark.matrix
@pytest.mark.parametrize("how", ["missing", "longer", "another type", "one more"])
@pytest.mark.parametrize("kind", [*ALL, "kinds-2/mixture"])
def test_tensors_of_another_network_are_named(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str], kind: str, how: str, tmp_path: Path
) -> None:
    run, text = copied(kind), tmp_path / "text"
    text.write_text("a man\n")
    for file in models(run):
        tensors = {name: one.clone() for name, one in weights.parse(bytearray(file.read_bytes()), file).items()}
        name = next(name for name in sorted(tensors) if tensors[name].is_floating_point())
        tensor = tensors.pop(name)
        changed = {
            "missing": {},
            "longer": {name: torch.cat([tensor.flatten(), tensor.flatten()]).unsqueeze(1)},
            "another type": {name: tensor.to(torch.int32)},
            "one more": {name: tensor, "zzz": tensor},
        }
        file.write_bytes(weights.serialise(tensors | changed[how]))
    reseal(run)
    refused(capsys, ["translate" if kind == "translator" else "score", run, text], "model.safetensors")


@pytest.mark.matrix
@pytest.mark.parametrize("value", [1e38, -1e30, 1e20])
@pytest.mark.parametrize("kind", ["translator", "kinds-2/mixture"])
def test_weights_that_overflow_are_an_error_and_no_empty_lines(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str], kind: str, value: float, tmp_path: Path
) -> None:
    run, text = copied(kind), tmp_path / "text"
    text.write_text("a man\n")
    for file in models(run):
        tensors = weights.parse(bytearray(file.read_bytes()), file)
        drawn = torch.Generator().manual_seed(1)
        changed = {
            name: (torch.randn(one.shape, generator=drawn) * value).to(one.dtype) if one.is_floating_point() else one
            for name, one in tensors.items()
        }
        file.write_bytes(weights.serialise(changed))
    reseal(run)
    refused(capsys, ["translate" if kind == "translator" else "score", run, text], "overflow")


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("vocabulary/text", NESTED),
        ("vocabulary/text", b'{"words": ["\\ud800"], "language": "en"}'),
        ("vocabulary/text", b'{"words": "abc", "language": "en"}'),
        ("vocabulary/vocabulary.json", NESTED),
        ("experiment.toml", b"x = " + b"[" * 50_000 + b"]" * 50_000),
        ("experiment.toml", b".".join([b"a"] * 50_000) + b" = 1"),
    ],
)
@pytest.mark.parametrize("verb", ["score", "info", "generate", "evaluate"])
def test_what_is_nested_or_no_text_is_one_error(
    copied: Callable[[str], Path],
    capsys: pytest.CaptureFixture[str],
    verb: str,
    file: str,
    content: bytes,
    tmp_path: Path,
) -> None:
    run, text = copied("language model"), tmp_path / "text"
    text.write_text("a man\n")
    (run / file).write_bytes(content)
    reseal(run)
    beside: list[str | Path] = {"score": [text], "evaluate": ["--text", text]}.get(verb, [])
    refused(capsys, [verb, run, *beside], Path(file).name, 1 if verb == "info" and "vocabulary" in file else 2)


@pytest.fixture
def remembering(copied: Callable[[str], Path]) -> Path:
    """A translator with a memory."""
    run = copied("translator")
    with Memory(run, create=True) as memory:
        memory.confirm(Segment("a man walks .", "un homme marche ."))
    return run


def commands(run: Path, text: Path) -> list[list[str | Path]]:
    """Verbs that read a memory."""
    return [
        ["memory", run, "list"],
        ["translate", run, text, "--memory"],
        ["memory", run, "list", "--text", "a man walks ."],
    ]


@pytest.mark.matrix
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE segments SET source = x'00ff'",
        "UPDATE segments SET source = CAST(x'ff' AS TEXT)",
        "UPDATE segments SET origin = x'00'",
        "UPDATE segments SET added = 'yesterday'",
        "UPDATE segments SET added = 1e300",
        "UPDATE segments SET added = -1e300",
        "UPDATE segments SET times = 'often'",
        "UPDATE segments SET target = x'41'",
        "DROP TABLE segments",
        "CREATE VIEW more AS SELECT 1",
        "CREATE TRIGGER more AFTER INSERT ON segments BEGIN DELETE FROM segments; END",
        "ALTER TABLE segments ADD COLUMN more TEXT",
        "ALTER TABLE segments RENAME COLUMN times TO often",
    ],
)
def test_a_memory_with_other_values_or_tables_is_refused(
    remembering: Path, capsys: pytest.CaptureFixture[str], change: str, tmp_path: Path
) -> None:
    (tmp_path / "text").write_text("a man walks .\n")
    database = sqlite3.connect(remembering / "memory.sqlite")
    database.execute(change)
    database.commit()
    database.close()
    for command in commands(remembering, tmp_path / "text"):
        refused(capsys, command, "memory.sqlite")


def test_a_trigger_that_is_named_like_those_of_sqlite_is_found(
    remembering: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = sqlite3.connect(remembering / "memory.sqlite")
    database.execute("CREATE TRIGGER more AFTER INSERT ON segments BEGIN DELETE FROM segments; END")
    database.execute("PRAGMA writable_schema = ON")
    database.execute("UPDATE sqlite_schema SET name = 'sqlite_more' WHERE name = 'more'")
    database.commit()
    database.close()
    refused(capsys, ["memory", remembering, "list"], "memory.sqlite")


@pytest.mark.matrix
@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("what", ["a pipe", "a link", "a loop", "a device", "a folder"])
def test_what_is_no_file_beside_a_memory_is_refused_by_every_verb(
    remembering: Path, capsys: pytest.CaptureFixture[str], what: str, ending: str, tmp_path: Path
) -> None:
    (tmp_path / "text").write_text("a man walks .\n")
    (tmp_path / "elsewhere").write_bytes(b"")
    file = remembering / f"memory.sqlite{ending}"
    file.unlink(missing_ok=True)
    put: dict[str, Callable[[], object]] = {
        "a pipe": lambda: os.mkfifo(file),
        "a link": lambda: file.symlink_to(tmp_path / "elsewhere"),
        "a loop": lambda: file.symlink_to(file.name),
        "a device": lambda: file.symlink_to("/dev/zero"),
        "a folder": file.mkdir,
    }
    put[what]()
    for command in (*commands(remembering, tmp_path / "text"), ["memory", remembering, "add", tmp_path / "text"]):
        refused(capsys, command, f"{file} should be a regular file")
    refused(capsys, ["info", remembering], f"{file} should be a regular file", 0)


def test_a_journal_that_names_another_file_does_not_remove_it(
    remembering: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
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


@pytest.mark.matrix
@pytest.mark.parametrize("control", ["\x1bc", "\x07", "\x7f", "\x9b2J", "\u202e", "\x08"])
@pytest.mark.parametrize("verb", ["list", "info", "score", "error"])
def test_control_characters_of_a_run_are_not_printed(
    remembering: Path, capsys: pytest.CaptureFixture[str], control: str, verb: str, tmp_path: Path
) -> None:
    file = tmp_path / f"a{control}.tsv"
    file.write_text("a dog\tun chien\n")
    name = tmp_path / f"run{control}"
    with Memory(remembering) as memory:
        memory.add([Segment(f"a{control}", f"b{control}")], f"c{control}")
    remembering.rename(name)
    command: list[str | Path] = {
        "list": ["memory", name, "list"],
        "info": ["info", name],
        "score": ["score", name, file],
        "error": ["translate", name, tmp_path / f"missing{control}"],
    }[verb]
    main([str(one) for one in command])
    printed = capsys.readouterr()
    assert not set(control) & set(printed.out + printed.err) - set("2Jc")
    assert verb == "score" or "\\u00" in printed.out + printed.err or "\\u202e" in printed.out + printed.err
