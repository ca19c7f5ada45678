"""Corpora encoded once: ids in little-endian binary files that are mapped into memory, with a JSON header.

A store is a folder, written under another name and renamed when whole; encoding takes the memory of one line. Nothing
in it can execute. A store whose header or sizes do not fit what is asked for is encoded again.
"""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import BinaryIO

import numpy as np

from anaphora.data.corpora import PairCorpus, TextCorpus
from anaphora.data.ragged import Integers, Ragged
from anaphora.errors import DataError
from anaphora.events import Progress, Report, Skipped, silent
from anaphora.text.coder import TextCoder

_FORMAT = 1
_HEADER = "header.json"
_EVERY = 1000
"""Lines between two Progress events."""


Annotate = Callable[[int, list[int], list[int]], list[int]]
"""The number of a pair and the ids of its sides to other ids of its target."""


@dataclass(frozen=True)
class PairStore:
    """Encoded pairs, without marks; the rows of both sides belong together."""

    sources: Ragged
    targets: Ragged
    numbers: Integers
    """int64 [rows]: the place of each row in the corpus."""

    def __len__(self) -> int:
        """The number of pairs."""
        return len(self.numbers)


@dataclass(frozen=True)
class TextStore:
    """An encoded running text: ``</s>``, then every line with its ``</s>``."""

    ids: Integers
    """[1 + units + lines]; every id but the first is there to be predicted."""
    characters: int
    """Code points of the text as it was read, a line end counted as one."""


def pair_store(
    corpus: PairCorpus,
    source: TextCoder,
    target: TextCoder,
    folder: Path,
    *,
    longest: int = 0,
    annotate: Annotate | None = None,
    report: Report = silent,
) -> PairStore:
    """The corpus as ids: from ``folder`` if it was encoded there before with the same coders, else encoded now.

    With ``longest`` > 0, pairs with more units than that on either side are left out (a Skipped). ``annotate`` changes
    the ids of a target, given the number of the pair and the ids of both sides; what it does should be a function of
    the coders and the corpus alone. Raises DataError when
    no pair is left, or the folder cannot be written.
    """

    def encode(into: "_Writer") -> dict[str, int]:
        skipped = 0
        for number, (source_text, target_text) in enumerate(corpus):
            row = source.encode(source_text), target.encode(target_text)
            if annotate is not None:
                row = row[0], annotate(number, *row)
            if longest and max(map(len, row)) > longest:
                skipped += 1
            else:
                into.add("source", row[0])
                into.add("target", row[1])
                into.write("numbers", [number])
            into.tell(number + 1)
        return {"skipped": skipped}

    columns = {
        "source.ids": _narrowest(source), "source.ends": "<i8",
        "target.ids": _narrowest(target), "target.ends": "<i8", "numbers": "<i8",
    }  # fmt: skip
    identity = [corpus.fingerprint, source.fingerprint, target.fingerprint, longest]
    facts, arrays = _open_or_encode(folder, identity, columns, corpus, encode, report)
    if facts["skipped"]:
        report(
            Skipped(f"pairs with more than {longest} tokens on a side were left out of {corpus.name}", facts["skipped"])
        )
    if not len(arrays["numbers"]):
        raise DataError(f"Every pair of {corpus.name} has more than {longest} tokens on a side: raise data.max_length.")
    return PairStore(
        Ragged(arrays["source.ids"], arrays["source.ends"]),
        Ragged(arrays["target.ids"], arrays["target.ends"]),
        arrays["numbers"],
    )


def text_store(corpus: TextCorpus, coder: TextCoder, folder: Path, *, report: Report = silent) -> TextStore:
    """The text as ids: from ``folder`` if it was encoded there before with the same coder, else encoded now.

    Raises DataError when the folder cannot be written.
    """
    end = coder.symbols.eos

    def encode(into: "_Writer") -> dict[str, int]:
        characters = 0
        into.write("text.ids", [end])
        for number, line in enumerate(corpus, 1):
            into.write("text.ids", [*coder.encode(line), end])
            characters += len(line) + 1
            into.tell(number)
        return {"characters": characters}

    identity = [corpus.fingerprint, coder.fingerprint]
    facts, arrays = _open_or_encode(folder, identity, {"text.ids": _narrowest(coder)}, corpus, encode, report)
    return TextStore(arrays["text.ids"], facts["characters"])


class _Writer:
    """The growing files of a store."""

    def __init__(
        self, folder: Path, columns: dict[str, str], open_files: ExitStack, task: str, total: int, report: Report
    ):
        self._columns = columns
        self._files: dict[str, BinaryIO] = {
            name: open_files.enter_context((folder / name).open("wb")) for name in columns
        }
        self.sizes = dict.fromkeys(columns, 0)
        for name in columns:
            if name.endswith(".ends"):
                self.write(name, [0])
        self._task, self._total, self._report = task, total, report

    def write(self, column: str, values: Sequence[int]) -> None:
        """Append values to a file."""
        self._files[column].write(np.array(values, dtype=self._columns[column]).tobytes())
        self.sizes[column] += len(values)

    def add(self, side: str, row: Sequence[int]) -> None:
        """Append a row to a ragged pair of files."""
        self.write(f"{side}.ids", row)
        self.write(f"{side}.ends", [self.sizes[f"{side}.ids"]])

    def tell(self, lines: int) -> None:
        """Say how far the work is, now and then."""
        if lines % _EVERY == 0 or lines == self._total:
            self._report(Progress(self._task, lines, self._total, "lines"))


def _open_or_encode(
    folder: Path,
    identity: Sequence[object],
    columns: dict[str, str],
    corpus: PairCorpus | TextCorpus,
    encode: Callable[[_Writer], dict[str, int]],
    report: Report,
) -> tuple[dict[str, int], dict[str, Integers]]:
    opened = _open(folder, identity, columns)
    if opened is None:
        part = folder.with_name(f".{folder.name}.{os.getpid()}.part")
        try:
            for left in folder.parent.glob(f".{escape(folder.name)}.*.part"):  # by processes that were killed here
                shutil.rmtree(left)
            part.mkdir(parents=True)
            with ExitStack() as open_files:
                into = _Writer(part, columns, open_files, f"encoding {corpus.name}", corpus.count, report)
                facts = encode(into)
            header = {"format": _FORMAT, "identity": identity, "sizes": into.sizes, "facts": facts}
            (part / _HEADER).write_text(json.dumps(header, indent=2) + "\n", encoding="utf-8")
            if folder.exists():
                shutil.rmtree(folder)
            part.rename(folder)
        except OSError as error:
            raise DataError(f"The encoded corpus {folder} cannot be written: {error.strerror or error}.") from error
        finally:
            shutil.rmtree(part, ignore_errors=True)
        opened = _open(folder, identity, columns)
    if opened is None:
        raise DataError(f"The encoded corpus {folder} changed while it was written: is another run using it?")
    return opened


def _open(
    folder: Path, identity: Sequence[object], columns: dict[str, str]
) -> tuple[dict[str, int], dict[str, Integers]] | None:
    """The facts and files of a store, or None when it is not there, not whole or not this one."""
    try:
        header = json.loads((folder / _HEADER).read_bytes())
        if header["format"] != _FORMAT or header["identity"] != identity:
            return None
        arrays = {name: _map(folder / name, columns[name], int(header["sizes"][name])) for name in columns}
        return {str(name): int(value) for name, value in header["facts"].items()}, arrays
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _map(path: Path, dtype: str, size: int) -> Integers:
    if path.stat().st_size != size * np.dtype(dtype).itemsize:
        raise ValueError(f"{path} is not whole")
    return np.memmap(path, dtype=dtype, mode="r", shape=(size,)) if size else np.empty(0, dtype)


def _narrowest(coder: TextCoder) -> str:
    return "<u2" if coder.symbols.size <= 1 << 16 else "<i4"
