"""Files of pairs of strings: each format is known by its content, and what is not in it is refused with its line."""

import gzip
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anaphora.data.corpora import StringFile
from anaphora.data.labelled import hold_vectors
from anaphora.errors import DataError
from anaphora.formats.strings import holds_strings, recognize, string_lines
from anaphora.formats.tsv import HEADING

from .conftest import Written

CMUDICT = """\
;;; # CMUdict  --  Major Version: 0.07
!EXCLAMATION-POINT  EH2 K S K L AH0 M EY1 SH AH0 N P OY2 N T
BATH  B AE1 TH
BATH(1)  B AE1 DH
HOUSE  HH AW1 S
HOUSE(2)  HH AW1 Z
"""
CMUDICT_DICT = "aalborg AO1 L B AO0 R G # place, danish\nabbe AE1 B\nabbe(2) AE0 B EY1\nbe B IY1\n"
WIKIPRON = "Haus\th aʊ̯ s\nMaus\tm aʊ̯ s\nMaus\tm a ʊ s\n"
MFA = "bath\tb ae th\nbath\tb ae dh\nhouse\th aw s\n"
MFA_PROBABILITIES = (
    "bath\t0.99\t0.2\t1.0\t0.98\tb ae th\nbath\t0.01\t0.2\t1.0\t0.98\tb ae dh\nhe\t1\t1e-3\t1\t1\th iy\n"
)
MFA_SPACES = "bath 0.99 b ae th\nbath 0.01 b ae dh\nhouse 1.0 h aw s\nhe 1 h iy\nbee 1 b iy\n"
UNIMORPH = "sagen\tsagtest\tV;IND;PST;2;SG\nHaus\tHäuser\tN;NOM;PL\n\nfest\tquatscht fest\tV;IND\n"
SIGMORPHON_2018 = "sagen\tV;IND;PST;2;SG\tsagtest\nHaus\tN;NOM;PL\tHäuser\n"
FEATURES_FIRST = "V;IND;PST;2;SG\tsagen\tsagtest\nN;NOM;PL\tHaus\tHäuser\n"
UNIMORPH_4 = "sagen\tsagtest\tV;IND;PST;2;SG\tsagen|test\nHaus\tHäuser\tN;NOM;PL\t-\n"


def read(text: str, columns: tuple[int, ...] = ()) -> list[tuple[str, str]]:
    lines = text.removesuffix("\n").split("\n")
    rows = recognize(lines, "file", columns).read(string_lines(lines, "file"), "file")
    return [(row.source, row.target) for row in rows]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        (CMUDICT, ("!EXCLAMATION-POINT", "EH2 K S K L AH0 M EY1 SH AH0 N P OY2 N T"), ("HOUSE", "HH AW1 Z")),
        (CMUDICT_DICT, ("aalborg", "AO1 L B AO0 R G"), ("be", "B IY1")),
        (WIKIPRON, ("Haus", "h aʊ̯ s"), ("Maus", "m a ʊ s")),
        (MFA, ("bath", "b ae th"), ("house", "h aw s")),
        (MFA_PROBABILITIES, ("bath", "b ae th"), ("he", "h iy")),
        (MFA_SPACES, ("bath", "b ae th"), ("bee", "b iy")),
        (UNIMORPH, ("sagen\tV;IND;PST;2;SG", "sagtest"), ("fest\tV;IND", "quatscht fest")),
        (SIGMORPHON_2018, ("sagen\tV;IND;PST;2;SG", "sagtest"), ("Haus\tN;NOM;PL", "Häuser")),
        (FEATURES_FIRST, ("sagen\tV;IND;PST;2;SG", "sagtest"), ("Haus\tN;NOM;PL", "Häuser")),
        (UNIMORPH_4, ("sagen\tV;IND;PST;2;SG", "sagtest"), ("Haus\tN;NOM;PL", "Häuser")),
        ("word\tpronunciation\nHaus\th aʊ s\n", ("Haus", "h aʊ s"), ("Haus", "h aʊ s")),
        ("a(2)\tx\nb\ty\n", ("a(2)", "x"), ("b", "y")),
        ("a\tx\na(2)\ty\n", ("a", "x"), ("a", "y")),
    ],
)
def test_a_format_is_known_by_its_content(text: str, first: tuple[str, str], last: tuple[str, str]) -> None:
    pairs = read(text)
    assert (pairs[0], pairs[-1]) == (first, last)


def test_named_columns_are_taken_whatever_else_is_there() -> None:
    assert read("1\tx\ta b\tb\tV;PST\n2\ty\tc\td\tN\tmore\n", (3, 4, 5)) == [("a b\tV;PST", "b"), ("c\tN", "d")]
    assert read("a\tb\n", (2, 1)) == [("b", "a")]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (MFA + "she\n", "file:4 should have 2 columns, but has 1"),
        (UNIMORPH + "a\tb\n", "file:5 should have 3 columns, but has 2"),
        (MFA + "she\tsh iy\tx\n", "file:4 should have 2 columns, but has 3"),
        (MFA + "\tsh iy\n", "file:4 has an empty source"),
        (MFA + "she\t\n", "file:4 has an empty target"),
        (UNIMORPH + "a\tb\t \n", "file:5 has an empty features"),
        (CMUDICT_DICT + "she\n", "file:5 should be a word and its phones, but has no phone"),
        ("a\tb\tc\nd\te\tf\n", "file has 3 columns and is neither .* perhaps features with the option columns"),
        ("\n;;; nothing\n", "file should hold pairs of strings, but has none"),
        ("haus\nmaus\n", "file is in no format that is known"),
        ("".join(f"word{n} of sentence{n} in text{n}\n" for n in range(400)), "file is in no format that is known"),
    ],
)
def test_what_is_in_no_format_is_refused_with_its_line(text: str, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        read(text)


words = st.text(st.characters(categories=("Ll", "Lu")), min_size=1, max_size=8)
phones = st.lists(st.sampled_from(["AA1", "B", "K", "S", "TH"]), min_size=1, max_size=6)


@given(st.lists(st.tuples(words, phones), min_size=1))
def test_a_dictionary_is_read_as_it_was_written_with_tabs_or_with_spaces(entries: list[tuple[str, list[str]]]) -> None:
    expected = [(word, " ".join(spoken)) for word, spoken in entries]
    # a first line of names is a heading
    assert read("word\tphones\n" + "".join(f"{word}\t{spoken}\n" for word, spoken in expected)) == expected
    assert read(";;; x\n" + "".join(f"{word}  {spoken}\n" for word, spoken in expected)) == expected


tags = st.lists(st.sampled_from(["V", "PST", "2", "SG", "V.PTCP"]), min_size=2, max_size=4).map(";".join)


@given(st.lists(st.tuples(words, words, tags), min_size=1), st.permutations([1, 2]))
def test_features_are_found_in_either_column(rows: list[tuple[str, str, str]], order: list[int]) -> None:
    text = "".join("\t".join([row[0], *(row[place] for place in order)]) + "\n" for row in rows)
    assume(not all(re.fullmatch("[A-Z]+", form) for _, form, _ in rows))  # which look like features
    assert read(text) == [(f"{lemma}\t{features}", form) for lemma, form, features in rows]


PAIRS, INFLECTED = [("colour", "color"), ("a, b", 'x "y"')], [("sagen\tV;PST", "sagte")]
TABLES = [
    ("a.csv", 'target,n,Source\ncolor,1,colour\n"x ""y""",2,"a, b"\n', PAIRS),
    ("a.csv", 'colour;color\n"a, b";"x ""y"""\n', PAIRS),
    ("a.csv", 'sep=;\ncolour;color\n"a, b";"x ""y"""\n', PAIRS),
    ("a.csv", '\ufeffsep=,\r\ntarget,n,Source\r\ncolor,1,colour\r\n"x ""y""",2,"a, b"\r\n', PAIRS),
    ("a.tsv", 'output\tinput\ncolor\tcolour\nx "y"\ta, b\n', PAIRS),
    ("a.jsonl", '{"target": "color", "source": "colour"}\n\n{"source": "a, b", "target": "x \\"y\\""}\n', PAIRS),
    ("a.ndjson.gz", gzip.compress(b'["colour", "color"]\n["a, b", "x \\"y\\""]\n', mtime=0), PAIRS),
    ("a.csv", "features,form,lemma\nV;PST,sagte,sagen\n", INFLECTED),
    ("a.jsonl", '{"lemma": "sagen", "tags": ["V", "PST"], "form": "sagte"}\n', INFLECTED),
    ("a.jsonl", '{"lemma": "sagen", "form": "sagte", "features": "V;PST"}\n', INFLECTED),
    ("a.jsonl", '{"src": "colour", "tgt": "color"}\n{"src": "a, b", "tgt": "x \\"y\\""}\n', PAIRS),
    ("a.csv", 'word,lemma\ncolour,color\n"a, b","x ""y"""\n', PAIRS),
    ("a.json", '[\n{"word": "colour", "lemma": "color"},\n{"word": "a, b", "lemma": "x \\"y\\""}\n]', PAIRS),
    ("a.json", '[["colour", "color"],\n["a, b", "x \\"y\\""]]', PAIRS),
    ("a.json", '{"colour": "color",\n"a, b": "x \\"y\\""}', PAIRS),
    ("a.json", '{"target": "color", "source": "colour"}\n{"source": "a, b", "target": "x \\"y\\""}\n', PAIRS),
]


@pytest.mark.parametrize("heading", ["en\tka", "English\tGeorgian"])
def test_a_heading_of_languages_is_told(heading: str, written: Written) -> None:
    rejected = list[tuple[int, str]]()
    file = StringFile.of(written("a.tsv", f"{heading}\nsun\tmze\n"))
    assert [row.source for row in file.rows(lambda *row: rejected.append(row))] == ["sun"]
    assert rejected == [(1, HEADING)]


@pytest.mark.parametrize(("file", "content", "expected"), TABLES)
def test_csv_and_json_are_pairs_as_tables_are(
    file: str, content: str | bytes, expected: list[tuple[str, str]], written: Written
) -> None:
    path = written(file, content)
    assert [(row.source, row.target) for row in StringFile.of(path).rows()] == expected
    assert holds_strings(path) == ("json" in file)


@pytest.mark.parametrize("count", [30, 1500])
def test_a_cell_of_csv_may_have_lines_wherever_it_stands(count: int, written: Written) -> None:
    path = written("a.csv", "source,target\n" + "".join(f'"a\n{n}\n","b {n}"\n' for n in range(count)))
    assert [row.target for row in StringFile.of(path).rows()] == [f"b {n}" for n in range(count)]
    assert not hold_vectors([path])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"hanzi": "中心", "pinyin": "zhōng xīn", "n": 2}', True),  # keys that data.columns has to name
        ('{"text": "hi", "strokes": [[[0, 1], [2, 3]]]}', False),
        ("[[0, 1, 0], [2, 3, 1]]", False),
    ],
)
def test_json_is_strings_where_no_list_of_numbers_is_in_it(line: str, expected: bool, written: Written) -> None:
    assert holds_strings(written("a.jsonl", f"{line}\n")) == expected
    assert holds_strings(written("a.json", line if line.startswith("[") else f"[{line}]")) == expected
