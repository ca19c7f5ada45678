"""Captions are read from every format alike, and what is no caption is named with its place."""

import gzip
import json
from typing import Any

import pytest

from anaphora.errors import DataError
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


def karpathy(**changed: Any) -> str:
    return json.dumps({"images": [KARPATHY["images"][0] | changed]})


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.tsv", "dog.jpg\tA dog .\ndog.jpg A pet .\n", r"a\.tsv:2 has 1 column, but line 1 has 2"),
        ("a.tsv", "dog.jpg\tA\tdog\n", r"a\.tsv:1 .* but has 3 columns"),
        ("a.tsv", "dog.jpg\t \n", r"a\.tsv:1 has an empty caption"),
        ("a.tsv", "\tA dog .\n", r"a\.tsv:1 names no image"),
        ("a.tsv", "image\tcaption\n", r"a\.tsv has no captions"),
        ("a.json", '{"images": [{"filename": "a\\nb", "sentences": [{"raw": "x"}]}]}', "in one line"),
        ("a.json", "[]", r'a\.json should have captions .* no list "images"'),
        ("a.json", karpathy(filename=3), r'images\[0\], should have a string "filename"'),
        ("a.json", karpathy(sentences="x"), r'images\[0\], should have a "split"'),
        ("a.json", karpathy(sentences=["x"]), r'images\[0\], should have a string "raw"'),
        ("a.json", json.dumps({"images": [1]}), r'images\[0\], should have a string "filename"'),
        ("a.json", json.dumps(COCO | {"images": []}), r'annotations\[0\], is of image 1, which is not among "images"'),
        ("a.json", json.dumps(COCO | {"annotations": [{}]}), r'annotations\[0\], should have a string "caption"'),
        ("a.json", json.dumps({"images": [{"file_name": "x"}], "annotations": []}), r'images\[0\], .* number "id"'),
    ],
)
def test_what_is_no_caption_is_refused_with_its_place(name: str, text: str, message: str, written: Written) -> None:
    with pytest.raises(DataError, match=message):
        list(read_captions(written(name, text)))
