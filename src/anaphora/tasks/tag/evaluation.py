"""A tagger measured on given sentences, or on its own test splits."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from anaphora.data.labelled import LabelledCorpus, labelled_corpus
from anaphora.evaluation.segments import Floats, SegmentMetric, counts, f1, fraction, macro_f1
from anaphora.evaluation.tags import Matches, TagCounts, by_frequency, most_frequent_shown
from anaphora.events import Report
from anaphora.formats.tagged import Sentence
from anaphora.run.logs import Metric
from anaphora.tasks.evaluation import Answer, Request, one_run, own_splits
from anaphora.tasks.field_task import FieldTask
from anaphora.tasks.runs import experiment_of
from anaphora.tasks.scores import Digested, scored
from anaphora.tasks.tag.config import TaggerExperiment, VectorTaggerExperiment
from anaphora.tasks.tag.formats import format_of, kind_by_name, vector_format
from anaphora.tasks.tag.predictor import TaggerPredictor, VectorTaggerPredictor
from anaphora.wording import counted

_MATCHES = ("predicted", "expected", "right")

Expected = tuple[Sequence[str], Sequence[str]]
"""The words of a sentence and their tags."""

Located = Iterable[tuple[Path, Sentence]]
"""Sentences with the files that they are from."""


@dataclass(frozen=True)
class TagScores:
    """The scores of a text; for people by ``str``."""

    counts: TagCounts
    sentences: Sequence[TagCounts] = field(repr=False)
    """The same of every sentence."""
    of_vectors: bool = False
    """True if vectors of sequences were tagged, and not tokens of sentences."""

    def segment_metrics(self) -> list[SegmentMetric]:
        """Accuracies and F1 as sums over sentences."""
        rows, names = self.sentences, list(self.counts.by_tag)
        none = Matches()
        by_tag = [[one.by_tag.get(name, none) for one in rows] for name in names]
        found = [SegmentMetric("accuracy", _column(rows, "right", "tokens"), fraction)]
        if self.counts.unknown:
            unknown = _column(rows, "unknown_right", "unknown")
            found.append(SegmentMetric("accuracy of unknown words", unknown, fraction))
        found.append(SegmentMetric(self._without_error, _column(rows, "sentences_right", "sentences"), fraction))
        if self.counts.encoding or self.counts.several:
            labels = [one.labels for one in rows]
            found += [
                SegmentMetric("precision", _column(labels, "right", "predicted"), fraction),
                SegmentMetric("recall", _column(labels, "right", "expected"), fraction),
                SegmentMetric("F1", _column(labels, *_MATCHES), f1),
            ]
        of_tags = np.concatenate([_column(of_one, *_MATCHES) for of_one in by_tag], axis=1)
        return [*found, SegmentMetric("macro-F1", of_tags, macro_f1)]

    def json(self) -> dict[str, Any]:
        counts = self.counts
        return {
            "accuracy": counts.accuracy,
            "accuracy_unknown": counts.unknown_accuracy if counts.unknown else None,
            "sentences_right": counts.sentence_accuracy,
            "f1": counts.labels.f1,
            "precision": counts.labels.precision,
            "recall": counts.labels.recall,
            "macro_f1": counts.macro_f1,
            "spans": counts.encoding or "none",
            "tokens": counts.tokens,
            "unknown": counts.unknown,
            "sentences": counts.sentences,
            "by_tag": {name: one.json() for name, one in by_frequency(counts.by_tag)},
        }

    @property
    def _without_error(self) -> str:
        return f"{'sequences' if self.of_vectors else 'sentences'} without an error"

    def metrics(self) -> tuple[Metric, ...]:
        counts = self.counts
        one, row = ("vector", "sequence") if self.of_vectors else ("token", "sentence")
        how = f"{counted(counts.tokens, one)}, {counted(counts.sentences, row)}"
        found = [Metric("accuracy", counts.accuracy, how)]
        if counts.unknown:
            unknown = counted(counts.unknown, "token")
            found.append(Metric("accuracy of unknown words", counts.unknown_accuracy, unknown))
        found.append(Metric(self._without_error, counts.sentence_accuracy, how))
        if counts.encoding or counts.several:
            of = f"spans in {counts.encoding.upper()}, strict" if counts.encoding else "labels"
            found += [
                Metric(name, value, f"{how}, {of}")
                for name, value in (
                    ("precision", counts.labels.precision),
                    ("recall", counts.labels.recall),
                    ("F1", counts.labels.f1),
                )
            ]
        return (*found, Metric("macro-F1", counts.macro_f1, how))

    def __str__(self) -> str:
        lines = [f"{metric.name} {metric.shown}  ({metric.conditions})" for metric in self.metrics()]
        return "\n".join([*lines, *most_frequent_shown(self.counts.by_tag)])


def evaluate_sentences(task: FieldTask, paths: Sequence[Path], request: Request, report: Report) -> Answer:
    """Return accuracy and F1 of one run on given sentences, or on ``splits_to_score``; kept in the run.

    Raises ConfigError for what a tagger has no use for, DataError with its line for a tag that training does not have.
    """
    path = one_run(paths, task.noun)
    experiment = cast(TaggerExperiment, experiment_of(path))
    request.refuse(path, task.noun, ("text", "columns"))

    def texts(model: TaggerPredictor) -> Mapping[str, Digested[Expected]]:
        """Return the sentences to be tagged, by split."""
        if request.text:
            name = request.text.name
            format_ = format_of(request.reading(experiment), kind_by_name(Path(name)) or "")
            found = format_.read(request.text.lines, name, labelled=True)
            return {name: Digested(_checked(model, ((Path(name), one) for one in found)))}
        splits = own_splits(path, experiment, task.splits, "--text", report)
        return {name: Digested(_checked(model, corpus.examples())) for name, corpus in splits.items()}

    return Answer([scored(path, texts, partial(_of_sentences, report=report), TagScores.metrics, request, report)])


def evaluate_sequences(task: FieldTask, paths: Sequence[Path], request: Request, report: Report) -> Answer:
    """Return the same of a tagger of vectors on given sequences, or on ``splits_to_score``."""
    path = one_run(paths, task.noun)
    experiment = cast(VectorTaggerExperiment, experiment_of(path))
    request.refuse(path, task.noun, ("data",))

    def texts(model: VectorTaggerPredictor) -> Mapping[str, LabelledCorpus]:
        """Return the sequences to be tagged, by split."""
        if request.data is None:
            return own_splits(path, experiment, task.splits, "--data", report)
        return {request.data.name: labelled_corpus(request.data, model.tags, vector_format(experiment))}

    return Answer([scored(path, texts, partial(_of_sequences, report=report), TagScores.metrics, request, report)])


def _of_sequences(model: VectorTaggerPredictor, corpus: LabelledCorpus, report: Report) -> TagScores:
    every, rows = TagCounts(model.encoding, model.targets.several), list[TagCounts]()
    examples = list(corpus.examples())
    sequences = [example.vectors for example in examples]
    for example, found in zip(examples, model.predict_stream(sequences, report=report), strict=True):
        rows.append(TagCounts(every.encoding, every.several))
        for one in (every, rows[-1]):
            one.add(example.labels, found.tags, [True] * len(found.tags))
    return TagScores(every, rows, of_vectors=True)


def _checked(model: TaggerPredictor, sentences: Located) -> Iterator[Expected]:
    """Yield the words and tags of each sentence; DataError with its line for a tag that training does not have."""
    for path, sentence in sentences:
        model.targets.refuse_unknown(model.targets.get((path, sentence)))
        if sentence.words:
            yield sentence.words, sentence.tags


def _of_sentences(model: TaggerPredictor, sentences: Iterable[Expected], report: Report) -> TagScores:
    every, rows, read = TagCounts(model.encoding, model.targets.several), list[TagCounts](), deque[Expected]()

    def words() -> Iterator[Sequence[str]]:
        for one in sentences:
            read.append(one)
            yield one[0]

    for found in model.predict_stream(words(), report=report):
        _, expected = read.popleft()
        known = [model.knows(word) for word in found.words]
        rows.append(TagCounts(every.encoding, every.several))
        for one in (every, rows[-1]):
            one.add(expected, found.tags, known)
    return TagScores(every, rows)


def _column(rows: Sequence[Any], *names: str) -> Floats:
    """These counts of every row."""
    return counts([getattr(row, name) for row in rows] for name in names)
