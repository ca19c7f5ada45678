"""Translators together with other models: ensembles, and fusion with a language model.

The run of deep fusion (``[fusion]``) gives a translator the weights of its language model.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import torch

from anaphora.errors import ConfigError
from anaphora.events import Note, Report, silent
from anaphora.kernels.backends import InferencePrecision
from anaphora.kernels.device import Device
from anaphora.models.translator import Translator
from anaphora.nn.fusion import DeepFusion, FrozenLanguageModelConfig
from anaphora.nn.stack import StackConfig
from anaphora.run.weights import fill, tensors_of
from anaphora.search.ensemble import Mean
from anaphora.tasks.language_model import LanguageModelPredictor
from anaphora.tasks.pretrained import Pretrained
from anaphora.tasks.runs import load_as
from anaphora.tasks.translation.config import TranslatorExperiment
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.text.tokenizer import Tokenizer


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


class FusedRun:
    """The run of the language model of one experiment."""

    def __init__(self, experiment: TranslatorExperiment, fusion: DeepFusion) -> None:
        """Open it; errors as for ``Pretrained``."""
        self._run = Pretrained(fusion.run, "Deep fusion")
        layers = {name: getattr(self._run.recurrence, name) for name in StackConfig.model_fields}
        model = FrozenLanguageModelConfig(
            reads=self._run.reads, embedding=self._run.embedding, recurrence=StackConfig(**layers)
        )
        self.experiment = experiment.with_options({"fusion.model": model})
        """The experiment with the tables of the language model filled in."""

    def load_into(self, model: torch.nn.Module, tokenizers: Mapping[str, Tokenizer], report: Report) -> None:
        """Copy the weights of its best checkpoint into a translator; ConfigError for another target vocabulary."""
        own, target = self._run.tokenizer, tokenizers["target"]
        if own.fingerprint != target.fingerprint:
            raise ConfigError(
                f"Fusion needs a language model of the same target vocabulary ({target.symbols.size:,} tokens), "
                f"but {self._run.path} has another ({own.symbols.size:,}): train it with --from RUN --vocabulary only, "
                f"RUN being the translator."
            )
        checkpoint = self._run.load(report)
        language_model = cast(Translator, model).language_model
        assert language_model is not None
        kept = {name: checkpoint.model[name] for name in tensors_of(language_model)}
        fill(language_model, kept, checkpoint.path / "model.safetensors")
        report(Note(f"Its language model is {checkpoint.path.name} of {self._run.path}."))
