"""Captions are read from every format alike, and what is no caption is named with its place."""

import gzip
import json

import pytest

from anaphora.formats.captions import image_key, read_captions

from .conftest import Written

KARPATHY = {
    "images": [
        {"filename": "dog.jpg", "split": "restval", "sentences": [{"raw": "A dog ."}, {"raw": "a  pet."}]},
        {"filename": "cat.jpg", "split": "val", "sentences": [{"raw": "A cat ."}]},
    ]
}
COCO = {
    "images": [{"id": 2, "file_name": "cat.jpg"}, {"id": 1, "file_name": "dog.jpg"}],
    "annotations": [
        {"image_id": 1, "caption": "A dog ."},
        {"image_id": 1, "caption": "a  pet."},
        {"image_id": 2, "caption": "A cat ."},
    ],
}
FORMATS = {
    "karpathy.json": json.dumps(KARPATHY),
    "coco.json": json.dumps(COCO),
    "Flickr8k.token.txt": "dog.jpg#0\tA dog .\ndog.jpg#1\ta  pet.\n\ncat.jpg#0\tA cat .\n",
    "a.tsv": "dog.jpg\tA dog .\ndog.jpg\ta  pet.\ncat.jpg\tA cat .\n",
    "headed.tsv": "image\tcaption\nimages/dog.png\tA dog .\ndog\ta  pet.\ncat\tA cat .\n",
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_captions(name: str, written: Written) -> None:
    splits = ["train", "train", "val"] if name == "karpathy.json" else [""] * 3
    for path in (written(name, FORMATS[name]), written(f"{name}.gz", gzip.compress(FORMATS[name].encode()))):
        found = [(caption.image, caption.text) for caption in read_captions(path)]
        assert found == [("dog", "A dog ."), ("dog", "a pet."), ("cat", "A cat .")]
        assert [caption.split for caption in read_captions(path)] == splits


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("train2014/COCO_train2014_000000000009.jpg", "COCO_train2014_000000000009"),
        ("dog.JPEG", "dog"),
        ("a\\b\\dog.png", "dog"),
        ("1000.5", "1000.5"),
        ("dog", "dog"),
    ],
)
def test_images_are_known_without_folders_and_endings_of_pictures(name: str, key: str) -> None:
    assert image_key(name) == key
