"""Drawn scenes with captions: small images of coloured shapes, features, and sentences that are true of them.

Validation and test splits show combinations that training never shows.

A combination is a colour and a shape. Five are in scenes of the test split alone, five others in scenes of the
validation split alone; each shape and each colour is in training, with others.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from anaphora.formats.lines import write_lines
from anaphora.samples.draws import Draws, Splits, splits
from anaphora.samples.scenes.picture import features, picture
from anaphora.samples.scenes.scene import COLOURS, SHAPES, Scene, draw_scene

TEST_PAIRS = frozenset((COLOURS[n], shape) for n, shape in enumerate(SHAPES))
"""Colours and shapes that only the test split has together."""
VALID_PAIRS = frozenset((COLOURS[n + 2], shape) for n, shape in enumerate(SHAPES))
"""Those that only the validation split has together."""


def corpus(seed: int, train: int = 8_000, valid: int = 500, test: int = 1_000) -> Splits[Scene]:
    """Return a corpus of these sizes, the same for a seed on every machine.

    Every scene of validation and test has a combination of its own split. Raises ConfigError for a negative size.
    """
    return splits(lambda split: _scenes(seed, split), train, valid, test)


def write(folder: Path, seed: int = 1, train: int = 8_000, valid: int = 500, test: int = 1_000) -> Path:
    """Write a corpus as ``{train,val,test}.tsv``, an image's name and a caption a line, and ``.npz`` of features.

    Returns the folder.
    """
    found = corpus(seed, train, valid, test)
    folder.mkdir(parents=True, exist_ok=True)
    for split, scenes in zip(("train", "val", "test"), found, strict=True):
        draws = Draws(f"{seed} pictures {split}")
        names = [f"{split}-{number:05d}" for number in range(len(scenes))]
        lines = (f"{name}\t{caption}" for name, scene in zip(names, scenes, strict=True) for caption in scene.captions)
        write_lines(folder / f"{split}.tsv", lines)
        values = np.stack([features(picture(scene, draws)) for scene in scenes])
        np.savez(folder / f"{split}.npz", names=np.array(names), values=values)
    return folder


def _scenes(seed: int, split: str) -> Iterator[Scene]:
    """Yield an endless stream of the scenes of a split."""
    draws, own = Draws(f"{seed} {split}"), {"valid": VALID_PAIRS, "test": TEST_PAIRS}.get(split, frozenset())
    others = (TEST_PAIRS | VALID_PAIRS) - own
    while True:
        scene = draw_scene(draws)
        pairs = {thing.pair for thing in scene.things}
        if not pairs & others and (not own or pairs & own):
            yield scene
