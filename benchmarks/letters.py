"""``python -m benchmarks.letters WRITER FOLDER``: are the letters that a network writes read as what they should be?

Trains a classifier of pen strokes in FOLDER on the handwriting that the package makes, one letter each, unless it is
there. Then a run of the recipe ``strokes`` writes 520 letters, 20 of each. Prints the classifier's accuracy on made-up
letters held out from its training, on the generated ones, and the second divided by the first.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import anaphora
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.samples.handwriting import handwrite

LETTERS = "abcdefghijklmnopqrstuvwxyz"
EACH = 20
"""Letters of a kind that are generated, and as many that are held out."""
SPLITS = {"train": 60, "val": EACH // 2, "test": EACH}
"""Made-up letters of a kind in each split."""
LENGTH = 150
"""Points of a generated letter at most; one of the corpus has 10 to 30."""

CLASSIFIER = """
task = "classify"
model = "vectors"
[encoder]
cell = "lstm"
size = 64
[classes]
pooling = "mean"
dropout = 0.2
[training]
optimizer = { kind = "adam", learning_rate = 0.005 }
schedule = "linear"
batch_tokens = 1000
epochs = 12
patience = 0
metric = "accuracy"
precision = "fp32"
"""


def main() -> None:
    """Train the classifier if it is not there, and print the accuracies."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.letters", description=__doc__)
    parser.add_argument("writer", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bias", type=float, nargs="+", default=[0.0, 1.0, 2.0, 5.0])
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    data, run = given.folder / "letters", given.folder / "classifier"
    if not run.exists():
        write(data)
        train(read_experiment(CLASSIFIER, "letters", [f"training.seed={given.seed}"], data=[data]), run)
    reader, writer = anaphora.load(run), anaphora.load(given.writer)
    texts = [letter for letter in LETTERS for _ in range(EACH)]
    held_out = accuracy(reader, [made("test", letter, number) for letter in LETTERS for number in range(EACH)], texts)
    print(f"made-up letters, held out: {held_out:.3f} of {len(texts)}", flush=True)
    for bias in given.bias:
        drawings = list(writer.generate_stream(texts, bias=bias, seed=given.seed, length=LENGTH))
        found = accuracy(reader, [offsets(drawing.strokes) for drawing in drawings], texts)
        ended = sum(drawing.ended for drawing in drawings)
        print(f"generated, bias {bias:g}: {found:.3f}, {found / held_out:.3f} of held-out; {ended} ended", flush=True)


def write(folder: Path) -> None:
    """The made-up letters as arrays with their labels, in three splits."""
    folder.mkdir(parents=True, exist_ok=True)
    for split, count in SPLITS.items():
        labels = [letter for letter in LETTERS for _ in range(count)]
        values = [made(split, letter, number) for letter in LETTERS for number in range(count)]
        lengths = [len(one) for one in values]
        np.savez(folder / f"{split}.npz", values=np.concatenate(values), lengths=lengths, labels=labels)


def made(split: str, letter: str, number: int) -> Any:
    """A made-up letter; each has a writer of its own, and none of them is in the corpus of ``strokes``."""
    seed = 1_000 + list(SPLITS).index(split)
    return offsets(handwrite(letter, seed, number).strokes)


def offsets(strokes: Sequence[Any]) -> Any:
    """Each point relative to the one before, and whether a stroke ends there, T x 3; the first is at 0."""
    points_TD = np.concatenate([np.asarray(stroke, dtype=np.float32) for stroke in strokes])
    ends_T = np.concatenate([[*[0] * (len(stroke) - 1), 1] for stroke in strokes])
    return np.column_stack([np.diff(points_TD, axis=0, prepend=points_TD[:1]), ends_T]).astype(np.float32)


def accuracy(reader: Any, letters: Sequence[Any], texts: Sequence[str]) -> float:
    """Fraction of letters that a classifier names as their texts."""
    found = reader.predict(letters)
    return float(np.mean([one.label == text for one, text in zip(found, texts, strict=True)]))


if __name__ == "__main__":
    main()
