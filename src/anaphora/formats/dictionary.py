"""Dictionaries: word, tab, translation, and perhaps a tab and how likely that translation is; a word may have several.

A word's first line is its best translation, unless likelihoods say otherwise.
"""

import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from anaphora.errors import DataError
from anaphora.formats.lines import read_lines, write_lines


class Entry(NamedTuple):
    """A word, one of its translations, and how likely that is."""

    source: str
    target: str
    probability: float


def write_dictionary(path: Path, entries: Iterable[Entry]) -> None:
    """Write entries, a line each; errors as for ``write_lines``."""
    write_lines(path, (f"{entry.source}\t{entry.target}\t{entry.probability:.6f}" for entry in entries))


def read_dictionary(path: Path) -> dict[str, list[str]]:
    """Return the translations of every word, the most probable first, equally likely ones as they come.

    Raises DataError as ``read_lines`` does, for a line that is no entry, and for a file without any.
    """
    entries: dict[str, list[Entry]] = {}
    for number, line in enumerate(read_lines(path), 1):
        entry = _entry(line, f"{path}:{number}")
        entries.setdefault(entry.source, []).append(entry)
    if not entries:
        raise DataError(f"{path} should hold a dictionary, WORD, tab, TRANSLATION a line, but is empty: give another.")
    return {
        source: [entry.target for entry in sorted(found, key=lambda entry: -entry.probability)]
        for source, found in entries.items()
    }


def _entry(line: str, where: str) -> Entry:
    source, _, rest = line.partition("\t")
    target, _, chance = rest.partition("\t")
    try:
        probability = float(chance or 1)
    except ValueError:
        probability = -1.0
    if not (source.strip() and target.strip() and 0 <= probability <= 1):
        raise DataError(
            f"{where} should read WORD, tab, TRANSLATION[, tab, PROBABILITY], not '{line[:60]}': correct it."
        )
    source, target = (unicodedata.normalize("NFC", word.strip()) for word in (source, target))
    return Entry(source, target, probability)
