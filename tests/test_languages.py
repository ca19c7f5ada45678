"""Codes and names of languages."""

import pytest

from anaphora.languages import NAMES, bare, code_of


def test_no_name_is_the_code_of_another_language() -> None:
    assert {name: code for name in NAMES if (code := code_of(name)) not in ("", name)} == {}
    assert {name: code for name in NAMES.values() if bare(code := code_of(name)) != code and "-" not in code} == {}


@pytest.mark.parametrize(
    ("name", "code"),
    [("German", "de"), ("GUARANÍ", "gn"), ("Wixarika", "hch"), ("हिन्दी", "hi"), ("ქართული", "ka"), ("Klingon", "")],
)
def test_a_name_has_a_code_in_any_case_with_or_without_accents(name: str, code: str) -> None:
    assert code_of(name) == code


@pytest.mark.parametrize(("code", "shorter"), [("deu", "de"), ("ger", "de"), ("zho_Hans", "zh"), ("shp", "shp")])
def test_longer_codes_stand_for_shorter_ones(code: str, shorter: str) -> None:
    assert bare(code) == shorter
