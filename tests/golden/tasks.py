"""A scene of every task but those of translators and language models."""

import json
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np

from tests.golden.fresh import EMBEDDING, ENCODER, PAIRS, TEXTS, WORDS, lines, pairs, splits, tables, trained, written
from tests.golden.scene import Scene, command, training

NAMES = [f"{begin}{middle}{end}" for begin in "abc" for middle in "deo" for end in "fgh"]
DECODER = "[decoder]\ncell = 'gru'\nsize = 6\n"


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


def task(
    name: str, options: str, files: Mapping[str, str | bytes], uses: Mapping[str, str], begin: str = "data"
) -> Scene:
    """A scene of a task: trained, killed and resumed, described, evaluated and used."""
    steps = [
        training(f"train experiment.toml --data {begin}", killed="[training]" in options),
        command("info", "info run --json"),
        *(command(label, line) for label, line in uses.items()),
    ]
    return Scene(name, written(options, files), steps)


def tasks() -> list[Scene]:
    coder = f"{EMBEDDING}{ENCODER}{DECODER}"
    strokes = {"new.jsonl": lines(drawings(3, words=True))}
    images_of = {f"data/{name}.npz": images(rows) for name, rows in splits(range(40)).items()}
    evaluate = {"evaluate": "evaluate run --json --no-keep"}
    predict = evaluate | {"predict": "predict run new.txt", "predict as JSON": "predict run new.txt --json"}
    of_vectors = evaluate | {
        "predict": "predict run data/test.npz",
        "predict as JSON": "predict run data/test.npz --json",
    }
    return [
        task(
            "aligner",
            f"task = 'align'\n{WORDS}",
            PAIRS | {"new.tsv": lines("\t".join(pair) for pair in pairs()[:6])},
            {
                "align": "align run new.tsv",
                "align by union": "align run new.tsv --symmetrise union",
                "dictionary": "export run --to dictionary --output out/dictionary.tsv",
            },
            begin="data --source en --target fr",
        ),
        task(
            "classifier",
            f"task = 'classify'\n{WORDS}{EMBEDDING}{ENCODER}{trained(30)}",
            tables(pairs(), ".tsv", labelled) | {"new.txt": TEXTS},
            predict | {"inspect gates": "inspect run gates --text 'the cat sees a bird.' --json"},
        ),
        task(
            "classifier of several labels",
            f"task = 'classify'\n{WORDS}{EMBEDDING}{ENCODER}[classes]\noutput = 'sigmoid'\n{trained(30)}",
            tables(pairs(), ".tsv", several_labels) | {"new.txt": TEXTS},
            predict,
        ),
        task(
            "classifier of vectors",
            f"task = 'classify'\nmodel = 'vectors'\n{ENCODER}{trained(30)}",
            tables(signals(frames=False), ".npz", signal_file),
            of_vectors,
        ),
        task(
            "tagger",
            f"task = 'tag'\n{EMBEDDING}{ENCODER}{trained(40)}",
            tables(pairs(), ".conllu", conllu) | {"new.txt": TEXTS},
            evaluate
            | {
                "predict": "predict run data/test.conllu",
                "predict columns": "predict run data/test.conllu --format columns",
                "predict as JSON": "predict run new.txt --json",
            },
        ),
        task(
            "tagger of vectors",
            f"task = 'tag'\nmodel = 'vectors'\n{ENCODER}{trained(30)}",
            tables(signals(frames=True), ".npz", signal_file),
            of_vectors,
        ),
        task(
            "transducer",
            f"task = 'transduce'\n{coder}{trained(40, 14)}",
            tables(NAMES, ".tsv", spelled) | {"new.txt": lines(NAMES[:4])},
            predict | {"inspect attention": "inspect run attention --text adf --json"},
        ),
        task(
            "transducer of strokes",
            f"task = 'transduce'\nmodel = 'vectors'\n{coder}{trained(40)}",
            tables(drawings(40, words=True), ".jsonl", lines) | strokes,
            evaluate
            | {
                "predict": "predict run new.jsonl",
                "predict as JSON": "predict run new.jsonl --json",
                "inspect attention": "inspect run attention new.jsonl --json",
            },
        ),
        task(
            "drawings",
            f"task = 'trace'\n[recurrence]\nsize = 6\n[output]\ncomponents = 2\n{trained(40)}",
            tables(drawings(40, words=False), ".jsonl", lines) | strokes,
            evaluate
            | {
                "draw": "draw run --count 2 --length 6 --seed 3 --json",
                "continue": "draw run --prime new.jsonl --length 5 --json",
            },
        ),
        task(
            "handwriting",
            f"task = 'trace'\nmodel = 'synthesis'\n[attention]\nkind = 'gaussian-window'\ncomponents = 2\n"
            f"[decoder]\nsize = 6\n[output]\ncomponents = 2\n{trained(40, 7)}",
            tables(drawings(40, words=True), ".jsonl", lines) | strokes,
            evaluate | {"draw": "draw run --text adf --bias 1 --length 6 --seed 3 --json"},
        ),
        task(
            "describer",
            f"task = 'describe'\n{EMBEDDING}[encoder]\nsize = 6\n[decoder]\nsize = 6\n{trained(60)}",
            tables(range(40), ".tsv", captions) | images_of,
            of_vectors,
        ),
    ]
