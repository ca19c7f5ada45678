"""CSV with a heading and JSON lines: texts by language, cells that hold line ends, and rows without both sides."""

from pathlib import Path

import pytest

from anaphora.errors import DataError
from anaphora.formats.documents import recognize
from anaphora.formats.entries.entry import Reason
from anaphora.formats.entries.kinds import read_entries
from anaphora.formats.tsv import Layout
from tests.formats.entries.filling import pairs_of, skipped_of


@pytest.mark.parametrize(
    "text",
    [
        "en,de\nOpen,Öffnen\n",
        "\ufeffid;English;German\r\n1;Open;Öffnen\r\n",
        "target\tnote\tsource\nÖffnen\tx\tOpen\n",
        'en-US,"de_DE"\n"Open",Öffnen\n',
    ],
)
def test_the_heading_names_the_columns(text: str) -> None:
    assert pairs_of("a.csv", text) == [("Open", "Öffnen")]
    assert pairs_of("b.csv", text.encode("utf-16")) == [("Open", "Öffnen")]


@pytest.mark.parametrize(
    ("heading", "sides", "pair"),
    [
        ("en,pt-BR,pt", ("en", "pt"), ("a", "c")),
        ("en-US,en,de", ("en", "de"), ("b", "c")),
        ("en-US,en-GB,de", ("en", "en-GB"), ("a", "b")),
        ("en-US,en-GB,de", ("en-US", "en"), ("a", "b")),
    ],
)
def test_the_exact_language_goes_before_a_variety(heading: str, sides: tuple[str, str], pair: tuple[str, str]) -> None:
    assert pairs_of("a.csv", f"{heading}\na,b,c\n", sides) == [pair]
    assert pairs_of("a.csv", f"{heading}\na,b,c\n", sides[::-1]) == [pair[::-1]]


def test_cells_may_hold_commas_quotes_and_line_ends() -> None:
    text = 'en,de\n"a, ""b""\nc","x"\n,\nd,\n,y\nz\n'
    assert pairs_of("a.csv", text) == [('a, "b" c', "x")]
    reasons = (Reason.EMPTY, Reason.UNTRANSLATED, Reason.EMPTY, Reason.WITHOUT_COLUMNS)
    assert skipped_of("a.csv", text) == [*enumerate(reasons, 4)]


def test_other_columns_may_be_chosen(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("key,text,id\nOpen,Öffnen,1\n", encoding="utf-8")
    for columns in (("key", "TEXT"), (1, 2)):
        [entry] = read_entries(path, "csv", ("en", "de"), Layout(columns))
        assert entry[1:3] == ("Open", "Öffnen")
    with pytest.raises(DataError, match=r"a.csv:1 names no column for the source .en., but key, text, id"):
        list(read_entries(path, "csv", ("en", "de")))


def test_json_lines_have_texts_by_language() -> None:
    lines = [
        '{"id": "0", "translation": {"de": "Öffnen", "en-US": "Open"}}',
        "",
        '{"translation": {"en": "a\\nb", "en-US": "c", "de": "d"}}',
        '{"translation": {"en": " ", "de": "e"}}',
        '{"translation": {"fr": "f", "en": 1}}',
    ]
    text = "\n".join(lines)
    assert pairs_of("a.jsonl", text) == [("Open", "Öffnen"), ("a b", "d")]
    assert pairs_of("a.json", text, ("de", "en")) == [("Öffnen", "Open"), ("d", "a b")]
    assert skipped_of("a.jsonl", text) == [(4, Reason.UNTRANSLATED), (5, Reason.OTHER_LANGUAGES)]


def test_messages_of_a_program_in_json_are_no_pairs() -> None:
    for text in ('{\n "translation": {\n  "en": "x"}}', '{"translation": {"title": "x"}}'):
        assert not getattr(recognize(text.encode(), "a.json"), "reader", "")
