"""``confidence.json``: how sure to be of what a run answers, a calibration for each way to search.

The file is optional, sealed by its own SHA-256 and replaced as a whole. A calibration names the weights that it was
fitted to by their SHA-256, since those of a run that is trained further are others.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from anaphora import files
from anaphora.records import Record
from anaphora.run.bundle import content_of
from anaphora.run.layout import store
from anaphora.run.manifest import unseal

NAME = "confidence.json"
_FORMAT = 2
_LARGEST = 4 * files.MEGABYTE


class LogisticRegression(Record, extra="forbid"):
    """A logistic regression of so many standardized features."""

    means: list[float]
    scales: list[float]
    weights: list[float]
    bias: float


class CalibrationQuality(Record, extra="forbid"):
    """Quality of fits to one half of the examples on the other half."""

    examples: int
    positive: float
    """Fraction of them that are right."""
    area: float | None
    """Area under the ROC curve; None where all are right, or none is."""
    calibration_error: float
    """Expected calibration error."""


class Calibration(Record, extra="forbid"):
    """Calibration for one way to search."""

    settings: dict[str, Any]
    """The way to search, and the precision of products."""
    weights: str
    """SHA-256 of the weights."""
    version: int
    """Version of the features."""
    fitted_on: int
    """Number of sentences."""
    sentence: LogisticRegression
    word: LogisticRegression
    measured: dict[str, CalibrationQuality]
    """Quality of the confidence of sentences and of words."""
    known_words: tuple[str, str] = ("", "")
    """Filters of the words of the training text, source and target (``confidence.word_filter``); empty in older
    calibrations, whose features are without them, and where that text was not at hand."""


class _File(Record, extra="forbid"):
    format: int
    sha256: str
    calibrations: list[Calibration]


def read(run: Path) -> list[Calibration]:
    """Return the calibrations of a run.

    None where there is no file. Raises DamagedError, or RunError for a newer format.
    """
    content = content_of(run, NAME, _LARGEST)
    if content is None:
        return []
    remedy = "remove it, and calibrate the run again"
    table = unseal(content, run / NAME, _FORMAT, remedy)
    return _File.from_table(table, run / NAME, "calibrations").calibrations


def add(run: Path, calibration: Calibration) -> None:
    """Store a calibration in place of any for the same settings, and of those for other weights.

    Raises RunError where the folder cannot be written to, and as ``read``.
    """
    kept = [one for one in read(run) if one.weights == calibration.weights and one.settings != calibration.settings]
    table = {"format": _FORMAT, "calibrations": [asdict(one) for one in (*kept, calibration)]}
    store(run / NAME, files.json_bytes(files.seal(table)), "the calibration is not stored")
