"""One odd row among 150 of every format: it is refused with its line, or the model is of the same kind as without.

``rows.toml`` has the formats.
"""

import json
import re
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from safetensors.numpy import load_file

from tests.faults.processes import Fault, Outcome, command
from tests.faults.tasks import PARTS, SAMPLES, features, line

ROWS = 150
_TRAINING = "[training]\nbatch_tokens = 2000\nepochs = 1\n"
_EXPERIMENTS = {one.name: one.experiment.replace(PARTS["training"], _TRAINING) for one in SAMPLES}


@dataclass(frozen=True, eq=False)
class Format:
    task: str
    file: str
    row: str
    odd: tuple[str, ...]
    """Rows that no model can be learnt from, or one of the same kind alone."""
    end: str = "\n"
    headings: tuple[str, ...] = ()
    first: str = ""
    """The heading that every such file has."""
    options: str = ""
    settings: str = ""

    def rows(self, *numbers: int) -> list[str]:
        """The rows of these numbers, to the one before the last."""
        return [line(self.row, number) for number in range(*numbers)]


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["formats"]
FORMATS = [Format(**table) for table in _TABLES]


def trial(random: Random) -> str:
    format_ = random.choice(FORMATS)
    is_heading = random.random() < 0.5 and len(format_.headings) > 0
    odd = random.choice(format_.headings if is_heading else format_.odd).replace("LONG", "x" * 9000) + format_.end
    place = 0 if is_heading else random.randrange(ROWS)
    rows = format_.rows(ROWS)
    number = 1 + (bool(format_.first) and not is_heading) + "".join(rows[:place]).count("\n")
    text = "".join(["" if is_heading else format_.first, *rows[:place], odd, *rows[place:]])
    expected = _clean_kind(format_)
    ended, kind = _trained(format_, text)
    where = f"{format_.task}, {format_.file} with {odd!r} in line {number}"
    if ended.code == 2:
        lines = range(number, number + odd.count("\n") + 1)
        # validation without the heading of training has columns of unknown order
        lacks_heading = is_heading and f"val{Path(format_.file).suffix}:1 should have columns" in ended.err
        places = rf"\b{re.escape(format_.file)}:{{0}}\b|\bline {{0}}\b"
        if not lacks_heading and not any(re.search(places.format(one), ended.err) for one in lines):
            raise Fault(f"{where} is refused without its line: {ended.err[-500:]}")
    elif ended.code:
        raise Fault(f"{where} ends with {ended.code}: {ended.err[-500:]}")
    else:
        if not is_heading:  # of 151 rows instead of 150, one may be a class that is rare
            kind, expected = ({**one, "classes": []} for one in (kind, expected))
        if wrong := sorted(name for name in {*kind, *expected} if kind.get(name) != expected.get(name)):
            raise Fault(f"{where}: {wrong[0]} is {kind.get(wrong[0])!r}, not {expected.get(wrong[0])!r}"[:2000])
    return format_.task


@cache
def _clean_kind(format_: Format) -> dict[str, object]:
    ended, kind = _trained(format_, format_.first + "".join(format_.rows(ROWS)))
    if ended.code:
        raise Fault(f"{format_.task} cannot be trained on a clean {format_.file}: {ended.err[-1000:]}")
    return kind


def _trained(format_: Format, text: str) -> tuple[Outcome, dict[str, object]]:
    with tempfile.TemporaryDirectory() as folder:
        place, name = Path(folder), Path(format_.file)
        (place / "data").mkdir()
        (place / "data" / name).write_text(text, newline="")
        held_out = "".join([format_.first, *format_.rows(ROWS, ROWS + 20)])
        (place / "data" / f"val{name.suffix}").write_text(held_out)
        if format_.task == "describe":
            (place / "data" / "images.npz").write_bytes(features([f"{number:03}" for number in range(ROWS + 20)]))
        (place / "experiment.toml").write_text(_EXPERIMENTS[format_.task] + format_.settings)
        options = format_.options.split()
        ended = command(["train", "experiment.toml", "--data", "data", *options, "--run", "run"], at=place)
        return ended, {} if ended.code else _kind(place / "run")


def _kind(run: Path) -> dict[str, object]:
    experiment = tomllib.loads((run / "experiment.toml").read_text())
    classes = experiment.get("classes", {}).pop("names", [])
    experiment["data"].pop("files")
    lines = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    metrics = {name for line in lines for name in line.get("validation", ())}
    weights = load_file(run / "checkpoints" / (run / "best").read_text().strip() / "model.safetensors")
    return {"metrics": metrics, "weights": sorted(weights), "classes": classes} | dict(_leaves(experiment))


def _leaves(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, object]]:
    """The options by their dotted keys, but for what is measured of the data."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{above}{name}.")
        elif not isinstance(value, float | list):
            yield f"{above}{name}", value
