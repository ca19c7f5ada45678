"""The stored runs of every format and kind, in use and resumed; and every scene by name, the longest first."""

import shutil
import tomllib
from pathlib import Path

from tests.golden import fresh
from tests.golden.fresh import SCORED, SEARCHED, lines, pairs, steps_of, written
from tests.golden.scene import Scene, command, resuming
from tests.golden.tasks import tasks

STORED = Path(__file__).resolve().parents[1] / "runs"
SOURCES = lines(
    [
        "The old man sees a cat.",
        "Alice is in the garden. I want to read a good book today.",
        "the cat seeks my child !",
        "I see 12 dogs!",
        "",
        "my horse sees a boat .",
    ]
)
PAIRS = lines("\t".join(pair) for pair in pairs()[:4])
ADAPTING = frozenset({"language-model", "averaged-sgd"})


def _scene(stored: Path) -> Scene:
    """A copy of the folder of a run with all that lies beside it, such as its data and the runs it is made of."""
    together = stored.parent if stored.parent != STORED else stored
    run = "run" if together == stored else stored.name

    def prepare() -> None:
        if together == stored:
            shutil.copytree(stored, "run")
        else:
            shutil.copytree(together, ".", dirs_exist_ok=True)
        given = {"sources.txt": SOURCES, "references.txt": SOURCES, "new.tsv": PAIRS}
        written(SEARCHED | SCORED | given)()

    name = str(stored.relative_to(STORED))
    table = tomllib.loads((stored / "experiment.toml").read_text())
    steps = [command("info", f"info {run} --json")]
    for uses in _uses(table["task"], table.get("model", "recurrent"), run):
        steps += steps_of(uses, run)
    if (stored / "metrics.jsonl").exists():
        steps.append(command("inspect curves", f"inspect {run} curves --json"))
    if next(stored.rglob("optimizer.safetensors"), None) and table["task"] != "align":
        steps.append(resuming(run))
    return Scene(name, prepare, steps)


def _uses(task: str, model: str, run: str) -> list[str]:
    """The tables of what is done with a run."""
    if task != "language-model":
        return ["stored translator" if task == "translate" else "stored aligner"]
    if model != "recurrent":
        return ["language model", *(["stored counts"] if model == "ngram" else [])]
    gates = [] if run == "sentences" else ["stored gates"]  # its cells have none, and it reads no word vectors
    return ["language model", *(["adapted"] if run in ADAPTING else []), "stored states", *gates]


RUNS = sorted(file.parent for file in STORED.rglob("experiment.toml"))
SCENES = {scene.name: scene for scene in (*fresh.SCENES, *tasks(), *map(_scene, RUNS))}


def answers_of(name: str) -> dict[str, str]:
    return SCENES[name].answers()
