"""What every tokenizer promises, run over each of them."""

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import DataError, RunError
from anaphora.evaluation.alignment import words_of
from anaphora.text.bytes import ByteTokenizer
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.normalise import normalise
from anaphora.text.segmentation import Segmentation
from anaphora.text.subwords import SubwordTokenizer
from anaphora.text.symbols import SymbolTokenizer
from anaphora.text.tokenization import Byte
from anaphora.text.tokenizer import BOS, EOS, MARKS, PAD, UNK, UNKNOWN, Tokenizer
from anaphora.text.vocabulary_extension import extend_tokenizer
from anaphora.text.whitespace import by_word
from anaphora.text.words import WordTokenizer

LINES = ["The man walks.", "A woman is reading a book.", "Two dogs run; the man sees them.", "Où est la clé ?"] * 3
CODERS: dict[str, Callable[[bool], Tokenizer]] = {
    "bytes behind subwords": lambda lower: SubwordTokenizer.learn(LINES, size=400, lowercase=lower, byte_fallback=True),
    "subwords alone": lambda lower: SubwordTokenizer.learn(LINES, size=80, lowercase=lower, byte_fallback=False),
    "bytes alone": lambda lower: ByteTokenizer(lowercase=lower),
    "characters": lambda lower: CharacterTokenizer.learn(LINES, lowercase=lower, least=1),
}
MADE = {(name, lower): make(lower) for name, make in CODERS.items() for lower in (False, True)}
EVERY = pytest.mark.parametrize("tokenizer", list(MADE.values()), ids=[f"{name}, {lower}" for name, lower in MADE])
ANY_TEXT = st.text(st.characters(exclude_characters="\n\0\u2581", exclude_categories=["Cs"]))


@EVERY
def test_the_marks_have_the_same_ids_everywhere(tokenizer: Tokenizer) -> None:
    assert tokenizer.symbols[1:5] == (PAD, UNK, BOS, EOS)
    assert tokenizer.pieces([PAD, UNK, BOS, EOS]) == list(MARKS)


@EVERY
@given(text=ANY_TEXT)
def test_encoding_never_fails_nor_makes_marks(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert all(number == UNK or EOS < number < tokenizer.symbols.size for number in ids)
    assert len(tokenizer.pieces(ids)) == len(ids)


WORDS: list[Segmentation] = ["joiner", "moses", "whitespace"]
BY_WORDS = [
    WordTokenizer.learn(LINES, size=100, least=1, lowercase=False, segmentation=segmentation, language="en")
    for segmentation in WORDS
]


@pytest.mark.parametrize("tokenizer", [*MADE.values(), *BY_WORDS])
@given(text=st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"])))
def test_every_unit_belongs_to_a_word_between_ascii_white_space_or_stands_behind_them(
    tokenizer: Tokenizer, text: str
) -> None:
    *words, behind = by_word(tokenizer, text)
    assert len(words) == len(text.encode().split())
    assert [unit for row in (*words, behind) for unit in row] == tokenizer.encode(text)


@pytest.mark.parametrize("name", ["bytes alone", "bytes behind subwords"])
@pytest.mark.parametrize(
    "line", ["a\tman", "a  man ", " a man\t ", "a\u00a0man is", "", " ", "\t", "a\x0b\x0cman", "\u0416a \u0416\u0416"]
)
def test_white_space_is_of_the_word_behind_it(name: str, line: str) -> None:
    tokenizer = MADE[name, False]
    *words, behind = (tokenizer.decode(row) for row in by_word(tokenizer, line))
    assert [word.lstrip(" \t\x0b\x0c") for word in words] == [word.decode() for word in line.encode().split()]
    assert not behind.strip()


@EVERY
@pytest.mark.parametrize("line", LINES[:4])
def test_a_line_of_the_training_text_comes_back(tokenizer: Tokenizer, line: str) -> None:
    lower = tokenizer in [MADE[name, True] for name in CODERS]
    assert UNK not in tokenizer.encode(line)
    assert tokenizer.decode(tokenizer.encode(line)) == normalise(line, lowercase=lower)


@pytest.mark.parametrize("lower", [False, True])
@given(text=ANY_TEXT)
def test_bytes_spell_whatever_was_never_seen(lower: bool, text: str) -> None:
    tokenizer, alone = MADE["bytes behind subwords", lower], MADE["bytes alone", lower]
    plain = normalise(text, lowercase=lower)
    assert tokenizer.decode(tokenizer.encode(text)) == " ".join(part for part in plain.split(" ") if part)
    assert alone.decode(alone.encode(text)) == plain and len(alone.encode(text)) == len(plain.encode())


def test_every_byte_has_a_picture_of_its_own_and_a_letter_that_was_cut_is_unknown() -> None:
    tokenizer = MADE["bytes alone", False]
    shown = tokenizer.pieces(range(tokenizer.symbols.size))
    assert len(set(shown)) == len(shown) == len(MARKS) + 256
    assert tokenizer.pieces(tokenizer.encode("a b<\u00e9")) == ["a", "\u2581", "b", "<", "<0xC3>", "<0xA9>"]
    assert tokenizer.decode(tokenizer.encode("cl\u00e9")[:-1]) == f"cl{UNKNOWN}"
    assert extend_tokenizer(Byte(), tokenizer, ByteTokenizer(lowercase=False)) is tokenizer  # there is nothing to add


@pytest.mark.parametrize(
    ("lines", "least", "text", "ids"),
    [
        (["abba", "b c"], 1, "ba c", [4, 5, 6, 7]),  # most frequent first
        (["abba", "b c"], 1, "abz", [5, 4, UNK]),
        (["aab"], 2, "ab", [4, UNK]),
        (["a\nb"], 1, "\n", [UNK]),
        (["a b"], 1, "  a  b ", [4, 4, 5, 4, 4, 6, 4]),
    ],
)
def test_characters_are_those_of_the_training_text(lines: list[str], least: int, text: str, ids: list[int]) -> None:
    tokenizer = CharacterTokenizer.learn(lines, lowercase=False, least=least)
    assert tokenizer.encode(text) == ids
    assert UNK in ids or tokenizer.decode(ids) == text
    with pytest.raises(DataError, match="No character occurs 9 or more times"):
        CharacterTokenizer.learn(lines, lowercase=False, least=9)


@EVERY
@given(data=st.data())
def test_any_ids_decode_to_one_line_without_marks(tokenizer: Tokenizer, data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, tokenizer.symbols.size - 1)))
    text = tokenizer.decode(ids)
    assert not any(sign in text for sign in ("\n", "\0", *MARKS))


@EVERY
def test_marks_are_dropped_and_the_unknown_is_shown(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("the man")
    assert tokenizer.decode([BOS, *ids, EOS, PAD]) == "the man"
    assert UNKNOWN in tokenizer.decode([*ids, UNK])


@EVERY
def test_letters_are_composed_and_lone_surrogates_refused(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("cle\u0301") == tokenizer.encode("cl\u00e9")
    with pytest.raises(DataError, match=r"U\+D800 at position 1"):
        tokenizer.encode("a\ud800b")


@pytest.mark.parametrize("name", ["bytes alone", "characters that know it"])
def test_the_character_that_stands_for_a_space_comes_back_and_is_none(name: str) -> None:
    known = CharacterTokenizer(list("ab \u2581"), lowercase=False)
    tokenizer = MADE.get((name, False), known)
    ids = tokenizer.encode("a\u2581b a")
    assert tokenizer.decode(ids) == "a\u2581b a"
    assert words_of(tokenizer.pieces(ids))[-1] == 1


def test_the_character_that_stands_for_a_space_parts_subwords_but_no_words() -> None:
    tokenizer = MADE["bytes behind subwords", False]
    for line in ("the\u2581man", "\u2581", "a \u2581 man\u2581", "\u2581\u2581a  \u2581the", "a\u2581 man"):
        *words, behind = by_word(tokenizer, line)
        assert len(words) == len(line.split()) and [unit for word in words for unit in word] == tokenizer.encode(line)
        assert not behind
    assert tokenizer.decode(tokenizer.encode("the\u2581man")) == "the man"
    assert by_word(tokenizer, "a\u2581 man")[1] == tokenizer.encode("man")


def test_every_difference_shows_in_the_fingerprint() -> None:
    assert len({tokenizer.fingerprint for tokenizer in MADE.values()}) == len(MADE)
    assert CODERS["characters"](False).fingerprint == MADE["characters", False].fingerprint


LISTS = [b"", b"{}", b"[]", b"\xff"]
DAMAGED: dict[Callable[[bytes], Tokenizer], list[bytes]] = {
    partial(CharacterTokenizer.deserialise, lowercase=False): [
        *LISTS,
        b'{"characters": "abc"}',
        b'{"characters": ["ab"]}',
        b'{"characters": ["a", "a"]}',
    ],
    partial(WordTokenizer.deserialise, lowercase=False, segmentation="whitespace"): [
        *LISTS,
        b'{"words": 3, "language": "en"}',
        b'{"words": ["a", "a"], "language": "en"}',
        b'{"words": ["<s>"], "language": "en"}',
        b'{"words": ["a"], "language": 1}',
    ],
    partial(SymbolTokenizer.deserialise, lowercase=False): [
        *LISTS,
        b'{"symbols": ["a", "a"], "separated": true}',
        b'{"symbols": ["a"]}',
    ],
    partial(ByteTokenizer.deserialise, lowercase=False): [b'{"characters": []}'],
    partial(SubwordTokenizer, lowercase=False): [b"", b"garbage", MADE["subwords alone", False].serialise()[:700]],
}


@pytest.mark.parametrize(("read", "data"), [(read, data) for read in DAMAGED for data in DAMAGED[read]])
def test_a_damaged_vocabulary_is_refused(read: Callable[[bytes], Tokenizer], data: bytes) -> None:
    with pytest.raises(RunError, match=r"^A (subword )?vocabulary.* should "):
        read(data)
