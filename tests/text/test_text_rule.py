"""White space of every kind is one space to a model, and what cannot be seen is nothing."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.text.bytes import ByteTokenizer
from anaphora.text.quality import is_translatable
from anaphora.text.text_rule import SPACES, UNSEEN, TextRule, are_converted
from anaphora.text.tokenization import Bpe, Byte, Character, Symbol, Word, fit, load, save
from anaphora.text.words import with_rules

RULE = TextRule()
PLAIN = ("Alice sings.", "the old man is in the garden.", "Alice sees 12 cats, and a dog.")
ODD = (
    "Alice\u00a0sings.",
    "the\u2009old\u2003man is in the\u200bgarden.",
    "Al\u00adice sees\u202f12  cats,\u3000and a dog.\ufeff",
)


@pytest.mark.parametrize("space", [*SPACES, "\u200b", "  ", " \u00a0", "\u2060 ", "\u3000\t"])
def test_every_kind_of_white_space_is_one_space(space: str) -> None:
    assert RULE.plain(f"Alice{space}sings.") == "Alice sings."
    assert RULE.plain(f"Alice sings.{space}The man,{space}too.") == "Alice sings. The man, too."


@pytest.mark.parametrize("sign", UNSEEN)
def test_what_cannot_be_seen_is_nothing(sign: str) -> None:
    assert RULE.plain(f"{sign}Al{sign}ice{sign} sings{sign}.{sign}") == "Alice sings."


PERSIAN, DEVANAGARI = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0915\u094d\u200d\u0937"
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f\u200d\U0001f525"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        *((text, text) for text in (PERSIAN, f"PDF{PERSIAN[2:]}", DEVANAGARI, FAMILY, "a\u0301 \u4e2d\ufe0f")),
        ("Auf\u200clage", "Auflage"),
        ("\u0e01\u0e32\u200b\u0e01\u0e32", "\u0e01\u0e32\u0e01\u0e32"),
        ("\u4e2d\u200b\u6587", "\u4e2d\u6587"),
        ("and/\u200bor", "and/or"),
        ("sings\u200b.", "sings."),
        ("\u200bAlice \u200b sings.\u200b", "Alice sings."),
    ],
)
def test_joiners_stay_where_they_shape_letters_or_pictures_and_else_are_nothing(text: str, plain: str) -> None:
    assert RULE.plain(text) == plain


@given(st.text(st.sampled_from("ab. \u0627" + SPACES + UNSEEN + "\u200b\u200c\u200d")), st.booleans())
def test_a_plain_text_is_read_as_it_is(text: str, doubles: bool) -> None:
    rule = TextRule({" "} if doubles else ())
    assert rule.plain(rule.plain(text)) == rule.plain(text)


NUMBERS = (
    *("12", "12.", "9:30", "1/2", "5 \u20ac", "$5", "1,234.50", "2026-11-28", "28.11.2026", "+49 30 123456", "50 %"),
    *("\u0663\u066b\u0665", "\uff11\uff12", "\u00bd", "978-3-16-148410-0", "0-8044-2957-X", "EUR 5", "5 USD"),
    *("1920x1080", "4 x 4", "2026-11-28T09:30:00Z", "6.02e23", "0xFF", "12 34 56"),
)


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_have_nothing_to_translate(text: str) -> None:
    assert not is_translatable(text)


@pytest.mark.parametrize("text", ["12 cats", "A4", "9:30 am", "10 km", "EUR", "ACT 2", "\u5341\u4e8c", "1st"])
def test_words_beside_numbers_are_translated(text: str) -> None:
    assert is_translatable(text)


def test_pairs_that_change_numbers_teach_to_translate_them() -> None:
    words = [("a cat", "un chat")] * 98
    assert not are_converted(*zip(*words, ("12", "12"), ("1", "2"), strict=True))
    assert are_converted(*zip(*words[:50], *[("12", "twelve")] * 2, strict=True))


def lines(*texts: str) -> Callable[[], Iterator[str]]:
    return lambda: iter(texts)


@pytest.mark.parametrize("config", [Bpe(size=300), Word(), Character(joint=True), Byte(), Symbol()])
def test_training_text_and_input_are_read_by_one_rule_which_the_run_keeps(config: Bpe, tmp_path: Path) -> None:
    plain, odd = (fit(config, {"source": lines(*some), "target": lines(*PLAIN)})["source"] for some in (PLAIN, ODD))
    assert odd.serialise() == plain.serialise()
    save({"source": odd}, tmp_path)
    loaded = load(config, tmp_path)["source"]
    assert loaded.rule == odd.rule == TextRule(copies=not isinstance(config, Symbol))
    for text, other in zip(PLAIN, ODD, strict=True):
        assert loaded.encode(other) == plain.encode(text)
        assert [token for token, _ in loaded.encode_with_places(other)] == plain.encode(text)


@pytest.mark.parametrize("config", [Word(), Character()])
def test_what_is_written_stays_as_training_text_has_it(config: Word) -> None:
    target = fit(config, {"source": lines("Hello!"), "target": lines("Bonjour\u00a0!\tA  B")})["target"]
    assert target.decode(target.encode("Bonjour\u00a0!\tA  B")) == "Bonjour\u00a0!\tA  B"
    with_rules({"target": target})
    assert target.decode(target.encode("Bonjour\u00a0!\tA\u2003B")) == "Bonjour\u00a0!\tA B"


@pytest.mark.parametrize("config", [Bpe(size=300), Word(), Character()])
def test_a_run_without_a_rule_reads_what_its_vocabulary_lacks_as_a_space(config: Bpe, tmp_path: Path) -> None:
    some = fit(config, {"source": lines("Alice\u00a0sings."), "target": lines(*PLAIN)})["target"]
    save({"target": some}, tmp_path)
    used = with_rules(load(config, tmp_path))["target"]
    assert some.rule is None
    assert used.rule is not None
    assert used.rule.copies
    assert used.encode("Alice\u00a0sings.") == some.encode("Alice sings.") != some.encode("Alice\u00a0sings.")


def test_bytes_without_a_rule_are_read_as_they_are() -> None:
    used = with_rules({"text": ByteTokenizer(lowercase=False)})["text"]
    assert used.decode(used.encode("a\t\u00a0b")) == "a\t\u00a0b"
