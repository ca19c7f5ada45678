"""Bad input of any format is refused in one sentence that names its place."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from anaphora.data.corpora import StringFile
from anaphora.data.traces import read_traces
from anaphora.errors import DataError
from anaphora.formats.captions import read_captions
from anaphora.formats.dictionary import read_dictionary
from anaphora.formats.glossary import read_glossary, read_term_bases
from anaphora.formats.labelled import read_labelled
from anaphora.formats.omegat import read_project
from anaphora.formats.tsv import read_pairs
from tests.formats.test_captions import COCO
from tests.formats.test_traces import IAM, INKML

from .conftest import Written


def string_file(path: Path) -> Iterable[object]:
    return StringFile.of(path).rows()


def terms(path: Path) -> Iterable[object]:
    return read_term_bases(path.parent, ("en", "de"))


def project(path: Path) -> Iterable[object]:
    return read_project(path.parent)


REFUSED: dict[Callable[[Path], Iterable[object]], list[tuple[str, str | bytes, str]]] = {
    read_captions: [
        ("a.tsv", "dog.jpg\tA dog .\ndog.jpg A pet .\n", r"a\.tsv:2 has 1 column, but line 1 has 2"),
        ("a.tsv", "dog.jpg\tA\tdog\n", r"a\.tsv:1 .* but has 3 columns"),
        ("a.tsv", "dog.jpg\t \n", r"a\.tsv:1 has an empty caption"),
        ("a.tsv", "\tA dog .\n", r"a\.tsv:1 names no image"),
        ("a.tsv", "image\tcaption\n", r"a\.tsv has no captions"),
        ("a.json", "[]", r'a\.json should have captions .* no list "images"'),
        (
            "a.json",
            '{"images": [{"filename": 3, "split": "val", "sentences": []}]}',
            r'images\[0\], should have a string "filename"',
        ),
        ("a.json", json.dumps({"images": [1]}), r'images\[0\], should have a string "filename"'),
        (
            "a.json",
            '{"images": [{"filename": "a", "split": "val", "sentences": "x"}]}',
            r'images\[0\], should have a "split"',
        ),
        ("a.json", json.dumps(COCO | {"images": []}), r'annotations\[0\], is of image 1, which is not among "images"'),
        ("a.json", json.dumps({"images": [{"file_name": "x"}], "annotations": []}), r'images\[0\], .* number "id"'),
    ],
    read_labelled: [
        ("a.tsv", "label\ttext\ngood\tfine\nbad\n", r"a\.tsv:3 has 1 column, but line 1 has 2"),
        ("a.tsv", "one\ttwo\tthree\n", r"a\.tsv:1 should be a header"),
        ("a.txt", "good fine\nbad\n", r"a\.txt:2 has an empty text"),
        ("a.csv", "id,review,stars\n1,fine,5\n", r"a\.csv:1 should be a header .* 3 columns \(id, review, stars\)"),
        ("a.txt", "__label__a __label__b fine\n", r"a\.txt:1 has several labels"),
        ("a.tsv", "label\ttext\n\tfine\n", r"a\.tsv:2 has an empty label"),
        ("a.jsonl", '{"label": "x"}\n', r"a\.jsonl:1 should be an object .* with a text.*\(label\)"),
        (
            "a.json",
            '[{"stars": "x", "text": "a"}]\n',
            r"a\.json:1 should be an object .* with a label.*\(stars, text\)",
        ),
        ("a.jsonl", '\n{"label": 1.5, "text": "a"}\n', r'a\.jsonl:2 should be an object .* but has 1.5, "a"'),
        ("a.jsonl", '{"label": "x\\ny", "text": "a"}\n', r"a\.jsonl:1 should have a label of one line"),
        ("a.csv", 'label,text\nx,"two\nlines"\ny,"open\n', r"a\.csv:4 is no CSV that can be read"),
        ("a.csv", 'label,text\nx,"two\nlines"\n\nx\n', r"a\.csv:5 has 1 column,"),
    ],
    read_traces: [
        ("a.jsonl", '{"strokes": [[[0, 0], [1, NaN]]]}', "jsonl:1: stroke 1, point 2 has a number that is not finite"),
        ("a.jsonl", '{"strokes": [[[0, 0], [1, "x"]]]}', "stroke 1, point 2 should have 2 or 3 numbers"),
        ("a.jsonl", '{"strokes": [[[0, 0]], []]}', "a.jsonl:1: stroke 2 has no points: remove it"),
        ("a.jsonl", '{"strokes": []}', "with at least one stroke"),
        ("a.jsonl", '\n{"strokes": [[[0, 0, 5], [1, 1, 4]]]}', "jsonl:2: stroke 1, point 2 is out of order: its time"),
        ("a.jsonl", '{"text": "x"}', "should be an object like"),
        ("a.jsonl", "[" * 100_000, "nested too deeply"),
        ("a.jsonl", "[[0, 0, 2]]", "point 1 has pen bits"),
        ("a.jsonl", "[[0, 0, 0], [1, 1]]", "point 2 should have 3 numbers"),
        ("a.ndjson", '{"drawing": [[[0, 1], [0]]]}', "stroke 1 has 2, 1 numbers"),
        ("a.json", "2", r"a\.json should be an object"),
        ("a.json", b"\xff", r"a\.json should be UTF-8"),
        ("a.jsonl", '{"text": "\\u0000", "strokes": [[[1, 2]]]}', "NUL"),
        ("a.xml", IAM.replace('time="1.1"', 'time="0.9"'), "point 2 is out of order"),
        ("a.xml", IAM.replace('x="3"', 'x="?"'), "a.xml:6 has x = '\\?', which is no number"),
        ("a.xml", "<a><b/></a>", "is <a> without any"),
        ("a.xml", '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "declares an entity, which is never expanded"),
        ("a.xml", "<a>" * 60, "nested deeper than 50"),
        ("a.inkml", INKML.replace("2 1,", "'2 1,"), "which should be 2 numbers for y, x"),
        ("a.txt", "1 2", "should end in .jsonl"),
    ],
    string_file: [
        ("a.csv", 'source,target\n"a\nb",c\nd\n', "a.csv:4 should have 2 columns, but has 1"),
        ("a.jsonl", '{"source": "a", "target": "b"}\n{"source": "a"}\n', "a.jsonl:2 should be an object like"),
        ("a.jsonl", '{"source": "a", "target": 1}\n', "a.jsonl:1 should be an object like"),
        ("a.jsonl", '["a", "b", "N;PL"]\n["a", "b"]\n', "a.jsonl:2 has an empty features"),
    ],
    terms: [("a.tab", b"a\t\xe4", "a.tab:1")],
    project: [
        ("omegat.project", "", "is no XML"),
        ("omegat.project", "<omegat><source_lang>en</source_lang></omegat>", "should name source_lang and target_lang"),
        (
            "omegat.project",
            "<x><source_lang>en</source_lang><target_lang>de</target_lang></x>",
            "of an OmegaT project: save it",
        ),
    ],
    read_glossary: [
        ("a.tsv", "river\tFluss\nbank\tBank\tnoun\n", r":2 should read SOURCE FORM, tab, .*\(2 tabs\): correct it"),
        ("a.tsv", "river\tFluss\nbank\n", r":2 should read SOURCE FORM, tab, .*\(0 tabs\)"),
        ("a.tsv", "river\tFluss\nbank\t!\n", ":2 should read"),
        ("a.tsv", "river\tFluss\n\tBank\n", ":2 should read"),
        ("a.tsv", "river\tFluss\nbank\tBank | !Bank\n", ":2 both requires and forbids 'Bank'"),
        ("a.tsv", "river\tFluss\n*\tBank\n", ":2 requires 'Bank' of every translation"),
        ("a.tsv", "\n\n", "is empty"),
    ],
    read_dictionary: [
        ("a.tsv", "cat\tchat\ncat\t\n", "a.tsv:2 should read WORD, tab, TRANSLATION"),
        ("a.tsv", "cat\tchat\n\tchat\n", "a.tsv:2 should read WORD, tab, TRANSLATION"),
        ("a.tsv", "cat\tchat\ncat\tchat\thigh\n", "a.tsv:2 should read WORD, tab, TRANSLATION"),
        ("a.tsv", "cat\tchat\ncat\tchat\t1.5\n", "a.tsv:2 should read WORD, tab, TRANSLATION"),
        ("a.tsv", "", "a.tsv should hold a dictionary, .* but is empty: give another"),
    ],
    read_pairs: [("pairs.tsv", "one, two\nthree, four\n", r"pairs\.tsv should have two columns .* line 1 has 1")],
}


@pytest.mark.parametrize(
    ("read", "name", "content", "said"), [(read, *row) for read in REFUSED for row in REFUSED[read]]
)
def test_bad_input_is_refused_in_a_sentence_with_its_place(
    read: Callable[[Path], Iterable[object]], name: str, content: str | bytes, said: str, written: Written
) -> None:
    with pytest.raises(DataError, match=said):
        list(read(written(name, content)))
