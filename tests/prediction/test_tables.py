"""A table comes back with its predictions in one column more, and nothing else changed."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anaphora.errors import DataError
from anaphora.formats.table_columns import TableColumns
from anaphora.prediction.tables import predict_table

COLUMNS = TableColumns((("text",), ("label",)), ("text", "label"), ("text", "label"))


@dataclass(frozen=True)
class Loud:
    """A prediction: the text in capitals."""

    text: str

    def __str__(self) -> str:
        return self.text.upper()


def loud(texts: Iterable[str]) -> Iterator[Loud]:
    return map(Loud, texts)


def answered(text: str, name: str, columns: TableColumns = COLUMNS) -> str:
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    return "".join(map(str, predict_table(loud, lines, name, columns)))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("name", "given_text", "expected"),
    [
        ("a.tsv", "label\ttext\nx\ta b\n\ny\tc\n", "label\ttext\tprediction\nx\ta b\tA B\n\ny\tc\tC\n"),
        ("a.tsv", "TEXT\tn\tprediction\na\t1\tz\n", "TEXT\tn\tprediction\tprediction_2\na\t1\tz\tA\n"),
        ("a.tsv", "a b\nc\n", "a b\tA B\nc\tC\n"),
        ("a.tsv", 'text\n"a\n', 'text\tprediction\n"a\t"A\n'),
        ("a.csv", "text,label\na b,x\n", "text,label,prediction\na b,x,A B\n"),
        ("a.csv", "label;n;text\nx;1;a,b\n", "label;n;text;prediction\nx;1;a,b;A,B\n"),
        ("a.csv", 'text,label\n"a\nb",x\nc,y', 'text,label,prediction\n"a\nb",x,"A\nB"\nc,y,C'),
        ("a.csv", '"text","label"\n"a","x"\n', '"text","label","prediction"\n"a","x","A"\n'),
        ("a.jsonl", '{"text": "a", "n": 1}\n', '{"text": "a", "n": 1, "prediction": "A"}\n'),
        ("a.jsonl", '{"Label":2,"text":"\\u00e4" }\n', '{"Label":2,"text":"\\u00e4", "prediction": "Ä"}\n'),
        ("a.jsonl", '{"prediction": 1, "text": "a"}\n', '{"prediction": 1, "text": "a", "prediction_2": "A"}\n'),
    ],
)
def test_a_row_has_one_value_more_in_its_format(name: str, given_text: str, expected: str, bom: str, end: str) -> None:
    assert answered(bom + given_text.replace("\n", end), name) == bom + expected.replace("\n", end)


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=9)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=9), st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
@example([(";\n", ";\n")], csv.QUOTE_MINIMAL)
def test_any_csv_keeps_its_values_with_the_predictions_beside_them(rows: list[tuple[str, str]], quoting: int) -> None:
    stream = io.StringIO(newline="")
    csv.writer(stream, quoting=quoting).writerows([("label", "text"), *rows])  # type: ignore[arg-type]
    found = csv.reader(io.StringIO(answered(stream.getvalue(), "a.csv"), newline=""))
    assert list(found)[1:] == [[label, text, text.upper()] for label, text in rows]


@given(st.lists(st.dictionaries(cells, cells | st.integers() | st.lists(cells, max_size=3), max_size=4), max_size=4))
def test_any_object_keeps_its_values_and_has_the_prediction_beside_them(items: list[dict[str, object]]) -> None:
    items = [{key: value for key, value in item.items() if key.strip().casefold() != "text"} for item in items]
    lines = "".join(json.dumps({**item, "text": "a"}) + "\n" for item in items)
    found = [json.loads(line) for line in answered(lines, "a.jsonl").splitlines()]
    assert [list(one.values())[-1] for one in found] == ["A"] * len(items)
    assert [{key: one[key] for key in item} for one, item in zip(found, items, strict=True)] == items


def test_several_labels_are_a_list_in_json_and_one_cell_elsewhere() -> None:
    @dataclass(frozen=True)
    class Labels:
        labels: tuple[str, ...] = ("x", "y")

        def __str__(self) -> str:
            return "x|y"

    def both(name: str, lines: list[str]) -> str:
        return "".join(map(str, predict_table(lambda texts: (Labels() for _ in texts), lines, name, COLUMNS)))

    assert both("a.jsonl", ['{"text": "a"}\n']) == '{"text": "a", "prediction": ["x", "y"]}\n'
    assert both("a.tsv", ["text\n", "a\n"]) == "text\tprediction\na\tx|y\n"


def test_features_follow_the_input() -> None:
    columns = TableColumns((("lemma",), ("form",), ("tags",)), (3, 1, 2), ("1", "2", "3"))
    assert [row.found for row in predict_table(loud, ["V\ta\n"], "a.tsv", columns)] == [Loud("a\tV")]
    assert [row.found for row in predict_table(loud, ["x\tV\ta\n"], "a.tsv", columns)] == [Loud("a\tV")]
    objects = ['{"tags": ["V", "PST"], "lemma": "a"}\n']
    assert [row.found for row in predict_table(loud, objects, "a.jsonl", columns)] == [Loud("a\tV;PST")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('["word"]\n["b"]', '["word", "WORD"]\n["b", "B"]'),
        ('["a", "x"]\n\n[ "b", "y" ]\n', '["a", "x", "A"]\n[ "b", "y", "B"]\n'),
        ('[["a", "x"],\n["b", "y"]]', '["a", "x", "A"]\n["b", "y", "B"]\n'),
    ],
)
def test_arrays_of_strings_are_rows_as_in_training(text: str, expected: str) -> None:
    columns = TableColumns((("word",), ("form",)), (1, 2), ("1", "2"))
    assert answered(text, "a.jsonl", columns) == expected


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.tsv", "klass\tbody\nx\ta\n", r"a.tsv:1 should have a column 'text'"),
        ("a.tsv", "text\tlabel\na\tx\nb\n", "a.tsv:3 has 1 column, but line 1 has 2"),
        ("a.csv", 'text,label\n"a,x\n', "a.csv:2 is no CSV"),
        ("a.jsonl", '{"text": "a"}\n{"body": "b"}\n', "a.jsonl:2 should have a column 'text'"),
        ("a.jsonl", '{"text": 1}\n', "a.jsonl:1 should have a text as its input, but has 1"),
    ],
)
def test_a_table_without_the_input_is_refused_with_its_line(name: str, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        answered(text, name)


def test_columns_that_nothing_names_are_asked_for() -> None:
    with pytest.raises(DataError, match=r"nothing says which is the input: name it with the option columns"):
        answered("x\ta\n", "a.tsv", TableColumns(COLUMNS.usual))
