"""The scores of the outputs of a transducer, where an input may have several right answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anaphora.evaluation.segments import SegmentMetric
from anaphora.evaluation.strings import StringScores
from anaphora.formats.json_text import figures_as_json
from anaphora.run.logs import Metric
from anaphora.text.symbols import SymbolTokenizer
from anaphora.wording import counted


@dataclass(frozen=True)
class TransductionScores:
    """The scores of one text; for people by ``str``."""

    scores: StringScores
    without: StringScores | None
    """Those without the characters ``left_out`` of the experiment, where it names some."""
    left_out: str
    how: str
    """Description of the search."""
    outputs: Mapping[str, tuple[str, Sequence[str]]]
    """The output and the answers of each input."""

    def json(self) -> dict[str, Any]:
        without = {"without": self.without.json() | {"characters": self.left_out}} if self.without else {}
        return self.scores.json() | without

    def segment_metrics(self) -> list[SegmentMetric]:
        """Those of ``StringScores``, also without the characters ``left_out``."""
        if self.without is None:
            return self.scores.segment_metrics()
        bare = [replace(one, conditions=f"without '{self.left_out}'") for one in self.without.segment_metrics()]
        return [*self.scores.segment_metrics(), *bare]

    def sentence_lines(self, **marks: str) -> Iterable[str]:
        """One JSON object an input, ``marks`` in front."""
        for source, (output, answers) in self.outputs.items():
            line = {"source": source, "output": output, "answers": list(answers), "right": output in answers}
            yield figures_as_json(marks | line)

    def metrics(self) -> tuple[Metric, ...]:
        found = _metrics(self.scores, f"{counted(self.scores.inputs, 'input')}; {self.how}")
        if self.without is None:
            return found
        return (*found, *_metrics(self.without, f"without '{self.left_out}'; {self.how}"))

    def __str__(self) -> str:
        return "\n".join(f"{metric.name} {metric.shown}  ({metric.conditions})" for metric in self.metrics())


def scores_of(outputs: Iterable[str], answers: Iterable[Iterable[str]], target: SymbolTokenizer) -> StringScores:
    """Return the scores of outputs, each with the answers of its input, as symbols of the target."""
    split = target.symbols_of
    return StringScores.of([split(one) for one in outputs], [[split(one) for one in of_one] for of_one in answers])


def transduction_scores(
    outputs: Mapping[str, tuple[str, Sequence[str]]], target: SymbolTokenizer, left_out: str, how: str
) -> TransductionScores:
    """Return the scores of the output for each input; ``left_out`` are characters that the second ones go without."""
    bare = str.maketrans("", "", left_out)

    def stripped(text: str) -> str:
        return text.translate(bare)

    texts, answers = zip(*outputs.values(), strict=True)
    return TransductionScores(
        scores_of(texts, answers, target),
        scores_of(map(stripped, texts), (map(stripped, of_one) for of_one in answers), target) if left_out else None,
        left_out,
        how,
        outputs,
    )


def _metrics(scores: StringScores, how: str) -> tuple[Metric, ...]:
    return (
        Metric("accuracy", scores.accuracy, how),
        Metric("word error rate", scores.word_error_rate, how),
        Metric("symbol error rate", scores.symbol_error_rate, how),
        Metric("edit distance", scores.edit_distance, how),
    )
