"""Sources of first weights besides a parent run: word vectors of files or language models, and an encoder's layers.

The encoder of a translator (Ramachandran, Liu and Le 2017), classifier (Dai and Le 2015) or tagger starts from a
language model of what it reads (``start.encoder``): layer by layer, its forward layers from those of that. Word vectors
are those of the tokens that both vocabularies have, so that either may have been learnt from text of its own.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import torch

from anaphora.config import as_toml
from anaphora.errors import ConfigError, DataError
from anaphora.events import Note, Report
from anaphora.formats.vectors import check_vectors, read_vectors
from anaphora.nn.embedding import Embedding, TableConfig
from anaphora.nn.encoders.recurrent import EncoderConfig, RecurrentEncoder
from anaphora.run.weights import as_tensors
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.tasks.pretrained import PretrainedRun
from anaphora.text.tokenizer import MARKS, Tokenizer
from anaphora.text.words import spellings
from anaphora.wording import inflect

TABLES = {"source": "source_embedding", "target": "target_embedding", "text": "embedding"}
"""Module of a model that looks up the tokens of a side."""
_ALIKE = ("cell", "layers", "size", "residual", "layer_norm", "bias", "initial_state")
"""Options of a recurrence that decide what its weights are and what they do."""


class WordVectors:
    """The files and runs of one experiment."""

    def __init__(self, files: Mapping[str, str]) -> None:
        """A file, or the folder of a run, for every side that has one."""
        self._files = files

    def load_into(self, model: torch.nn.Module, tokenizers: Mapping[str, Tokenizer], report: Report) -> None:
        """Let the tables of ``model`` start from the vectors in the files, as far as these have them.

        A token is looked up as it is written, but no special token; its first vector counts, and where sides share a
        table, that of the first side. Raises DataError as ``read_vectors`` does, and where none of the tokens is found;
        RunError as ``Pretrained.load`` does.
        """
        left: dict[torch.nn.Module, dict[str, int]] = {}
        for side, file in self._files.items():
            table = model.get_submodule(TABLES[side])
            tokens = {token: row for token, row in _ids(tokenizers[side]).items() if row >= len(MARKS)}
            assert isinstance(table, Embedding)
            rows = left.setdefault(table, dict(tokens))
            asked = len(rows)
            run, path = _language_model(file), Path(file)
            found = run.vectors(rows, report) if run else read_vectors(path, table.embedding_dim, rows)
            for token, vector in found:
                table.take(rows.pop(token), vector)
            if asked and len(rows) == asked:
                raise DataError(
                    f"{file} should have vectors for tokens of the {side} vocabulary, which are looked up as they are "
                    f"written ('{next(iter(tokens))}'), but has none for any of {asked:,}: give others, or set "
                    f"text.tokenizer and text.lowercase as its words are."
                )
            tokens_asked = inflect(asked, f"{side} token")
            report(Note(f"Of {tokens_asked}, {asked - len(rows):,} start from their vectors in {file}."))


def word_vectors(experiment: Experiment, parent: Experiment | None) -> WordVectors | None:
    """Return the files of a new experiment, unless they are those of ``parent``, whose weights have their vectors.

    Raises ConfigError for other files than the parent's, or where it alone would keep their vectors as they are, and
    for language models with vectors of another size; DataError for files that are not there or hold such vectors;
    errors as for ``PretrainedRun``.
    """
    vectors: TableConfig = cast(Any, experiment).embedding
    if parent is None:
        for file in vectors.files.values():  # before a vocabulary is learnt
            run = _language_model(file)
            if run is None:
                check_vectors(Path(file), vectors.size)
            elif run.embedding.size != vectors.size:
                raise ConfigError(
                    f"{file} has vectors of {inflect(run.embedding.size, 'number')}, not {vectors.size}: use others, "
                    f"or embedding.size = {run.embedding.size}."
                )
        return WordVectors(vectors.files)
    begun: Any = getattr(parent, "embedding", None)
    if parent.vector_files == vectors.files and begun.frozen >= vectors.frozen:
        return None
    raise ConfigError(
        f"The word vectors of {experiment.start.run} have been trained, and embedding would have those of a file in "
        f"their place: leave its files and embedding.frozen as they are there, or take over the vocabulary alone "
        f"(--vocabulary only)."
    )


def _language_model(file: str) -> PretrainedRun | None:
    """Return the language model in a run folder; None for a file."""
    return PretrainedRun(file, "embedding") if Path(file).is_dir() else None


def _ids(tokenizer: Tokenizer) -> dict[str, int]:
    """Return the ids of all tokens by the way they are written, special tokens first."""
    return {token: row for row, token in enumerate(spellings(tokenizer))}


class EncoderStart:
    """The run of a language model, for the encoder of one experiment."""

    def __init__(self, experiment: Experiment) -> None:
        """Open the run; raises as ``PretrainedRun`` does, and ConfigError if the encoder is unlike the run's layers."""
        self._run, self._side = PretrainedRun(experiment.start.encoder, "start.encoder"), experiment.encoder_side
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
        own, theirs = _ids(tokenizers[self._side]), _ids(self._run.tokenizer)
        common = [token for token in own if token in theirs]
        if len(common) <= len(MARKS):
            raise ConfigError(
                f"start.encoder needs a language model of what the encoder reads, but {self._run.path} has no token in "
                f"common with its vocabulary: train it on such text with the same [text]."
            )
        weights = as_tensors(checkpoint.model)
        table = cast(Embedding, model.get_submodule(TABLES[self._side])).weight
        with torch.no_grad():
            rows = [[ids[token] for token in common] for ids in (own, theirs)]
            table[rows[0]] = weights["embedding.weight"][rows[1]]
            for layer in range(encoder.config.layers):
                for name, weight in encoder.stack(layer, "left_to_right").named_parameters():
                    group, part, short = name.split(".")
                    above = f"{part.removesuffix('0')}{layer}.{short}"  # each layer of an encoder is a stack of one
                    known = weights[f"recurrence.{group}.{above}"]
                    weight[..., : known.shape[-1]] = known
        whole = inflect(len(own), f"{self._side} token")
        report(
            Note(
                f"The encoder starts from {checkpoint.path.name} of {self._run.path}: its layers from left to right "
                f"({encoder.config.layers}), and the vectors of {len(common):,} of {whole}."
            )
        )
