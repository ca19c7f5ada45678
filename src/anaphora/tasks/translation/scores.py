"""Scores of the translations of one text: as a whole, in groups of sentences, and sentence by sentence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from anaphora.evaluation.bleu import METRICS, Condition, Score, bleu, chrf, segment_metric, sentence_scores
from anaphora.evaluation.breakdown import Groups
from anaphora.evaluation.segments import SegmentMetric
from anaphora.formats.json_text import figures_as_json
from anaphora.kernels.compiled import PackedPrecision
from anaphora.prediction.options import SearchOptions
from anaphora.run.logs import Metric
from anaphora.tasks.translation.translation import Translation
from anaphora.text.tokenizer import MARKS, UNK, UNKNOWN
from anaphora.wording import counted

Scores = Mapping[Condition, tuple[Score, Score]]


@dataclass(frozen=True)
class TranslationScores:
    """Scores of the translations of one split."""

    search: SearchOptions = field(repr=False)
    """Options of the search that found them, with nothing left open."""
    language: str
    """Of the translations."""
    scores: Scores
    """BLEU and chrF under the conditions that the experiment names, then those of the text as it is."""
    sources: Sequence[str] = field(compare=False, repr=False)
    references: Sequence[str] = field(compare=False, repr=False)
    outputs: Sequence[Translation] = field(compare=False, repr=False)
    precision: PackedPrecision = "fp32"
    """Precision of matrix products."""
    lowercased: bool = False
    """True if the translator writes no capitals."""
    groups: Groups = field(default_factory=dict, compare=False, repr=False)
    """Numbers of sentences by the name of their group, where groups are scored too."""

    @classmethod
    def of(
        cls,
        sources: Sequence[str],
        references: Sequence[str],
        outputs: Sequence[Translation],
        *,
        search: SearchOptions,
        language: str,
        conditions: Sequence[Condition],
        precision: PackedPrecision = "fp32",
        lowercased: bool = False,
    ) -> Self:
        """Score ``outputs``, which a resolved ``search`` found, under every condition."""
        texts = [output.text for output in outputs]
        scores = {condition: _both(texts, references, language, condition) for condition in conditions}
        return cls(search, language, scores, sources, references, outputs, precision, lowercased)

    @property
    def unknown(self) -> int:
        """Words of the outputs that the vocabulary lacks, whether they were replaced or not."""
        return sum(output.unknown for output in self.outputs)

    @property
    def left(self) -> int:
        """Those of them that the texts still have: neither replaced nor filled in by annotations."""
        written = (output.text.count(MARKS[UNK]) + output.text.count(UNKNOWN) for output in self.outputs)
        return min(self.unknown, sum(written))

    def segment_metrics(self) -> list[SegmentMetric]:
        """BLEU and chrF under every condition, as sums over sentences."""
        texts = [output.text for output in self.outputs]
        return [
            segment_metric(texts, self.references, name, language=self.language, condition=condition)
            for condition in self.scores
            for name in METRICS
        ]

    def of_groups(self) -> dict[str, tuple[int, tuple[Score, Score]]]:
        """Sentences, BLEU and chrF of each group, under the first condition: that which the experiment names."""
        condition, found = next(iter(self.scores)), {}
        for name, numbers in self.groups.items():
            texts = [self.outputs[number].text for number in numbers]
            references = [self.references[number] for number in numbers]
            found[name] = (len(numbers), _both(texts, references, self.language, condition))
        return found

    def sentence_lines(self, **marks: str) -> Iterator[str]:
        """One JSON object a sentence, ``marks`` in front: what was translated, into what, and how well."""
        condition = next(iter(self.scores))
        texts = [output.text for output in self.outputs]
        figures = sentence_scores(texts, self.references, language=self.language, condition=condition)
        rows = zip(self.sources, self.references, self.outputs, figures, strict=True)
        for number, (source, reference, output, scores) in enumerate(rows, 1):
            text = {"number": number, "source": source, "reference": reference, "output": output.text}
            line = marks | text | {"log_probability": output.score, "condition": condition} | scores
            yield figures_as_json(line)

    def json(self) -> dict[str, Any]:
        conditions: dict[str, Any] = {
            condition: {"bleu": bleu.json(), "chrf": chrf.json()} for condition, (bleu, chrf) in self.scores.items()
        }
        groups = {
            name: {"sentences": count, "bleu": bleu.json(), "chrf": chrf.json()}
            for name, (count, (bleu, chrf)) in self.of_groups().items()
        }
        how = {**self.search.json(self.unknown, self.left), "precision": self.precision}
        found = {"sentences": len(self.outputs), **how, **conditions}
        return found | ({"groups": groups} if groups else {})

    def metrics(self) -> tuple[Metric, ...]:
        """The scores as a run folder keeps them."""
        how = self.searched()
        return tuple(
            Metric(score.name, score.value, f"{score.condition}; {score.signature}; {how}")
            for both in self.scores.values()
            for score in both
        )

    def searched(self) -> str:
        """Return a description of the search, in words."""
        how = self.search.describe(len(self.outputs), self.unknown, self.left)
        return how if self.precision == "fp32" else f"{how}, {self.precision}"

    def __str__(self) -> str:
        groups = [
            f"  {name:<24} {counted(count, 'sentence'):>17}  BLEU {bleu.value:6.2f}  chrF2 {chrf.value:6.2f}  "
            f"({bleu.condition})"
            for name, (count, (bleu, chrf)) in self.of_groups().items()
        ]
        scores = [str(score) for both in self.scores.values() for score in both]
        if self.lowercased:
            scores.append(
                "The raw scores count the capitals of the reference, and this run writes none (text.lowercase = true)."
            )
        return "\n".join([*scores, self.searched(), *groups])


def _both(texts: Sequence[str], references: Sequence[str], language: str, condition: Condition) -> tuple[Score, Score]:
    return (
        bleu(texts, references, language=language, condition=condition),
        chrf(texts, references, language=language, condition=condition),
    )
