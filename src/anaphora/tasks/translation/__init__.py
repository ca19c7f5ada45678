"""Translation: a sentence of one language in, one of another out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from anaphora.events import Report
from anaphora.models.registry import NETWORKS
from anaphora.protocols import Searchable
from anaphora.tasks.evaluation import Answer, Request
from anaphora.tasks.task import Table, Task, Trained, WeightSource, both_sides
from anaphora.tasks.translation import sizing
from anaphora.tasks.translation.calibration import RunCalibrations
from anaphora.tasks.translation.config import (
    SearchConfig,
    TranslationEvaluation,
    TranslationExperiment,
    TranslatorExperiment,
)
from anaphora.tasks.translation.data import TranslatorWork
from anaphora.tasks.translation.ensemble import load_together
from anaphora.tasks.translation.evaluation import evaluate, score_translations
from anaphora.tasks.translation.framed import Framed
from anaphora.tasks.translation.fusion import FusedRun, fused_run
from anaphora.tasks.translation.growing import work_of
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.remembered import RememberingTranslator, adaptation_to
from anaphora.tasks.translation.scores import TranslationScores
from anaphora.tasks.translation.shortlisted import RunShortlist
from anaphora.tasks.translation.teaching import DISTILLATION
from anaphora.tasks.translation.translation import NO_LINKS, Translation
from anaphora.text.sentences import Splitter
from anaphora.text.tokenizer import Tokenizer

__all__ = [
    "NO_LINKS",
    "TASKS",
    "Framed",
    "RememberingTranslator",
    "SearchConfig",
    "Translation",
    "TranslationEvaluation",
    "TranslationExperiment",
    "TranslationPredictor",
    "TranslationScores",
    "TranslatorExperiment",
    "TranslatorWork",
    "adaptation_to",
    "fused_runs",
    "load_together",
    "score_translations",
    "with_fused_run",
]


def with_fused_run(experiment: Any, parent: Any) -> Any:
    """Return the experiment with the language model that it is fused with."""
    return next((run.experiment for run in fused_runs(experiment, parent)), experiment)


def fused_runs(experiment: Any, parent: Any) -> Sequence[FusedRun]:
    """Return the run that a new experiment is fused with, if any."""
    fused = fused_run(experiment, parent)
    return [fused] if fused else []


class SentenceTranslation(Task):
    """A sentence of one language in, one of another out."""

    name = "translate"
    noun, plural = "a translator", "translators"
    experiment, network = TranslationExperiment, NETWORKS["translator"]
    see = "see anaphora translate"
    next_command = "echo 'Your text.' | anaphora translate {run}"
    example = 'translator = anaphora.load("{path}")\nprint(translator.translate(["..."])[0].text)'
    distillation = DISTILLATION
    counted, tiers = "pairs", sizing.TIERS
    suits = staticmethod(sizing.suits)
    choose, describe = staticmethod(sizing.choose), staticmethod(sizing.describe)

    def with_runs(self, experiment: Any, parent: Any) -> Any:
        return with_fused_run(experiment, parent)

    def weight_sources(self, experiment: Any, parent: Any) -> Sequence[WeightSource]:
        return fused_runs(experiment, parent)

    def work(self, experiment: TranslationExperiment, report: Report) -> TranslatorWork:
        return work_of(experiment, report)

    def predictor(self, trained: Trained) -> TranslationPredictor:
        experiment = cast(TranslationExperiment, trained.experiment)
        languages = experiment.data.source, experiment.data.target
        splitter = None if experiment.text.sentences == "whole" else Splitter(*languages)
        source, target = trained.tokenizers["source"], trained.tokenizers["target"]
        stepper, calibrated = cast(Searchable, trained.model).stepper, RunCalibrations(trained.path, trained.model)
        shortlist = RunShortlist(trained.path, source, target)
        return TranslationPredictor(
            stepper, source, target, experiment.evaluation, splitter, languages, trained.runtime, calibrated, shortlist
        )

    def tokenizers_of(self, tokenizers: dict[str, Tokenizer], path: Path) -> dict[str, Tokenizer]:
        return both_sides(tokenizers, path)

    def evaluate(self, paths: Sequence[Path], request: Request, report: Report) -> Answer:
        return evaluate(paths, request, report)

    def own_text(self, table: Table, settings: Sequence[str], recipe: str) -> tuple[list[str], str]:
        """Return settings without the lower case and the scores of its corpus, the conditions of published scores."""
        text: Any = table.get("text", {})
        if not text.get("lowercase", False):
            return [], ""
        keeps = not any(setting.replace(" ", "").startswith("text.lowercase=true") for setting in settings)
        note = (
            f"Your own text keeps its capitals and is scored with them, though {recipe} lower-cases its corpus; --set "
            f"text.lowercase=true --set evaluation.conditions=moses-lowercase does so here too."
        )
        return ["text.lowercase=false", "evaluation.conditions=raw"], note if keeps else ""


TASKS = (SentenceTranslation,)
