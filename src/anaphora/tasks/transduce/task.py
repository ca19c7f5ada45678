"""Transduction: a string in, another out, by a translator of symbols: spelling to sound, inflection, and so on.

An input may have several right answers. What is read may also be a sequence of vectors, such as the strokes of a pen,
in whose place a text is written.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import tee
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, cast

from pydantic import Field

from anaphora.data.columns import Integers
from anaphora.data.corpora import Pair, PairCorpus, Splits, StringFile
from anaphora.data.example_store import ExampleStore
from anaphora.data.fields.values import written_in
from anaphora.data.hallucination import hallucinate_pairs
from anaphora.data.sources import string_splits
from anaphora.data.traces import TraceCorpus, are_traces, trace_splits
from anaphora.errors import DataError
from anaphora.evaluation.segments import SegmentMetric
from anaphora.evaluation.strings import StringScores
from anaphora.events import Report, silent
from anaphora.formats.json_text import figures_as_json
from anaphora.formats.strings import STRINGS, read_format, string_lines
from anaphora.formats.table_columns import TableColumns, chosen_columns
from anaphora.models.registry import NETWORKS
from anaphora.models.writers import VectorTransducer, VectorTransducerConfig
from anaphora.options import MAX_COUNT, MAX_LENGTH, SET, Conflict
from anaphora.run.logs import Metric
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.data_table import PairsData, TableData
from anaphora.tasks.evaluation import Request
from anaphora.tasks.field_task import Fields, ValidationSplit
from anaphora.tasks.scores import DigestedText, ScoredTask
from anaphora.tasks.sizing import Tier, figure, tier_for, training_table, value_at
from anaphora.tasks.task import GivenData, SizedExperiment, Table, WeightSource
from anaphora.tasks.trace.task import ValuedExperiment, ValueTask, WrittenData
from anaphora.tasks.training_job import mean_loss
from anaphora.tasks.transduce.predictor import VectorTransducerPredictor
from anaphora.tasks.translation.config import SearchConfig, TranslatorExperiment
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.task import with_fused_run
from anaphora.tasks.translation.training import TranslatorJob
from anaphora.text.symbols import SymbolTokenizer, are_separated
from anaphora.text.tokenization import AnyTokenizer, Symbol
from anaphora.text.tokenizer import Tokenizer
from anaphora.training.best_checkpoint import Better
from anaphora.wording import inflect

METRICS: dict[str, Better] = {"loss": "lower", "accuracy": "higher", "symbol_error_rate": "lower"}
"""Metrics of every transducer."""


class StringData(PairsData, TableData):
    """Pairs of strings; ``valid = "none"`` holds a tenth of the training inputs out."""

    usual_columns = STRINGS.usual
    sides = (2, 3)
    sides_named = "two or three, those of the input, the output and the features"

    language: str = "en"
    """Language code of the strings, for lower-casing."""
    hallucinate: int = Field(0, ge=0, le=MAX_COUNT)
    """Pairs with other characters in their stems that are added to the training split (Anastasopoulos and Neubig
    2019), for inflection with few examples."""

    @property
    def languages(self) -> dict[str, str]:
        return {"source": self.language, "target": self.language}


class TransductionEvaluation(SearchConfig):
    """Options of the search for outputs and of their scores."""

    beam: int = Field(1, ge=1, le=MAX_LENGTH)
    """Hypotheses kept at each step; 1 is greedy search."""
    without: str = ""
    """Characters that are left out of outputs and answers for a second set of scores, such as digits of stress."""


class TransductionExperiment(TranslatorExperiment):
    """A transducer of strings: a translator of symbols."""

    metrics: ClassVar[dict[str, Better]] = METRICS
    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            {"guided_alignment.kind": "file"}, 'its lines are of words between spaces; set guided_alignment = "learn"'
        ),
    )

    chosen_by_data = ("data.shuffle_window", "data.columns", "data.header")
    task: Literal["transduce"]
    """Name of the task."""
    model: Literal["text"] = "text"
    """Kind of input: strings, or sequences of vectors."""
    data: StringData = StringData()
    """Pairs of strings."""
    text: Symbol = Symbol()
    """Symbols of both sides."""
    evaluation: TransductionEvaluation = TransductionEvaluation()
    """Options of the search for outputs and of their scores."""


class VectorTransductionExperiment(VectorTransducerConfig, ValuedExperiment):
    """A transducer of sequences of vectors, such as the strokes of a pen."""

    metrics: ClassVar[dict[str, Better]] = METRICS
    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"start.run": SET}, "a transducer of vectors starts from no other run; leave start.run out"),
        Conflict({"text.source": SET}, "vectors are read, and no string; leave text.source out"),
        Conflict({"text.joint": SET}, "vectors are read, and no string; leave text.joint out"),
        Conflict({"text.features": SET}, "vectors have no features; leave text.features out"),
    )
    reads_text = True

    task: Literal["transduce"]
    """Name of the task."""
    model: Literal["vectors"]
    """Kind of input: strings, or sequences of vectors."""
    data: WrittenData = WrittenData()
    """Sequences of vectors with their texts."""
    text: Symbol = Symbol()
    """Symbols of the texts."""
    evaluation: TransductionEvaluation = TransductionEvaluation()
    """Options of the search for outputs and of their scores."""


TIERS = (
    Tier(300, embedding=64, size=100, dropout=0.3, epochs=100, rate=0.005, batch=300),
    Tier(3_000, embedding=64, size=100, dropout=0.3, epochs=40, rate=0.005, batch=500),
    Tier(50_000, embedding=96, size=150, dropout=0.3, epochs=30, rate=0.004, batch=500),
    Tier(1 << 62, embedding=128, size=256, dropout=0.2, epochs=12, rate=0.003, batch=2_000),
)


@dataclass(frozen=True)
class TransductionScores:
    """The scores of one text; for people by ``str``."""

    scores: StringScores
    without: StringScores | None
    """Scores without the characters ``left_out`` of the experiment, where it names some."""
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


def answers_of(pairs: Iterable[Pair]) -> dict[str, list[str]]:
    """Return all answers of each input, in the order of the inputs."""
    found: dict[str, list[str]] = {}
    for source, target in pairs:
        found.setdefault(source, []).append(target)
    return found


def splits_of(experiment: Any, report: Report = silent) -> Splits[PairCorpus]:
    """Return the splits of an experiment over ``StringData``; errors as for ``data.sources.string_splits``."""
    data, seed = experiment.data, experiment.training.seed
    return string_splits(data.paths(), data.names, columns=TableColumns.of(data), seed=seed, report=report)


class TransducerJob(TranslatorJob):
    """Pairs of strings, and how well inputs become answers."""

    find_data = staticmethod(splits_of)

    def __init__(self, experiment: Any, report: Report) -> None:
        """Find and check the data; DataError where data.hallucinate finds nothing to replace."""
        super().__init__(experiment, report)
        count, seed = experiment.data.hallucinate, experiment.training.seed
        self._more = hallucinate_pairs(self.splits.train, count, seed) if count else self.splits.train

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


class StringTransduction(ScoredTask):
    """A string in, another out."""

    name, model = "transduce", "text"
    noun, plural = "a transducer", "transducers"
    experiment: ClassVar[type[ExperimentBase]] = TransductionExperiment
    network, job_class = NETWORKS["translator"], TransducerJob
    next_command = "echo 'Your string' | anaphora predict {run}"
    example = 'transducer = anaphora.load("{path}")\nprint(transducer.predict(["..."])[0].text)'
    counted, tiers = "pairs of strings", TIERS
    text_options = "--text"
    takes = ("data", "text", "columns", "search", "precision", "sentences")

    def splits(self, experiment: TransductionExperiment, report: Report = silent) -> Splits[PairCorpus]:
        return splits_of(experiment, report)

    def with_runs(self, experiment: Any, parent: Any) -> tuple[Any, Sequence[WeightSource]]:
        experiment, sources = with_fused_run(experiment, parent)
        if not experiment.data.header:
            found = cast(StringFile, splits_of(experiment).train.files[0]).found
            if found.header:  # it is a table
                experiment = experiment.with_options(chosen_columns(found.chosen, found.header))
        return experiment, sources

    def read_requested(self, experiment: TransductionExperiment, request: Request) -> Mapping[str, Iterable[Pair]]:
        """Return the pairs that are requested; DataError with its line for one that is no pair."""
        columns = TableColumns.of(request.reading(experiment).data)
        if request.text:
            (first, lines), name = tee(request.text.lines), request.text.name
            format_, _ = read_format(first, name, columns)
            rows = format_.read(string_lines(lines, name, columns), name)
        elif request.data:
            name, rows = request.data.name, StringFile.of(request.data, columns).rows()
        else:
            return {}
        return {name: ((row.source, row.target) for row in rows)}

    def text_to_score(self, model: Any, text: Iterable[Pair]) -> DigestedText[Pair]:
        return DigestedText(text)

    def score(self, model: Any, text: Iterable[Pair], request: Request, report: Report) -> TransductionScores:
        """Return accuracy, word and symbol error rate; DataError for a text without pairs."""
        answers, translator = answers_of(text), model.translator
        if not answers:
            raise DataError("The text has no pair: add some.")
        search = request.search.resolve(translator.beam, translator.length_penalty)
        texts = [found.text for found in model.predict_stream(list(answers), search, report=report)]
        outputs = {source: (text, of_one) for (source, of_one), text in zip(answers.items(), texts, strict=True)}
        how = [*search.how(), *([] if request.precision == "fp32" else [request.precision])]
        return TransductionScores.of(outputs, model.target, model.left_out, ", ".join(how))

    def choose(self, data: GivenData) -> SizedExperiment:
        """Return the transducer for as many pairs; DataError for data that cannot be read."""
        if are_traces(data.paths):
            return _of_vectors(data)
        given = {"task": "transduce", "data": data.names.own_files(data.paths)}
        train = splits_of(TransductionExperiment.parse(given, "the data")).train
        tier = tier_for(train.count, TIERS)
        alike = are_separated(train.sources()) == are_separated(train.targets())
        table = _transducer(tier, alike)
        # by chance, an early checkpoint is right about more of so few held-out pairs: the last one is better
        table["training"] |= {"validate_every": MAX_COUNT} if tier in TIERS[:2] else {}
        return SizedExperiment(table, f"{inflect(train.count, 'pair')} of strings")

    def describe(self, table: Table, text: AnyTokenizer | None) -> str:
        figures = (
            figure(table, "embedding.size", "symbol vectors of {:,}"),
            figure(table, "encoder.size", "encoder 2 x {:,}"),
            figure(table, "decoder.size", "decoder {:,}"),
            figure(table, "training.epochs", "{:,} epochs"),
        )
        of = " of vectors" if value_at(table, "model") == "vectors" else ""
        return f"a transducer{of} with {', '.join(filter(None, figures))}"


class VectorTransduction(ValueTask):
    """A sequence of vectors in, a string out."""

    name, model = "transduce", "vectors"
    noun, plural = "a transducer", "transducers of vectors"
    experiment, network = VectorTransductionExperiment, NETWORKS["vector-transducer"]
    example = 'transducer = anaphora.load("{path}")\nprint(transducer.predict([vectors])[0].text)'
    takes = ("data", "search", "sentences")
    predictor_class = VectorTransducerPredictor
    side = "target"

    def sized_by(self, fields: Fields) -> Sequence[Any]:
        return [*fields]

    def validate(self, valid: ValidationSplit, model: VectorTransducer) -> Mapping[str, float]:
        """Return loss, accuracy and symbol error rate of the validation split."""
        beam, traces = valid.experiment.evaluation.validation_beam, list(valid.corpus.examples())
        texts = [one.text for one in self.predictor_of(model, valid).predict_stream(traces, beam=beam)]
        scores = scores_of(texts, ([trace.text] for trace in traces), valid.fields.targets.tokenizer)
        loss = mean_loss(model, valid.batches)
        return {"loss": loss, "accuracy": scores.accuracy, "symbol_error_rate": scores.symbol_error_rate}

    def score(self, model: Any, text: TraceCorpus, request: Request, report: Report) -> TransductionScores:
        traces, evaluation = list(text.examples()), model.experiment.evaluation
        beam = request.search.beam or evaluation.beam
        found = model.predict_stream(traces, beam=beam, report=report)
        outputs = {trace.place: (one.text, [written_in(trace)]) for trace, one in zip(traces, found, strict=True)}
        return TransductionScores.of(outputs, model.targets.tokenizer, evaluation.without, f"beam {beam}")


TASKS = (StringTransduction, VectorTransduction)


def _of_vectors(data: GivenData) -> SizedExperiment:
    count = trace_splits(data.paths, data.names).train.count
    tier = tier_for(count, TIERS)
    table = {name: value for name, value in _transducer(tier, False).items() if name != "guided_alignment"}
    table["embedding"] = {"size": tier.embedding, "dropout": tier.dropout}
    table["training"] |= {"batch_tokens": 4 * tier.batch}
    return SizedExperiment(table | {"model": "vectors"}, f"{inflect(count, 'sequence')} with texts")


def _transducer(tier: Tier, joint: bool) -> dict[str, Any]:
    """Return the table of a tier; with ``joint``, both sides are written alike, so that symbols may be copied."""
    layers = {"cell": "lstm", "size": tier.size, "dropout": tier.dropout}
    # a tenth of so few pairs is right or wrong by chance, and its symbols less so
    metric = "symbol_error_rate" if tier is TIERS[0] else "accuracy"
    return {
        "task": "transduce",
        "text": {"tokenizer": "symbol", "joint": joint},
        "embedding": {"size": tier.embedding, "shared": joint, "dropout": tier.dropout},
        "encoder": layers | {"bidirectional": True},
        "decoder": layers | {"input_feeding": True, "readout_size": tier.embedding},
        "attention": {"score": "hybrid", "size": tier.embedding},
        "guided_alignment": {"kind": "learn"},
        "output": {"tied": True},
        "training": training_table(tier, tier.rate, tier.batch, patience=0, schedule="linear", metric=metric),
    }
