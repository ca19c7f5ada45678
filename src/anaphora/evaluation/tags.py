"""Quality of tags: the fraction of right ones, and of whole spans precision, recall and F1."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anaphora.formats.span_tags import ONE_TYPE, Encoding, spans_of
from anaphora.formats.tagged import labels_of
from anaphora.wording import inflect

_SHOWN = 20
"""Tags or labels in the table for people."""


@dataclass
class Matches:
    """Items predicted, items there are, and those in both."""

    predicted: int = 0
    expected: int = 0
    right: int = 0

    @property
    def precision(self) -> float:
        """Fraction of the predicted ones that are right; 0 for none."""
        return self.right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Fraction of the expected ones that are found; 0 for none."""
        return self.right / self.expected if self.expected else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 where both are."""
        both = self.predicted + self.expected
        return 2 * self.right / both if both else 0.0

    def json(self) -> dict[str, float]:
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1, "support": self.expected}


def total(matches: Iterable[Matches]) -> Matches:
    """Return the items of all tags or labels together."""
    counts = [(one.predicted, one.expected, one.right) for one in matches]
    return Matches(*map(sum, zip(*counts, strict=True)))


def mean_f1(matches: Iterable[Matches]) -> float:
    """Return the mean F1 of what is expected or predicted somewhere; 0 for nothing."""
    seen = [one.f1 for one in matches if one.expected or one.predicted]
    return sum(seen) / len(seen) if seen else 0.0


def by_frequency(matches: Mapping[str, Matches]) -> list[tuple[str, Matches]]:
    """Tags or labels, those expected most often first."""
    return sorted(matches.items(), key=lambda item: (-item[1].expected, item[0]))


def never_predicted(matches: Mapping[str, Matches]) -> list[str]:
    """Return a sentence on the tags or labels that are expected but never predicted; nothing where there are none."""
    missed = [
        f"{name} ({inflect(one.expected, 'example')})"
        for name, one in by_frequency(matches)
        if one.expected and not one.predicted
    ]
    more = f" and {len(missed) - _SHOWN:,} more" if len(missed) > _SHOWN else ""
    return [f"Never predicted: {', '.join(missed[:_SHOWN])}{more}."] if missed else []


def format_most_frequent(matches: Mapping[str, Matches]) -> list[str]:
    """Return a line for each of the most frequent tags or labels."""
    return [
        f"  {name}: precision {one.precision:.4f}, recall {one.recall:.4f}, F1 {one.f1:.4f}, {one.expected:,}"
        for name, one in by_frequency(matches)[:_SHOWN]
    ]


@dataclass
class TagCounts:
    """Counts of a text, added to sentence by sentence."""

    encoding: Encoding | None = None
    """Encoding of spans; None where tags are not of spans."""
    several: bool = False
    """True if a token may have several labels, with ``|`` between them in its tag and ``_`` for none."""
    tokens: int = 0
    right: int = 0
    unknown: int = 0
    """Tokens whose word is not in the vocabulary."""
    unknown_right: int = 0
    sentences: int = 0
    sentences_right: int = 0
    by_tag: dict[str, Matches] = field(default_factory=dict)
    """Matches of each tag, or of each type of span."""

    def add(self, expected: Sequence[str], predicted: Sequence[str], known: Sequence[bool]) -> None:
        """Count one sentence; ``known`` says which of its words are in the vocabulary."""
        same = [one == other for one, other in zip(expected, predicted, strict=True)]
        unknown = [one for one, is_known in zip(same, known, strict=True) if not is_known]
        self.tokens, self.right = self.tokens + len(same), self.right + sum(same)
        self.unknown, self.unknown_right = self.unknown + len(unknown), self.unknown_right + sum(unknown)
        self.sentences, self.sentences_right = self.sentences + 1, self.sentences_right + all(same)
        self._match(self._labels(expected), self._labels(predicted))

    def _labels(self, tags: Sequence[str]) -> list[tuple[Any, str]]:
        """Yield the items that are counted: spans, labels or tags, each with its place and its name."""
        if self.encoding is not None:
            return [(span, span.type or ONE_TYPE) for span in spans_of(tags, self.encoding)]
        if self.several:
            return [((place, label), label) for place, tag in enumerate(tags) for label in labels_of(tag)]
        return [((place, tag), tag) for place, tag in enumerate(tags)]

    def _match(self, expected: Sequence[tuple[Any, str]], predicted: Sequence[tuple[Any, str]]) -> None:
        right = Counter(label for _, label in set(expected) & set(predicted))
        for items, name in (expected, "expected"), (predicted, "predicted"):
            for label, count in Counter(label for _, label in items).items():
                matches = self.by_tag.setdefault(label, Matches())
                setattr(matches, name, getattr(matches, name) + count)
        for label, count in right.items():
            self.by_tag[label].right += count

    @property
    def labels(self) -> Matches:
        """Matches of all spans, or of all labels where a token may have several."""
        return total(self.by_tag.values())

    @property
    def accuracy(self) -> float:
        """Fraction of tokens with the right tag."""
        return self.right / self.tokens if self.tokens else 0.0

    @property
    def unknown_accuracy(self) -> float:
        """The same of tokens whose word is not in the vocabulary."""
        return self.unknown_right / self.unknown if self.unknown else 0.0

    @property
    def sentence_accuracy(self) -> float:
        """Fraction of sentences without an error."""
        return self.sentences_right / self.sentences if self.sentences else 0.0

    @property
    def macro_f1(self) -> float:
        """The mean of the F1 of every tag, or type of span, that is expected or predicted."""
        return mean_f1(self.by_tag.values())
