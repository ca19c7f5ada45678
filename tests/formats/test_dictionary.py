import unicodedata
from pathlib import Path

import pytest

from anaphora.formats.dictionary import Entry, read_dictionary, write_dictionary

from .conftest import Written


def test_translations_are_read_from_the_likeliest_on_and_equals_as_they_come(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    write_dictionary(
        path, [Entry("a", "un", 0.4), Entry("a", "une", 0.6), Entry("to", "à", 0.5), Entry("to", "de", 0.5)]
    )
    assert read_dictionary(path) == {"a": ["une", "un"], "to": ["à", "de"]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (unicodedata.normalize("NFD", "schön\tnước\n"), {"schön": ["nước"]}),
        ("cat\tchat\ncat\tchatte\n", {"cat": ["chat", "chatte"]}),
    ],
)
def test_words_are_composed_and_need_no_probabilities(
    text: str, expected: dict[str, list[str]], written: Written
) -> None:
    assert read_dictionary(written("words.tsv", text)) == expected
