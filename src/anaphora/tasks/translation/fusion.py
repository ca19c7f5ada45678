"""The language model that a translator is fused with (``[fusion]``): a run, whose weights are taken over."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import torch

from anaphora.errors import ConfigError
from anaphora.events import Note, Report
from anaphora.models.translator import Translator
from anaphora.nn.fusion import DeepFusion, FrozenLanguageModelConfig
from anaphora.nn.stack import StackConfig
from anaphora.run.weights import fill, tensors_of
from anaphora.tasks.pretrained import Pretrained
from anaphora.tasks.translation.config import TranslatorExperiment
from anaphora.text.tokenizer import Tokenizer


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


def with_fused_run(experiment: Any, parent: Any) -> tuple[Any, Sequence[FusedRun]]:
    """Return the experiment with the language model that it is fused with, and its run.

    There is none without fusion, or where ``parent``, the experiment of the run that it starts from, has it in it.
    """
    if not isinstance(experiment.fusion, DeepFusion) or (parent and parent.fusion == experiment.fusion):
        return experiment, ()
    run = FusedRun(experiment, experiment.fusion)
    return run.experiment, [run]
