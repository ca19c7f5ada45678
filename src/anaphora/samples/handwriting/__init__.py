"""Handwriting that the package makes: letters as strokes, written by many made-up hands, with their texts."""

import json
from pathlib import Path

from anaphora.formats.lines import write_lines
from anaphora.samples.handwriting.writing import lines


def write(folder: Path, seed: int = 1, train: int = 4_000, valid: int = 200, test: int = 200) -> Path:
    """Write ``train.jsonl``, ``val.jsonl`` and ``test.jsonl``; each split has a seed of its own. Returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for place, (name, count) in enumerate((("train", train), ("val", valid), ("test", test))):
        drawn = lines(3 * seed + place, count)
        rows = (json.dumps({"text": line.text, "strokes": line.strokes}, separators=(",", ":")) for line in drawn)
        write_lines(folder / f"{name}.jsonl", rows)
    return folder
