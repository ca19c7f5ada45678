"""What somebody may put into a run folder who then makes its checksums fit, by the kind of file."""

import json
import os
import sqlite3
import struct
import tomllib
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

CONTROLS = "\x1b]0;owned\x07\x1b[2J\x9b31m\x00\x08"
"""What takes over the terminal that prints it."""
VALUES: tuple[object, ...] = (
    None, True, -1, 0, 2**62, 2**64, 1e38, -1e308, "", CONTROLS, "x" * 10_000, [], {}, [[]], {"": {}}, [0] * 1000,
)  # fmt: skip
SHAPES: tuple[object, ...] = (
    [2**62], [2**31, 2**31], [1] * 65, [1] * 5000, [0, 2**62], [-1], [], [1.5], ["2"], 3, [2**70],
)  # fmt: skip
ENDLESS = "numbers without end"
"""How weights are changed with which no answer means anything."""
_BODY = 1 << 22
_KINDS = ("F64", "F32", "BF16", "I64", "I8", "BOOL", "F8_E4M3", "X")


def forged(random: Random, path: Path, other: Path) -> str:
    """Change a file in a way that suits its kind; returns how. ``other`` is that file of another run, if it has one."""
    kinds = {".safetensors": TENSORS, ".json": JSON, ".sqlite": MEMORY}.get(path.suffix, TEXT)
    how = random.choice([*kinds, *(["another run's"] if other.is_file() else [])])
    if how in kinds:
        kinds[how](random, path)
    else:
        path.write_bytes(other.read_bytes())
    return how


def _nested(random: Random, path: Path) -> None:
    depth = random.choice([100, 50_000])
    path.write_bytes(random.choice([b"[" * depth + b"]" * depth, b'{"sides":' * depth + b"1" + b"}" * depth]))


def _controlled(random: Random, path: Path) -> None:
    """Put control characters behind a quotation mark, or anywhere, as they are or escaped."""
    content = path.read_bytes()
    quotes = [place + 1 for place, byte in enumerate(content) if byte in b"\"'"] or [len(content) // 2]
    place = random.choice(quotes)
    escaped = "".join(f"\\u{ord(one):04x}" for one in CONTROLS)
    path.write_bytes(content[:place] + random.choice([CONTROLS, escaped]).encode() + content[place:])


def _retyped(random: Random, path: Path) -> None:
    table = json.loads(path.read_bytes())
    inner, found = table, []
    while isinstance(inner, dict | list) and inner:
        key = random.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
        found.append((inner, key))
        inner = inner[key]
    if found:
        inner, key = random.choice(found)
        inner[key] = random.choice(VALUES)
    path.write_text(json.dumps(table))


def _header(change: Callable[[Random, dict[str, Any], bytearray], None]) -> Callable[[Random, Path], None]:

    def changed(random: Random, path: Path) -> None:
        content = path.read_bytes()
        end = 8 + int.from_bytes(content[:8], "little")
        header, body = json.loads(content[8:end]), bytearray(content[end:])
        if header.keys() - {"__metadata__"}:  # counts of n-grams and the like may be elsewhere
            change(random, header, body)
        text = json.dumps(header).encode()
        path.write_bytes(len(text).to_bytes(8, "little") + text + body)

    return changed


def _any(random: Random, header: Mapping[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = header[random.choice([name for name in header if name != "__metadata__"])]
    return entry


def _overlapping(random: Random, header: dict[str, Any], body: bytearray) -> None:
    """Hundreds of tensors of the same numbers: 4 MiB ask for more than ``processes.MEMORY``."""
    entry = {"dtype": "F32", "shape": [_BODY // 4], "data_offsets": [len(body), len(body) + _BODY]}
    body += bytes(_BODY)
    header |= {f"extra.{number}": entry for number in range(300)}


def _aliased(random: Random, header: dict[str, Any], body: bytearray) -> None:
    first, second = _any(random, header), _any(random, header)
    first |= {"shape": second["shape"], "data_offsets": second["data_offsets"]}


def _with_hole(random: Random, header: dict[str, Any], body: bytearray) -> None:
    """Numbers that no tensor has, in front or behind."""
    size = 8 * random.randint(1, 9)
    if random.random() < 0.5:
        body[:0] = bytes(size)
        for name, entry in header.items():
            if name != "__metadata__":
                entry["data_offsets"] = [size + offset for offset in entry["data_offsets"]]
    else:
        body += bytes(size)


def _shaped(random: Random, header: dict[str, Any], body: bytearray) -> None:
    entry = _any(random, header)
    entry["shape"] = random.choice([*SHAPES, entry["shape"][::-1], [*entry["shape"], 1]])
    if random.random() < 0.3:
        entry["data_offsets"] = random.choice([[0, 0], [0, 2**62], [-8, 0], [8, 0], []])


def _renamed(random: Random, header: dict[str, Any], body: bytearray) -> None:
    name = random.choice(list(header))
    header[random.choice([CONTROLS, f"{name}.more", "", "__metadata__"])] = header.pop(name)


def _typed(random: Random, header: dict[str, Any], body: bytearray) -> None:
    _any(random, header)["dtype"] = random.choice([*_KINDS, CONTROLS, 7])


def _filled(*numbers: float) -> Callable[[Random, dict[str, Any], bytearray], None]:

    def filled(random: Random, header: dict[str, Any], body: bytearray) -> None:
        number = struct.pack("<f", random.choice(numbers))
        for name, entry in header.items():
            if name != "__metadata__" and entry["dtype"] == "F32":
                begin, end = entry["data_offsets"]
                body[begin:end] = number * ((end - begin) // 4)

    return filled


def _database(*statements: str) -> Callable[[Random, Path], None]:

    def changed(random: Random, path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("PRAGMA journal_mode = DELETE")
            for statement in random.choice(statements).split(";"):
                database.execute(statement.format(controls=CONTROLS.replace("\0", "")))

    return changed


def _beside(random: Random, path: Path) -> None:
    """Put a pipe, a link or a folder where SQLite keeps its journals."""
    beside = path.with_name(path.name + random.choice(["-journal", "-wal", "-shm"]))
    beside.unlink(missing_ok=True)
    random.choice(
        [os.mkfifo, os.mkdir, lambda file: os.symlink("/dev/zero", file), lambda file: os.symlink(file, file)]
    )(beside)


TEXT: Mapping[str, Callable[[Random, Path], None]] = {"nested": _nested, "controls": _controlled}
JSON = {**TEXT, "another value": _retyped, "another value again": _retyped}
TENSORS = {
    "overlapping": _header(_overlapping),
    "aliased": _header(_aliased),
    "a hole": _header(_with_hole),
    "another shape": _header(_shaped),
    "another name": _header(_renamed),
    "another type": _header(_typed),
    ENDLESS: _header(_filled(1e38, -1e38, float("nan"), float("inf"))),
    "small numbers": _header(_filled(0.0, 3e-39)),
}
_STATEMENTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
MEMORY = {**{how: _database(*statements) for how, statements in _STATEMENTS.items()}, "journals": _beside}
