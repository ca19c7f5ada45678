"""Perplexity and bits of a text under a language model, in units that can be compared.

Perplexity depends on what the model calls a token; that of a word and bits per character and per byte do not. All of
them need the same sum of -ln p, and every prediction counts, the ``</s>`` of each line included.
"""

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from anaphora.errors import DataError, demand_number
from anaphora.evaluation.segments import Floats, Score, SegmentMetric, counts, fraction
from anaphora.formats.json_text import LN_10
from anaphora.text.whitespace import words_in
from anaphora.wording import inflect

Integers = np.ndarray[Any, np.dtype[np.int64]]


def perplexity(nats: float, tokens: int) -> float:
    """Return the exponential of nats / tokens, infinite where a float cannot hold it; DataError without a token."""
    if tokens < 1:
        raise DataError("Perplexity needs at least one prediction, but the text is empty: give a text.")
    try:
        return math.exp(nats / tokens)
    except OverflowError:
        return math.inf


def perplexity_of_log10(total: float, predictions: int) -> float:
    """Return the same of a sum of log10 p, which is what n-gram toolkits print."""
    return perplexity(-total * LN_10, predictions)


@dataclass(frozen=True)
class TextSize:
    """Length of a text, its line ends included."""

    characters: int
    """Code points."""
    bytes: int
    """Bytes in UTF-8."""
    words: int
    """Words between ASCII white space, for any tokenizer; every line end is one."""

    def __add__(self, other: "TextSize") -> "TextSize":
        """Return the size of both texts, one after the other."""
        return TextSize(self.characters + other.characters, self.bytes + other.bytes, self.words + other.words)


def size_of_line(line: str) -> TextSize:
    """Return the size of a line and its end in a file: what a compressor of that file would have to spell."""
    return TextSize(len(line) + 1, len(line.encode()) + 1, len(words_in(line)) + 1)


class LineSums:
    """Sums over the tokens of each line of a text, which come some at a time."""

    def __init__(self, end: int) -> None:
        """``end`` is the token that closes a line."""
        self._end, self._done = end, list[Floats]()
        self._open: Floats | float = 0.0

    def add(self, ids_N: Integers, values_NK: Floats) -> None:
        """Add the next tokens and K numbers of each."""
        ends_N = ids_N == self._end
        line_N = np.cumsum(ends_N) - ends_N
        sums_LK = np.zeros((line_N[-1] + 1 if len(line_N) else 0, values_NK.shape[1]))
        np.add.at(sums_LK, line_N, values_NK)
        sums_LK[:1] += self._open
        closed = int(ends_N.sum())
        self._done.append(sums_LK[:closed])
        if closed or len(sums_LK):
            self._open = sums_LK[closed] if closed < len(sums_LK) else 0.0

    def lines(self) -> Floats:
        """Return the sums of every line that is closed."""
        return np.concatenate(self._done)


_FIGURES = (
    *("perplexity", "known_perplexity", "sentence_perplexity", "word_perplexity", "known_word_perplexity"),
    *("bits_per_character", "bits_per_byte", "known_bits_per_character", "known_bits_per_byte"),
    *("nats", "unknown_nats", "sentence_nats", "tokens", "unknown"),
)


@dataclass(frozen=True)
class Likelihood:
    """Negative log-likelihood of some tokens, and the text that they write."""

    nats: float
    """The sum of -ln p over all tokens, a text being read in one pass."""
    tokens: int
    size: TextSize

    @property
    def perplexity(self) -> float:
        """The exponential of the mean -ln p of a token: of a text in one pass, stream perplexity."""
        return perplexity(self.nats, self.tokens)

    @property
    def word_perplexity(self) -> float:
        """The exponential of -ln p per word of the text, line ends included: what models of any tokens share."""
        return perplexity(self.nats, self.size.words)

    @property
    def bits_per_character(self) -> float:
        """-log2 p per code point of the text, line ends included."""
        return self.nats / math.log(2) / self.size.characters

    @property
    def bits_per_byte(self) -> float:
        """-log2 p per UTF-8 byte of the text, line ends included."""
        return self.nats / math.log(2) / self.size.bytes


@dataclass(frozen=True)
class Prediction(Likelihood):
    """Negative log-likelihood of a text under a language model, in one pass and line by line."""

    unknown: int
    """Tokens that were ``<unk>``: where there are any, other vocabularies had more to predict."""
    known_size: TextSize
    """Length of the text of known tokens, which bits without unknown tokens are divided by."""
    unknown_nats: float
    """Part of ``nats`` that is of unknown tokens."""
    sentence_nats: float
    """The sum of -ln p over all tokens, each line read by itself."""
    carried: bool
    """True if there was such a pass; a model of sentences reads each line by itself, and both sums are one."""
    adaptation: str
    """Adaptation of the model to the text that it had read in one pass, in words."""
    by_line: Floats = field(default_factory=lambda: np.zeros((0, 8)), compare=False, repr=False)
    """Numbers of every line: nats, unknown nats, tokens, unknown tokens, sentence nats, characters, bytes, words."""

    def __post_init__(self) -> None:
        demand_number(self.nats)

    def segment_metrics(self) -> list[SegmentMetric]:
        """Perplexities and bits as sums over lines; those of a token are only of use beside the same tokens."""
        nats, unknown_nats, tokens, unknown, sentence_nats, characters, bytes_, words = self.by_line.T
        predictions = f"{inflect(self.tokens, 'prediction')}, {self.unknown:,} unknown"

        def metric(name: str, score: Score, above: Floats, below: Floats, how: str = "") -> SegmentMetric:
            return SegmentMetric(name, counts((above, below)), score, "lower", how)

        found = [
            metric("perplexity", _perplexities, nats, tokens, predictions),
            metric("perplexity per word", _perplexities, nats, words, f"{self.unknown:,} unknown"),
            metric("bits per character", _bits, nats, characters, f"{self.unknown:,} unknown"),
            metric("bits per byte", _bits, nats, bytes_, f"{self.unknown:,} unknown"),
        ]
        if self.unknown:
            known = nats - unknown_nats, tokens - unknown
            found.append(metric("perplexity without unknown", _perplexities, *known, predictions))
        if self.carried:
            found.append(metric("perplexity line by line", _perplexities, sentence_nats, tokens, predictions))
        return found

    @property
    def known(self) -> Likelihood:
        """The tokens that are not unknown; there always is one, the end of a line."""
        return Likelihood(self.nats - self.unknown_nats, self.tokens - self.unknown, self.known_size)

    @property
    def sentence_perplexity(self) -> float:
        """``perplexity``, each line read by itself."""
        return perplexity(self.sentence_nats, self.tokens)

    @property
    def tokens_are_words(self) -> bool:
        """True if there are as many tokens as words, so that a word is what ``perplexity`` is of."""
        return self.tokens == self.size.words

    def json(self) -> dict[str, float | int | str]:
        known = {f"known_{name}": count for name, count in asdict(self.known_size).items()}
        figures = {
            name: getattr(self.known if name.startswith("known_") else self, name.removeprefix("known_"))
            for name in _FIGURES
        }
        return figures | asdict(self.size) | known | {"adaptation": self.adaptation}

    def __str__(self) -> str:
        """Return one line of words for each way of reading, and one for the known tokens where not all are."""
        read = self._line("one pass" if self.carried else "line by line", self)
        lines = [f"{read}; {self.adaptation}" if self.adaptation else read]
        if self.unknown:
            lines.append(self._line("without unknown", self.known))
        if self.carried:
            lines.append(f"line by line     perplexity {self.sentence_perplexity:.3f}")
        return "\n".join(lines)

    def _line(self, head: str, of: Likelihood) -> str:
        words = "" if self.tokens_are_words else f", {of.word_perplexity:.3f} per word"
        return (
            f"{head:<17}perplexity {of.perplexity:.3f} of {inflect(of.tokens, 'prediction')}{words}; "
            f"{of.bits_per_character:.4f} bits per character, {of.bits_per_byte:.4f} bits per byte"
        )


def _perplexities(sums_NK: Floats) -> Floats:
    with np.errstate(over="ignore"):
        found: Floats = np.exp(fraction(sums_NK))
    return found


def _bits(sums_NK: Floats) -> Floats:
    return fraction(sums_NK) / math.log(2)
