"""A transducer measured on given pairs, or on its own test splits."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

from anaphora.data.corpora import Pair, StringFile
from anaphora.errors import DataError
from anaphora.evaluation.segments import SegmentMetric
from anaphora.evaluation.strings import StringScores
from anaphora.events import Report, silent
from anaphora.formats.json_text import figures_as_json
from anaphora.formats.strings import read_format, string_lines
from anaphora.run.logs import Metric
from anaphora.tasks.evaluation import Answer, Request, one_run, own_splits
from anaphora.tasks.runs import experiment_of
from anaphora.tasks.scores import Digested, scored
from anaphora.tasks.task import Task
from anaphora.tasks.transduce.config import TransductionExperiment
from anaphora.tasks.transduce.data import answers_of, scores_of, splits_of
from anaphora.tasks.transduce.predictor import TransducerPredictor
from anaphora.text.symbols import SymbolTokenizer
from anaphora.wording import counted

_PEEK = 1000
"""Lines by which the format of a given text is recognised."""


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


def evaluate(task: Task, paths: Sequence[Path], request: Request, report: Report = silent) -> Answer:
    """Return accuracy, word and symbol error rate of one run on given pairs or on ``splits_to_score``; kept in the run.

    Raises ConfigError for what a transducer has no use for, DataError with its line for one that is no pair.
    """
    path = one_run(paths, task.noun)
    experiment = cast(TransductionExperiment, experiment_of(path))
    request.refuse(path, task.noun, ("data" if request.data else "text", "columns", "search", "sentences"))
    texts = _texts(path, experiment, request, report)
    score = partial(_of_strings, experiment, request, report)
    return Answer([scored(path, lambda model: texts, score, TransductionScores.metrics, request, report)])


def _texts(
    path: Path, experiment: TransductionExperiment, request: Request, report: Report
) -> Mapping[str, Digested[Pair]]:
    """The pairs, by split."""
    columns = request.reading(experiment).data.table_columns
    if request.text:
        lines, name = iter(request.text.lines), request.text.name
        first = list(islice(lines, _PEEK))
        format_, _ = read_format(first, name, columns)
        rows = format_.read(string_lines(chain(first, lines), name, columns), name)
        return {name: Digested((row.source, row.target) for row in rows)}
    if request.data is not None:
        file = StringFile.of(request.data, columns)
        return {request.data.name: Digested((row.source, row.target) for row in file.rows())}
    splits = own_splits(path, experiment, splits_of, "--text", report)
    return {name: Digested(corpus) for name, corpus in splits.items()}


def _of_strings(
    experiment: TransductionExperiment,
    request: Request,
    report: Report,
    model: TransducerPredictor,
    pairs: Iterable[Pair],
) -> TransductionScores:
    answers = answers_of(pairs)
    if not answers:
        raise DataError("The text has no pair: add some.")
    own = model.translator.evaluation
    search = request.search.resolved(own.beam, own.length_penalty)
    texts = [found.text for found in model.predict_stream(list(answers), search, report=report)]
    outputs = {source: (text, of_one) for (source, of_one), text in zip(answers.items(), texts, strict=True)}
    return transduction_scores(outputs, model.target, experiment.evaluation.without, ", ".join(search.how()))


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
