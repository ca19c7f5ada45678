"""The figures of a run as its folder and its card keep them: each with how it came about."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Generic, TypeVar

import anaphora
from anaphora.errors import RunError
from anaphora.evaluation.perplexity import Prediction
from anaphora.events import Note, Report
from anaphora.experiment.scoring.translation_scores import TranslationScores
from anaphora.run import Run
from anaphora.run.checkpoint import CheckpointName, name_of
from anaphora.run.evaluations import Evaluation, Figure

Results = dict[str, TranslationScores | Prediction]
"""What was found, by part."""


_Item = TypeVar("_Item")


class Digested(Generic[_Item]):
    """The lines or pairs of a text, handed on once as they are read, and a digest of what was read."""

    def __init__(self, text: Iterable[_Item]) -> None:
        """``text`` may be a stream that can be read but once."""
        self._text, self._digest = text, hashlib.sha256()

    def __iter__(self) -> Iterator[_Item]:
        """What the text holds."""
        for item in self._text:
            self._digest.update(json.dumps(item).encode() + b"\n")
            yield item

    @property
    def digest(self) -> str:
        """SHA-256 of what was read so far, whatever kind of file it came from."""
        return self._digest.hexdigest()


def keep_results(run: Run, which: CheckpointName, results: Results, digests: Mapping[str, str], report: Report) -> None:
    """Add the figures of checkpoint ``which`` to the folder; one that takes nothing is no reason to lose them.

    ``digests`` are those of the texts, by part.
    """
    date = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        for part, result in results.items():
            figures, digest = _figures(result), digests[part]
            run.evaluations.append(Evaluation(date, part, name_of(which), anaphora.__version__, figures, digest))
        run.write_card(run.validation(which))
    except RunError as error:
        report(Note(str(error), warning=True))


def _figures(result: TranslationScores | Prediction) -> tuple[Figure, ...]:
    if isinstance(result, TranslationScores):
        how = result.searched()
        return tuple(
            Figure(score.name, score.value, f"{score.condition}; {score.signature}; {how}")
            for both in result.scores.values()
            for score in both
        )
    reading = "one pass" if result.carried else "line by line"
    adapted = f", {result.adaptation}" if result.adaptation else ""
    counted = f"{reading}, {result.tokens:,} predictions, {result.unknown:,} unknown"
    how = f"{counted}{adapted}"
    how_known = f"{reading}, {result.tokens - result.unknown:,} predictions{adapted}"
    how_words = f"{counted}, {result.size.words:,} words and line ends{adapted}"
    of_words = () if result.units_are_words else (Figure("perplexity per word", result.word_perplexity, how_words),)
    return (
        Figure("bits per character", result.bits_per_character, how),
        Figure("bits per byte", result.bits_per_byte, how),
        Figure("bits per character without unknown", result.known_bits_per_character, how_known),
        Figure("bits per byte without unknown", result.known_bits_per_byte, how_known),
        Figure("perplexity", result.perplexity, how),
        Figure("perplexity without unknown", result.known_perplexity, how_known),
        Figure("perplexity line by line", result.sentence_perplexity, f"line by line, {result.tokens:,} predictions"),
        *of_words,
    )
