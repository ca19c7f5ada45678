import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.text.quality import differences, line_faults, pair_faults


@pytest.mark.parametrize(
    "text",
    [
        "LA LIBERTÉ» dit-il",
        "ГОСТ Р «Ж»",
        "À l’école, « où » ça coûte 5 €…",
        "Größe: Ü“ und ÄÖÜ",
        "Пример “кавычек” и «ёлочек» №5",
        "Ελληνικά — «κείμενο»",
        "می‌خواهم کتاب",
        "AT&T & more; email me@@home",
        "He paid 3 . 5",
        "",
    ],
)
def test_ordinary_text_has_no_faults(text: str) -> None:
    assert [kind for kind, _ in line_faults(text) if kind != "tokenised"] == []


words = st.text(st.characters(categories=["Ll", "Lu"]), min_size=3, max_size=20)


@pytest.mark.parametrize("text", ["été à la plage", "Größe und Länge", "c’est l’heure", "Привет, мир", "日本語の文"])
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_utf8_that_was_read_otherwise_is_known(text: str, encoding: str) -> None:
    misread = text.encode().decode(encoding, "ignore")
    assert "mojibake" in [kind for kind, _ in line_faults(misread)]


@given(text=words)
def test_no_fault_is_named_twice(text: str) -> None:
    kinds = [kind for kind, _ in line_faults(f"{text}\x01{text}\x02\ufeff\ufeff")]
    assert len(kinds) == len(set(kinds))
    assert {"control", "mark"} <= set(kinds)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("15 large dogs", "100 Hunde", [("numbers", "5", "0 0")]),
        ("It is $42.50!", "Es sind 42,50 $!", []),
        ("1,000 at ٣", "3 um 1 000", []),
        ("<b>%s</b> files", "hu tu", [("placeholders", "%s </b> <b>", "")]),
        ("See https://a.org/x?y=1.", "Siehe https://a.org/x?y=1", []),
        ("Write to a.b@c.org", "An ab@c.org", [("addresses", "a.b@c.org", "ab@c.org")]),
    ],
)
def test_what_a_translation_should_have_in_common_is_compared(
    source: str, target: str, expected: list[tuple[str, str, str]]
) -> None:
    assert list(map(tuple, differences(source, target))) == expected
    assert [kind for kind, _ in pair_faults(source, target)] == [kind for kind, _, _ in expected]


@pytest.mark.parametrize(
    "opening",
    [
        r"<span style=\"color:%2$s;\">",
        r"<a href=\'%s\'>",
        r'<a href=\\"x\\" title=\\"y z\\">',
        '<a title="<?= $x["a"] ?>">',
        '<a title=\'<%= link("x") %>\' id="y">',
        '<a title="a<b">',
        '<a href="x>',
        "<a href=x y=>",
    ],
)
def test_a_tag_that_lost_its_opening_half_is_a_difference(opening: str) -> None:
    assert not list(differences(f"see {opening}a cat</a>.", f"voir {opening}un chat</a>."))
    assert [one.kind for one in differences(f"see {opening}a cat</a>.", "voir un chat</a>.")][:1] == ["placeholders"]


@pytest.mark.parametrize(
    "line", ["a" * 50_000, "a@" * 25_000, "http://" * 7_000, "a." * 25_000, "%(" * 25_000, "<a" * 5_000]
)
def test_a_line_of_any_length_is_compared_in_linear_time(line: str) -> None:
    started = time.perf_counter()
    list(differences(line, line))
    assert time.perf_counter() - started < 2
