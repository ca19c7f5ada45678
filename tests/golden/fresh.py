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
PO = """msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"

msgid "the cat sees %(count)d boats"
msgstr ""

#, fuzzy
msgid "a <b>dog</b> follows my child."
msgstr "x"
"""
HTML = "<html><body><p>The cat <b>sees</b> a bird.</p><ul><li>My horse</ul><!-- the boat --></body></html>\n"
XLIFF = """<?xml version="1.0"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2"><file original="a" source-language="en"
target-language="fr" datatype="plaintext"><body><trans-unit id="1"><source>the cat sees <g id="1">my child</g>.</source>
</trans-unit></body></file></xliff>
"""
SRT = "1\n00:00:01,000 --> 00:00:02,000\nthe old man\nsees a bird.\n\n2\n00:00:03,000 --> 00:00:04,000\na dog!\n"
TERMS = "cat\tchien\nbird\toiseau|oiseaux\n"
MEMORY = "the cat sees the boat.\tLE CHAT VOIT LE BATEAU.\na dog follows 24 houses.\tUN CHIEN SUIT 24 MAISONS.\n"


SEARCHED: Files = {
    "sources.txt": SOURCES,
    "strings.po": PO,
    "page.html": HTML,
    "units.xlf": XLIFF,
    "titles.srt": SRT,
    "terms.tsv": TERMS,
    "prefixes.txt": lines(["le", "", "mon cheval", "", "", "un"]),
    "suffixes.txt": lines(["oiseau .", "", "!", "", "", "."]),
    "dictionary.tsv": lines(["cat\tchat\t0.9", "dog\tchien\t0.8", "boat\tbateau\t0.7", "horse\tcheval\t0.9"]),
}


LISTS = "0 ||| the cat sees a bird . ||| tm=1 ||| 1\n0 ||| a cat sees the bird . ||| tm=2 ||| 2\n"
TEXTS = "the cat sees a bird.\n\nmy zebra follows 24 houses .\n"
SCORED: Files = {"texts.txt": TEXTS, "lists.txt": LISTS, "long.txt": lines(source for source, _ in pairs() * 3)}


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
