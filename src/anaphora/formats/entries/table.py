"""Tables of pairs: comma-separated values with a heading that names the columns, and JSON lines.

Commas, semicolons or tabs stand between values, which may be quoted. The columns are those that ``Layout.columns``
names, or else those that the heading calls by the languages (``en``, ``en-US``, ``English``) or ``source`` and
``target``. JSON lines are those of Hugging Face data sets: ``{"translation": {"en": "..", "de": ".."}}``.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from anaphora.errors import DataError
from anaphora.formats.entries.entry import Entry, Reason, one_line, places_of
from anaphora.formats.json_text import json_objects
from anaphora.formats.lines import raw_lines
from anaphora.formats.table_columns import SIDES, Column, TableColumns
from anaphora.formats.table_rows import csv_records
from anaphora.formats.tsv import Layout

_NUMBERS = ("id", "no", "nr")
"""Names of columns that number the rows, although they are also codes of languages."""
_CODE = re.compile(r"[a-z]{2,3}(?:[-_][a-z]{2,4})?")


def csv_entries(pieces: Iterable[bytes], name: str, languages: tuple[str, str], layout: Layout) -> Iterator[Entry]:
    """Yield the entries of a table in UTF-8 that messages call ``name``, the rows below its heading.

    DataError, with the line, for a heading without the columns, wrong quotes.
    """
    rows = _rows(pieces, name)
    _, heading, *_ = next(rows, (1, [], "", ""))
    source, target = _columns(heading, name, languages, layout)
    for line, cells, *_ in rows:
        if len(cells) <= max(source, target):
            if any(cells):
                yield Entry(line, "", "", Reason.WITHOUT_COLUMNS)
        elif cells[source].strip() and cells[target].strip():
            yield Entry(line, one_line(cells[source]), one_line(cells[target]))
        else:
            yield Entry(line, "", "", Reason.UNTRANSLATED if cells[source].strip() else Reason.EMPTY)


def _columns(heading: Sequence[str], name: str, languages: tuple[str, str], layout: Layout) -> list[int]:
    chosen = TableColumns(((), ()), layout.columns or ())
    if found := chosen.find(heading, f"{name}:1"):
        return found[0]
    names, columns = [Column.of(cell).name for cell in heading], []
    for known, language, other in zip(SIDES, languages, languages[::-1], strict=True):
        fitting = [place for place, one in enumerate(names) if one in known] or places_of(names, language, other)
        if not fitting:
            raise DataError(
                f"{name}:1 names no column for the {known[0]} ({language}), but {', '.join(heading)[:100]}: "
                f"rename it, or name two with the option columns."
            )
        columns.append(fitting[0])
    return columns


def _rows(pieces: Iterable[bytes], name: str) -> Iterator[tuple[int, list[str], str, str]]:
    return csv_records((line.decode() for _, line in raw_lines(pieces, name)), name)


def translations_in_json(pieces: Iterable[bytes], name: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the texts of each line by language; DataError, with the line, for what is no JSON object."""
    for line, _, item in json_objects((line.decode() for _, line in raw_lines(pieces, name)), name):
        texts = item.get("translation")
        found = texts.items() if isinstance(texts, dict) else ()
        yield line, {code: text if isinstance(text, str) else "" for code, text in found}


def json_entries(pieces: Iterable[bytes], name: str, languages: tuple[str, str]) -> Iterator[Entry]:
    """Yield the entries of JSON lines in UTF-8; errors as for ``translations_in_json``."""
    for line, texts in translations_in_json(pieces, name):
        places = (places_of([*texts], *sides) for sides in (languages, languages[::-1]))
        pair = [one_line([*texts.values()][found[0]]) for found in places if found]
        if len(pair) == 2 and all(pair):
            yield Entry(line, pair[0], pair[1])
        else:
            yield Entry(line, "", "", Reason.UNTRANSLATED if len(pair) == 2 else Reason.OTHER_LANGUAGES)


def languages_of_table(pieces: Iterable[bytes], name: str) -> tuple[str, ...]:
    """Return the languages that a heading names, in the order of its columns."""
    _, heading, *_ = next(_rows(pieces, name), (1, [], "", ""))
    codes = [Column.of(cell).name for cell in heading]
    found = dict.fromkeys(code for code in codes if _CODE.fullmatch(code))
    others = tuple(code for code in found if code not in _NUMBERS)
    return others if len(others) > 1 else tuple(found)
