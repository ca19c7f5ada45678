"""Quality of the outputs of a transducer, where an input may have several right answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from anaphora.evaluation.segments import SegmentMetric, counts, fraction
from anaphora.formats.json_text import attributes

Symbols = Sequence[str]


def edit_distance(first: Symbols, second: Symbols) -> int:
    """The least number of symbols that are inserted, deleted or replaced to make one of the other (Levenshtein)."""
    row = list(range(len(second) + 1))
    for i, one in enumerate(first, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(second, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (one != other))
    return row[-1]


def in_common(first: Symbols, second: Symbols) -> list[bool]:
    """Mark the symbols of ``first`` in a longest common subsequence with ``second``; of several, the earliest."""
    longest = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i in reversed(range(len(first))):
        for j in reversed(range(len(second))):
            same = first[i] == second[j]
            longest[i][j] = longest[i + 1][j + 1] + 1 if same else max(longest[i + 1][j], longest[i][j + 1])
    found, j = [], 0
    for i, symbol in enumerate(first):
        # the first place of the symbol from which as much is in common as there is in all
        place = next((k for k in range(j, len(second)) if second[k] == symbol), -1)
        taken = place >= 0 and longest[i + 1][place + 1] + 1 == longest[i][j]
        found.append(taken)
        j = place + 1 if taken else j
    return found


@dataclass(frozen=True)
class StringScores:
    """The scores of the outputs for several inputs."""

    edits_of: tuple[int, ...]
    """Edit distance of every output to the nearest answer; 0 where it is one of the answers."""
    symbols_of: tuple[int, ...]
    """Symbols of those answers."""

    @classmethod
    def of(cls, outputs: Sequence[Symbols], answers: Sequence[Sequence[Symbols]]) -> Self:
        """Score at least one input, with at least one answer each; of two that are as near the first is the nearest."""
        found = [
            min(((edit_distance(output, answer), len(answer)) for answer in of_one), key=lambda found: found[0])
            for output, of_one in zip(outputs, answers, strict=True)
        ]
        return cls(tuple(distance for distance, _ in found), tuple(length for _, length in found))

    @property
    def inputs(self) -> int:
        return len(self.edits_of)

    @property
    def accuracy(self) -> float:
        """Fraction of inputs whose output is an answer."""
        return self.edits_of.count(0) / self.inputs

    @property
    def word_error_rate(self) -> float:
        """Fraction of inputs whose output is none."""
        return 1 - self.accuracy

    @property
    def edit_distance(self) -> float:
        """Edits of an output to its nearest answer, on average."""
        return sum(self.edits_of) / self.inputs

    @property
    def symbol_error_rate(self) -> float:
        """Edits for each symbol of the nearest answers: of phones, the phoneme error rate."""
        return sum(self.edits_of) / max(1, sum(self.symbols_of))

    def json(self) -> dict[str, Any]:
        return attributes(self, "inputs", "accuracy", "word_error_rate", "symbol_error_rate", "edit_distance")

    def segment_metrics(self) -> list[SegmentMetric]:
        """Accuracy, symbol error rate and edit distance as sums over inputs."""
        ones, right = [1] * self.inputs, [not edits for edits in self.edits_of]
        return [
            SegmentMetric("accuracy", counts((right, ones)), fraction),
            SegmentMetric("symbol error rate", counts((self.edits_of, self.symbols_of)), fraction, "lower"),
            SegmentMetric("edit distance", counts((self.edits_of, ones)), fraction, "lower"),
        ]
