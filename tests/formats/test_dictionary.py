import unicodedata
from pathlib import Path

from anaphora.formats.dictionary import Entry, read_dictionary, write_dictionary

from .conftest import Written


def test_translations_are_read_from_the_likeliest_on_and_equals_as_they_come(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    entries = ("a", "un", 0.4), ("a", "une", 0.6), ("to", "à", 0.5), ("to", "de", 0.5)
    write_dictionary(path, [Entry(*entry) for entry in entries])
    assert read_dictionary(path) == {"a": ["une", "un"], "to": ["à", "de"]}


def test_words_are_composed_and_need_no_probabilities(written: Written) -> None:
    path = written("words.tsv", unicodedata.normalize("NFD", "schön\tnước\ncat\tchat\ncat\tchatte\n"))
    assert read_dictionary(path) == {"schön": ["nước"], "cat": ["chat", "chatte"]}
