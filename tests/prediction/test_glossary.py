"""Which entries of a glossary a text has."""

import pytest

from anaphora.formats.glossary import GlossaryEntry
from anaphora.prediction.glossary import Glossary


@pytest.mark.parametrize(
    ("text", "sources", "expected"),
    [
        ("a credit card", ["card", "credit card"], ["credit card"]),
        ("a credit card and a card", ["card", "credit card"], ["credit card", "card"]),
        ("Cards, card!", ["card"], ["card"]),
        ("cards", ["card"], []),
        ("discard", ["card"], []),
        ("CARD", ["card"], ["card"]),
        ("us and US", ["US"], ["US"]),
        ("us", ["US"], []),
        ("China, china", ["china", "China"], ["China", "china"]),
        ("card card", ["card"], ["card", "card"]),
        ("我有一张银行卡。", ["银行", "银行卡"], ["银行卡"]),
        ("C++ code", ["C++"], ["C++"]),
        ("nothing", ["*"], ["*"]),
        ("l’eau et Straße", ["eau", "straße"], ["eau", "straße"]),
        ("", ["card"], []),
    ],
)
def test_forms_are_found_as_whole_words_the_longest_first(text: str, sources: list[str], expected: list[str]) -> None:
    glossary = Glossary(GlossaryEntry(str(number), one, ("x",), ()) for number, one in enumerate(sources))
    assert [match.entry.source for match in glossary.of(text)] == expected


def test_entries_of_one_form_are_alternatives() -> None:
    entries = [GlossaryEntry("1", "card", ("Karte",), ("x",)), GlossaryEntry("2", "card", ("Karten", "Karte"), ())]
    [match] = Glossary(entries).of("the card")
    assert not match.capital and Glossary(entries).of("Card")[0].capital
    assert match.entry == GlossaryEntry("1", "card", ("Karte", "Karten"), ("x",))
