"""Captioned images: the training, validation and test splits, every image on one side, joined with their features.

A FOLDER holds array files of features, and captions as files named after splits (``train.tsv``, ``val.json``,
``captions_train2014.json``), as one file that names the split of each image (Karpathy's), or as one file beside lists
of names (``Flickr_8k.trainImages.txt``). Files may be given one by one as well.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from anaphora.data.corpora import Splits, fingerprint
from anaphora.data.entry_files import stem_of
from anaphora.data.examples import LocatedExamples
from anaphora.data.features import ENDINGS, Features, array_files
from anaphora.data.finding import Names, demand_data, demand_path
from anaphora.data.holdout import fraction_of, is_held_out
from anaphora.errors import DataError
from anaphora.events import Note, Report, silent
from anaphora.formats.captions import Caption, image_key, read_captions
from anaphora.formats.lines import read_lines, write_lines

_CAPTIONS = (".json", ".tsv", ".txt", ".token")
_LIST = re.compile(r"(?<![a-z])([a-z]+)images\Z", re.IGNORECASE)
"""The stem of a list of the images of a split ends so."""


@dataclass(frozen=True)
class CaptionCorpus(LocatedExamples[Caption]):
    """The captions of a split, with the features of their images; a caption's number is its place among them."""

    captions: tuple[Caption, ...] = field(kw_only=True)
    features: Features = field(kw_only=True)

    def examples(self) -> Iterator[Caption]:
        return iter(self.captions)

    def file_and_line(self, example: Caption) -> tuple[Path, int]:
        return Path(re.split(r":\d+$|, (?:images|annotations)\[", example.place)[0]), example.line

    def references(self) -> dict[str, list[str]]:
        """Return the captions of each image, in their order."""
        found: dict[str, list[str]] = {}
        for caption in self.captions:
            found.setdefault(caption.image, []).append(caption.text)
        return found

    def write(self, examples: Sequence[Caption], folder: Path, name: str) -> None:
        """Write a table, and the features of its images beside it."""
        images = list(dict.fromkeys(caption.image for caption in examples))
        write_lines(folder / f"{name}.tsv", (f"{caption.image}\t{caption.text}" for caption in examples))
        rows, columns, width = self.features.shape
        grids = np.stack([self.features[image].reshape(rows, columns, width) for image in images])
        np.savez(folder / f"{name}.npz", names=np.array(images), values=grids)


@dataclass(frozen=True)
class CaptionSplits(Splits[CaptionCorpus]):
    """The splits, and the features of all."""

    features: Features


def caption_splits(data: Sequence[Path], names: Names, report: Report = silent) -> CaptionSplits:
    """Return the splits of captioned images; without a validation split, a tenth is held out by hashes of their names.

    Raises DataError for a missing file, a faulty caption, an image without features or in two splits, and a split with
    nothing in it.
    """
    demand_data(data, "--data FOLDER, with captions and features")
    texts, arrays = _files(data)
    if not texts:
        raise DataError(
            f"{', '.join(map(str, data))} should hold captions (.json, .tsv, .token), but holds none: add some; save "
            f"those of a .csv as tab-separated text, and name it .tsv."
        )
    features = Features(arrays)
    split_of = _split_of(texts, names)
    rows: dict[str, list[Caption]] = {}
    for path in texts:
        if not _LIST.search(stem_of(path)):
            for caption in read_captions(path):
                rows.setdefault(split_of(path, caption), []).append(caption)
    _check(rows, features)
    if unused := len(features) - len({caption.image for found in rows.values() for caption in found}):
        report(Note(f"{unused:,} of {len(features):,} images with features have no caption; they are not used."))
    if names.train not in rows:
        raise DataError(f"The captions have no training split, only {', '.join(rows)}: name it {names.train}.")
    valid = next((name for name in names.validation() if name in rows), "")
    if not valid:
        valid, rows[names.train], rows[names.valid] = names.valid, *_held_out(rows[names.train])
        held, whole = len(rows[valid]), len(rows[valid]) + len(rows[names.train])
        report(Note(f"No validation split was given, so {held:,} of {whole:,} captions are held out (by image)."))
    digest = fingerprint(texts)

    def corpus(name: str) -> CaptionCorpus:
        captions = tuple(rows[name])
        chosen = fingerprint([], digest, name, len(captions))
        return CaptionCorpus(name, tuple(texts), chosen, len(captions), captions=captions, features=features)

    tests = {name: corpus(name) for name in sorted(rows) if name.startswith(names.test)}
    return CaptionSplits(corpus(names.train), corpus(valid), tests, features)


def caption_corpus(path: Path) -> CaptionCorpus:
    """Return the captions of a file, with the features beside it, or all of a folder; errors as ``caption_splits``."""
    texts, arrays = _files([path if path.is_dir() else path.absolute().parent])
    if not path.is_dir():
        demand_path(path)
        texts = [path]
    captions, features = tuple(caption for text in texts for caption in read_captions(text)), Features(arrays)
    _check({path.name: captions}, features)
    return CaptionCorpus(
        path.name, tuple(texts), fingerprint(texts), len(captions), captions=captions, features=features
    )


def _held_out(captions: Sequence[Caption]) -> tuple[list[Caption], list[Caption]]:
    found = fraction_of(caption.image for caption in captions)
    if not found:
        raise DataError("There are too few images to hold some out for validation: give a validation split.")
    held = [caption for caption in captions if is_held_out(caption.image, found[0])]
    return [caption for caption in captions if not is_held_out(caption.image, found[0])], held


def _check(rows: Mapping[str, Sequence[Caption]], features: Features) -> None:
    """DataError for an image without features, or in two splits."""
    split_of: dict[str, str] = {}
    for split, captions in rows.items():
        for caption in captions:
            if caption.image not in features:
                raise DataError(
                    f"{caption.place} describes the image '{caption.image}', which has no features: add them to "
                    f"{features.paths[0]}, or remove the caption."
                )
            if split_of.setdefault(caption.image, split) != split:
                raise DataError(
                    f"{caption.place} describes the image '{caption.image}', which is in the splits "
                    f"{split_of[caption.image]} and {split}: keep all captions of an image in one split."
                )


def _split_of(texts: Sequence[Path], names: Names) -> Callable[[Path, Caption], str]:
    """Return a function from a file and a caption in it to the caption's split."""
    listed = {
        image_key(line): _split_named(found[1].lower(), names)
        for path in texts
        if (found := _LIST.search(stem_of(path)))
        for line in read_lines(path)
        if line.strip()
    }

    def split_of(path: Path, caption: Caption) -> str:
        if listed:
            return listed.get(caption.image, "unlisted")
        words = re.findall(r"[^\W\d_]+", stem_of(path))
        of_file = next((split for word in (stem_of(path), *words) if (split := _split_named(word, names))), "")
        return of_file or (_split_named(caption.split, names) or caption.split if caption.split else names.train)

    return split_of


def _split_named(word: str, names: Names) -> str:
    """Return the split that a word names; nothing where it names none."""
    return word if word in (names.train, *names.validation()) or word.startswith(names.test) else ""


def _files(data: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Return the files of captions and of features."""
    texts, arrays = list[Path](), list[Path]()
    for path in data:
        if path.is_dir():
            arrays += array_files(path)
            texts += sorted(entry for entry in path.iterdir() if _is_text(entry))
        elif path.name.lower().endswith(ENDINGS):
            arrays.append(path)
        else:
            demand_path(path)
            texts.append(path)
    return texts, arrays


def _is_text(path: Path) -> bool:
    name = path.name.lower().removesuffix(".gz")
    return path.is_file() and name.endswith(_CAPTIONS) and not name.startswith(("readme", "."))
