"""An encoder that starts from a language model of the source (``start.encoder``; Ramachandran, Liu and Le 2017).

Layer by layer, what reads from left to right starts from what the language model reads with. Word vectors are those of
the units that both vocabularies have, so that either may have been learnt from text of its own.
"""

from collections.abc import Mapping
from typing import cast

import torch

from anaphora.config import as_toml
from anaphora.errors import ConfigError
from anaphora.events import Note, Report
from anaphora.models.translator import Translator
from anaphora.nn.encoders import EncoderConfig, RecurrentEncoder
from anaphora.tasks.translation.config import TranslatorExperiment
from anaphora.tasks.translation.pretrained import Pretrained
from anaphora.text.tokenizer import MARKS, Tokenizer
from anaphora.text.words import written

_ALIKE = ("cell", "layers", "size", "residual", "layer_norm", "bias")
"""Options of a recurrence that decide what its weights are and what they do."""


class EncoderStart:
    """The run of a language model, for the encoder of one experiment."""

    def __init__(self, experiment: TranslatorExperiment) -> None:
        """Open it; errors as for ``Pretrained``, and ConfigError where the encoder is not like it."""
        self._run = Pretrained(experiment.start.encoder, "start.encoder")
        encoder, vectors, table = experiment.encoder, experiment.embedding, self._run.embedding
        assert isinstance(encoder, EncoderConfig)  # see conflicts.py
        pairs = [(f"encoder.{name}", getattr(encoder, name), getattr(self._run.recurrence, name)) for name in _ALIKE]
        pairs += [(f"embedding.{name}", getattr(vectors, name), getattr(table, name)) for name in ("size", "scaled")]
        unlike = [
            f"{name} is {as_toml(here)} here and {as_toml(there)} there" for name, here, there in pairs if here != there
        ]
        if unlike:
            raise ConfigError(
                f"start.encoder needs an encoder like the language model {self._run.path}, but {'; '.join(unlike)}: "
                f"change this experiment, or train another language model."
            )

    def give(self, model: torch.nn.Module, tokenizers: Mapping[str, Tokenizer], report: Report) -> None:
        """Copy the weights of its best checkpoint into a translator; ConfigError without a unit in common."""
        checkpoint, translator = self._run.load(report), cast(Translator, model)
        own, theirs = self._units(tokenizers["source"]), self._units(self._run.tokenizer)
        common = [unit for unit in own if unit in theirs]
        if len(common) <= len(MARKS):
            raise ConfigError(
                f"start.encoder needs a language model of the source, but {self._run.path} has no unit in common with "
                f"its vocabulary: train it on text of that language with the same [text]."
            )
        table, encoder = translator.source_embedding.weight, cast(RecurrentEncoder, translator.encoder)
        with torch.no_grad():
            rows = [[ids[unit] for unit in common] for ids in (own, theirs)]
            table[rows[0]] = checkpoint.model["embedding.weight"][rows[1]]
            for layer in range(encoder.config.layers):
                for name, weight in encoder.stack(layer, "left_to_right").weights.tensors().items():
                    part, short = name.split(".")
                    above = f"{part.removesuffix('0')}{layer}.{short}"  # each layer of an encoder is a stack of one
                    weight.copy_(checkpoint.model[f"recurrence.weights.{above}"])
        report(
            Note(
                f"The encoder starts from {checkpoint.path.name} of {self._run.path}: its layers from left "
                f"to right ({encoder.config.layers}), and the vectors of {len(common):,} of {len(own):,} source units."
            )
        )

    @staticmethod
    def _units(tokenizer: Tokenizer) -> dict[str, int]:
        """The ids of all units, marks among them."""
        return {unit: place for place, unit in enumerate(written(tokenizer))}
