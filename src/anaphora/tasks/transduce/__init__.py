"""Transduction: a string in, another out, by a translator of symbols: spelling to sound, inflection, and so on.

What is read may also be a sequence of vectors, such as the strokes of a pen, in whose place a text is written.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, cast

from anaphora.data.finding import Names
from anaphora.data.traces import are_traces, trace_splits
from anaphora.events import Report
from anaphora.models.registry import NETWORKS
from anaphora.protocols import Searchable
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.evaluation import Answer, Request
from anaphora.tasks.sizing import figure, tier_for, value_at
from anaphora.tasks.task import Sized, Table, Task, Trained, WeightSource, both_sides
from anaphora.tasks.training_job import TrainingJob
from anaphora.tasks.transduce.config import TransductionExperiment, VectorTransductionExperiment
from anaphora.tasks.transduce.data import TransducerJob, splits_of, with_data_statistics
from anaphora.tasks.transduce.evaluation import evaluate
from anaphora.tasks.transduce.predictor import TransducerPredictor, Transduction
from anaphora.tasks.transduce.vectors import VectorTransducerPredictor, VectorTransduction
from anaphora.tasks.translation import TranslationPredictor, with_fused_run
from anaphora.text.symbols import SymbolTokenizer, are_separated
from anaphora.text.tokenization import AnyTokenizer
from anaphora.text.tokenizer import Tokenizer
from anaphora.wording import counted

__all__ = [
    "TASKS",
    "TransducerPredictor",
    "Transduction",
    "TransductionExperiment",
    "VectorTransducerPredictor",
    "VectorTransductionExperiment",
]


class Tier(NamedTuple):
    """The transducer for at most this many pairs."""

    pairs: int
    embedding: int
    size: int
    dropout: float
    epochs: int
    rate: float
    """Of the first update; it falls in a straight line over the epochs."""
    batch: int
    """Tokens of a batch."""


TIERS = (
    Tier(300, embedding=64, size=100, dropout=0.3, epochs=100, rate=0.005, batch=300),
    Tier(3_000, embedding=64, size=100, dropout=0.3, epochs=40, rate=0.005, batch=500),
    Tier(30_000, embedding=96, size=150, dropout=0.3, epochs=15, rate=0.004, batch=1_000),
    Tier(1 << 62, embedding=128, size=256, dropout=0.2, epochs=12, rate=0.003, batch=2_000),
)


class StringTransduction(Task):
    """A string in, another out."""

    name, model = "transduce", "text"
    noun, plural = "a transducer", "transducers"
    experiment: ClassVar[type[ExperimentBase]] = TransductionExperiment
    network = NETWORKS["translator"]
    see = "see anaphora predict"
    next_command = "echo 'Your string' | anaphora predict {run}"
    example = 'transducer = anaphora.load("{path}")\nprint(transducer.predict(["..."])[0].text)'
    counted, tiers = "pairs of strings", TIERS

    def with_runs(self, experiment: Any, parent: Any) -> tuple[Any, Sequence[WeightSource]]:
        experiment, sources = with_fused_run(experiment, parent)
        return with_data_statistics(experiment), sources

    def job(self, experiment: Any, report: Report) -> TrainingJob:
        return TransducerJob(experiment, report)

    def predictor(self, trained: Trained) -> Any:
        experiment = cast(TransductionExperiment, trained.experiment)
        source, target = (cast(SymbolTokenizer, trained.tokenizers[side]) for side in ("source", "target"))
        stepper = cast(Searchable, trained.model).stepper
        translator = TranslationPredictor(stepper, source, target, experiment.evaluation, runtime=trained.runtime)
        return TransducerPredictor(translator, source, target)

    def tokenizers_of(self, tokenizers: dict[str, Tokenizer], path: Path) -> dict[str, Tokenizer]:
        return both_sides(tokenizers, path)

    def evaluate(self, paths: Sequence[Path], request: Request, report: Report) -> Answer:
        return evaluate(self, paths, request, report)

    def inspected(self, predictor: Any) -> Any:
        return getattr(predictor, "translator", predictor)

    def choose(self, data: Sequence[Path], names: Any, languages: tuple[str, str], text: AnyTokenizer | None) -> Sized:
        """Return the transducer for as many pairs; DataError for data that cannot be read."""
        if are_traces(data):
            return _of_vectors(data, names)
        table = names.own_files(data)
        train = splits_of(TransductionExperiment.parse({"task": "transduce", "data": table}, "the data")).train
        tier = tier_for(train.count, TIERS)
        alike = are_separated(train.sources()) == are_separated(train.targets())
        return Sized(_transducer(tier, alike), f"{counted(train.count, 'pair')} of strings")

    def describe(self, table: Table, text: AnyTokenizer | None) -> str:
        figures = (
            figure(table, "embedding.size", "symbol vectors of {:,}"),
            figure(table, "encoder.size", "encoder 2 x {:,}"),
            figure(table, "decoder.size", "decoder {:,}"),
            figure(table, "training.epochs", "{:,} epochs"),
        )
        of = " of vectors" if value_at(table, "model") == "vectors" else ""
        return f"a transducer{of} with {', '.join(filter(None, figures))}"


TASKS = (StringTransduction, VectorTransduction)


def _of_vectors(data: Sequence[Path], names: Names) -> Sized:
    count = trace_splits(data, names).train.count
    tier = tier_for(count, TIERS)
    table = {name: value for name, value in _transducer(tier, False).items() if name != "guided_alignment"}
    table["embedding"] = {"size": tier.embedding, "dropout": tier.dropout}
    table["training"] |= {"batch_tokens": 4 * tier.batch}
    return Sized(table | {"model": "vectors"}, f"{counted(count, 'sequence')} with texts")


def _transducer(tier: Tier, joint: bool) -> dict[str, Any]:
    """Return the table of a tier; with ``joint``, both sides are written alike, so that symbols may be copied."""
    layers = {"cell": "lstm", "size": tier.size, "dropout": tier.dropout}
    return {
        "task": "transduce",
        "text": {"tokenizer": "symbol", "joint": joint},
        "embedding": {"size": tier.embedding, "shared": joint, "dropout": tier.dropout},
        "encoder": layers | {"bidirectional": True},
        "decoder": layers | {"input_feeding": True, "readout_size": tier.embedding},
        "attention": {"score": "hybrid", "size": tier.embedding},
        "guided_alignment": {"kind": "learn"},
        "output": {"tied": True},
        "training": {
            "optimizer": {"kind": "adam", "learning_rate": tier.rate},
            "schedule": "linear",
            "batch_tokens": tier.batch,
            "epochs": tier.epochs,
            "patience": 0,
            # a tenth of so few pairs is right or wrong by chance, and its symbols less so
            "metric": "symbol_error_rate" if tier is TIERS[0] else "accuracy",
        },
    }
