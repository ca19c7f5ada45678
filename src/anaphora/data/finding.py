"""Files of each split, known by their names alone. A name counts without its ``.gz``."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Generic, TypeVar

from anaphora.data.corpora import AlignedFiles, EntryFile, PairFile, PairFiles
from anaphora.data.entry_files import check_catalogues, entry_file, entry_files, entry_files_in, stem_of
from anaphora.errors import DataError, refuse_os_errors
from anaphora.events import Note, Report
from anaphora.formats.lines import read_lines
from anaphora.formats.table_columns import Column
from anaphora.formats.tsv import PLAIN, Layout, has_two_columns
from anaphora.wording import nearest

VALIDATION_NAMES = ("val", "valid", "validation", "dev")
"""Names that a validation split may have, each as good as the others."""

TEST_NAME = "test"
"""Beginning of the names of test splits, by default."""

_NUMBERED = re.compile(r"[-._](\d+)(?:[-._]of[-._](\d+))?")
"""Number of a shard, after the name of its split."""

HELD_OUT = "none"
"""The name of a validation split that is held out of training, whatever other files there are."""

File = TypeVar("File", PairFiles, Path)


@dataclass(frozen=True)
class Names:
    """Names of the splits' files; ``test`` stands for every name that begins with it."""

    train: str = "train"
    valid: str = "val"
    test: str = TEST_NAME
    layout: Layout = PLAIN
    """Columns of the pairs in those that are tables."""
    columns: tuple[int | str, ...] = ()
    """The columns of other tables that a person chose."""

    def own_files(self, data: Sequence[Path]) -> dict[str, Any]:
        """Return the ``[data]`` table for a person's own files."""
        splits = {"train": self.train, "valid": self.valid, "test": self.test}
        return splits | {"files": tuple(map(str, data)), "columns": self.columns}

    def validation(self) -> tuple[str, ...]:
        """The names to try for the validation split, the one asked for first; never that of the training split."""
        others = VALIDATION_NAMES if self.valid in VALIDATION_NAMES else ()
        return tuple(name for name in dict.fromkeys((self.valid, *others)) if name != self.train)

    def split_of(self, stem: str) -> str:
        """Return the name of the split of a file, by its name less its ending: ``valid-web``, ``test2016``."""
        begun = tuple(f"{name}{sign}" for name in self.validation() for sign in "-._")
        if stem in self.validation() or stem.startswith(begun):
            return self.valid
        return self.test if stem.startswith(self.test) else self.train


USUAL = Names()


@dataclass
class SplitFiles(Generic[File]):
    """The files of each split, in the order they were given."""

    train: list[File] = field(default_factory=list)
    valid: list[File] = field(default_factory=list)
    tests: dict[str, list[File]] = field(default_factory=dict)

    def add_test(self, folder: Path, name: str, file: File) -> None:
        """Add a test split; a second one of the same name is called after its folder."""
        self.tests.setdefault(f"{folder.name}/{name}" if name in self.tests else name, []).append(file)


def demand_data(data: Sequence[Path], example: str = "--data FOLDER or --data FILE") -> None:
    """DataError where no data was given."""
    if not data:
        raise DataError(f"Training needs data, but none was given: pass {example}.")


def demand_path(path: Path) -> None:
    """DataError for a path of data that does not exist."""
    if not path.exists():
        pair = ", or write two codes of languages in front, such as es-gn=" if "=" in str(path) else ""
        raise DataError(f"--data should be a folder or a file, but there is no {path}: check the path{pair}.")


def find_pairs(data: Sequence[Path], sides: tuple[str, str], names: Names, report: Report) -> SplitFiles[PairFiles]:
    """Return the files of a translation corpus; DataError when a path, a split or one side of it is missing."""
    found: SplitFiles[PairFiles] = SplitFiles()
    for path in data:
        if path.is_file():
            if (file := _given_file(path, data, sides, names.layout)) is not None:
                found.train.append(file)
                if names.split_of(stem_of(path)) != names.train:
                    report(Note(f"{path} is trained on: to keep it as a split, give its folder instead.", True))
            continue
        listing = _list(path, "a .tsv file")
        if f"{names.train}.tsv" not in listing and sides[0] == sides[1]:  # the columns of a .tsv may be of one language
            raise DataError(f"Source and target are both '{sides[0]}': set --source and --target to two languages.")
        train, entries = _training_pairs(path, listing, names, sides), entry_files_in(path)
        if not train and not entries:
            first, second = (f"{names.train}.{side}" for side in sides)
            others = [name for name in listing if name.startswith(f"{names.train}.")]
            named = " Name the languages of its sides with --source and --target." if len(others) > 1 else ""
            raise DataError(_lacks(path, f"{first} and {second} (or {names.train}.tsv)", first, listing, named))
        found.train += train
        found.valid += _find_validation(path, names, partial(_pairs, listing, sides=sides, layout=names.layout), report)
        for name in _beginning(listing, names.test, (f".{sides[0]}", f".{sides[1]}", ".tsv")):
            test = _pairs(listing, name, sides, names.layout, lenient=True)
            if test is not None and test in found.valid and name != names.test:
                continue  # newstest2013 may validate what newstest2014 tests, unless it is named as the test split
            if test is not None:
                found.add_test(path, name, test)
            else:
                report(Note(f"{path / name}.* lacks one of the sides {sides[0]} and {sides[1]} and is left out.", True))
        if train:
            entries = [file for file in entries if names.split_of(stem_of(file)) != names.train]
        _add_entries(found, entry_files(entries, sides, names.layout, report), names)
        if not found.train:
            raise DataError(f"{path} should hold files to train on, but has those of other splits alone.")
    check_catalogues([*found.train, *found.valid, *chain(*found.tests.values())], sides, report)
    return found


def _add_entries(found: SplitFiles[PairFiles], files: Iterable[EntryFile], names: Names) -> None:
    """Add files of entries, each to the split that its name begins with, else to the training split."""
    for file in files:
        split = names.split_of(stem_of(file.path))
        if split == names.test:
            found.add_test(file.path.parent, stem_of(file.path), file)
        else:
            (found.train if split == names.train else found.valid).append(file)


def find_texts(data: Sequence[Path], names: Names, report: Report) -> SplitFiles[Path]:
    """The files of a running text: ``train.txt``, ``ptb.train.txt``, ``train-00.txt`` and more, or a file alone."""
    found: SplitFiles[Path] = SplitFiles()
    for path in data:
        if path.is_file():
            found.train.append(path)
            continue
        listing = _list(path, "a text file")
        if one := _text(path, listing, names.train):
            train = [one]
        else:
            train = [listing[f"{stem}.txt"] for stem in _shards(path, listing, names.train, (".txt",))]
        if not train:
            raise DataError(_lacks(path, f"{names.train}.txt", f"{names.train}.txt", listing))
        found.train += train
        found.valid += _find_validation(path, names, partial(_text, path, listing), report)
        for name in _beginning(listing, names.test, (".txt",), anywhere=True):
            file = listing[f"{name}.txt"]
            if file not in found.valid or f".{name}".endswith(f".{names.test}"):
                found.add_test(path, name, file)
    return found


def find_files(data: Sequence[Path], names: Names, endings: Sequence[str]) -> SplitFiles[Path]:
    """The file of each split, known by its name less its ending or by the last part of that; a file is trained on.

    "train" is ``train.conllu``, ``en_ewt-ud-train.conllu`` or ``eng.train``. A validation split named ``HELD_OUT`` is
    none of the files. Raises DataError for a path or a split that is missing, and for two files of one split.
    """
    demand_data(data)
    found: SplitFiles[Path] = SplitFiles()
    for path in data:
        if path.is_file():
            found.train.append(path)
            continue
        listing = [entry for entry in _list(path, "a file").values() if not entry.name.startswith(".")]
        train = _find_named(listing, names.train, endings)
        if not train:
            refuse_packed(path)
            there = ", ".join(file.name for file in listing[:8]) or "nothing"
            name = f"{names.train}{endings[0]}"
            raise DataError(f"{path} should hold {name} or the like, but holds {there}: name the files.")
        found.train += train
        if names.valid != HELD_OUT:
            found.valid += next(filter(None, (_find_named(listing, name, endings) for name in names.validation())), [])
        for file in listing:
            split = _split_of(file, endings)
            if split.startswith(names.test) and file not in (*found.train, *found.valid):
                found.tests.setdefault(split, []).append(file)
    if not found.valid and names.valid not in (HELD_OUT, *VALIDATION_NAMES):
        raise DataError(f"data.valid = '{names.valid}' names no file in {data[0]}: check the name, or leave it out.")
    return found


def ending_of(path: Path, endings: Sequence[str]) -> str:
    """Return the ending of a file's name, ``.gz`` aside, where it is one of ``endings``; empty for none."""
    name = _plain_name(path).lower()
    return next((end for end in endings if name.endswith(end)), "")


def split_name(path: Path, endings: Sequence[str]) -> str:
    """Return the name of a file without its ending."""
    return _plain_name(path)[: -len(ending_of(path, endings)) or None]


def _split_of(path: Path, endings: Sequence[str]) -> str:
    """Return the last part of a name."""
    return re.split(r"[-._]", split_name(path, endings))[-1]


def _find_named(files: Sequence[Path], name: str, endings: Sequence[str]) -> list[Path]:
    """The file of a split: called so as a whole, or by the last part of its name; DataError where there are several."""
    fitting = [file for file in files if split_name(file, endings) == name]
    fitting = fitting or [file for file in files if _split_of(file, endings) == name]
    if len(fitting) > 1:
        several = " and ".join(file.name for file in fitting)
        raise DataError(f"{fitting[0].parent} should hold one {name} split, not {several}: keep one of them there.")
    return fitting


def demand_named(data: Sequence[Path], names: Names, found: Collection[SplitFiles[File]]) -> None:
    """DataError where a split that was given its own name is in none of the folders."""
    for split, name, usual, is_there in (
        ("valid", names.valid, VALIDATION_NAMES, any(one.valid for one in found)),
        ("test", names.test, (TEST_NAME,), any(one.tests for one in found)),
    ):
        if name not in usual and not is_there:
            where = ", ".join(map(str, data))
            raise DataError(f"data.{split} = '{name}' names no file in {where}: check the name, or leave it out.")


def _find_validation(path: Path, names: Names, find: Callable[[str], File | None], report: Report) -> list[File]:
    """The validation split of a folder, if it has one; ``report`` receives those it has besides, whole or not."""
    chosen, found = "", list[File]()
    for name in names.validation():
        if not found:
            split = find(name)
            chosen, found = (name, [split]) if split is not None else ("", [])
        elif not name.startswith(names.test) and _there(find, name):
            report(Note(f"{path} holds more than one validation split: {chosen} is taken, {name} is left out.", True))
    return found


def _there(find: Callable[[str], object], name: str) -> bool:
    """True if a split is there, even if it is one that cannot be used."""
    try:
        return find(name) is not None
    except DataError:
        return True


def _plain_name(path: Path) -> str:
    return path.name.removesuffix(".gz")


def _list(path: Path, otherwise: str) -> dict[str, Path]:
    if not path.is_dir():
        demand_path(path)
        raise DataError(
            f"--data should be a folder or {otherwise}, but {path} is neither, and is read more than once: check the "
            f"path."
        )
    listing: dict[str, Path] = {}
    with refuse_os_errors(f"The folder {path} cannot be read: "):
        entries = sorted(path.iterdir())
    for entry in entries:
        if entry.is_file():
            twin = listing.setdefault(_plain_name(entry), entry)
            if twin != entry:
                raise DataError(f"{twin} and {entry} are the same split: keep one of them.")
    return listing


def _given_file(path: Path, data: Sequence[Path], sides: tuple[str, str], layout: Layout) -> PairFiles | None:
    """Return a file of two columns, or with its other side two line-aligned files; None for that other side."""
    name = _plain_name(path)
    for here, there in (sides, sides[::-1]):
        if name.endswith(f".{here}"):
            wanted = f"{name.removesuffix(here)}{there}"
            other = next((one for one in data if one.parent == path.parent and _plain_name(one) == wanted), None)
            if other is None:
                raise DataError(f"{path} is one side of pairs: give {path.parent / wanted} with another --data.")
            return AlignedFiles(path, other) if here == sides[0] else None
    if _plain_name(path).lower().endswith(".tsv"):
        return _table(path, layout, sides)
    if (entries := entry_file(path, sides, layout)) is None:
        hint = ", or name it .tsv, since its lines are text, tab, text" if has_two_columns(path) else ""
        folder = f"pass a folder with train.{sides[0]} and train.{sides[1]}"
        raise DataError(f"{path} is no folder and no .tsv: {folder}{hint}.")
    return entries


def _table(path: Path, layout: Layout, sides: tuple[str, str]) -> PairFile:
    """Return a table of the columns that its first line names after the languages, or of its only two."""
    first = [] if layout.columns else [cell.strip() for cell in layout.split(next(read_lines(path), ""))]
    named = {Column.of(cell).name: cell for cell in first} | {cell: cell for cell in first}
    columns = named.get(sides[0], ""), named.get(sides[1], "")
    if sides[0] != sides[1] and all(columns) and columns != tuple(first):
        layout = layout._replace(columns=columns)
    return PairFile(path, layout, sides)


def _pairs(
    listing: dict[str, Path], name: str, sides: tuple[str, str], layout: Layout, *, lenient: bool = False
) -> PairFiles | None:
    """Return the files of one split, or None; a split with one side alone is a DataError unless ``lenient``."""
    source, target = (listing.get(f"{name}.{side}") for side in sides)
    both = listing.get(f"{name}.tsv")
    if source and target:
        if both:
            raise DataError(f"{both} is the same split as {source} and {target}: keep the one or the two.")
        return AlignedFiles(source, target)
    if both:
        return _table(both, layout, sides)
    alone = source or target
    if alone and not lenient:
        missing = f"{name}.{sides[1] if source else sides[0]}"
        raise DataError(f"{missing} should lie beside {alone}, but does not: add it, or check --source and --target.")
    return None


def _training_pairs(path: Path, listing: dict[str, Path], names: Names, sides: tuple[str, str]) -> list[PairFiles]:
    """Return the training split of a folder, in one file a side or in numbered shards; none where it has neither."""
    if train := _pairs(listing, names.train, sides, names.layout):
        return [train]
    # a shard of text that is missing is reported where pairs are looked for first
    stems = _shards(path, listing, names.train, (f".{sides[0]}", f".{sides[1]}", ".tsv", ".txt"))
    shards = [shard for stem in stems if (shard := _pairs(listing, stem, sides, names.layout))]
    return shards or [pairs for pairs in [_only_pairs(listing, names, sides)] if pairs]


def _shards(path: Path, listing: dict[str, Path], split: str, ends: tuple[str, ...]) -> list[str]:
    """The names, less their ends, of a split in numbered files: ``train-00001-of-00004``, ``train.07``; in order.

    Raises DataError where a number is missing or comes twice.
    """
    matches = (_NUMBERED.fullmatch(stem, len(split)) for stem in _beginning(listing, split, ends))
    found = sorted((int(match[1]), int(match[2] or 0), match.string) for match in matches if match)
    numbers, totals, stems = ([*column] for column in zip(*found, strict=True)) if found else ([], [], [])
    if len(found) < 2 and not any(totals):
        return []  # train-2014.en may be a name
    there, first = {*numbers}, min(1, *numbers)
    lacking = next((n for n in range(first, max(numbers[-1] + 1, first + max(totals))) if n not in there), None)
    if lacking is not None or len(there) < len(numbers):
        fault = "has two of one number: keep one of them" if lacking is None else f"lacks number {lacking}: add it"
        raise DataError(f"{path} holds a {split} split in shards ({stems[0]} to {stems[-1]}), but {fault}.")
    return stems


def _only_pairs(listing: dict[str, Path], names: Names, sides: tuple[str, str]) -> PairFiles | None:
    """Return the one pair of files that is no other split, whatever it is called (``Tatoeba.en-fr.en`` and ``.fr``)."""
    stems = [name.removesuffix(f".{sides[0]}") for name in listing if name.endswith(f".{sides[0]}")]
    others = (*names.validation(), names.test)
    both = [stem for stem in stems if f"{stem}.{sides[1]}" in listing and not stem.startswith(others)]
    return _pairs(listing, both[0], sides, names.layout) if len(both) == 1 and not nearest(names.train, both) else None


def _text(path: Path, listing: dict[str, Path], split: str) -> Path | None:
    """Return the one file that is called ``split.txt`` or ends in ``.split.txt``."""
    fitting = [name for name in listing if name == f"{split}.txt" or name.endswith(f".{split}.txt")]
    if len(fitting) > 1:
        raise DataError(f"{path} should hold one {split} split, not {' and '.join(fitting)}: keep one of them there.")
    return listing[fitting[0]] if fitting else None


def _beginning(listing: dict[str, Path], start: str, ends: tuple[str, ...], *, anywhere: bool = False) -> list[str]:
    """Return the names, less their ends, that begin with ``start``; or with ``anywhere`` have it after a dot."""
    names = {name.removesuffix(end) for name in listing for end in ends if name.endswith(end)}
    return sorted(name for name in names if name.startswith(start) or (anywhere and f".{start}" in name))


_UNPACK = {".bz2": "bunzip2", ".xz": "unxz", ".zst": "unzstd", ".zip": "unzip", ".7z": "7z x", ".tar": "tar xf"}
"""Programs that unpack files, by their suffix."""


def refuse_packed(folder: Path) -> None:
    """DataError for files that are packed otherwise than by gzip, in a folder in which nothing else was found."""
    packed = sorted(entry.name for entry in folder.iterdir() if entry.suffix.lower() in _UNPACK)
    if packed:
        shown = f"{', '.join(packed[:4])}{', ...' if len(packed) > 4 else ''}"
        program = _UNPACK[Path(packed[0]).suffix.lower()]
        raise DataError(f"{folder} holds packed files ({shown}): unpack them with {program}, or pack them with gzip.")


def _lacks(path: Path, wanted: str, name: str, listing: dict[str, Path], remedy: str = "") -> str:
    """Return the message for a folder without a wanted file.

    Without a ``remedy`` it names the file whose name is nearest to ``name``, or asks for the files themselves.

    DataError where its files are packed otherwise than by gzip.
    """
    refuse_packed(path)
    entries = [*listing, *sorted(f"{entry.name}/" for entry in path.iterdir() if entry.is_dir())]
    there = ", ".join(entries[:8]) + ", ..." * (len(entries) > 8) or "nothing"
    files = " Rename them, or name files, each with a --data of its own." if listing else ""
    split = name.partition(".")[0]  # valid.txt is near to train.txt, but valid is not to train
    alike = [entry for entry in listing if nearest(split, [entry.partition(".")[0]])]
    return f"{path} should hold {wanted}, but holds {there}.{remedy or nearest(name, alike) or files}"
