"""The stored runs of every format and kind, in use and resumed; and every scene by name, the longest first."""

import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

from tests.golden import fresh
from tests.golden.fresh import SCORED, SEARCHED, lines, pairs, steps_of, written
from tests.golden.scene import Answers, Scene, command, inspections, resuming
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
        written(SEARCHED | SCORED | {"sources.txt": SOURCES, "references.txt": SOURCES})()

    name = str(stored.relative_to(STORED))
    table = tomllib.loads((stored / "experiment.toml").read_text())
    uses = {"translate": _translator, "align": _aligner, "language-model": _language_model}[table["task"]]
    steps = [command("info", f"info {run} --json"), *uses(run, table.get("model", "recurrent"))]
    if (stored / "metrics.jsonl").exists():
        steps.append(command("inspect curves", f"inspect {run} curves --json"))
    if next(stored.rglob("optimizer.safetensors"), None) and table["task"] != "align":
        steps.append(resuming(run))
    return Scene(name, prepare, steps)


def _translator(run: str, model: str) -> list[Callable[[], Answers]]:
    text = "--text 'the cat sees a book .'"
    return [
        *steps_of("searches", run),
        command("evaluate", f"evaluate {run} --source sources.txt --reference references.txt --json --no-keep"),
        command("align", f"align {run} --source sources.txt --target references.txt"),
        *inspections(
            run,
            attention=text,
            gates=text,
            gradients=text,
            attribute=text,
            beam=f"{text} --beam 3",
            length="--source sources.txt --target references.txt",
        ),
    ]


def _aligner(run: str, model: str) -> list[Callable[[], Answers]]:
    given = lines("\t".join(pair) for pair in pairs()[:4])

    def write() -> Answers:
        Path("new.tsv").write_text(given)
        return iter(())

    return [
        write,
        command("align", f"align {run} new.tsv"),
        command("dictionary", f"export {run} --to dictionary --output out/dictionary.tsv"),
    ]


def _language_model(run: str, model: str) -> list[Callable[[], Answers]]:
    if model == "ngram":
        return [*steps_of("language model", run), command("arpa", f"export {run} --to arpa --output out/arpa")]
    if model != "recurrent":
        return steps_of("language model", run)
    text = "--text 'the cat sees a book .'"
    looks = inspections(run, gradients=text, beam="--text 'the cat' --beam 3", length="texts.txt")
    if run != "sentences":  # its cells have no gates, and it reads no word vectors
        looks += inspections(run, gates=text, attribute=text)
    return [*steps_of("language model", run), *(steps_of("adapted", run) if run in ADAPTING else []), *looks]


RUNS = sorted(file.parent for file in STORED.rglob("experiment.toml"))
SCENES = {scene.name: scene for scene in (*fresh.SCENES, *tasks(), *map(_scene, RUNS))}


def answers_of(name: str) -> dict[str, str]:
    return SCENES[name].answers()
