"""A small experiment of every task, with its data and a text to use it on: ``tasks.toml`` has them."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

NAMES = [f"{begin}{middle}{end}" for begin in "abc" for middle in "de" for end in "fgh"]
_TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PARTS: Mapping[str, str] = _TABLES["parts"]


@dataclass(frozen=True, eq=False)
class Sample:
    """A task, small enough to be trained in a second."""

    name: str
    experiment: str
    train: Mapping[str, str | bytes]
    text: tuple[str, str | bytes]
    use: str
    """The command that does; ``RUN`` and ``FILE`` stand for its run and that file."""
    options: str = ""
    made: tuple[str, ...] = ()
    shown: tuple[str, ...] = ("info RUN", "evaluate RUN --no-keep")
    """Commands that show people what is in its run, and leave it as it is."""

    def write(self, folder: Path) -> None:
        (folder / "data").mkdir(parents=True)
        (folder / "experiment.toml").write_text(self.experiment)
        for name, content in (*((f"data/{name}", content) for name, content in self.train.items()), self.text):
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)

    def training(self) -> list[str | Path]:
        return ["train", "experiment.toml", "--data", "data", *self.options.split(), "--run", "run"]

    def resuming(self) -> list[str | Path]:
        """The command that goes on with it, for another epoch if it has any."""
        more = ["--set", "training.epochs=4"] if "epochs" in self.experiment else []
        return ["train", "--resume", "--run", "run", *more]

    def using(self, run: str | Path = "run") -> list[str | Path]:
        return self.filled(self.use, run)

    def filled(self, command: str, run: str | Path = "run") -> list[str | Path]:
        return [{"RUN": run, "FILE": self.text[0]}.get(part, part) for part in command.split()]


def line(template: str, number: int) -> str:
    """A line of data about the name of that number, and a few words that follow from it."""
    word, other = NAMES[number % len(NAMES)], NAMES[number * 7 % len(NAMES)]
    tree = "".join(
        f"{place}\t{one}\t_\t{'NOUN' if 'd' in one else 'VERB'}\t_\t_\t0\troot\t_\t_\n"
        for place, one in enumerate((word, other), 1)
    )
    words = {"word": word, "backwards": word[::-1], "first": word[0], "upper": word.upper(), "number": f"{number:03}"}
    words |= {"label": "good" if "d" in word else "bad", "spelled": " ".join(word.upper()), "tree": f"{tree}\n"}
    ink = json.dumps([[[n, ord(letter) % 7], [n + 1, ord(letter) % 5]] for n, letter in enumerate(word)])
    return Template(template).substitute(words, ink=ink, end="\n")


def features(names: list[str]) -> bytes:
    stream = BytesIO()
    np.savez(stream, **{name: np.array([ord(letter) % 7 for letter in name], np.float32) for name in names})
    return stream.getvalue()


def _sample(table: dict[str, Any]) -> Sample:
    splits = {"train": range(12), "val": range(12, 15)}
    train: dict[str, str | bytes] = {
        f"{part}{ending}": "".join(line(template, number) for number in numbers)
        for part, numbers in splits.items()
        for ending, template in table["train"].items()
    }
    if table["name"] == "describe":
        train |= {f"{part}.npz": features([NAMES[number] for number in splits[part]]) for part in splits}
        table["text"][1] = features(NAMES[15:])
    experiment = Template(table["experiment"]).substitute(PARTS)
    return Sample(**table | {"experiment": experiment, "train": train, "text": tuple(table["text"])})


SAMPLES = tuple(map(_sample, _TABLES["samples"]))
"""One of every task; ``test_faults.py`` checks that."""
_ADDED: dict[str, str | bytes] = {
    "../memory.tsv": "adf\tMEMORY\ncdg\tgdc\n",
    "../held.en": "".join(f"{one}{other}\n" for one in NAMES[:10] for other in NAMES[:10]),
    "../held.fr": "".join(f"{other[::-1]}{one[::-1]}\n" for one in NAMES[:10] for other in NAMES[:10]),
}
AIDED = replace(SAMPLES[0], **_TABLES["aided"] | {"train": {**SAMPLES[0].train, **_ADDED}})


def everything(run: Path) -> dict[str, object]:
    """All that a training leaves behind in a run folder, apart from the time it took, the machine and its place.

    Of the checkpoints, those that ``best`` and ``latest`` name: older ones are pruned sooner or later.
    """
    named = {(run / pointer).read_text().strip() for pointer in ("best", "latest") if (run / pointer).is_file()}
    kept: dict[str, object] = {}
    for file in sorted(run.rglob("*")):
        name = str(file.relative_to(run))
        if not file.is_file() or name == "lock" or file.name == "manifest.json":  # which has the digests of all others
            continue
        if name.startswith("checkpoints/") and file.parent.name not in named:
            continue
        content = file.read_bytes()
        if file.name == "inference.json":  # but for the digests of others
            kept[name] = json.loads(content) | {"belongs_to": "", "sha256": ""}
        elif file.name == "metrics.jsonl":
            kept[name] = [_timeless(json.loads(line)) for line in content.splitlines()]
        elif file.name == "state.json":
            kept[name] = _timeless(json.loads(content))
        else:
            kept[name] = content.replace(bytes(run.parent), b"PLACE")
    return kept


def _timeless(table: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in table.items() if key != "seconds"}
