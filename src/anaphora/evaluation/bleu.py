"""BLEU and chrF by sacreBLEU, under conditions that are named in the result.

``raw``: the text as people read it; sacreBLEU tokenises both sides (13a, or its own way for Chinese, Japanese and
Korean; characters for Burmese, Khmer, Lao, Thai and Tibetan), case counts. ``moses-lowercase``: both sides lower-cased,
punctuation normalised and tokenised as Moses does it, then no further tokenisation: the conditions of the published
Multi30k figures.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from anaphora.errors import DataError, MissingExtraError
from anaphora.evaluation.segments import Floats, SegmentMetric
from anaphora.formats.json_text import Jsonable
from anaphora.languages import bare
from anaphora.text.normalise import normalise
from anaphora.wording import inflect

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU, BLEUScore
    from sacrebleu.metrics.chrf import CHRF, CHRFScore

Texts = Sequence[str]
References = Sequence[str | Texts]
"""One of each sentence, or several, at least one and not equally many."""
Condition = Literal["raw", "moses-lowercase"]
MetricName = Literal["BLEU", "chrF2"]
METRICS: tuple[MetricName, ...] = ("BLEU", "chrF2")

_TOKENISERS = {
    **{"zh": "zh", "yue": "zh", "ja": "ja-mecab", "ko": "ko-mecab"},
    **dict.fromkeys(("bo", "km", "lo", "my", "th"), "char"),
}
"""sacreBLEU's tokenisers for languages that 13a does not segment into words; those of mecab need a package each."""


@dataclass(frozen=True)
class Score(Jsonable):
    """A figure that can be cited: with it comes every setting that changes it."""

    name: str
    value: float
    """BLEU of 100."""
    signature: str
    """sacreBLEU's own."""
    condition: Condition
    """Preprocessing of both sides before sacreBLEU."""

    def __str__(self) -> str:
        return f"{self.name} = {self.value:.2f} ({self.condition}; {self.signature})"


def bleu(hypotheses: Texts, references: References, *, language: str, condition: Condition = "raw") -> Score:
    """Corpus BLEU (Papineni et al. 2002) of outputs in ``language``, a two-letter code.

    Of several references the length of the closest counts. Raises DataError for unequal counts or none at all,
    MissingExtraError where the language's tokeniser is missing.
    """
    return _score("BLEU", hypotheses, references, language, condition)


def chrf(hypotheses: Texts, references: References, *, language: str, condition: Condition = "raw") -> Score:
    """Corpus chrF2 (Popovic 2015), which counts characters and needs no tokens; errors as for ``bleu``."""
    return _score("chrF2", hypotheses, references, language, condition)


def sentence_scores(
    hypotheses: Texts, references: Texts, *, language: str, condition: Condition = "raw"
) -> list[dict[MetricName, float]]:
    """Both metrics of every sentence alone; BLEU counts only the orders that a sentence has (effective order)."""
    texts, [correct] = prepare_texts(hypotheses, references, language, condition)
    metrics = {name: metric_of(name, language, condition, single=True) for name in METRICS}
    return [
        {name: _of_100(metric.sentence_score(hypothesis, [reference])) for name, metric in metrics.items()}
        for hypothesis, reference in zip(texts, correct, strict=True)
    ]


def segment_metric(
    hypotheses: Texts, references: References, name: MetricName, *, language: str, condition: Condition = "raw"
) -> SegmentMetric:
    """Return a metric as sums over sentences, for resampling; errors as for ``bleu``."""
    metric = metric_of(name, language, condition)
    # the two methods that sacreBLEU's own significance test is built on; it has no public door to them
    statistics = metric._extract_corpus_statistics(*prepare_texts(hypotheses, references, language, condition))
    counts_SK = np.array(statistics, dtype=np.float64)

    def score(sums_NK: Floats) -> Floats:
        rows = sums_NK.round().astype(np.int64).tolist()
        return np.array([_of_100(metric._compute_score_from_stats(row)) for row in rows])

    return SegmentMetric(name, counts_SK, score, conditions=f"{condition}; {metric.get_signature()}", top=100)


def word_splitter(language: str) -> Callable[[str], list[str]]:
    """Return a function to the words that BLEU counts, in lower case and without punctuation.

    Raises as ``metric_of``.
    """
    metric = cast("BLEU", metric_of("BLEU", language, "raw"))
    tokenize = metric.tokenizer
    return lambda text: [token for token in tokenize(text.lower()).split() if any(map(str.isalnum, token))]


def metric_of(name: MetricName, language: str, condition: Condition, *, single: bool = False) -> "BLEU | CHRF":
    """sacreBLEU's metric for texts that ``prepare_texts`` gave; MissingExtraError where the tokeniser is missing.

    ``single`` is for sentences by themselves.
    """
    # what loads a run needs no score, and sacreBLEU brings tables and locks of files
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    # Texts are lower-cased already under these conditions; told so, sacreBLEU notes it in the signature.
    moses, code = condition == "moses-lowercase", bare(language)
    if name == "chrF2":
        return CHRF(lowercase=moses)
    try:
        tokeniser = "none" if moses else _TOKENISERS.get(code, "13a")
        return BLEU(lowercase=moses, tokenize=tokeniser, force=True, effective_order=single)
    except RuntimeError:
        raise MissingExtraError(f"sacreBLEU's tokeniser for '{code}'", code) from None


def prepare_texts(
    hypotheses: Texts, references: References, language: str, condition: Condition
) -> tuple[list[str], list[Any]]:
    """Return outputs and references as sacreBLEU is to see them; DataError for unequal counts or none at all.

    References are by their place, None where a sentence has no more.
    """
    if len(hypotheses) != len(references) or not references:
        raise DataError(
            f"Outputs and references should be equally many and at least one, but there are {len(hypotheses):,} "
            f"outputs and {inflect(len(references), 'reference')}: give the file that was translated and its "
            f"translation."
        )
    moses = None
    if condition == "moses-lowercase":
        from anaphora.text.moses import MosesText  # sacremoses takes its time, and most scores never need it

        moses = MosesText(bare(language))

    def prepare(text: str) -> str:
        # what is written is composed, as every text that is read, so references are as well
        composed = normalise(text)
        return moses(composed) if moses else composed

    rows = [[one] if isinstance(one, str) else one for one in references]
    places = range(max(map(len, rows)))
    streams = [[prepare(row[place]) if place < len(row) else None for row in rows] for place in places]
    return list(map(prepare, hypotheses)), streams


def _score(name: MetricName, hypotheses: Texts, references: References, language: str, condition: Condition) -> Score:
    texts, streams = prepare_texts(hypotheses, references, language, condition)
    metric = metric_of(name, language, condition)
    result = metric.corpus_score(texts, streams)
    return Score(result.name, _of_100(result), str(metric.get_signature()), condition)


def _of_100(result: "BLEUScore | CHRFScore") -> float:
    """Return the figure, which sums of logarithms may leave an ulp above what it can be."""
    return min(100.0, float(result.score))
