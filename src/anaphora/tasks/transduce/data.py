"""The data, the scores and the validation of a transducer, where an input may have several right answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, cast

from anaphora.data.columns import Integers
from anaphora.data.corpora import Pair, PairCorpus, Splits
from anaphora.data.example_store import ExampleStore
from anaphora.data.hallucination import hallucinate_pairs
from anaphora.data.sources import string_splits
from anaphora.evaluation.segments import SegmentMetric
from anaphora.evaluation.strings import StringScores
from anaphora.events import Report, silent
from anaphora.formats.json_text import figures_as_json
from anaphora.formats.table_columns import TableColumns
from anaphora.run.logs import Metric
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.training import TranslatorJob
from anaphora.text.symbols import SymbolTokenizer
from anaphora.text.tokenizer import Tokenizer
from anaphora.wording import inflect


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

    @classmethod
    def of(
        cls, outputs: Mapping[str, tuple[str, Sequence[str]]], target: SymbolTokenizer, left_out: str, how: str
    ) -> Self:
        """Return the scores of the output for each input; second ones go without the characters ``left_out``."""
        bare = str.maketrans("", "", left_out)

        def stripped(text: str) -> str:
            return text.translate(bare)

        texts, answers = zip(*outputs.values(), strict=True)
        scores, without = scores_of(texts, answers, target), None
        if left_out:
            without = scores_of(map(stripped, texts), (map(stripped, of_one) for of_one in answers), target)
        return cls(scores, without, left_out, how, outputs)

    def json(self) -> dict[str, Any]:
        without = {"without": self.without.json() | {"characters": self.left_out}} if self.without else {}
        return self.scores.json() | without

    def segment_metrics(self) -> list[SegmentMetric]:
        """Return the metrics of ``StringScores``, also without the characters ``left_out``."""
        if self.without is None:
            return self.scores.segment_metrics()
        bare = [replace(one, conditions=f"without '{self.left_out}'") for one in self.without.segment_metrics()]
        return [*self.scores.segment_metrics(), *bare]

    def sentence_lines(self, **marks: str) -> Iterable[str]:
        """Yield one JSON object an input, ``marks`` in front."""
        for source, (output, answers) in self.outputs.items():
            line = {"source": source, "output": output, "answers": list(answers), "right": output in answers}
            yield figures_as_json(marks | line)

    def metrics(self) -> tuple[Metric, ...]:
        found = _metrics(self.scores, f"{inflect(self.scores.inputs, 'input')}; {self.how}")
        if self.without is None:
            return found
        return (*found, *_metrics(self.without, f"without '{self.left_out}'; {self.how}"))

    def __str__(self) -> str:
        return "\n".join(f"{metric.name} {metric.shown}  ({metric.conditions})" for metric in self.metrics())


def scores_of(outputs: Iterable[str], answers: Iterable[Iterable[str]], target: SymbolTokenizer) -> StringScores:
    """Return the scores of outputs, each with the answers of its input, as symbols of the target."""
    split = target.symbols_of
    return StringScores.of([split(one) for one in outputs], [[split(one) for one in of_one] for of_one in answers])


def _metrics(scores: StringScores, how: str) -> tuple[Metric, ...]:
    return (
        Metric("accuracy", scores.accuracy, how),
        Metric("word error rate", scores.word_error_rate, how),
        Metric("symbol error rate", scores.symbol_error_rate, how),
        Metric("edit distance", scores.edit_distance, how),
    )


def splits_of(experiment: Any, report: Report = silent) -> Splits[PairCorpus]:
    """Return the splits of an experiment over ``StringData``; errors as for ``data.sources.string_splits``."""
    data, seed = experiment.data, experiment.training.seed
    return string_splits(data.paths(), data.names, columns=TableColumns.of(data), seed=seed, report=report)


def answers_of(pairs: Iterable[Pair]) -> dict[str, list[str]]:
    """Return all answers of each input, in the order of the inputs."""
    found: dict[str, list[str]] = {}
    for source, target in pairs:
        found.setdefault(source, []).append(target)
    return found


class TransducerJob(TranslatorJob):
    """Pairs of strings, and how well inputs become answers."""

    def __init__(self, experiment: Any, report: Report) -> None:
        """Find and check the data; DataError where data.hallucinate finds nothing to replace."""
        super().__init__(experiment, report)
        count, seed = experiment.data.hallucinate, experiment.training.seed
        self._more = hallucinate_pairs(self.splits.train, count, seed) if count else self.splits.train

    @staticmethod
    def find_data(experiment: ExperimentBase, report: Report) -> Splits[PairCorpus]:
        """Return the splits of its data; errors as for ``splits_of``."""
        return splits_of(experiment, report)

    def scores(self, translator: TranslationPredictor, part: PairCorpus, numbers: Integers) -> Mapping[str, float]:
        """Return accuracy and symbol error rate of the validation inputs of these numbers."""
        pairs = list(part)
        answers = answers_of(pairs[number] for number in numbers.tolist())
        outputs = self.outputs(translator, list(answers))
        scores = scores_of(outputs, answers.values(), cast(SymbolTokenizer, translator.target))
        return {"accuracy": scores.accuracy, "symbol_error_rate": scores.symbol_error_rate}

    def _encode(
        self, part: PairCorpus, tokenizers: Mapping[str, Tokenizer], folder: Path, report: Report
    ) -> ExampleStore:
        """Return a part as ids, the training split with what is hallucinated."""
        corpus = self._more if part is self.splits.train else part
        return super()._encode(corpus, tokenizers, folder, report)
