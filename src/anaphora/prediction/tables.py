"""Predictions for the rows of a table, which comes back with one column more and nothing else changed."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from anaphora.errors import DataError
from anaphora.formats.table_columns import TableColumns, new_name
from anaphora.formats.table_rows import TableRow, read_sides, table_rows
from anaphora.wording import inflect


class PredictedRow(NamedTuple):
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
    waiting = deque[PredictedRow | TableRow]()  # lines that stay as they are, or a row to be answered

    def inputs() -> Iterator[str]:
        for row, values in read_sides(table_rows(lines, where, arrays=True), where, partial(_inputs, columns)):
            if values is None:
                text = row.with_cell(new_name(row.cells), "") if any(row.cells) else row.lines
                waiting.append(PredictedRow(text))
            else:
                waiting.append(row)
                yield "\t".join(_text(value, f"{where}:{row.number}") for value in values)

    for found in predict(inputs()):
        while isinstance(row := waiting.popleft(), PredictedRow):
            yield row
        several = getattr(found, "labels", None) if not row.separator else None
        value = str(found) if several is None else list(several)
        yield PredictedRow(row.with_cell(value, new_name(row.keys or ())), found)
    yield from (row for row in waiting if isinstance(row, PredictedRow))


def _inputs(columns: TableColumns, row: TableRow, place: str) -> tuple[list[int], bool]:
    """Return the places of the input in a first row, and True if it is a heading."""
    is_array = row.keys is None and not row.separator  # which has no heading
    heads = [str(number) for number in range(1, len(row.cells) + 1)] if is_array else row.heads
    found = columns.find(heads, place, [0, *range(2, len(columns.chosen))], keys=row.keys is not None)
    if found is None:
        raise DataError(
            f"{place} has {inflect(len(heads), 'column')} ({', '.join(heads)[:60]}), but nothing says which is "
            f"the input: name it with the option columns."
        )
    return found


def _text(value: Any, place: str) -> str:
    texts = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) for one in texts):
        raise DataError(f"{place} should have a text as its input, but has {value!r:.40}: correct it.")
    return ";".join(texts)
