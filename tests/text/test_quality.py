import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.text.quality import line_faults


@pytest.mark.parametrize(
    "text",
    [
        "LA LIBERTÉ» dit-il",
        "À l’école, « où » ça coûte 5 €…",
        "Größe: Ü“ und ÄÖÜ",
        "Пример “кавычек” и «ёлочек» №5",
        "ГОСТ Р «Ж»",
        "Ελληνικά — «κείμενο»",
        "می‌خواهم کتاب",
        "क्षत्रिय",
        "日本語の文。",
        "AT&T & more; email me@@home",
        "He paid 3 . 5",
        "",
    ],
)
def test_ordinary_text_has_no_faults(text: str) -> None:
    assert [kind for kind, _ in line_faults(text) if kind != "tokenised"] == []


words = st.text(st.characters(categories=["Ll", "Lu"]), min_size=3, max_size=20)


@given(
    text=st.sampled_from(
        ["été à la plage", "Größe und Länge", "c’est déjà l’heure", "Привет, мир", "日本語の文", "καλημέρα"]
    )
)
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_utf8_that_was_read_otherwise_is_known(text: str, encoding: str) -> None:
    misread = text.encode().decode(encoding, "ignore")
    assert "mojibake" in [kind for kind, _ in line_faults(misread)]


@given(text=words)
def test_no_fault_is_named_twice(text: str) -> None:
    kinds = [kind for kind, _ in line_faults(f"{text}\x01{text}\x02\ufeff\ufeff")]
    assert len(kinds) == len(set(kinds))
    assert {"control", "mark"} <= set(kinds)
