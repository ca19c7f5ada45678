"""Runs of translators, and perhaps of a language model, loaded to be searched as one."""

from collections.abc import Sequence
from pathlib import Path

from anaphora.events import Report, silent
from anaphora.kernels.backends import InferencePrecision
from anaphora.kernels.device import Device
from anaphora.search.ensemble import Mean
from anaphora.tasks.language_model import LanguageModelPredictor
from anaphora.tasks.runs import load_as
from anaphora.tasks.translation.predictor import TranslationPredictor


def load_together(
    runs: Sequence[Path],
    mean: Mean = "arithmetic",
    fusion: tuple[Path, float] | None = None,
    report: Report = silent,
    device: Device = "cpu",
    precision: InferencePrecision = "fp32",
) -> TranslationPredictor:
    """Translators as one, beside the language model of ``fusion`` with its weight, where there is one.

    Raises RunError for another kind of model, ConfigError where models do not go together, and as ``load``.
    """
    translators = [load_as(TranslationPredictor, run, "a translator", report, device, precision) for run in runs]
    together = translators[0] if len(translators) == 1 else TranslationPredictor.ensemble(translators, mean)
    if fusion is None:
        return together
    run, weight = fusion
    return together.fused(load_as(LanguageModelPredictor, run, "a language model", report, device, precision), weight)
