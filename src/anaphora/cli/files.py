"""The files that verbs read and write: lines, pairs, and an output that can be written."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from anaphora.errors import DataError

_OF_A_RUN = ("experiment.toml", "best", "latest", "lock", "card.md", "metrics.jsonl", "evaluations.jsonl")
"""Files of a run folder, which nothing else may write."""

_FOLDERS_OF_A_RUN = ("checkpoints", "encoded", "vocabulary")
"""Folders of one, likewise."""


def given_lines(file: str) -> list[str]:
    """The lines of a file, or of standard input for ``-``; errors as for ``formats.lines``."""
    from anaphora.formats.lines import decode_lines, read_lines

    if file != "-":
        return list(read_lines(Path(file)))
    if sys.stdin is None:
        raise DataError("Text is read from standard input, but that is closed: name a file, or pipe the text in.")
    return list(decode_lines(sys.stdin.buffer, "standard input"))


def split_pairs(lines: list[str], file: str) -> tuple[list[str], list[str]]:
    """The sources and the targets of a file's lines of two columns; DataError for the first line that has not two."""
    pairs = [line.split("\t") for line in lines]
    for number, pair in enumerate(pairs, 1):
        if len(pair) != 2:
            raise DataError(
                f"{'standard input' if file == '-' else file}:{number} should be a source and its translation with a "
                f"tab between them, but its columns are {len(pair)}: put both into one file of two columns."
            )
    return [source for source, _ in pairs], [target for _, target in pairs]


def check_writable(*files: Path | None, read: Iterable[str | Path | None] = ()) -> None:
    """Refuse an output whose folder is missing, or that is one, a part of a run or a file to be ``read``.

    Raises DataError before work is done for it.
    """
    sources = [Path(source) for source in read if source is not None and source != "-"]
    for file in filter(None, files):
        if _is_of_a_run(file.resolve()):
            raise DataError(f"{file} cannot be written: it belongs to the run there; name another.")
        if file.is_file() and any(source.exists() and file.samefile(source) for source in sources):
            raise DataError(f"{file} cannot be written: it is a file that is read, and would be lost; name another.")
        if not file.absolute().parent.is_dir():
            raise DataError(f"{file} cannot be written: there is no folder {file.absolute().parent}; make it first.")
        if file.is_dir():
            raise DataError(f"{file} cannot be written: it is a folder; name a file in it.")
        if not os.access(file if file.exists() else file.absolute().parent, os.W_OK):
            raise DataError(f"{file} cannot be written: there is no permission to; name another place.")


def _is_of_a_run(file: Path) -> bool:
    """Whether a file, perhaps one that is not there yet, is a part of a run folder."""
    for folder in file.parents:
        first, *others = file.relative_to(folder).parts
        if first in (_FOLDERS_OF_A_RUN if others else _OF_A_RUN) and (folder / "experiment.toml").exists():
            return True
    return False
