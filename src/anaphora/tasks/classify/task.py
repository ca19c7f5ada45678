"""Classification: texts or sequences of vectors, with one class or several labels each."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from anaphora.data.example_store import ExampleStore
from anaphora.data.fields.label import Targets
from anaphora.data.fields.vectors import moments
from anaphora.data.labelled import LabelledCorpus, LabelledFormat, hold_vectors, labelled_corpus, labelled_splits
from anaphora.errors import DataError
from anaphora.evaluation.classification import (
    SeveralLabelScores,
    best_thresholds,
    classification_scores,
    several_label_scores,
)
from anaphora.evaluation.tags import never_predicted
from anaphora.events import RemarkedMetrics, Report, silent
from anaphora.formats.labelled import TEXTS
from anaphora.formats.table_columns import TableColumns, chosen_columns
from anaphora.models.classifier import ClassifierConfig, PooledClassifier, PooledConfig, VectorClassifierConfig
from anaphora.models.registry import NETWORKS
from anaphora.options import MAX_LENGTH, SET, Conflict
from anaphora.run.logs import Metric
from anaphora.tasks.base import ExperimentBase, TextConfig
from anaphora.tasks.classify.predictor import ClassifierPredictor, PooledPredictor, VectorClassifierPredictor
from anaphora.tasks.data_table import DataConfig, TableData
from anaphora.tasks.evaluation import Request
from anaphora.tasks.field_task import Fields, FieldTask, ValidationSplit
from anaphora.tasks.sizing import TOKENS, Tier, encoder_in_words, tier_for, training_table, value_at
from anaphora.tasks.task import GivenData, SizedExperiment, Table
from anaphora.text.segmentation import tokens_of
from anaphora.text.tokenization import AnyTokenizer, Word
from anaphora.text.tokenizer import Tokenizer
from anaphora.training.best_checkpoint import Better
from anaphora.wording import inflect

Floats = np.ndarray[Any, np.dtype[np.float64]]


class ExamplesData(DataConfig):
    """Labelled examples."""

    label_separator: str = "|"
    """Separator of the labels of an example that share a cell or a word (for classes.output = "sigmoid")."""
    max_length: int = Field(400, ge=1, le=MAX_LENGTH)
    """Longer examples are truncated to this many tokens or vectors, in training and in prediction."""


class LabelledData(ExamplesData, TableData):
    """Labelled texts."""

    sides_named = "two, that of the text and that of the label"
    usual_columns = TEXTS.usual

    language: str = "en"
    """Language code of the texts, for tokenizers of words."""
    encoding: Literal["utf-8", "iso-8859-1"] = "utf-8"
    """Character encoding of the files."""


class ClassifyExperiment(PooledConfig, ExperimentBase):
    """Base of every classifier's experiment."""

    metrics: ClassVar[dict[str, Better]] = {
        "loss": "lower",
        "accuracy": "higher",
        "macro_f1": "higher",
        "micro_f1": "higher",
    }
    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"start.run": SET}, "a classifier starts from no other run; leave start.run out"),
        Conflict(
            {"training.reduction": "mean_per_sequence"},
            'an example has one prediction; set training.reduction = "mean_per_token"',
        ),
        Conflict(
            {"data.label_separator": SET, "classes.output": "softmax"},
            'an example has one class; leave it out, or set classes.output = "sigmoid"',
        ),
        Conflict({"text.rare": SET}, "it is for the rare words of a translation; leave it out"),
    )

    chosen_by_data: ClassVar[tuple[str, ...]] = ("classes.names",)

    task: Literal["classify"]
    """Name of the task."""
    data: ExamplesData = ExamplesData()
    """Labelled examples."""


class ClassifierExperiment(ClassifierConfig, ClassifyExperiment):
    """A classifier of texts."""

    chosen_by_data = ("classes.names", "data.columns", "data.header")
    encoder_side = "text"

    model: Literal["text"] = "text"
    """Kind of input: texts, or sequences of vectors."""
    data: LabelledData = LabelledData()
    """Labelled texts."""
    text: TextConfig = Word()
    """Tokenizer."""


class VectorClassifierExperiment(VectorClassifierConfig, ClassifyExperiment):
    """A classifier of sequences of vectors."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"text": SET}, "there is no text; leave [text] out"),
        Conflict({"start.vocabulary": SET}, "there is no text; leave start.vocabulary out"),
    )
    chosen_by_data = ("classes.names", "vectors")

    model: Literal["vectors"]
    """Kind of input: texts, or sequences of vectors."""


TIERS = (
    Tier(500, embedding=100, size=50, dropout=0.5, epochs=40),
    Tier(2_000, embedding=100, size=50, dropout=0.5, epochs=20),
    Tier(20_000, embedding=200, size=100, dropout=0.5, epochs=20),
    Tier(200_000, embedding=200, size=200, dropout=0.3, epochs=8),
    Tier(1 << 62, embedding=256, size=256, dropout=0.2, epochs=3),
)
_FEW = TIERS[1].amount
"""Texts at most that are too few to stop early by validation."""
_SUBWORDS, _SUBWORD = 500, 2
"""Subwords and bytes of a vocabulary beside its characters, and characters of one of them."""
_LONGEST, _FEATURES = 1_000, 20_000
"""Characters of a text and features of all texts that words and letters are compared by."""
_EXAMPLES = 20
"""Examples of a batch where there are few."""


class TextClassification(FieldTask):
    """A class, or several labels, for a text."""

    name, model = "classify", "text"
    noun, plural = "a classifier", "classifiers"
    experiment: ClassVar[Any] = ClassifierExperiment
    network = NETWORKS["classifier"]
    next_command = "echo 'Your text.' | anaphora predict {run}"
    example = 'classifier = anaphora.load("{path}")\nprint(classifier.predict(["..."])[0].label)'
    counted, tiers = "labelled texts", TIERS
    predictor_class: ClassVar[type[PooledPredictor]] = ClassifierPredictor
    predictions = "texts"
    takes: ClassVar[Sequence[str]] = ("data", "columns")

    def splits(self, experiment: Any, report: Report = silent) -> Any:
        """Return the splits; errors as for ``data.labelled.labelled_splits``."""
        return labelled_splits(experiment.data.paths(), experiment.data.names, format_of(experiment), report)

    def with_data_statistics(self, experiment: Any, splits: Any) -> Any:
        """Return the experiment with the classes and the columns of its training split."""
        _, columns, header = splits.train.format.columns
        return _with_classes(experiment, splits).with_options(chosen_columns(columns, header))

    def check_data(self, experiment: Any, splits: Any, report: Report) -> None:
        """Raise DataError where the data has other classes than the experiment names."""
        names = experiment.classes.names
        if sorted(names) != list(splits.labels):
            raise DataError(
                f"classes.names are {', '.join(names)}, but the training split has {', '.join(splits.labels)}: name "
                f"the same classes, or leave classes.names out."
            )

    def weights(self, experiment: Any, fields: Fields, store: ExampleStore) -> Floats | None:
        """Return the inverse of the frequency of each example's class, 1 on average, where classes are balanced."""
        if not experiment.classes.balanced:
            return None
        targets = fields.targets.targets(store.rows(fields.targets))
        counts = np.bincount(targets, minlength=len(experiment.classes.names))
        weights: Floats = (len(targets) / (len(counts) * np.maximum(counts, 1)))[targets]
        return weights

    def validate(self, valid: ValidationSplit, model: PooledClassifier) -> Mapping[str, float]:
        """Return loss, accuracy and F1 of the validation split; thresholds, where there are any, are tuned to it."""
        field = valid.fields.targets
        targets = field.targets(valid.store.rows(field))
        found_NC = np.zeros((len(targets), len(model.config.classes.names)))
        for batch in valid.batches:
            found_NC[batch.example_ids_B] = model.predict(batch).classes
        scores = scores_of(valid.experiment.classes, model, targets, found_NC, tune=True)
        metrics = {name: getattr(scores, name) for name in ("loss", "accuracy", "macro_f1", "micro_f1")}
        return RemarkedMetrics(metrics, " ".join(never_predicted(scores.by_label)))

    def tokenizers_of(self, tokenizers: dict[str, Tokenizer], path: Path) -> dict[str, Tokenizer]:
        return {"text": tokenizers["text"] if "text" in tokenizers else tokenizers["source"]}

    def read_requested(self, experiment: Any, request: Request) -> Mapping[str, LabelledCorpus]:
        """Return the data that is requested; DataError with its line for a label that training does not have."""
        if request.data is None:
            return {}
        format_ = format_of(request.reading(experiment))
        return {request.data.name: labelled_corpus(request.data, experiment.classes.names, format_)}

    def score(self, model: Any, text: LabelledCorpus, request: Request, report: Report) -> Any:
        examples = list(text.examples())
        found = model.predict_stream(map(model.field.get, examples), report=report)
        probabilities_NC = np.array([list(one.probabilities.values()) for one in found])
        field = model.targets
        rows = field.encode([one.labels for one in examples], lambda number: examples[number].place)
        targets = field.targets(field.from_memory(rows))
        return scores_of(model.experiment.classes, model.model, targets, probabilities_NC)

    def metrics(self, scores: Any) -> tuple[Metric, ...]:
        if isinstance(scores, SeveralLabelScores):
            how = f"{inflect(scores.count, 'example')}, {inflect(len(scores.by_label), 'label')}"
            first = [Metric("micro-F1", scores.micro_f1, how), Metric("exact matches", scores.accuracy, how)]
        else:
            how = f"{inflect(scores.count, 'example')}, {inflect(len(scores.labels), 'class')}"
            bins = f"{how}, {inflect(len(scores.reliability), 'bin')}"
            first = [
                Metric("accuracy", scores.accuracy, how),
                Metric("calibration error", scores.calibration_error, bins),
            ]
        return (*first, Metric("macro-F1", scores.macro_f1, how), Metric("loss", scores.loss, how))

    def choose(self, data: GivenData) -> SizedExperiment:
        """Choose the classifier for as many texts; DataError for data that cannot be read."""
        vectors = hold_vectors(data.paths)
        own = data.names.own_files(data.paths) | {"encoding": data.encoding}
        encoding = ClassifierExperiment.parse({"task": "classify", "data": own}, "the data").data.encoding
        # an empty separator splits nothing: only lists and marks are several labels
        columns = TEXTS._replace(chosen=data.names.columns)
        layout = LabelledFormat(encoding, None if vectors else "", vectors, columns=columns)
        found = labelled_splits(data.paths, data.names, layout)
        count = found.train.count
        tier = tier_for(count, TIERS)
        what = inflect(len(found.labels), "label" if found.several else "class")
        what += ", several a text" if found.several else ""
        noun = "vector sequence" if vectors else "text"
        return SizedExperiment(_table(tier, found, vectors), f"{inflect(count, noun)} of {what}")

    def describe(self, table: Table, text: AnyTokenizer | None) -> str:
        size = encoder_in_words(table)
        if value_at(table, "model") == "vectors":
            return f"a classifier of vectors{size}"
        token = TOKENS.get(str(value_at(table, "text.tokenizer")), "token")
        return f"a {token} classifier{size}"


class VectorClassification(TextClassification):
    """A class, or several labels, for a sequence of vectors."""

    model, plural = "vectors", "classifiers of vectors"
    experiment = VectorClassifierExperiment
    network = NETWORKS["vector-classifier"]
    next_command = "anaphora evaluate {run}"
    example = 'classifier = anaphora.load("{path}")\nprint(classifier.predict([vectors])[0].label)'
    predictor_class = VectorClassifierPredictor
    predictions = "sequences"
    takes = ("data",)

    def with_data_statistics(self, experiment: Any, splits: Any) -> Any:
        """Return the experiment with the classes, and the widths and scales of vectors, of its training split.

        Raises DataError for vectors of several widths.
        """
        experiment = _with_classes(experiment, splits)
        if experiment.vectors.resolved:
            return experiment
        scale = moments(splits.train.examples(), lambda one: one.vectors.astype(np.float64))
        return experiment.with_options({"vectors": experiment.vectors.with_scale(*scale)})

    def learn_vocabulary(self, experiment: Any, splits: Any, report: Report) -> dict[str, Tokenizer]:
        """Return none: there is no text."""
        return {}


TASKS = (TextClassification, VectorClassification)
"""Classification."""


def format_of(experiment: Any) -> LabelledFormat:
    """Return the format of the files of an experiment."""
    data = experiment.data
    separator = data.label_separator if experiment.classes.several else None
    if not isinstance(data, LabelledData):
        return LabelledFormat(separator=separator, vectors=True)
    return LabelledFormat(data.encoding, separator, columns=TableColumns.of(data))


def scores_of(classes: Any, model: Any, targets: Targets, probabilities_NC: Floats, *, tune: bool = False) -> Any:
    """Return the metrics of N predictions; with ``tune``, the model first gets the best thresholds for them."""
    if not classes.several:
        return classification_scores(classes.names, targets, probabilities_NC)
    if tune:
        model.set_thresholds(best_thresholds(targets, probabilities_NC))
    return several_label_scores(classes.names, targets, probabilities_NC, model.thresholds)


def _with_classes(experiment: Any, splits: Any) -> Any:
    return experiment if experiment.classes.names else experiment.with_options({"classes.names": splits.labels})


def _table(tier: Tier, found: Any, vectors: bool) -> dict[str, Any]:
    by_letters = not (vectors or found.several) and _are_told_by_letters(found)
    shared = {
        "task": "classify",
        "encoder": {"cell": "lstm", "size": tier.size},
        "classes": {"pooling": "mean", "dropout": tier.dropout} | ({"output": "sigmoid"} if found.several else {}),
        "training": _training(tier, found, by_letters),
    }
    if vectors:
        return shared | {"model": "vectors"}
    dropout = {"kind": "variational", "probability": 0.6 * tier.dropout, "words": 0.8 * tier.dropout}
    text: dict[str, Any] = {"tokenizer": "word", "size": 50_000, "min_count": 1 if tier.amount <= _FEW else 2}
    if by_letters:
        letters = set[str]().union(*(one.text for one in found.train.examples()))
        text = {"tokenizer": "bpe", "size": _SUBWORDS + len(letters)}
    return shared | {
        "text": text | {"lowercase": True},
        "embedding": {"size": tier.embedding, "dropout": dropout},
        "initializer": {"kind": "uniform", "range": 0.1},
    }


def _are_told_by_letters(found: Any) -> bool:
    """True if pairs of letters tell the classes of the validation texts better than words do, by naive Bayes.

    So it is for languages, names and other texts whose words are mostly new.
    """
    words = tokens_of("joiner", "").split
    return _bayes_accuracy(found, lambda text: map("".join, pairwise(f" {text} "))) > _bayes_accuracy(found, words)


def _bayes_accuracy(found: Any, features: Callable[[str], Iterable[str]]) -> float:
    """Return the accuracy of multinomial naive Bayes on a sample of the validation texts, by counts of features."""
    train, valid = (
        [
            (found.labels.index(one.labels[0]), Counter(features(one.text.lower()[:_LONGEST])))
            for one in islice(corpus.examples(), 0, None, max(1, corpus.count // most))
            if one.labels
        ]
        for corpus, most in ((found.train, 10_000), (found.valid, 1_000))
    )
    counts = Counter(name for _, row in train for name in row.elements())
    most = max(1_000, min(_FEATURES, 20_000_000 // len(found.labels)))
    places = {name: place for place, (name, _) in enumerate(counts.most_common(most))}
    counts_CV, texts_C = np.full((len(found.labels), len(places)), 0.5), np.full(len(found.labels), 0.5)
    for label, row in train:
        texts_C[label] += 1
        for name in row.keys() & places.keys():
            counts_CV[label, places[name]] += row[name]
    log_CV, log_C = np.log(counts_CV / counts_CV.sum(1, keepdims=True)), np.log(texts_C)
    right = 0
    for label, row in valid:
        known = sorted(row.keys() & places.keys())
        score_C = log_C + log_CV[:, [places[name] for name in known]] @ np.array([row[name] for name in known], float)
        right += int(score_C.argmax()) == label
    return right / max(1, len(valid))


def _training(tier: Tier, found: Any, by_letters: bool) -> dict[str, Any]:
    shared = {"metric": "micro_f1" if found.several else "accuracy", "precision": "fp32"}
    length = _mean_length(found.train, by_letters)
    tokens, few = found.train.count * length, _EXAMPLES * length
    if tier.amount <= _FEW:
        return training_table(tier, 0.005, few, patience=0, tokens=tokens, schedule="linear", **shared)
    batch_tokens = 1000 if tier is TIERS[2] else 4000
    return training_table(tier, 0.002, batch_tokens, patience=5, tokens=tokens, moving_average=0.99, **shared)


def _mean_length(train: LabelledCorpus, by_letters: bool) -> int:
    """Vectors, words or subwords of an example of mean length, rounded up."""
    if by_letters:
        lengths = [len(one.text) // _SUBWORD for one in train.examples()]
    else:
        lengths = [len(one.text.split() if one.values_TD is None else one.values_TD) for one in train.examples()]
    return max(1, -(-sum(lengths) // len(lengths)))
