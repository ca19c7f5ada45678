"""All figures of ``make bench`` so far, in one table: ``python -m benchmarks.records`` writes it from the reports."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from anaphora.formats.lines import replacing
from benchmarks.report import FOLDER

_HEAD = """# Records

Every run of `make bench`, oldest first, written by `python -m benchmarks.records` from the raw numbers beside the
reports. Medians; the ratio is that of neighbouring runs, beside the peer of [the benchmark](README.md): of
`training-step` it is the share of a product's ceiling.

| date | commit | machine | work | precision | a second | ratio | change |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""


def write(folder: Path = FOLDER) -> Path:
    """Write ``records.md`` beside the folder of reports and return its path."""
    path = folder.parent / "records.md"
    with replacing(path) as out:
        out.write((_HEAD + "".join(f"{row}\n" for row in _rows(folder))).encode())
    return path


def _rows(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*.jsonl")):
        head, *lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
        if "machine" in head:
            yield from _of_report(head, [line for line in lines if "work" in line])


def _of_report(head: Mapping[str, Any], runs: list[dict[str, Any]]) -> Iterator[str]:
    machine = head["machine"]
    commit = re.search(r"\(([^)]+)\)", machine["versions"])
    on = f"{machine['processor']} ({machine['extension']}), {head['setting']['threads']} threads"
    common = f"{head['date']} | {commit[1] if commit else '-'} | {on}"
    for work, precision in dict.fromkeys((run["work"], run.get("precision", "fp32")) for run in runs):
        mine = [run for run in runs if (run["work"], run.get("precision", "fp32")) == (work, precision)]
        ours, theirs = (
            [run["amount"] / run["seconds"] for run in mine if run["side"] == side] for side in ("ours", "peer")
        )
        ratio = median(our / their for our, their in zip(ours, theirs, strict=True))
        rate = f"{median(ours):,.0f} {mine[0]['unit']}"
        yield f"| {common} | {work} | {precision} | {rate} | {ratio:.2f} | {head.get('change') or '-'} |"


if __name__ == "__main__":
    print(write())
