"""``python -m tests.mutations [NUMBER..]``: change one line of the package at a time, and see whether a test fails.

``mutations.json`` lists forty faults, drawn at random once: a file, the line, the line with its fault, and which of the
fast tests found it (false: none; null: not tried). What was found once should be found after the package or its tests
were changed. A line that has moved to another file is found there; where it no longer exists this says so. Each is
tried in a copy of the tree, with the tests of the file and then those of its folder. RECORD=1 notes what is found.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LISTED = Path(__file__).with_name("mutations.json")
COPIED = (
    "src",
    "tests",
    "benchmarks",
    "docs",
    "zensical.toml",
    "pyproject.toml",
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
)
PYTEST = (sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow", "-p", "no:cacheprovider")


def main(numbers: list[str]) -> int:
    """Try the mutations of these numbers, from 1, or all; return 1 where one is no longer found."""
    listed: list[dict[str, Any]] = json.loads(LISTED.read_text())
    lost = 0
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "tree"
        for name in COPIED:
            copying = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            copying(ROOT / name, copy / name)
        for number, one in enumerate(listed, 1):
            if numbers and str(number) not in numbers:
                continue
            caught = tried(one, copy)
            lost += caught is False and bool(one["caught"])
            found = {None: "the line is gone", False: "not caught"}.get(caught, f"caught by {caught}")
            print(f"{number:>2} {one['file']}: {found}; before: {one['caught']}", flush=True)
            if os.environ.get("RECORD"):
                one["caught"] = caught
                LISTED.write_text(json.dumps(listed, indent=1, ensure_ascii=False) + "\n")
    return int(lost > 0)


def tried(mutation: dict[str, Any], copy: Path) -> str | bool | None:
    """Return the test that fails with the mutation in the copy of the tree, False for none, None for no such line."""
    package = copy / "src" / "anaphora"
    places = [package / mutation["file"], *sorted(package.rglob("*.py"))]
    place = next((path for path in places if path.exists() and mutation["before"] in _stripped(path)), None)
    if place is None:
        return None
    text = place.read_text()
    lines = text.split("\n")
    number = _stripped(place).index(mutation["before"])
    lines[number] = lines[number].replace(mutation["before"], mutation["after"])
    place.write_text("\n".join(lines))
    try:
        found = (_failing(tests, copy) for tests in _covering(place.relative_to(package), copy))
        return next(filter(None, found), False)
    finally:
        place.write_text(text)


def _stripped(path: Path) -> list[str]:
    return [line.strip() for line in path.read_text().split("\n")]


def _covering(file: Path, copy: Path) -> list[Path]:
    """Return the tests of a file where it has some, and those of the nearest folder that mirrors its own."""
    tests = copy / "tests"
    mirrored = tests / file.parent / f"test_{file.name}"
    folder = next(tests / parent for parent in file.parents if (tests / parent).is_dir())
    return [path for path in (mirrored, folder) if path.exists()]


def _failing(tests: Path, copy: Path) -> str:
    """Return the first test that fails, or cannot be read; "" for none."""
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run([*PYTEST, tests], cwd=copy, env=environment, capture_output=True, text=True)
    failed = [line.split(" - ")[0] for line in ended.stdout.split("\n") if line.startswith(("FAILED ", "ERROR "))]
    if ended.returncode and not failed:
        raise SystemExit(f"The tests could not be run:\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}")
    return failed[0].partition(" ")[2] if failed else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
