"""A small experiment of every task, with its data and a text to use it on."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

import numpy as np

EMBEDDING = "[embedding]\nsize = 8\n"
ENCODER = "[encoder]\ncell = 'gru'\nsize = 6\n"
TRAINING = "[training]\nbatch_tokens = 12\nepochs = 3\nvalidate_every = 3\nsave_every = 2\n"
WORDS = "[text]\ntokenizer = 'word'\nsegmentation = 'whitespace'\n"
NAMES = [f"{begin}{middle}{end}" for begin in "abc" for middle in "de" for end in "fgh"]


@dataclass(frozen=True, eq=False)
class Sample:
    """A task, small enough to be trained in a second."""

    name: str
    experiment: str
    train: Mapping[str, str | bytes]
    text: tuple[str, str | bytes]
    use: tuple[str, ...]
    """The command that does; ``RUN`` and ``FILE`` stand for its run and that file."""
    options: tuple[str, ...] = ()
    made: tuple[tuple[str, ...], ...] = ()
    shown: tuple[tuple[str, ...], ...] = (("info", "RUN"), ("evaluate", "RUN", "--no-keep"))
    """Commands that show people what is in its run, and leave it as it is."""

    def write(self, folder: Path) -> None:
        (folder / "data").mkdir(parents=True)
        (folder / "experiment.toml").write_text(self.experiment)
        for name, content in (*((f"data/{name}", content) for name, content in self.train.items()), self.text):
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)

    def training(self) -> list[str | Path]:
        return ["train", "experiment.toml", "--data", "data", *self.options, "--run", "run"]

    def resuming(self) -> list[str | Path]:
        """The command that goes on with it, for another epoch if it has any."""
        more = ["--set", "training.epochs=4"] if "epochs" in self.experiment else []
        return ["train", "--resume", "--run", "run", *more]

    def using(self, run: str | Path = "run") -> list[str | Path]:
        return self.filled(self.use, run)

    def filled(self, command: tuple[str, ...], run: str | Path = "run") -> list[str | Path]:
        return [{"RUN": run, "FILE": self.text[0]}.get(part, part) for part in command]


def _splits(line: Callable[[str], str], *endings: str) -> dict[str, str | bytes]:
    parts = {"train": NAMES[:12], "val": NAMES[12:15]}
    return {f"{part}{ending}": "".join(map(line, names)) for part, names in parts.items() for ending in endings}


def _conllu(words: list[str]) -> str:
    rows = [f"{n}\t{w}\t_\t{'NOUN' if 'd' in w else 'VERB'}\t_\t_\t0\troot\t_\t_\n" for n, w in enumerate(words, 1)]
    return "# a sentence\n" + "".join(rows) + "\n"


def _strokes(names: list[str]) -> str:
    drawn = ([[[n, ord(letter) % 7], [n + 1, ord(letter) % 5]] for n, letter in enumerate(name)] for name in names)
    return "".join(json.dumps({"strokes": strokes}) + "\n" for strokes in drawn)


def features(names: list[str]) -> bytes:
    stream = BytesIO()
    np.savez(stream, **{name: np.array([ord(letter) % 7 for letter in name], np.float32) for name in names})
    return stream.getvalue()


_PAIRS = _splits("{}\n".format, ".en") | _splits(lambda name: f"{name[::-1]}\n", ".fr")
_TEXT = _splits("the {} sees it\n".format, ".txt")
_LABELLED = _splits(lambda name: f"{'good' if 'd' in name else 'bad'}\tthe {name} is {name[0]}\n", ".tsv")
_HELD: dict[str, str | bytes] = {
    "../held.en": "".join(f"{one}{other}\n" for one in NAMES[:10] for other in NAMES[:10]),
    "../held.fr": "".join(f"{other[::-1]}{one[::-1]}\n" for one in NAMES[:10] for other in NAMES[:10]),
}
_LANGUAGES = ("--source", "en", "--target", "fr")

SAMPLES = (
    Sample(
        "translate",
        f"task = 'translate'\n[text]\ntokenizer = 'character'\n{EMBEDDING}{ENCODER}[decoder]\ncell = 'gru'\nsize = 6\n"
        f"{TRAINING}",
        _PAIRS,
        ("new.txt", "adf\nbeg\n"),
        ("translate", "RUN", "FILE", "--beam", "2"),
        _LANGUAGES,
    ),
    Sample(
        "language-model",
        f"task = 'language-model'\n[data]\nsteps = 5\n{WORDS}{EMBEDDING}[recurrence]\nsize = 6\n{TRAINING}",
        _TEXT,
        ("new.txt", "the adf sees\nit\n"),
        ("score", "RUN", "FILE", "--json"),
    ),
    Sample(
        "ngram",
        f"task = 'language-model'\nmodel = 'ngram'\n{WORDS}[ngram]\norder = 3\n",
        _TEXT,
        ("new.txt", "the adf sees\nit\n"),
        ("score", "RUN", "FILE", "--json"),
    ),
    Sample(
        "align",
        f"task = 'align'\n{WORDS}",
        _splits("the {} sees\n".format, ".en") | _splits("le {} voit\n".format, ".fr"),
        ("new.tsv", "the adf sees\tle adf voit\n"),
        ("align", "RUN", "FILE"),
        _LANGUAGES,
    ),
    Sample(
        "classify",
        f"task = 'classify'\n{WORDS}{EMBEDDING}{ENCODER}{TRAINING}",
        _LABELLED,
        ("new.txt", "the adf is a\nbeg\n"),
        ("predict", "RUN", "FILE", "--json"),
    ),
    Sample(
        "tag",
        f"task = 'tag'\n{EMBEDDING}{ENCODER}{TRAINING}",
        {
            f"{part}.conllu": _conllu(names) + _conllu(names[:2])
            for part, names in (("train", NAMES[:12]), ("dev", NAMES[12:]))
        },
        ("new.conllu", _conllu(NAMES[3:6])),
        ("predict", "RUN", "FILE"),
    ),
    Sample(
        "transduce",
        f"task = 'transduce'\n{EMBEDDING}{ENCODER}[decoder]\ncell = 'gru'\nsize = 6\n{TRAINING}",
        _splits(lambda name: f"{name}\t{' '.join(name.upper())}\n", ".tsv"),
        ("new.txt", "adf\nbeg\n"),
        ("predict", "RUN", "FILE"),
    ),
    Sample(
        "trace",
        f"task = 'trace'\n[recurrence]\nsize = 6\n[output]\ncomponents = 2\n{TRAINING}",
        {"train.jsonl": _strokes(NAMES[:12]), "val.jsonl": _strokes(NAMES[12:15])},
        ("new.jsonl", _strokes(NAMES[15:])),
        ("draw", "RUN", "--prime", "FILE", "--length", "5", "--json"),
    ),
    Sample(
        "describe",
        f"task = 'describe'\n{EMBEDDING}[encoder]\nsize = 6\n[decoder]\nsize = 6\n{TRAINING}",
        {
            **_splits(lambda name: f"{name}.jpg\ta {name[0]} and a {name[1]}\n", ".tsv"),
            **{"train.npz": features(NAMES[:12]), "val.npz": features(NAMES[12:15])},
        },
        ("new.npz", features(NAMES[15:])),
        ("predict", "RUN", "FILE"),
    ),
)
"""One of every task; ``test_faults.py`` checks that."""

AIDED = replace(
    SAMPLES[0],
    name="translate with aids",
    train={**_PAIRS, "../memory.tsv": "adf\tMEMORY\ncdg\tgdc\n", **_HELD},
    use=("translate", "RUN", "FILE", "--beam", "2", "--memory", "--shortlist", "--confidence", "--json"),
    made=(
        ("memory", "RUN", "add", "memory.tsv"),
        ("shortlist", "RUN"),
        ("calibrate", "RUN", "--beam", "2", "--source", "held.en", "--reference", "held.fr"),
        ("calibrate", "RUN", "--beam", "2", "--shortlist", "--source", "held.en", "--reference", "held.fr"),
    ),
    shown=(
        *SAMPLES[0].shown,
        ("memory", "RUN", "list"),
        ("memory", "RUN", "list", "--text", "adf", "--fuzzy", "50"),
        ("inspect", "RUN", "embeddings", "--text", "adf"),
    ),
)


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
