"""Transduction: a string in, another out, by a translator of symbols: spelling to sound, inflection, and so on.

What is read may also be a sequence of vectors, such as the strokes of a pen, in whose place a text is written.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

from anaphora.events import Report
from anaphora.models.registry import NETWORKS
from anaphora.protocols import Searchable
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.evaluation import Answer, Request
from anaphora.tasks.task import Task, Trained, WeightSource, both_sides
from anaphora.tasks.transduce import sizing
from anaphora.tasks.transduce.config import TransductionExperiment, VectorTransductionExperiment
from anaphora.tasks.transduce.data import TransducerWork, settled
from anaphora.tasks.transduce.evaluation import evaluate
from anaphora.tasks.transduce.predictor import TransducerPredictor, Transduction
from anaphora.tasks.transduce.vectors import VectorTransducerPredictor, VectorTransduction
from anaphora.tasks.translation import TranslationPredictor, fused_runs, with_fused_run
from anaphora.tasks.work import Work
from anaphora.text.symbols import SymbolTokenizer
from anaphora.text.tokenizer import Tokenizer

__all__ = [
    "TASKS",
    "TransducerPredictor",
    "Transduction",
    "TransductionExperiment",
    "VectorTransducerPredictor",
    "VectorTransductionExperiment",
]


class StringTransduction(Task):
    """A string in, another out."""

    name, model = "transduce", "text"
    noun, plural = "a transducer", "transducers"
    experiment: ClassVar[type[ExperimentBase]] = TransductionExperiment
    network = NETWORKS["translator"]
    see = "see anaphora predict"
    next_command = "echo 'Your string' | anaphora predict {run}"
    example = 'transducer = anaphora.load("{path}")\nprint(transducer.predict(["..."])[0].text)'
    counted, tiers = "pairs of strings", sizing.TIERS
    choose, describe = staticmethod(sizing.choose), staticmethod(sizing.describe)

    def with_runs(self, experiment: Any, parent: Any) -> Any:
        return settled(cast(TransductionExperiment, with_fused_run(experiment, parent)))

    def weight_sources(self, experiment: Any, parent: Any) -> Sequence[WeightSource]:
        return fused_runs(experiment, parent)

    def work(self, experiment: Any, report: Report) -> Work:
        return TransducerWork(experiment, report)

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


TASKS = (StringTransduction, VectorTransduction)
