"""Translations contain the terms of a glossary, and none that it forbids, from any translator."""

import re
from pathlib import Path

import pytest

from anaphora.errors import AnaphoraError, ConfigError, DataError
from anaphora.formats.glossary import read_glossary
from anaphora.prediction.glossary import Glossary
from anaphora.prediction.options import SearchOptions

from ..conftest import sentences
from .test_protection import TOKENIZERS, untrained, words

TERMS = "dog\tred tree | small tree\nthe\tcat\nman\t!house | !woman\n*\t!takes\n"
WHOLE = [name for name in TOKENIZERS if not name.startswith(("few", "small"))]


def glossary(folder: Path, text: str) -> Glossary:
    (path := folder / "terms.tsv").write_text(text)
    return Glossary(read_glossary(path))


@pytest.mark.matrix
@pytest.mark.parametrize("attends", [True, False], ids=["attention", "none"])
@pytest.mark.parametrize("name", WHOLE)
def test_terms_are_written_and_forbidden_ones_are_not_by_any_translator(
    name: str, attends: bool, tmp_path: Path
) -> None:
    texts = [*sentences(12, most=8, seed=5), "the dog {name} <b>sees</b> the man", "The {a}"]
    found = untrained(TOKENIZERS[name](), attends).translate(texts, beam=3, terms=glossary(tmp_path, TERMS))
    for text, translation in zip(texts, found, strict=True):
        written, given = f" {re.sub('</?b>', '', translation.text)} ", text.lower().split()
        if "dog" in given:
            assert "red tree" in written or "small tree" in written, (text, written)
        if "the" in given:
            assert " cat" in written.lower(), (text, written)
        if "man" in given:
            assert " house " not in written and " woman " not in written
        assert " takes " not in written
    assert "{name}" in found[-2].text and "<b>" in found[-2].text and "{a}" in found[-1].text


def test_terms_do_not_depend_on_the_batch_and_leave_other_sentences_alone(tmp_path: Path) -> None:
    translator = untrained(TOKENIZERS["subwords"]())
    texts, terms = ["a cat walks", "a dog sees the cat", "a cat"], glossary(tmp_path, "dog\tred tree\n")
    together = translator.translate(texts, beam=4, terms=terms)
    assert [translator.translate([text], beam=4, terms=terms)[0] for text in texts] == together
    plain = translator.translate(texts, beam=4)
    assert plain[0] == together[0] and plain[2] == together[2] and plain[1] != together[1]


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ("dog\tcat | big cat\nsees\t!cat\n", r"Line 2 needs 'cat' \(.*terms.tsv:1\), which is forbidden .*terms.tsv:2"),
        ("dog\tzebra\n", r"Line 2 needs 'zebra' \(.*terms.tsv:1\), which has words outside the vocabulary"),
    ],
)
def test_what_cannot_be_obeyed_is_refused_by_line_and_the_other_lines_come_out(
    terms: str, said: str, tmp_path: Path
) -> None:
    translator, refused = untrained(words("joiner")), list[tuple[int, str]]()

    def refuse(number: int, error: AnaphoraError) -> None:
        refused.append((number, str(error)))

    texts, options = ["a cat", "a dog sees", "the man"], SearchOptions(2, terms=glossary(tmp_path, terms))
    with pytest.raises(DataError, match=said):
        translator.translate(texts, options)
    found = list(translator.stream(texts, options, refused=refuse))
    assert [number for number, _ in refused] == [2]
    assert found[1].text == "" and found[0].text and found[2].text


def test_terms_and_groups_of_a_diverse_beam_are_refused_together(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="leave out terms, or groups"):
        untrained(words("joiner")).translate(["a"], beam=4, groups=2, terms=glossary(tmp_path, "dog\tcat\n"))
