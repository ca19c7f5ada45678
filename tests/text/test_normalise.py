"""Normalisation is done once and for all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.text.normalise import lowercase_of, normalise


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


def test_case_and_compatibility_forms_stay_as_people_wrote_them() -> None:
    assert normalise("Ärger İN Straße") == "Ärger İN Straße"
    assert normalise("A\u0308RGER İN Straße", lowercase=True) == "ärger i̇n straße"
    assert normalise("ﬁ ½ \N{NO-BREAK SPACE}x²") == "ﬁ ½ \N{NO-BREAK SPACE}x²"


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("tr-TR", "İSTANBUL IŞIK", "istanbul ışık"),
        ("az", "I\N{COMBINING DOT ABOVE}ki İlk Il", "iki ilk ıl"),
        ("tur", "DIŞ KAPI", "dış kapı"),
        ("en", "DIŞ KAPI", "diş kapi"),
        ("el", "ΟΔΟΣ, ΣΑΣ.", "οδος, σας."),
        ("de", "STRAẞE Straße", "straße straße"),
        ("nl", "IJSLAND \N{LATIN CAPITAL LIGATURE IJ}", "ijsland \N{LATIN SMALL LIGATURE IJ}"),
    ],
)
def test_text_is_lower_cased_as_its_language_does(language: str, text: str, expected: str) -> None:
    assert normalise(text, lowercase=lowercase_of(True, language)) == expected
    assert normalise(text, lowercase=lowercase_of(False, language)) == normalise(text)
