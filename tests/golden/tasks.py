"""A scene of every task but those of translators and language models."""

import json
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np

from tests.golden.fresh import PAIRS, TEXTS, Files, lines, pairs, scene, splits, tables
from tests.golden.scene import Scene

NAMES = [f"{begin}{middle}{end}" for begin in "abc" for middle in "deo" for end in "fgh"]


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


def tasks() -> list[Scene]:
    texts, strokes = {"new.txt": TEXTS}, {"new.jsonl": lines(drawings(3, words=True))}
    signal_files, drawn = (lambda frames: tables(signals(frames), ".npz", signal_file)), drawings(40, words=True)
    images_of = {f"data/{name}.npz": images(rows) for name, rows in splits(range(40)).items()}
    files: dict[str, Files] = {
        "aligner": PAIRS | {"new.tsv": lines("\t".join(pair) for pair in pairs()[:6])},
        "classifier": tables(pairs(), ".tsv", labelled) | texts,
        "classifier of several labels": tables(pairs(), ".tsv", several_labels) | texts,
        "classifier of vectors": signal_files(False),
        "tagger": tables(pairs(), ".conllu", conllu) | texts,
        "tagger of vectors": signal_files(True),
        "transducer": tables(NAMES, ".tsv", spelled) | {"new.txt": lines(NAMES[:4])},
        "transducer of strokes": tables(drawn, ".jsonl", lines) | strokes,
        "drawings": tables(drawings(40, words=False), ".jsonl", lines) | strokes,
        "handwriting": tables(drawn, ".jsonl", lines) | strokes,
        "describer": tables(range(40), ".tsv", captions) | images_of,
    }
    return [scene(name, of_scene) for name, of_scene in files.items()]
