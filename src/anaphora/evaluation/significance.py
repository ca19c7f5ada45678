"""Is one translator better than another, or was it luck? Paired bootstrap resampling (Koehn 2004) on any metric.

The sentences of a test set are resampled with replacement, as many as there are, and both translators are scored on
the same draw; over many draws that shows how far the difference depends on the sentences that happened to be there.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from anaphora.errors import DataError
from anaphora.evaluation.bleu import Condition, Metric, metric_of, prepared
from anaphora.wording import counted

SAMPLES = 1000
SEED = 12345


@dataclass(frozen=True)
class Comparison:
    """Two translators on the same sentences, by one metric."""

    name: str
    condition: Condition
    signature: str
    first: float
    second: float
    """Of 100, as ``first``."""
    mean_difference: float
    """Second minus first, over all draws."""
    interval: tuple[float, float]
    """Holds the difference in 95 of 100 draws."""
    p_value: float
    """How often chance alone would give a difference as large, in either direction."""
    sentences: int
    samples: int
    seed: int

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.name}: {self.first:.2f} against {self.second:.2f}, difference {self.second - self.first:+.2f} "
            f"(95%: {low:+.2f} to {high:+.2f}), p = {self.p_value:.4f} ({self.condition}; {self.signature}; "
            f"paired bootstrap, n = {self.samples:,}, seed {self.seed})"
        )

    def json(self) -> dict[str, Any]:
        """Everything, for ``json.dumps``."""
        return asdict(self)


def paired_bootstrap(
    first: Sequence[str],
    second: Sequence[str],
    references: Sequence[str],
    name: Metric,
    *,
    language: str,
    condition: Condition = "raw",
    samples: int = SAMPLES,
    seed: int = SEED,
) -> Comparison:
    """Compare the outputs of two translators for the same sources.

    The p value is the fraction of draws whose difference is as far from the mean of all draws as the real difference is
    from none, in either direction, the real one counted too. sacreBLEU's own test takes differences without their
    signs and finds smaller ones. Raises DataError for unequal counts or none.
    """
    if len(first) != len(second):
        raise DataError(
            f"Two translators are compared on the same sentences, but there are {counted(len(first), 'output')} of "
            f"the first "
            f"and {len(second):,} of the second: translate the same file with both."
        )
    metric = metric_of(name, language, condition)
    counts_SK = [_counts(metric, *prepared(outputs, references, language, condition)) for outputs in (first, second)]
    draws_NS = np.random.default_rng(seed).integers(len(references), size=(samples, len(references)))
    drawn_N = [_scores(metric, counts, draws_NS) for counts in counts_SK]
    real = [_scores(metric, counts, np.arange(len(references))[None])[0] for counts in counts_SK]
    differences_N = drawn_N[1] - drawn_N[0]
    mean = float(differences_N.mean())
    as_far = int((np.abs(differences_N - mean) >= abs(real[1] - real[0])).sum())
    low, high = np.percentile(differences_N, (2.5, 97.5))
    return Comparison(
        name=name,
        condition=condition,
        signature=str(metric.get_signature()),
        first=float(real[0]),
        second=float(real[1]),
        mean_difference=mean,
        interval=(float(low), float(high)),
        p_value=(as_far + 1) / (samples + 1),
        sentences=len(references),
        samples=samples,
        seed=seed,
    )


def _counts(metric: BLEU | CHRF, outputs: list[str], references: list[str]) -> np.ndarray[Any, Any]:
    """What the metric adds up over sentences: S x K. Sums of rows are all that a score depends on."""
    # the two methods that sacreBLEU's own significance test is built on; it has no public door to them
    return np.array(metric._extract_corpus_statistics(outputs, [references]))


def _scores(metric: BLEU | CHRF, counts_SK: np.ndarray[Any, Any], draws_NS: np.ndarray[Any, Any]) -> Any:
    sums = (counts_SK[draw_S].sum(axis=0).tolist() for draw_S in draws_NS)
    return np.array([min(100.0, metric._compute_score_from_stats(row).score) for row in sums])
