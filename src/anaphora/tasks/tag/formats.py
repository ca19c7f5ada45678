"""Which format the files of a tagger are in: chosen once by the training split, and by a first line in prediction."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import cast

from anaphora.config import unknown
from anaphora.data.corpora import Splits
from anaphora.data.tagged import TaggedCorpus, exact_lines, find_tagged, tagged_splits, tags_in_place
from anaphora.errors import ConfigError, DataError
from anaphora.events import Note, Report, silent
from anaphora.formats import conllu
from anaphora.formats.columns import DOCUMENT, Columns
from anaphora.formats.conllu import Conllu
from anaphora.formats.offsets import Offsets
from anaphora.formats.plain import Plain
from anaphora.formats.span_tags import Encoding, encoding_of, refuse_fault
from anaphora.formats.tagged import TaggedFormat, content_of
from anaphora.tasks.tag.config import Format, TagExperiment, TaggerExperiment
from anaphora.wording import counted

FORMATS = ("conllu", "columns", "jsonl", "text")
"""The formats of what is to be tagged."""

_OFFSETS_ENCODING: Encoding = "bioes"
"""In which spans of offsets are written as tags, unless the experiment says otherwise."""

_ENDINGS: dict[str, Format] = {".conllu": "conllu", ".jsonl": "jsonl", ".json": "jsonl"}


def settled(experiment: TaggerExperiment, *, lenient: bool = False) -> TaggerExperiment:
    """The experiment with the format, the column and the encoding of spans that its training split has.

    Raises DataError for data that is not there or not in its format; unless ``lenient`` also at the first tag that is
    not in the encoding of the others.
    """
    if experiment.is_settled:
        return experiment
    data, spans = experiment.data, experiment.spans
    train = find_tagged(data.paths(), data.names).train
    first = _first_row(train[0])
    kind = data.format if data.format != "auto" else _ending(train[0]) or ("conllu" if _is_conllu(first) else "columns")
    column = _column(data.column, kind, first, train[0])
    if spans == "auto" and experiment.output.several:
        spans = "none"
    elif spans == "auto" and kind == "jsonl":
        spans = _OFFSETS_ENCODING
    elif spans == "auto":
        format_ = _format(kind, column, None)
        sentences = ((path, one) for path in train for one in format_.read(exact_lines(path), str(path), labelled=True))
        encoding, fault = encoding_of(tags_in_place(one) for one in sentences if one[1].words)
        refuse_fault("" if lenient else fault)
        spans = encoding or "none"
    return experiment.with_options({"data.format": kind, "data.column": column, "spans": spans})


def encoding_in(experiment: TagExperiment) -> Encoding | None:
    return None if experiment.spans in ("auto", "none") else cast(Encoding, experiment.spans)


def splits_of(experiment: TaggerExperiment, report: Report = silent) -> Splits[TaggedCorpus]:
    """The splits of a settled experiment; errors as for ``data.tagged.tagged_splits``."""
    return tagged_splits(experiment.data.paths(), experiment.data.names, format_of(experiment), report)


def format_of(experiment: TaggerExperiment, name: str = "") -> TaggedFormat:
    """The format of the files of a settled experiment, or another one by its ``name``; ConfigError for none."""
    data, encoding = experiment.data, encoding_in(experiment)
    if name and name not in FORMATS:
        raise ConfigError(unknown("The format", name, FORMATS))
    if name == "jsonl" and encoding is None:
        raise ConfigError("Offsets are for spans, but the tags of this run are not of spans: give columns or text.")
    if name and name != data.format and data.format in ("conllu", "columns"):
        # a column of one format is none of the other
        return _format(name, "UPOS" if name == "conllu" else "2", encoding)
    return _format(name or data.format, data.column, encoding)


def recognized(
    experiment: TaggerExperiment, lines: Iterable[str], file: str, report: Report = silent
) -> tuple[TaggedFormat, Iterator[str]]:
    """The format of lines to be tagged, by the name of their file or their first one; and the lines.

    A Note reports a first line that may as well be text.
    """
    rest = iter(lines)
    name: str = _ending(Path(file)) or ""
    held: list[str] = []
    while not name:
        line = next(rest, None)
        if line is None:
            name = "text"
        else:
            held.append(line)
            content = content_of(line)
            name = _kind_of(content, experiment, f"{file}:{len(held)}", report) if content.strip() else ""
    return format_of(experiment, name), chain(held, rest)


def _kind_of(line: str, experiment: TaggerExperiment, place: str, report: Report) -> str:
    """The format whose first line this may be."""
    kind = experiment.data.format
    if _is_conllu(line) or (kind == "conllu" and line.startswith("#")):
        return "conllu"
    if encoding_in(experiment) is not None and line.lstrip().startswith(('{"', '[{"')):
        return "jsonl"
    if kind == "columns":
        count, column = len(line.split()), int(experiment.data.column)
        certain = "\t" in line or line.startswith(DOCUMENT)
        if not certain and count > 1 and count in (column - 1, column):
            more = counted(count - 1, "column")
            report(Note(f"{place} is read as a word and {more}: --format text reads a sentence."))
        if certain or count in (1, column - 1, column):
            return "columns"
    return "columns" if "\t" in line else "text"


def _format(name: str, column: str, encoding: Encoding | None) -> TaggedFormat:
    match name:
        case "conllu":
            return Conllu(column)
        case "columns":
            return Columns(int(column))
        case "jsonl":
            return Offsets(encoding or _OFFSETS_ENCODING)
    return Plain()


def _column(column: str, kind: str, first: str, file: Path) -> str:
    """The column to predict as experiments keep it."""
    if kind == "jsonl":
        return "label"
    if kind == "conllu":
        named = "UPOS" if column == "auto" else column.upper()
        if named.isdecimal() and 0 < int(named) <= len(conllu.COLUMNS):
            named = conllu.COLUMNS[int(named) - 1]
        if named not in conllu.COLUMNS[2:]:
            raise ConfigError(unknown("data.column", column, conllu.COLUMNS[2:]))
        return named
    count = len(first.split("\t" if "\t" in first else None))
    if not first:
        raise DataError(f"{file} should hold tagged sentences, but has none: add some, or name another file.")
    if first and all("|" in cell[1:-1] for cell in first.split()):
        raise DataError(f"{file} has word|TAG, as spaCy writes .iob: write a token a line, its tag behind a tab.")
    if file.name.lower().removesuffix(".gz").endswith(".csv") and re.search("[,;]", first):
        raise DataError(f"{file} is CSV: put tabs between its columns, and a blank line after each sentence.")
    if column == "auto" and count < 2:
        remedy = "put spaces or tabs between its columns" if re.search("[,;]", first) else "add a column"
        raise DataError(f"{file} should have a tag beside each word, but its first row is '{first[:40]}': {remedy}.")
    if column != "auto" and not (column.isdecimal() and int(column) > 1):
        raise ConfigError(f"data.column should be a number from 2 in files of columns, but is '{column}': set it.")
    return str(count) if column == "auto" else column


def _first_row(path: Path) -> str:
    """The first line that holds a token; empty for none."""
    contents = (content_of(line) for line in exact_lines(path))
    return next((line for line in contents if line.strip() and not line.startswith((DOCUMENT, "# "))), "")


def _is_conllu(line: str) -> bool:
    cells = line.split("\t")
    return len(cells) == len(conllu.COLUMNS) and cells[0].partition("-")[0].isdecimal()


def _ending(path: Path) -> Format | None:
    name = path.name.lower().removesuffix(".gz")
    return next((kind for ending, kind in _ENDINGS.items() if name.endswith(ending)), None)
