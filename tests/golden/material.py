"""Small texts, signals and drawings, and options of tiny networks; the same at all times."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

SUBJECTS = ("the cat", "le chat"), ("a dog", "un chien"), ("my horse", "mon cheval"), ("the old man", "le vieil homme")
VERBS = ("sees", "voit"), ("seeks", "cherche"), ("follows", "suit")
OBJECTS = ("a bird", "un oiseau"), ("the boat", "le bateau"), ("my child", "mon enfant"), ("24 houses", "24 maisons")
ENDINGS = (".", "."), ("today.", "aujourd'hui."), ("!", "!"), ("and a small red book.", "et un petit livre rouge.")
NAMES = [f"{begin}{middle}{end}" for begin in "abc" for middle in "deo" for end in "fgh"]

EMBEDDING = "[embedding]\nsize = 8\n"
WORDS = "[text]\ntokenizer = 'word'\nsegmentation = 'whitespace'\n"
ENCODER = "[encoder]\ncell = 'gru'\nsize = 6\ndropout = 0.1\n"
DECODER = "[decoder]\ncell = 'gru'\nsize = 6\n"
ADAM = "optimizer = {kind = 'adam', learning_rate = 0.02}\n"


def trained(tokens: int, epochs: int = 4) -> str:
    return f"[training]\nbatch_tokens = {tokens}\nepochs = {epochs}\nvalidate_every = 7\nsave_every = 4\n{ADAM}"


Files = Mapping[str, str | bytes]


def written(experiment: str, files: Files) -> Callable[[], None]:

    def write() -> None:
        for name, content in ({"experiment.toml": experiment} | dict(files)).items():
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


def arrays(**found: Any) -> bytes:
    stream = BytesIO()
    np.savez(stream, **found)
    return stream.getvalue()


def signals(frames: bool) -> list[tuple[Any, Any]]:
    source, found = np.random.default_rng(1), []
    for number in range(60):
        length = int(source.integers(2, 9))
        wave = np.sin(np.arange(length) * (1 + number % 3)).astype(np.float32)
        values = np.stack([wave, source.normal(100, 5, length).astype(np.float32)], 1)
        found.append((values, ["up" if one > 0 else "down" for one in wave] if frames else f"speed {number % 3}"))
    return found


def signal_file(rows: list[tuple[Any, Any]]) -> bytes:
    values, labels = zip(*rows, strict=True)
    flat = np.concatenate(labels) if isinstance(labels[0], list) else labels
    return arrays(values=np.concatenate(values), lengths=[len(one) for one in values], labels=flat)


def drawings(count: int, *, words: bool) -> list[str]:
    names = [NAMES[number * 5 % len(NAMES)] for number in range(count)]
    drawn = (
        {"strokes": [[[9 * n, ord(a) * 3 % 17], [9 * n + 4, ord(a) * 5 % 13]] for n, a in enumerate(name)]}
        | ({"text": name} if words else {})
        for name in names
    )
    return [json.dumps(one) for one in drawn]


def conllu(rows: list[tuple[str, str]]) -> str:
    tagged = []
    for source, _ in rows:
        words = source.replace(".", " .").split()
        tagged.append(
            lines(f"{n}\t{w}\t_\t{'NOUN' if len(w) > 3 else 'X'}\t_\t_\t0\troot\t_\t_" for n, w in enumerate(words, 1))
        )
    return "\n".join(tagged) + "\n"


def images(rows: Sequence[int]) -> bytes:
    return arrays(**{str(n): np.random.default_rng(n).normal(n % 3, 1, (4, 6)).astype(np.float32) for n in rows})


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


def labelled(rows: list[tuple[str, str]]) -> str:
    return lines(f"{'animal' if 'cat' in source or 'dog' in source else 'person'}\t{source}" for source, _ in rows)


def several_labels(rows: list[tuple[str, str]]) -> str:
    found = ("|".join(name for name in ("cat", "dog", "bird") if name in source) or "_" for source, _ in rows)
    return lines(f"{labels}\t{source}" for labels, (source, _) in zip(found, rows, strict=True))


def spelled(rows: list[str]) -> str:
    return lines(f"{name}\t{' '.join(name.upper()[::-1])}" for name in rows)


def captions(rows: list[int]) -> str:
    colours = "red", "blue", "green"
    return lines(f"{n}.jpg\t{article} {colours[n % 3]} dot" for n in rows for article in ("a", "one"))
