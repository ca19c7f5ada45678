"""What every coder promises, run over each of them."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import DataError
from anaphora.evaluation.alignment import words_of
from anaphora.text.bytes import ByteCoder
from anaphora.text.characters import CharacterCoder
from anaphora.text.coder import BOS, EOS, MARKS, PAD, UNK, UNKNOWN, TextCoder
from anaphora.text.normalise import normalise
from anaphora.text.subwords import SubwordCoder

LINES = ["The man walks.", "A woman is reading a book.", "Two dogs run; the man sees them.", "Où est la clé ?"] * 3
CODERS: dict[str, Callable[[bool], TextCoder]] = {
    "bytes behind subwords": lambda lower: SubwordCoder.learn(LINES, size=400, lowercase=lower, byte_fallback=True),
    "subwords alone": lambda lower: SubwordCoder.learn(LINES, size=80, lowercase=lower, byte_fallback=False),
    "bytes alone": lambda lower: ByteCoder(lowercase=lower),
    "characters": lambda lower: CharacterCoder.learn(LINES, lowercase=lower, least=1),
}
MADE = {(name, lower): make(lower) for name, make in CODERS.items() for lower in (False, True)}
EVERY = pytest.mark.parametrize("coder", list(MADE.values()), ids=[f"{name}, {lower}" for name, lower in MADE])
ANY_TEXT = st.text(st.characters(exclude_characters="\n\0\u2581", exclude_categories=["Cs"]))


@EVERY
def test_the_marks_have_the_same_ids_everywhere(coder: TextCoder) -> None:
    assert (coder.symbols.pad, coder.symbols.unk, coder.symbols.bos, coder.symbols.eos) == (PAD, UNK, BOS, EOS)
    assert coder.pieces([PAD, UNK, BOS, EOS]) == list(MARKS)


@EVERY
@given(text=ANY_TEXT)
def test_encoding_never_fails_nor_makes_marks(coder: TextCoder, text: str) -> None:
    ids = coder.encode(text)
    assert all(number == UNK or EOS < number < coder.symbols.size for number in ids)
    assert len(coder.pieces(ids)) == len(ids)


@EVERY
@given(text=st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"])))
def test_every_unit_belongs_to_a_word_between_ascii_white_space_or_stands_behind_them(
    coder: TextCoder, text: str
) -> None:
    *words, behind = coder.by_word(text)
    assert len(words) == len(text.encode().split())
    assert [unit for row in (*words, behind) for unit in row] == coder.encode(text)


@pytest.mark.parametrize("name", ["bytes alone", "bytes behind subwords"])
@pytest.mark.parametrize(
    "line", ["a\tman", "a  man ", " a man\t ", "a\u00a0man is", "", " ", "\t", "a\x0b\x0cman", "\u0416a \u0416\u0416"]
)
def test_white_space_is_of_the_word_behind_it(name: str, line: str) -> None:
    coder = MADE[name, False]
    *words, behind = (coder.decode(row) for row in coder.by_word(line))
    assert [word.lstrip(" \t\x0b\x0c") for word in words] == [word.decode() for word in line.encode().split()]
    assert not behind.strip()


@EVERY
@pytest.mark.parametrize("line", LINES[:4])
def test_a_line_of_the_training_text_comes_back(coder: TextCoder, line: str) -> None:
    lower = coder in [MADE[name, True] for name in CODERS]
    assert UNK not in coder.encode(line)
    assert coder.decode(coder.encode(line)) == normalise(line, lowercase=lower)


@pytest.mark.parametrize("lower", [False, True])
@given(text=ANY_TEXT)
def test_bytes_spell_whatever_was_never_seen(lower: bool, text: str) -> None:
    coder = MADE["bytes behind subwords", lower]
    spaced = " ".join(part for part in normalise(text, lowercase=lower).split(" ") if part)
    assert coder.decode(coder.encode(text)) == spaced


@EVERY
@given(data=st.data())
def test_any_ids_decode_to_one_line_without_marks(coder: TextCoder, data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, coder.symbols.size - 1)))
    text = coder.decode(ids)
    assert "\n" not in text
    assert "\0" not in text
    assert not any(mark in text for mark in MARKS)


@EVERY
def test_marks_are_dropped_and_the_unknown_is_shown(coder: TextCoder) -> None:
    ids = coder.encode("the man")
    assert coder.decode([BOS, *ids, EOS, PAD]) == "the man"
    assert UNKNOWN in coder.decode([*ids, UNK])


@EVERY
def test_composed_and_decomposed_letters_are_the_same(coder: TextCoder) -> None:
    assert coder.encode("cle\u0301") == coder.encode("cl\u00e9")


@EVERY
def test_a_lone_surrogate_is_refused(coder: TextCoder) -> None:
    with pytest.raises(DataError, match=r"U\+D800 at position 1"):
        coder.encode("a\ud800b")


@pytest.mark.parametrize("name", ["bytes alone", "characters that know it"])
def test_the_character_that_stands_for_a_space_comes_back_and_is_none(name: str) -> None:
    coder = {**CODERS, "characters that know it": lambda low: CharacterCoder(list("ab \u2581"), lowercase=low)}[name](
        False
    )
    ids = coder.encode("a\u2581b a")
    assert coder.decode(ids) == "a\u2581b a"
    assert words_of(coder.pieces(ids))[-1] == 1


def test_the_character_that_stands_for_a_space_parts_subwords_but_no_words() -> None:
    coder = MADE["bytes behind subwords", False]
    for line in ("the\u2581man", "\u2581", "a \u2581 man\u2581", "\u2581\u2581a  \u2581the", "a\u2581 man"):
        *words, behind = coder.by_word(line)
        assert len(words) == len(line.split()) and [unit for word in words for unit in word] == coder.encode(line)
        assert not behind
    assert coder.decode(coder.encode("the\u2581man")) == "the man"
    assert coder.by_word("a\u2581 man")[1] == coder.encode("man")


def test_every_difference_shows_in_the_fingerprint() -> None:
    assert len({coder.fingerprint for coder in MADE.values()}) == len(MADE)
    again = CODERS["characters"](False)
    assert again.fingerprint == MADE["characters", False].fingerprint
