"""Labelled texts are read from every format alike, and a faulty line is named."""

from pathlib import Path

import pytest

from anaphora.errors import DataError
from anaphora.formats import labelled, table_rows
from anaphora.formats.labelled import class_folders, read_labelled

from .conftest import Written

ONE = [(("good",), "fine film"), (("bad",), "awful, dull")]
QUOTED = [(("very good",), "fine; film"), (("bad",), 'a "dull", long one')]
SEVERAL = [(("a", "b"), "fine film"), ((), "none")]


@pytest.mark.parametrize(
    ("name", "text", "separator", "examples"),
    [
        ("a.tsv", "text\tlabel\nfine film\tgood\nawful, dull\tbad\n", None, ONE),
        ("a.tsv", "fine film\tgood\nawful, dull\tbad\nsome more\tgood\n", None, [*ONE, (("good",), "some more")]),
        ("a.csv", 'Label,id,Text\ngood,1,fine film\nbad,2,"awful, dull"\n', None, ONE),
        ("a.txt", "good fine film\nbad awful, dull\n", None, ONE),
        ("a.txt", "__label__good fine film\n__label__bad awful, dull\n", None, ONE),
        ("a.txt", "fine film __label__good\nawful, dull\t__label__bad \n", None, ONE),
        ("a.txt", "__label__a fine film __label__b\nnone\n", "|", SEVERAL),
        ("a.jsonl", '{"label": "good", "text": "fine film"}\n{"text": "awful, dull", "label": "bad"}\n', None, ONE),
        ("a.json", '[\n {"review": "fine film", "class": "good"}\n]\n', None, ONE[:1]),
        ("a.csv", '\ufeffverdict,review\r\nvery good,fine; film\r\nbad,"a ""dull"", long one"\r\n', None, QUOTED),
        ("a.csv", 'very good,fine; film\nbad,"a ""dull"", long one"\n', None, QUOTED),
        ("a.tsv", 'text\tstars\nfine; film\tvery good\na "dull", long one\tbad\n', None, QUOTED),
        (
            "a.tsv",
            "question\tWho?\nanswer\tNobody.\nquestion\tWhy?\n",
            None,
            [(("question",), "Who?"), (("answer",), "Nobody."), (("question",), "Why?")],
        ),
        ("a.jsonl", '{"x": "fine film", "y": "good"}\n', None, ONE[:1]),
        ("a.jsonl", '{"label": true, "text": "b"}\n', None, [(("true",), "b")]),
        ("a.tsv", "labels\ttext\na | b\tfine film\n\tnone\n", "|", SEVERAL),
        ("a.jsonl", '{"labels": ["a", "b"], "text": "fine film"}\n{"label": [], "text": "none"}\n', "|", SEVERAL),
        ("a.txt", "a|b fine film\n__label__ none\n", "|", SEVERAL),
        ("a.txt", "__label__c|d __label__e other\n", "", [(("c|d", "e"), "other")]),
    ],
)
def test_every_format_gives_labels_and_texts(
    name: str, text: str, separator: str | None, examples: list[tuple[tuple[str, ...], str]], written: Written
) -> None:
    found = read_labelled(written(name, text), separator=separator)
    assert [(one.labels, one.text) for one in found] == examples


@pytest.mark.parametrize("first", ["x\ty", "y\tx", "X\tgood", "good\tx"])
def test_a_single_letter_is_no_heading_of_a_table(first: str, written: Written) -> None:
    assert len(list(read_labelled(written("a.tsv", f"{first}\nx\tgood\ngood\ty\ny\tx\n")))) == 4


def test_a_folder_per_class_is_read(tmp_path: Path, written: Written) -> None:
    written("bad/1.txt", "awful,\ndull")
    written("good/1.txt", "fine film")
    assert [(one.labels, one.text) for one in read_labelled(tmp_path)] == ONE[::-1]
    assert class_folders(tmp_path / "good") == []
    (tmp_path / "mixed").mkdir()
    with pytest.raises(DataError, match=r"The class .*mixed is empty"):
        list(read_labelled(tmp_path))


def test_another_encoding_is_read(written: Written) -> None:
    path = written("a.txt", "1 café\n".encode("iso-8859-1"))
    assert [one.text for one in read_labelled(path, encoding="iso-8859-1")] == ["café"]


def test_a_row_or_a_text_without_end_is_refused(
    tmp_path: Path, written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (table_rows, labelled):
        monkeypatch.setattr(module, "LONGEST", 10_000)
    table = written("a.csv", "label,text\nx,y\n" + 'x,"a\n' + 'b","c\n' * 3_000)
    with pytest.raises(DataError, match=r"a\.csv:3 begins a row of more than 10,000 characters"):
        list(read_labelled(table))
    for name in ("good", "bad"):
        written(f"classes/{name}/1.txt", "a\n" * 6_000)
    with pytest.raises(DataError, match=r"1\.txt begins something of more than 10,000 characters"):
        list(read_labelled(tmp_path / "classes"))


def test_only_some_rows_are_kept_to_tell_the_columns(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelled, "LONGEST", 100)
    table = written("a.tsv", f"x\t{'a' * 200}\n" * 3 + "y\tz\n")
    assert [one.labels for one in read_labelled(table)] == [("x",), ("x",), ("x",), ("y",)]
