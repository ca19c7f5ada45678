"""Drawn scenes: the same for a seed everywhere, true captions, and combinations that training never shows."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.data.captioned import caption_splits
from anaphora.data.finding import Names
from anaphora.samples import scenes
from anaphora.samples.draws import Draws
from anaphora.samples.scenes import CELL, CELLS, COLOURS, SHAPES, WIDTH, Scene, Thing, features, picture

RELATIONS = {"to the left of": (0, -1), "to the right of": (0, 1), "above": (-1, 0), "below": (1, 0)}


def test_a_seed_gives_the_same_files_everywhere(tmp_path: Path) -> None:
    folder = scenes.write(tmp_path / "a", seed=7, train=20, valid=5, test=5)
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["test.npz", "test.tsv", "train.npz", "train.tsv", "val.npz", "val.tsv"]
    values = np.load(folder / "train.npz")["values"]
    text = (folder / "train.tsv").read_bytes()
    assert hashlib.sha256(text).hexdigest()[:12] == "64b0a71e2d79"
    assert hashlib.sha256(values.tobytes()).hexdigest()[:12] == "a041359bd154"


def test_held_out_splits_show_only_combinations_that_training_never_shows() -> None:
    splits = scenes.corpus(3, train=400, valid=60, test=60)
    shown = [{thing.pair for thing in scene.things} for scene in splits.train]
    valid, test = scenes.VALID_PAIRS, scenes.TEST_PAIRS
    assert not test & valid
    assert all(not pairs & (test | valid) for pairs in shown)
    for own, others, drawn in ((valid, test, splits.valid), (test, valid, splits.test)):
        for scene in drawn:
            pairs = {thing.pair for thing in scene.things}
            assert pairs & own and not pairs & others
    seen = set.union(*shown)
    assert {colour for colour, _ in seen} == set(COLOURS) and {shape for _, shape in seen} == set(SHAPES)


@settings(max_examples=200)
@given(st.integers(0, 10_000))
def test_captions_are_true_and_say_no_more_than_one_relation(seed: int) -> None:
    scene = scenes.draw_scene(Draws(seed))
    if len(scene.things) == 1:
        assert scene.captions == [str(scene.things[0])]
        return
    first, second = scene.things
    assert (first.row == second.row) != (first.column == second.column)
    for caption, (one, other) in zip(scene.captions, ((first, second), (second, first)), strict=True):
        relation = caption.removeprefix(f"{one} with {other} ").removesuffix(" it")
        down, right = RELATIONS[relation]
        assert (np.sign(other.row - one.row), np.sign(other.column - one.column)) == (down, right)


def test_a_thing_is_drawn_in_its_place_alone() -> None:
    empty = np.abs(picture(Scene(()), Draws(1)).astype(int) - 45).max()
    assert empty < 45
    for shape in SHAPES:
        for size in ("small", "large"):
            pixels = picture(Scene((Thing(size, "white", shape, 2, 1, (0, 0)),)), Draws(1))
            bright = np.argwhere(pixels.min(-1) > 150) // CELL
            assert len(bright) and (bright == [2, 1]).all()
            grid = features(pixels)
            assert grid.shape == (CELLS, CELLS, WIDTH) and grid.max() == grid[2, 1].max() == np.float16(255 / 64)
            assert np.unravel_index(grid.sum(-1).argmax(), (CELLS, CELLS)) == (2, 1)


@pytest.mark.parametrize("shape", SHAPES)
def test_features_of_a_place_tell_its_form_in_any_colour_and_its_colour_in_any_form(shape: str) -> None:
    drawn = {
        colour: features(picture(Scene((Thing("large", colour, shape, 1, 3, (0, 0)),)), Draws(1)))[1, 3].astype(float)
        for colour in COLOURS
    }
    square = features(picture(Scene((Thing("large", "blue", "square", 1, 3, (0, 0)),)), Draws(1)))[1, 3]
    coded = WIDTH - CELL * CELL
    forms = np.stack([values[coded:] for values in drawn.values()])
    assert np.abs(forms - forms.mean(0)).max() < 0.7
    distances = {colour: np.abs(values[:coded] - square[:coded]).sum() for colour, values in drawn.items()}
    assert min(distances, key=distances.__getitem__) == "blue"


def test_a_written_corpus_is_data_of_a_describer(tmp_path: Path) -> None:
    splits = caption_splits([scenes.write(tmp_path, train=30, valid=5, test=5)], Names("train", "val", "test"))
    assert splits.features.shape == (CELLS, CELLS, WIDTH)
    assert (len(splits.train.references()), len(splits.valid.references())) == (30, 5)
    assert len(splits.tests["test"].references()) == 5
