"""An encoder that starts from a language model of what it reads (``start.encoder``).

Translators (Ramachandran, Liu and Le 2017), classifiers (Dai and Le 2015) and taggers: layer by layer, the forward
layers of the encoder start from those of the language model. Word vectors are those of the tokens that both
vocabularies have, so that either may have been learnt from text of its own.
"""

from collections.abc import Mapping
from typing import Any, cast

import torch

from anaphora.config import as_toml
from anaphora.errors import ConfigError
from anaphora.events import Note, Report
from anaphora.experiment.start.vectors import TABLES
from anaphora.nn.embedding import Embedding
from anaphora.nn.encoders import EncoderConfig, RecurrentEncoder
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.tasks.pretrained import Pretrained
from anaphora.text.tokenizer import MARKS, Tokenizer
from anaphora.text.words import written
from anaphora.wording import counted

_ALIKE = ("cell", "layers", "size", "residual", "layer_norm", "bias", "initial_state")
"""Options of a recurrence that decide what its weights are and what they do."""


class EncoderStart:
    """The run of a language model, for the encoder of one experiment."""

    def __init__(self, experiment: Experiment) -> None:
        """Open it; errors as for ``Pretrained``, and ConfigError where the encoder is not like it."""
        self._run, self._side = Pretrained(experiment.start.encoder, "start.encoder"), experiment.encoder_side
        tables: Any = experiment
        encoder, vectors, table = tables.encoder, tables.embedding, self._run.embedding
        assert isinstance(encoder, EncoderConfig)  # see the conflicts of every experiment
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

    def load_into(self, model: torch.nn.Module, tokenizers: Mapping[str, Tokenizer], report: Report) -> None:
        """Copy the weights of its best checkpoint into a model; ConfigError without a token in common.

        Where the encoder reads more than word vectors (a tagger: characters), the columns of that keep their values.
        """
        checkpoint, encoder = self._run.load(report), cast(RecurrentEncoder, model.encoder)
        own, theirs = self._tokens(tokenizers[self._side]), self._tokens(self._run.tokenizer)
        common = [token for token in own if token in theirs]
        if len(common) <= len(MARKS):
            raise ConfigError(
                f"start.encoder needs a language model of what the encoder reads, but {self._run.path} has no token in "
                f"common with its vocabulary: train it on such text with the same [text]."
            )
        table = cast(Embedding, model.get_submodule(TABLES[self._side])).weight
        with torch.no_grad():
            rows = [[ids[token] for token in common] for ids in (own, theirs)]
            table[rows[0]] = checkpoint.model["embedding.weight"][rows[1]]
            for layer in range(encoder.config.layers):
                for name, weight in encoder.stack(layer, "left_to_right").named_parameters():
                    group, part, short = name.split(".")
                    above = f"{part.removesuffix('0')}{layer}.{short}"  # each layer of an encoder is a stack of one
                    known = checkpoint.model[f"recurrence.{group}.{above}"]
                    weight[..., : known.shape[-1]] = known
        whole = counted(len(own), f"{self._side} token")
        report(
            Note(
                f"The encoder starts from {checkpoint.path.name} of {self._run.path}: its layers from left to right "
                f"({encoder.config.layers}), and the vectors of {len(common):,} of {whole}."
            )
        )

    @staticmethod
    def _tokens(tokenizer: Tokenizer) -> dict[str, int]:
        """The ids of all tokens, special tokens among them."""
        return {token: place for place, token in enumerate(written(tokenizer))}


def encoder_start(experiment: Experiment) -> EncoderStart | None:
    """The language model that the encoder of a new experiment starts from, unless there is none."""
    return EncoderStart(experiment) if experiment.start.encoder != "none" else None
