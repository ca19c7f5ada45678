"""Tables that start from word vectors in files or language models: what a token is called, and how many were found."""

from collections.abc import Mapping
from pathlib import Path

import torch

from anaphora.errors import ConfigError, DataError
from anaphora.events import Note, Report
from anaphora.formats.vectors import check_vectors, read_vectors
from anaphora.nn.embedding import Embedding, TableConfig
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.tasks.pretrained import Pretrained
from anaphora.text.tokenizer import MARKS, Tokenizer
from anaphora.text.words import written
from anaphora.wording import counted

TABLES = {"source": "source_embedding", "target": "target_embedding", "text": "embedding"}
"""Where a model looks up the tokens of a side."""


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
            table, tokens = model.get_submodule(TABLES[side]), _rows(tokenizers[side])
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
            report(
                Note(f"Of {counted(asked, f'{side} token')}, {asked - len(rows):,} start from their vectors in {file}.")
            )


def word_vectors(experiment: Experiment, parent: Experiment | None) -> WordVectors | None:
    """The files of a new experiment, unless there are none, or those of ``parent``, whose weights have their vectors.

    Raises ConfigError for other files than the parent's, or where it alone would keep their vectors as they are, and
    for language models with vectors of another size; DataError for files that are not there or hold such vectors;
    errors as for ``Pretrained``.
    """
    vectors = getattr(experiment, "embedding", None)
    if not isinstance(vectors, TableConfig) or not vectors.files:
        return None
    if parent is None:
        for file in vectors.files.values():
            _check(file, vectors.size)  # before a vocabulary is learnt
        return WordVectors(vectors.files)
    begun = getattr(parent, "embedding", None)
    if isinstance(begun, TableConfig) and begun.files == vectors.files and begun.frozen >= vectors.frozen:
        return None
    raise ConfigError(
        f"The word vectors of {experiment.start.run} have been trained, and embedding would have those of a file in "
        f"their place: leave its files and embedding.frozen as they are there, or take over the vocabulary alone "
        f"(--vocabulary only)."
    )


def _language_model(file: str) -> Pretrained | None:
    """That in a run folder; None for a file."""
    return Pretrained(file, "embedding") if Path(file).is_dir() else None


def _check(file: str, size: int) -> None:
    run = _language_model(file)
    if run is None:
        check_vectors(Path(file), size)
    elif run.embedding.size != size:
        raise ConfigError(
            f"{file} has vectors of {counted(run.embedding.size, 'number')}, not {size}: use others, or "
            f"embedding.size = {run.embedding.size}."
        )


def _rows(tokenizer: Tokenizer) -> dict[str, int]:
    """The row of every token that is no special token, by the way it is written."""
    return {token: row for row, token in enumerate(written(tokenizer)) if row >= len(MARKS)}
