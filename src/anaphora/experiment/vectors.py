"""Tables that start from word vectors in files: what a unit is called there, and how many were found."""

from collections.abc import Mapping
from pathlib import Path

import torch

from anaphora.errors import DataError
from anaphora.events import Note, Report
from anaphora.experiment.schema import Experiment
from anaphora.formats.vectors import read_vectors
from anaphora.nn.embedding import Embedding, TableConfig
from anaphora.text.coder import MARKS, TextCoder
from anaphora.text.words import WordCoder

_TABLES = {"source": "source_embedding", "target": "target_embedding", "text": "embedding"}
"""Where a model looks up the units of a side."""


def files_of(experiment: Experiment) -> Mapping[str, str]:
    """The files of word vectors that an experiment names, by side."""
    config = getattr(experiment, "embedding", None)
    return config.files if isinstance(config, TableConfig) else {}


def start_from_vectors(
    files: Mapping[str, str], model: torch.nn.Module, coders: Mapping[str, TextCoder], report: Report
) -> None:
    """Let the tables of ``model`` start from the vectors in ``files``, as far as these have them.

    A unit is looked up as it is written, and a mark never is; its first vector counts, and where sides share a table,
    that of the first side. Raises DataError as ``read_vectors`` does, and where none of the units is found.
    """
    left: dict[torch.nn.Module, dict[str, int]] = {}
    for side, file in files.items():
        table = model.get_submodule(_TABLES[side])
        assert isinstance(table, Embedding)
        rows = left.setdefault(table, _rows(coders[side]))
        asked, example = len(rows), next(iter(rows), "")
        for unit, vector in read_vectors(Path(file), table.embedding_dim, rows):
            table.take(rows.pop(unit), vector)
        if len(rows) == len(_rows(coders[side])):
            raise DataError(
                f"{file} should have vectors for units of the {side} vocabulary, which are looked up as they are "
                f"written ('{example}'), but has none for any of {asked:,}: give others, or set text.units and "
                f"text.lowercase as the words of the file are."
            )
        report(Note(f"Of {asked:,} {side} units, {asked - len(rows):,} start from their vectors in {file}."))


def _rows(coder: TextCoder) -> dict[str, int]:
    """The row of every unit that is no mark, by the way it is written."""
    ids = range(len(MARKS), coder.symbols.size)
    return dict(zip(coder.vocabulary if isinstance(coder, WordCoder) else coder.pieces(ids), ids, strict=True))
