"""Formats of the files of a tagger: chosen once by the training split, and by a first line in prediction."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, cast

from anaphora.data.finding import ending_of
from anaphora.data.labelled import LabelledFormat
from anaphora.data.tagged import exact_lines, find_tagged
from anaphora.errors import ConfigError, DataError
from anaphora.events import Note, Report, silent
from anaphora.formats import conllu
from anaphora.formats.columns import DOCUMENT, WORDS, Columns, cells_of
from anaphora.formats.conllu import Conllu
from anaphora.formats.offsets import Offsets
from anaphora.formats.span_tags import Encoding, encoding_of
from anaphora.formats.table_columns import TableColumns, chosen_columns
from anaphora.formats.tagged import Plain, TaggedFormat, content_of
from anaphora.wording import inflect, unknown

Format = Literal["auto", "conllu", "columns", "jsonl"]
"""Format of files of tagged sentences."""
FORMATS = ("conllu", "columns", "jsonl", "text")
"""The formats of what is to be tagged."""

_OFFSETS_ENCODING: Encoding = "bioes"
"""Encoding in which spans of offsets are written as tags, unless the experiment says otherwise."""

_OF_COLUMNS = (".conll", ".tsv", ".iob", ".iob2", ".bio", ".bioes")
"""Endings of files of columns."""
_PEEK = 2
"""Lines after the first that are looked at."""

_ENDINGS: dict[str, Format] = {".conllu": "conllu", ".jsonl": "jsonl", ".json": "jsonl"}


def resolve(experiment: Any) -> Any:
    """Return the experiment of a tagger of tokens with the format, column and encoding of spans of its training split.

    Raises DataError for data that is not there or not in its format.
    """
    if experiment.is_resolved:
        return experiment
    data, spans = experiment.data, experiment.spans
    train = find_tagged(data.paths(), data.names).train
    first = _first_row(train[0])
    kind = data.format
    if kind == "auto":
        kind = kind_by_name(train[0]) or ("conllu" if _is_conllu(first) else "columns")
    table = _table(data, kind, first, train[0])
    column = table.chosen[-1] if kind != "columns" else str(table.numbers[-1])
    found = {"data.format": kind, "data.column": column}
    experiment = experiment.with_options(found | chosen_columns(table.chosen, table.header))
    if spans == "auto" and experiment.output.several:
        spans = "none"
    elif spans == "auto" and kind == "jsonl":
        spans = _OFFSETS_ENCODING
    elif spans == "auto":
        format_ = format_of(experiment)
        sentences = (one for path in train for one in format_.read(exact_lines(path), str(path), labelled=True))
        spans = encoding_of(one.tags for one in sentences if one.words) or "none"
    return experiment.with_options({"spans": spans})


def encoding_in(experiment: Any) -> Encoding | None:
    """Return the encoding of spans in tags; None where tags are no spans."""
    return None if experiment.spans in ("auto", "none") else cast(Encoding, experiment.spans)


def format_of(experiment: Any, name: str = "", *, labelled: bool = True) -> TaggedFormat:
    """Return the format of ``labelled`` files of a resolved experiment, or of others; or another one by its ``name``.

    Raises ConfigError for none, and where a labelled file of it may have its tags in any column.
    """
    data, encoding = experiment.data, encoding_in(experiment)
    table, kind = TableColumns.of(data), name or data.format
    if name and name not in FORMATS:
        raise ConfigError(unknown("The format", name, FORMATS))
    if name == "jsonl" and encoding is None:
        raise ConfigError("Offsets are for spans, but the tags of this run are not of spans: give columns or text.")
    by_person = bool(table.chosen and not table.header)
    if kind == "conllu" and (by_person or data.format != kind):
        if labelled and not by_person:
            raise ConfigError("The run read no CoNLL-U: name the column of its tags with --columns, as in UPOS.")
        return Conllu(_conllu_column(str(table.chosen[-1])) if by_person else "")
    if kind == "columns" and by_person:
        return Columns(0, table=table._replace(chosen=(1, *table.chosen)[-2:]))
    if kind == "columns" and data.format != kind:
        return Columns(0, table=WORDS._replace(chosen=("FORM", data.column), header=conllu.COLUMNS))
    if kind == "columns" and not table.header and not labelled:  # a run of before, whose tags are usually the last
        column = int(data.column)
        table = WORDS._replace(chosen=(1, column), header=tuple(map(str, range(1, column + 1))))
    match kind:
        case "conllu":
            return Conllu(data.column)
        case "columns":
            return Columns(int(data.column), table.numbers[0] if table.header else 1, table)
        case "jsonl":
            return Offsets(encoding or _OFFSETS_ENCODING)
    return Plain()


def vector_format(experiment: Any) -> LabelledFormat:
    """Return the format of the files of an experiment over vectors."""
    return LabelledFormat(separator="|" if experiment.output.several else None, vectors=True, steps=True)


def recognize_format(
    experiment: Any, lines: Iterable[str], file: str, report: Report = silent, name: str = ""
) -> tuple[TaggedFormat, Iterator[str]]:
    """Return the format of lines to be tagged, by its ``name``, that of their file or their first ones; and the lines.

    A Note reports a first line that may as well be text. Errors as for ``format_of`` and ``Columns.fit``.
    """
    rest = iter(lines)
    held, first = list[str](), ""
    while not first.strip() and (line := next(rest, None)) is not None:
        held.append(line)
        first = "" if line.startswith(DOCUMENT) else content_of(line)
    place = f"{file}:{len(held)}"
    if Path(file).is_file():  # what comes through a pipe is answered line by line
        held += islice(rest, _PEEK)
    if not name and not (name := kind_by_name(Path(file)) or ""):
        name = _kind_of(first, experiment, place, held, report)
    found = format_of(experiment, name, labelled=False)
    return found.fit(first, place) if isinstance(found, Columns) and first else found, chain(held, rest)


def _kind_of(line: str, experiment: Any, place: str, held: Sequence[str], report: Report) -> str:
    """Return the format whose first line this may be; ``held`` are lines around it."""
    kind = experiment.data.format
    if _is_conllu(line) or (kind == "conllu" and line.startswith("#")):
        return "conllu"
    if encoding_in(experiment) is not None and line.lstrip().startswith(('{"', '[{"')):
        return "jsonl"
    if place.rpartition(":")[0].lower().removesuffix(".gz").endswith(_OF_COLUMNS):
        return "columns"
    if kind == "columns":
        count, column = len(line.split()), int(experiment.data.column)
        certain = "\t" in line or any(one.startswith(DOCUMENT) for one in held)
        counts = [len(one.split()) for one in held if one.strip()]
        alike = len(held) > 1 and {*counts} == {count}
        may_be = alike or (len(counts) == 1 if count == 1 else count in (column - 1, column))
        if not certain and may_be:
            more = f"a word and {inflect(count - 1, 'column')}" if count > 1 else "one word a line"
            report(Note(f"{place} is read as {more}: --format text reads a sentence."))
        if certain or may_be:
            return "columns"
    return "columns" if "\t" in line else "text"


def _table(data: Any, kind: str, first: str, file: Path) -> TableColumns:
    """Return the columns of words and tags in training files of a ``kind``, by the first row of one."""
    if kind == "jsonl":
        return WORDS._replace(chosen=("text", "label"), header=("text", "label"))
    column = str(data.columns[-1]) if data.columns else data.column
    if kind == "conllu":
        return WORDS._replace(chosen=("FORM", _conllu_column(column)), header=conllu.COLUMNS)
    if not first:
        raise DataError(f"{file} should hold tagged sentences, but has none: add some, or name another file.")
    cells = cells_of(first)
    if all("|" in cell[1:-1] for cell in first.split()):
        raise DataError(f"{file} has word|TAG, as spaCy writes .iob: write a token a line, its tag behind a tab.")
    if file.name.lower().removesuffix(".gz").endswith(".csv") and re.search("[,;]", first):
        raise DataError(f"{file} is CSV: put tabs between its columns, and a blank line after each sentence.")
    if column == "auto" and len(cells) < 2:
        remedy = "put spaces or tabs between its columns" if re.search("[,;]", first) else "add a column"
        raise DataError(f"{file} should have a tag beside each word, but its first row is '{first[:40]}': {remedy}.")
    tag = len(cells) if column == "auto" else int(column) if column.isdecimal() else column
    if not data.columns and tag in (0, 1):
        raise ConfigError(f"data.column should be a name, or a number from 2 in files of columns, but is '{column}'.")
    chosen = WORDS._replace(chosen=(data.columns[0] if len(data.columns) > 1 else 1, tag))
    fit = Columns(0, table=chosen).fit(first, f"{file}:1", labelled=True)
    return WORDS.found_in(cells, [fit.word - 1, fit.column - 1], headed=fit.headed)


def _conllu_column(column: str) -> str:
    """Return the column to predict as experiments keep it."""
    named = "UPOS" if column == "auto" else column.upper()
    if named.isdecimal() and 0 < int(named) <= len(conllu.COLUMNS):
        named = conllu.COLUMNS[int(named) - 1]
    if named not in conllu.COLUMNS[2:]:
        raise ConfigError(unknown("data.column", column, conllu.COLUMNS[2:]))
    return named


def _first_row(path: Path) -> str:
    """Return the first line that holds a token; empty for none."""
    contents = (content_of(line) for line in exact_lines(path))
    return next((line for line in contents if line.strip() and not line.startswith((DOCUMENT, "# "))), "")


def _is_conllu(line: str) -> bool:
    cells = line.split("\t")
    return len(cells) == len(conllu.COLUMNS) and cells[0].partition("-")[0].isdecimal()


def kind_by_name(path: Path) -> Format | None:
    """Return the format of a file that the ending of its name says; None for none."""
    return _ENDINGS.get(ending_of(path, [*_ENDINGS]))
