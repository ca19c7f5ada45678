"""Captions are joined with features by the names of images, every image on one side; what does not fit is named."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from anaphora.data.captioned import CaptionSplits, caption_splits
from anaphora.data.features import Features, GridShape, array_files
from anaphora.data.finding import Names
from anaphora.errors import DataError
from anaphora.events import Event, Note

NAMES = Names("train", "val", "test")
IMAGES = ("a", "b", "c", "d")


def grid(image: str, shape: tuple[int, ...] = (2, 3, 5)) -> Any:
    return np.random.default_rng(ord(image)).normal(size=shape).astype(np.float32)


def features(folder: Path, layout: str = "an array each") -> Path:
    """The grids of all images in a file or a folder."""
    path, grids = folder / "features.npz", {f"{image}.jpg": grid(image) for image in IMAGES}
    if layout == "an array each":
        np.savez(path, **grids)
    elif layout == "all in one":
        np.savez(path, names=np.array([f"images/{name}" for name in grids]), values=np.stack([*grids.values()]))
    elif layout == "tensors":
        path = folder / "features.safetensors"
        save_file({image: grid(image) for image in IMAGES}, path)
    else:
        path = folder / "features"
        path.mkdir()
        for image in IMAGES:
            np.save(path / f"{image}.npy", grid(image))
    return path


def captions(folder: Path, **splits: str) -> Path:
    for split, images in splits.items():
        text = "".join(f"{image}.jpg\tone {image}\n{image}.jpg\tanother {image}\n" for image in images)
        (folder / f"{split}.tsv").write_text(text)
    return folder


def texts(splits: CaptionSplits) -> dict[str, list[str]]:
    corpora = {"train": splits.train, "val": splits.valid, **splits.tests}
    return {name: sorted({caption.image for caption in corpus.captions}) for name, corpus in corpora.items()}


@pytest.mark.parametrize("layout", ["an array each", "all in one", "tensors", "a file each"])
def test_every_layout_gives_the_same_features(tmp_path: Path, layout: str) -> None:
    path = features(tmp_path, layout)
    found = Features(array_files(path) if path.is_dir() else [path])
    assert (sorted(found), found.shape) == (list(IMAGES), GridShape(2, 3, 5))
    for image in IMAGES:
        np.testing.assert_array_equal(found[image], grid(image).reshape(6, 5))
    splits = caption_splits([captions(tmp_path, train="ab", val="c", test="d")], NAMES)
    assert texts(splits) == {"train": ["a", "b"], "val": ["c"], "test": ["d"]}
    assert splits.train.references() == {"a": ["one a", "another a"], "b": ["one b", "another b"]}


@pytest.mark.parametrize(
    ("shape", "expected"), [((7,), (1, 1, 7)), ((9, 7), (3, 3, 7)), ((6, 7), (1, 6, 7)), ((2, 3, 7), (2, 3, 7))]
)
def test_an_array_is_a_vector_positions_or_a_grid(shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    assert tuple(GridShape.of(shape)) == expected


def test_the_files_of_a_release_are_understood(tmp_path: Path) -> None:
    features(tmp_path)
    (tmp_path / "Flickr8k.token.txt").write_text("".join(f"{image}.jpg#0\tone {image}\n" for image in IMAGES))
    for split, images in (("train", "ab"), ("dev", "c"), ("test", "d")):
        (tmp_path / f"Flickr_8k.{split}Images.txt").write_text("".join(f"{image}.jpg\n" for image in images))
    (tmp_path / "readme.txt").write_text("Pictures.\n")
    assert texts(caption_splits([tmp_path], NAMES)) == {"train": ["a", "b"], "val": ["c"], "test": ["d"]}
    for file in tmp_path.glob("*.txt"):
        file.unlink()
    for split, images in (("train", "ab"), ("val", "c")):
        listed = [{"id": number, "file_name": f"{image}.jpg"} for number, image in enumerate(images)]
        told = [{"image_id": number, "caption": f"one {image}"} for number, image in enumerate(images)]
        coco = json.dumps({"images": listed, "annotations": told})
        (tmp_path / f"captions_{split}2014.json").write_text(coco)
    assert texts(caption_splits([tmp_path], NAMES)) == {"train": ["a", "b"], "val": ["c"]}
    for file in tmp_path.glob("*.json"):
        file.unlink()
    images = [
        {"filename": f"{image}.jpg", "split": split, "sentences": [{"raw": f"one {image}"}]}
        for image, split in zip(IMAGES, ("train", "restval", "val", "test"), strict=True)
    ]
    (tmp_path / "dataset.json").write_text(json.dumps({"images": images}))
    found = texts(caption_splits([tmp_path / "dataset.json", tmp_path / "features.npz"], NAMES))
    assert found == {"train": ["a", "b"], "val": ["c"], "test": ["d"]}


def test_without_a_validation_split_whole_images_are_held_out_and_unused_features_are_reported(tmp_path: Path) -> None:
    names = [f"image{number}" for number in range(60)]
    np.savez(tmp_path / "features.npz", names=np.array([*names, "unused"]), values=np.ones((61, 4)))
    (tmp_path / "train.tsv").write_text("".join(f"{name}\tone\n{name}\ttwo\n" for name in names))
    events: list[Event] = []
    found = texts(caption_splits([tmp_path], NAMES, events.append))
    assert not set(found["train"]) & set(found["val"])
    assert sorted([*found["train"], *found["val"]]) == sorted(names)
    assert 1 <= len(found["val"]) <= 15
    notes = " ".join(event.text for event in events if isinstance(event, Note))
    assert "captions are held out" in notes and "1 of 61 images with features have no caption" in notes


def test_what_does_not_fit_is_refused_by_name(tmp_path: Path) -> None:
    def complaint() -> str:
        with pytest.raises(DataError) as caught:
            caption_splits([tmp_path], NAMES).features.verify()
        return str(caught.value)

    captions(tmp_path, train="ab", val="c")
    assert "Descriptions need features" in complaint()
    features(tmp_path)
    captions(tmp_path, val="ca")
    assert "val.tsv:3 describes the image 'a', which is in the splits train and val" in complaint()
    captions(tmp_path, val="x")
    assert "val.tsv:1 describes the image 'x', which has no features" in complaint()
    captions(tmp_path, val="c")
    np.save(tmp_path / "e.npy", np.ones((2, 3, 4)))
    assert "has features of shape" in complaint() and "give all images features of the same shape" in complaint()
    np.save(tmp_path / "e.npy", grid("e") * np.nan)
    assert "e.npy has nan at [0, 0, 0]" in complaint()
    np.save(tmp_path / "a.npy", grid("a"))
    (tmp_path / "e.npy").unlink()
    assert "The image 'a' has features in" in complaint()
    (tmp_path / "a.npy").unlink()
    np.savez(tmp_path / "more.npz", names=np.array(["x"]), values=np.ones((2, 2, 3, 5)))
    assert "more.npz has 1 names, but values of shape (2, 2, 3, 5)" in complaint()
    (tmp_path / "more.npz").unlink()
    for split in ("train", "val"):
        (tmp_path / f"{split}.tsv").unlink()
    assert "should hold captions" in complaint()
