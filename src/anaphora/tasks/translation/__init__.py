"""Translation: a sentence of one language in, one of another out."""

from collections.abc import Sequence
from typing import Any, cast

from anaphora.models.registry import NETWORKS
from anaphora.protocols import Searchable
from anaphora.tasks.task import Giver, Kind, Sizing, Table, Task, Trained, both_sides
from anaphora.tasks.translation import sizing
from anaphora.tasks.translation.affixes import Framed
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
from anaphora.tasks.translation.fusion import fused_run
from anaphora.tasks.translation.growing import work_of
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.scores import TranslationScores
from anaphora.tasks.translation.shortlist import RunShortlist
from anaphora.tasks.translation.teaching import TEACHING
from anaphora.tasks.translation.tm_lookup import RememberingTranslator, adaptation_to
from anaphora.tasks.translation.translation import NO_LINKS, Translation
from anaphora.text.sentences import Splitter

__all__ = [
    "NO_LINKS",
    "TASK",
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
    "complete",
    "givers",
    "load_together",
    "score_translations",
]


def complete(experiment: TranslatorExperiment, parent: TranslatorExperiment | None) -> TranslatorExperiment:
    """The experiment with the language model that it is fused with."""
    fused = fused_run(experiment, parent)
    return fused.experiment if fused else experiment


def givers(experiment: TranslatorExperiment, parent: TranslatorExperiment | None) -> Sequence[Giver]:
    """What its weights start from: a run that is fused."""
    fused = fused_run(experiment, parent)
    return [fused] if fused else []


def _predictor(trained: Trained) -> TranslationPredictor:
    experiment = cast(TranslationExperiment, trained.experiment)
    languages = experiment.data.source, experiment.data.target
    splitter = None if experiment.text.sentences == "whole" else Splitter(*languages)
    source, target = trained.tokenizers["source"], trained.tokenizers["target"]
    stepper, calibrated = cast(Searchable, trained.model).stepper, RunCalibrations(trained.path, trained.model)
    shortlist = RunShortlist(trained.path, source, target)
    return TranslationPredictor(
        stepper, source, target, experiment.evaluation, splitter, languages, trained.runtime, calibrated, shortlist
    )


def _own_text(table: Table, settings: Sequence[str], recipe: str) -> tuple[list[str], str]:
    """A recipe without the lower case and the scores of its corpus: those are the conditions of published scores."""
    text: Any = table.get("text", {})
    if not text.get("lowercase", False):
        return [], ""
    keeps = not any(setting.replace(" ", "").startswith("text.lowercase=true") for setting in settings)
    note = (
        f"Your own text keeps its capitals and is scored with them, though {recipe} lower-cases its corpus; --set "
        f"text.lowercase=true --set evaluation.conditions=moses-lowercase does so here too."
    )
    return ["text.lowercase=false", "evaluation.conditions=raw"], note if keeps else ""


TASK = Task(
    name="translate",
    noun="a translator",
    kinds={
        "": Kind(
            "translators",
            TranslationExperiment,
            NETWORKS["translator"],
            work_of,
            complete=complete,
            givers=givers,
            teaching=TEACHING,
        )
    },
    predictor=_predictor,
    see="see anaphora translate",
    next_command="echo 'Your text.' | anaphora translate {run}",
    example='translator = anaphora.load("{path}")\nprint(translator.translate(["..."])[0].text)',
    tokenizers_of=both_sides,
    evaluate=evaluate,
    sizing=Sizing(sizing.choose, sizing.describe, "pairs", sizing.TIERS, sizing.suits),
    own_text=_own_text,
)
"""Translation."""
