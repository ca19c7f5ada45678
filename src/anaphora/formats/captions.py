"""Captions of images, several for an image: Karpathy's JSON, COCO's, ``Flickr8k.token``, or a table of two columns.

Karpathy   {"images": [{"filename": .., "split": .., "sentences": [{"raw": ..}, ..]}, ..]}
COCO       {"images": [{"id": .., "file_name": ..}, ..], "annotations": [{"image_id": .., "caption": ..}, ..]}
Flickr8k   name.jpg#0 <tab> caption
a table    name.jpg <tab> caption, perhaps below a heading such as image <tab> caption
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from anaphora.errors import DataError
from anaphora.formats.json_text import json_document
from anaphora.formats.lines import read_lines
from anaphora.formats.table_rows import TableRow, is_table, read_sides, table_rows
from anaphora.formats.tagged import is_label
from anaphora.wording import inflect

SPLITS: Mapping[str, str] = {"restval": "train"}
"""Names of splits in Karpathy's files that mean another one; "restval" is what COCO's validation left for training."""

_HEADS = ({"image", "image_name", "filename", "file_name", "file", "name"}, {"caption", "captions", "comment", "text"})
_NUMBERED = re.compile(r"#\d+$")
_ENDINGS = frozenset((".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".npy"))


class Caption(NamedTuple):
    """One caption of an image."""

    place: str
    """File and line, or file and which image: for errors."""
    line: int
    """Line from 1; in a JSON file, the place of the image or annotation in its array."""
    image: str
    """The name of the image, as ``image_key`` has it."""
    text: str
    split: str
    """Split of the image, where the file says it; empty where it does not."""


def image_key(name: str) -> str:
    """Return the name that captions and features of an image share: without folders, without the ending of a picture.

    >>> image_key("train2014/COCO_train2014_000000000009.jpg")
    'COCO_train2014_000000000009'
    """
    path = PurePosixPath(file_name(name))
    return path.stem if path.suffix.lower() in _ENDINGS else path.name


def file_name(name: str) -> str:
    """Return the file name of an image, without its folders."""
    return PurePosixPath(name.strip().replace("\\", "/")).name


def read_captions(path: Path) -> Iterator[Caption]:
    """Yield the captions of a file in its order; its ending decides between JSON and a table.

    Raises DataError with the place of what is no caption, as ``read_lines`` does, and for an empty file.
    """
    found = False
    for caption in _json(path) if is_table(path.name, ".json") else _table(path):
        if not is_label(caption.image):
            raise DataError(f"{caption.place} names no image: name its file, in one line.")
        if not caption.text.strip():
            raise DataError(f"{caption.place} has an empty caption: fill it in, or remove it.")
        found = True
        yield caption._replace(text=" ".join(caption.text.split()))
    if not found:
        raise DataError(f"{path} has no captions: add some, or remove the file.")


def _table(path: Path) -> Iterator[Caption]:
    for row, cells in read_sides(table_rows(read_lines(path), str(path)), str(path), _columns):
        if cells is not None:
            name, text = cells
            place = f"{path}:{row.number}"
            yield Caption(place, row.number, image_key(_NUMBERED.sub("", name.strip())), text, "")


def _columns(row: TableRow, place: str) -> tuple[list[int], bool]:
    """Return the places of image and caption, and True for a heading."""
    if len(row.cells) != 2:
        there = inflect(len(row.cells), "column")
        raise DataError(f"{place} should be the file name of an image, a tab and its caption, but has {there}.")
    return [0, 1], all(cell.strip().lower() in heads for cell, heads in zip(row.cells, _HEADS, strict=True))


def _json(path: Path) -> Iterator[Caption]:
    table = json_document(path)
    images = table.get("images") if isinstance(table, dict) else None
    if not isinstance(images, list):
        raise DataError(f'{path} should have captions as Karpathy or COCO has them, but has no list "images".')
    return _coco(path, images, table["annotations"]) if "annotations" in table else _karpathy(path, images)


def _karpathy(path: Path, images: Sequence[Any]) -> Iterator[Caption]:
    for number, image in enumerate(images):
        place = f"{path}, images[{number}],"
        name, split = _text(image, "filename", place), image.get("split", "")
        sentences = image.get("sentences")
        if not isinstance(split, str) or not isinstance(sentences, list):
            raise DataError(f'{place} should have a "split" that is a string and a list "sentences": correct it.')
        for sentence in sentences:
            text = _text(sentence, "raw", place)
            yield Caption(place, number + 1, image_key(name), text, SPLITS.get(split, split))


def _coco(path: Path, images: Sequence[Any], annotations: Any) -> Iterator[Caption]:
    names = dict[int | str, str]()
    for number, image in enumerate(images):
        name = _text(image, "file_name", f"{path}, images[{number}],")
        names[_id(image, "id", f"{path}, images[{number}],")] = name
    if not isinstance(annotations, list):
        raise DataError(f'{path} should have a list "annotations", as COCO has it: correct it.')
    for number, annotation in enumerate(annotations):
        place = f"{path}, annotations[{number}],"
        text, image = _text(annotation, "caption", place), _id(annotation, "image_id", place)
        if image not in names:
            raise DataError(f'{place} is of image {image}, which is not among "images": add it, or remove the caption.')
        yield Caption(place, number + 1, image_key(names[image]), text, "")


def _text(table: Any, key: str, place: str) -> str:
    value = table.get(key) if isinstance(table, dict) else None
    if not isinstance(value, str):
        raise DataError(f'{place} should have a string "{key}", but has none: correct it.')
    return value


def _id(table: Mapping[str, Any], key: str, place: str) -> int | str:
    value = table.get(key)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise DataError(f'{place} should have a number "{key}", but has none: correct it.')
    return value
