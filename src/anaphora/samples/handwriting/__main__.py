"""``python -m anaphora.samples.handwriting FOLDER``: write the corpus of the recipe ``strokes``."""

import argparse
from pathlib import Path

from anaphora.samples.handwriting import write

parser = argparse.ArgumentParser(
    description="Write a corpus of made-up handwriting: train, val and test as JSON lines."
)
parser.add_argument("folder", type=Path, help="where to")
parser.add_argument("--seed", type=int, default=1, help="random seed; another seed, other writers and words (1)")
parser.add_argument("--train", type=int, default=4_000, help="training lines (4000)")
given = parser.parse_args()
print(write(given.folder, given.seed, given.train))
