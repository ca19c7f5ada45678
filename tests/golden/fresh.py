"""Tiny networks of every task, trained for some twenty updates on small texts, killed, resumed and used.

The texts, signals and drawings are the same at all times.
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import anaphora
from tests.golden.scene import Answers, Scene, command, left_by, training

SUBJECTS = ("the cat", "le chat"), ("a dog", "un chien"), ("my horse", "mon cheval"), ("the old man", "le vieil homme")
VERBS = ("sees", "voit"), ("seeks", "cherche"), ("follows", "suit")
OBJECTS = ("a bird", "un oiseau"), ("the boat", "le bateau"), ("my child", "mon enfant"), ("24 houses", "24 maisons")
ENDINGS = (".", "."), ("today.", "aujourd'hui."), ("!", "!"), ("and a small red book.", "et un petit livre rouge.")

TABLES = tomllib.loads(Path(__file__).with_name("scenes.toml").read_text(encoding="utf-8"))
"""Experiments and steps of the scenes, by name."""

Files = Mapping[str, str | bytes]


def written(files: Files) -> Callable[[], None]:

    def write() -> None:
        for name, content in files.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(content.encode() if isinstance(content, str) else content)

    return write


def pairs() -> list[tuple[str, str]]:
    rows = [(words, ENDINGS[number % 7 % 4]) for number, words in enumerate(product(SUBJECTS, VERBS, OBJECTS))]
    return [(f"{sentence(words, 0)} {end[0]}", f"{sentence(words, 1)} {end[1]}") for words, end in rows]


def sentence(words: Iterable[tuple[str, str]], side: int) -> str:
    return " ".join(word[side] for word in words)


def splits(rows: Sequence[Any]) -> dict[str, list[Any]]:
    train = [row for number, row in enumerate(rows) if number % 5 > 1]
    return {"train": train, "valid": list(rows[::5]), "test": list(rows[1::5])}


def lines(rows: Iterable[str]) -> str:
    return "".join(f"{row}\n" for row in rows)


def tables(rows: Sequence[Any], ending: str, write: Callable[[list[Any]], str | bytes]) -> dict[str, str | bytes]:
    return {f"data/{name}{ending}": write(some) for name, some in splits(rows).items()}


PAIRS = {
    f"data/{name}.{language}": lines(row[side] for row in rows)
    for name, rows in splits(pairs()).items()
    for side, language in enumerate(("en", "fr"))
}
TEXT = tables(pairs(), ".txt", lambda rows: lines(source for source, _ in rows))
SOURCES = lines(
    [*(source for source, _ in splits(pairs())["test"][:4]), "", "My horse sees 12 zebras. A dog seeks it!"]
)
SEARCHED: Files = {"sources.txt": SOURCES, **TABLES["files"]["searched"]}
SCORED: Files = {**TABLES["files"]["scored"], "long.txt": lines(source for source, _ in pairs() * 3)}
TEXTS, MEMORY = SCORED["texts.txt"], TABLES["files"]["grown"]["memory.tsv"]


def by_python(model: str) -> Answers:
    translations = anaphora.load(model).translate(SOURCES.splitlines(), beam=3, length_penalty=0.4)
    yield "from Python", lines(f"{one.score!r} {one.text}" for one in translations)


def steps_of(name: str, run: str = "run", *, killed: bool = False) -> list[Callable[[], Answers]]:
    """The steps of a table, the first training killed and resumed too."""
    steps = list[Callable[[], Answers]]()
    for label, line in TABLES["steps"][name].items():
        if line == "TABLE":
            steps += steps_of(label, run)
        elif line in ("LEFT", "PYTHON"):
            steps.append(partial(left_by, label, label) if line == "LEFT" else partial(by_python, run))
        elif line.startswith("train "):
            steps.append(training(line, label, killed=killed and label == run))
        else:
            steps.append(command(label, line.replace("RUN", run)))
    return steps


def scene(name: str, files: Files) -> Scene:
    """A scene of a task: trained, killed and resumed, described, evaluated and used."""
    experiment = TABLES["scenes"][name]["experiment"]
    return Scene(
        name, written({"experiment.toml": experiment, **files}), steps_of(name, killed="[training]" in experiment)
    )


_MANY = {f"many.{language}": lines(row[side] for row in pairs() * 3) for side, language in enumerate(("en", "fr"))}
_GROWN = {"memory.tsv": MEMORY, "memory/train.tsv": MEMORY * 4, "memory/valid.tsv": MEMORY}
SCENES = (
    scene("translator", PAIRS | SEARCHED | _GROWN | _MANY),
    scene("word translator", PAIRS | SEARCHED),
    scene("windows", TEXT | SCORED | {"ngram.toml": TABLES["scenes"]["ngram"]["experiment"]}),
    *(scene(name, TEXT | SCORED) for name in ("sentences", "spelled words", "feed-forward", "ngram")),
)
