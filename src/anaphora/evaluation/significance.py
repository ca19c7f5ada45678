"""Is one translator better than another, or was it luck? Paired bootstrap resampling (Koehn 2004) of BLEU or chrF.

The sentences of a test set are resampled with replacement, as many as there are, and both translators are scored on
the same draw; over many draws that shows how far the difference depends on the sentences that happened to be there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from anaphora.errors import DataError
from anaphora.evaluation.bleu import Condition, MetricName, segment_metric
from anaphora.evaluation.resampling import SAMPLES, SEED, paired
from anaphora.formats.json_text import Jsonable
from anaphora.wording import counted


@dataclass(frozen=True)
class Comparison(Jsonable):
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
    """Probability of a difference as large by chance, in either direction."""
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


def paired_bootstrap(
    first: Sequence[str],
    second: Sequence[str],
    references: Sequence[str],
    name: MetricName,
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
            f"Two translators are compared on the same sentences, but there are {counted(len(first), 'output')} of the "
            f"first and {len(second):,} of the second: translate the same file with both."
        )
    before, after = (
        segment_metric(outputs, references, name, language=language, condition=condition) for outputs in (first, second)
    )
    drawn = paired([before], [after], samples, seed)
    return Comparison(
        name=name,
        condition=condition,
        signature=before.conditions.removeprefix(f"{condition}; "),
        first=before.value,
        second=after.value,
        mean_difference=drawn.mean,
        interval=drawn.interval,
        p_value=drawn.p_value,
        sentences=len(references),
        samples=samples,
        seed=seed,
    )
