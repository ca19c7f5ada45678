"""Labelled texts are read from every format alike, and a faulty line is named."""

from pathlib import Path

import pytest

from anaphora.errors import DataError
from anaphora.formats.labelled import read_labelled

FORMATS = {
    "a.tsv": "text\tlabel\nfine film\tgood\nawful, dull\tbad\n",
    "b.tsv": "fine film\tgood\nawful, dull\tbad\nsome more\tgood\n",
    "c.csv": 'Label,id,Text\ngood,1,fine film\nbad,2,"awful, dull"\n',
    "d.txt": "good fine film\nbad awful, dull\n",
    "e.txt": "__label__good fine film\n__label__bad awful, dull\n",
    "f.jsonl": '{"label": "good", "text": "fine film"}\n{"text": "awful, dull", "label": "bad"}\n',
    "g.jsonl": '{"idx": 0, "Sentence": "fine film", "class": "good"}\n{"Sentence": "awful, dull", "class": "bad"}\n',
    "h.json": '[\n {"review": "fine film", "label": "good"},\n {"review": "awful, dull", "label": "bad"}\n]\n',
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_examples(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(FORMATS[name])
    found = [(example.labels[0], example.text) for example in read_labelled(path)][:2]
    assert found == [("good", "fine film"), ("bad", "awful, dull")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", 'Label;Text\n"very good";"fine; film"\nbad;"a ""dull"", long one"\n'),
        ("b.csv", '\ufeffverdict,review\r\nvery good,fine; film\r\nbad,"a ""dull"", long one"\r\n'),
        ("c.csv", 'very good,fine; film\nbad,"a ""dull"", long one"\n'),
        ("d.tsv", 'text\tstars\nfine; film\tvery good\na "dull", long one\tbad\n'),
    ],
)
def test_tables_are_read_as_spreadsheets_write_them(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, newline="")
    found = [(one.labels, one.text) for one in read_labelled(path)]
    assert found == [(("very good",), "fine; film"), (("bad",), 'a "dull", long one')]


def test_a_label_that_is_also_a_name_of_columns_is_no_heading(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("question\tWho?\nanswer\tNobody.\nquestion\tWhy?\n")
    assert [one.labels for one in read_labelled(tmp_path / "a.tsv")] == [("question",), ("answer",), ("question",)]


@pytest.mark.parametrize("first", ["x\ty", "y\tx", "X\tgood", "good\tx"])
def test_a_single_letter_is_no_heading_of_a_table(tmp_path: Path, first: str) -> None:
    (tmp_path / "a.tsv").write_text(f"{first}\nx\tgood\ngood\ty\ny\tx\n")
    assert len(list(read_labelled(tmp_path / "a.tsv"))) == 4
    (tmp_path / "a.jsonl").write_text('{"x": "fine film", "y": "good"}\n')
    assert [(one.labels, one.text) for one in read_labelled(tmp_path / "a.jsonl")] == [(("good",), "fine film")]


def test_labels_in_json_may_be_numbers_or_truth_values(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"label": 1, "text": "a"}\n{"label": true, "text": "b"}\n')
    assert [one.labels for one in read_labelled(tmp_path / "a.jsonl")] == [("1",), ("true",)]


def test_a_folder_per_class_is_read(tmp_path: Path) -> None:
    for label, text in (("bad", "awful,\ndull"), ("good", "fine film")):
        (tmp_path / label).mkdir()
        (tmp_path / label / "1.txt").write_text(text)
    found = [(one.labels, one.text) for one in read_labelled(tmp_path)]
    assert found == [(("bad",), "awful, dull"), (("good",), "fine film")]
    (tmp_path / "mixed").mkdir()
    with pytest.raises(DataError, match=r"The class .*mixed is empty"):
        list(read_labelled(tmp_path))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.tsv", "label\ttext\ngood\tfine\nbad\n", r"a\.tsv:3 has 1 column, but line 1 has 2"),
        ("a.tsv", "one\ttwo\tthree\n", r"a\.tsv:1 should be a header"),
        ("a.txt", "good fine\nbad\n", r"a\.txt:2 has an empty text"),
        ("a.csv", "id,review,stars\n1,fine,5\n", r"a\.csv:1 should be a header .* 3 columns \(id, review, stars\)"),
        ("a.txt", "__label__a __label__b fine\n", r"a\.txt:1 has several labels"),
        ("a.tsv", "label\ttext\n\tfine\n", r"a\.tsv:2 has an empty label"),
        (
            "a.jsonl",
            '{"label": "x"}\n',
            r"a\.jsonl:1 should be an object .* with a text.*\(label\)",
        ),
        (
            "a.json",
            '[{"stars": "x", "text": "a"}]\n',
            r"a\.json:1 should be an object .* with a label.*\(stars, text\)",
        ),
        ("a.jsonl", '{"label": 1.5, "text": "a"}\n', r'a\.jsonl:1 should be an object .* but has 1.5, "a"'),
        ("a.jsonl", '{"label": "x", "text": "a \\ud83d"}\n', r"a\.jsonl:1 should be JSON.*surrogates"),
        ("a.jsonl", '{"label": "x\\u0000", "text": "a"}\n', r"a\.jsonl:1 should be JSON.*NUL"),
        ("a.jsonl", "\n" + '{"label": ' * 5000, r"a\.jsonl:2 should be JSON.*nested"),
        ("a.jsonl", '{"label": "x\\ny", "text": "a"}\n', r"a\.jsonl:1 should have a label of one line"),
        ("a.csv", 'label,text\nx,"two\nlines"\ny,"open\n', r"a\.csv:4 is no CSV that can be read"),
        ("a.csv", 'label,text\nx,"two\nlines"\n\nx\n', r"a\.csv:5 has 1 column,"),
        ("a.csv", "\r<s>", r"a\.csv:1 is no CSV that can be read"),
    ],
)
def test_a_faulty_line_is_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text, newline="")
    with pytest.raises(DataError, match=message):
        list(read_labelled(path))


SEVERAL = {
    "a.tsv": "labels\ttext\na | b\tfine film\n\tnone\n",
    "b.txt": "__label__a __label__b fine film\nnone\n",
    "c.jsonl": '{"labels": ["a", "b"], "text": "fine film"}\n{"label": [], "text": "none"}\n',
    "d.txt": "a|b fine film\n__label__ none\n",
}


@pytest.mark.parametrize("name", SEVERAL)
def test_several_labels_are_read_from_every_format(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(SEVERAL[name])
    found = [(one.labels, one.text) for one in read_labelled(path, separator="|")]
    assert found == [(("a", "b"), "fine film"), ((), "none")]


def test_an_empty_separator_splits_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a|b fine film\n")
    assert [one.labels for one in read_labelled(path, separator="")] == [("a|b",)]
    path.write_text("__label__c|d __label__e other\n")
    assert [one.labels for one in read_labelled(path, separator="")] == [("c|d", "e")]


def test_another_encoding_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("1 café\n".encode("iso-8859-1"))
    assert [one.text for one in read_labelled(path, encoding="iso-8859-1")] == ["café"]
