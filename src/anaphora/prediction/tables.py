"""Predictions for the rows of a table, which comes back with one column more and nothing else changed."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from anaphora.errors import DataError
from anaphora.formats.table_columns import TableColumns, new_name
from anaphora.formats.table_rows import TableRow, table_rows
from anaphora.wording import counted


@dataclass(frozen=True)
class PredictedRow:
    """Lines of a table with a prediction; ``found`` is None for a heading and blank lines."""

    text: str
    found: Any = None

    @property
    def words(self) -> bool:
        """True if there is a prediction."""
        return self.found is not None

    def json(self) -> Any:
        return self.found.json()

    def __str__(self) -> str:
        return self.text


def predict_table(
    predict: Callable[[Iterable[str]], Iterable[Any]], lines: Iterable[str], where: str, columns: TableColumns
) -> Iterator[PredictedRow]:
    """Predict from the input ``columns`` of a table, in ``lines`` with their ends from the file ``where``.

    Raises DataError, with the line, for a table without these columns and for rows of another width, after the
    predictions for the rows before.
    """
    waiting = deque[tuple[str, TableRow | None]]()  # lines that stay as they are, or a row to be answered

    def inputs() -> Iterator[str]:
        places, width = list[int](), 0
        for row in table_rows(lines, where):
            place = f"{where}:{row.number}"
            if any(row.cells) and (not width or row.keys is not None):
                places, headed = _inputs(columns, row, place)
                width = len(row.cells)
                if headed and row.keys is None:
                    waiting.append((row.with_cell(new_name(row.cells), ""), None))
                    continue
            if not any(row.cells):
                waiting.append((row.lines, None))
                continue
            if len(row.cells) != width:
                raise DataError(f"{place} has {counted(len(row.cells), 'column')}, but others {width}: correct it.")
            waiting.append((row.lines, row))
            yield "\t".join(_text(row.cells[number], place) for number in places)

    for found in predict(inputs()):
        text, answered = waiting.popleft()
        while answered is None:
            yield PredictedRow(text)
            text, answered = waiting.popleft()
        several = getattr(found, "labels", None) if not answered.separator else None
        value = str(found) if several is None else list(several)
        yield PredictedRow(answered.with_cell(value, new_name(answered.keys or ())), found)
    yield from (PredictedRow(text) for text, _ in waiting)


def _inputs(columns: TableColumns, row: TableRow, place: str) -> tuple[list[int], bool]:
    """The places of the input in a first row, and True if it is a heading or an object."""
    cells = row.cells if row.keys is None else row.keys
    found = columns.find(cells, place, [0, *range(2, len(columns.chosen))], keys=row.keys is not None)
    if found is None:
        raise DataError(
            f"{place} has {counted(len(cells), 'column')} ({', '.join(cells)[:60]}), but nothing says which is the "
            f"input: name it with the option columns."
        )
    return found


def _text(value: Any, place: str) -> str:
    texts = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) for one in texts):
        raise DataError(f"{place} should have a text as its input, but has {value!r:.40}: correct it.")
    return ";".join(texts)
