"""Columns of a table are those of training: by name, else by number and width; anything else is refused."""

import re

import pytest

from anaphora.errors import DataError
from anaphora.formats.table_columns import TableColumns, new_name

USUAL = (("text", "review"), ("label", "stars"))
NAMED = TableColumns(USUAL, ("Review", "Verdict"), ("id", "Review", "Verdict"))
NUMBERED = TableColumns(USUAL, (3, 2), ("1", "2", "3"))
UNKNOWN = TableColumns(USUAL)


@pytest.mark.parametrize(
    ("columns", "cells", "places", "is_heading"),
    [
        (NAMED, ["id", "Review", "Verdict"], [1, 2], True),
        (NAMED, ["VERDICT", "review ", "x", "y"], [1, 0], True),
        (NUMBERED, ["7", "good", "a film"], [2, 1], False),
        (NUMBERED, ["label", "text"], [1, 0], True),
        (UNKNOWN, ["n", "stars", "review"], [2, 1], True),
        (TableColumns(USUAL, (2, 1)), ["a film", "good", "x"], [1, 0], False),
        (TableColumns(USUAL, ("b", 1)), ["A", "B"], [1, 0], True),
        # an input alone
        (NAMED, ["Review"], [0], True),
        (NAMED, ["x", "review"], [1], True),
        (NUMBERED, ["7", "a film"], [1], False),
        (NUMBERED, ["a film"], [0], False),
        (UNKNOWN, ["a film"], [0], False),
    ],
)
def test_input_and_output_are_found_by_name_or_number(
    columns: TableColumns, cells: list[str], places: list[int], is_heading: bool
) -> None:
    assert columns.find(cells, "f:1", range(len(places))) == (places, is_heading)


@pytest.mark.parametrize(
    ("columns", "cells", "sides", "message"),
    [
        (NAMED, ["id", "Reviw"], [0], "a column 'Review' as training had (id, Review, Verdict), but has 2 columns"),
        (NAMED, ["id", "Reviw"], [0], "Did you mean 'reviw'?"),
        (NAMED, ["7", "a film", "good"], [0, 1], "columns 'Review' and 'Verdict' as training had"),
        (NUMBERED, ["a", "b", "c", "d"], [0], "a column 3 as training had (1, 2, 3), but has 4 columns (a, b, c, d)"),
        (TableColumns(USUAL, (4, 1)), ["a", "b"], [0, 1], "columns 4 and 1, but has 2 columns (a, b)"),
        (TableColumns(USUAL, ("lable", 1)), ["Label", "b"], [0, 1], "'label'? Name them with the option columns"),
    ],
)
def test_other_columns_are_refused_with_what_is_there(
    columns: TableColumns, cells: list[str], sides: list[int], message: str
) -> None:
    with pytest.raises(DataError, match=f"f:1 should have .*{re.escape(message)}"):
        columns.find(cells, "f:1", sides)


def test_nothing_is_found_where_nothing_is_known() -> None:
    assert UNKNOWN.find(["a", "b"], "f:1") is None


def test_what_a_table_has_is_kept_by_name_or_by_number() -> None:
    headed = UNKNOWN.found_in(["Id", "stars", "review"], [2, 1], headed=True)
    assert headed == TableColumns(USUAL, ("review", "stars"), ("Id", "stars", "review"))
    assert UNKNOWN.found_in(["a", "b"], [1, 0], headed=False) == TableColumns(USUAL, (2, 1), ("1", "2"))
    assert headed.numbers == [3, 2]


def test_a_new_column_has_a_name_that_no_other_has() -> None:
    names = [new_name(taken) for taken in ([], ["a", "Prediction"], ["prediction", "prediction_2"])]
    assert names == ["prediction", "prediction_2", "prediction_3"]
