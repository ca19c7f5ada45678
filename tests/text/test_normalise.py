"""Normalisation is done once and for all."""

from hypothesis import given
from hypothesis import strategies as st

from anaphora.text.normalise import normalise


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


def test_case_is_kept_unless_asked_otherwise() -> None:
    assert normalise("Ärger İN Straße") == "Ärger İN Straße"
    assert normalise("A\u0308RGER İN Straße", lowercase=True) == "ärger i̇n straße"


def test_compatibility_forms_stay_as_people_wrote_them() -> None:
    assert normalise("ﬁ ½ \N{NO-BREAK SPACE}x²") == "ﬁ ½ \N{NO-BREAK SPACE}x²"
