"""Words as units, with and without Moses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import DataError, RunError
from anaphora.text.coder import EOS, MARKS, UNK
from anaphora.text.segmentation import Segmentation
from anaphora.text.words import WordCoder, written

LINES = ['Hello, world! It\'s "fine".', "The world (all of it) costs 3.5 %.", "Hello, you."]


def learn(
    lines: list[str], size: int = 100, segmentation: Segmentation = "moses", lowercase: bool = False
) -> WordCoder:
    return WordCoder.learn(lines, size=size, least=1, lowercase=lowercase, segmentation=segmentation, language="en")


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_known_words_comes_back_as_it_was_written(line: str) -> None:
    coder = learn(LINES)
    assert UNK not in coder.encode(line)
    assert coder.decode(coder.encode(line)) == line.replace(" %", "%")


@given(st.lists(st.text(st.characters(categories=("L", "N", "P")), min_size=1), min_size=1))
def test_tokens_between_spaces_come_back_as_they_were(tokens: list[str]) -> None:
    line = " ".join(tokens)
    coder = WordCoder(sorted(set(line.split())), lowercase=False, segmentation="whitespace", language="en")
    again = coder.decode(coder.encode(line))
    assert coder.encode(again) == coder.encode(line)
    assert len(coder.encode(line)) == len(line.split())


@pytest.mark.parametrize("segmentation", ["joiner", "moses", "whitespace"])
@given(text=st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])))
def test_every_token_belongs_to_a_word_between_ascii_white_space(segmentation: Segmentation, text: str) -> None:
    coder = learn(LINES, segmentation=segmentation)
    words = coder.by_word(text)
    assert len(words) == len(text.encode().split()) + 1
    assert [unit for row in words for unit in row] == coder.encode(text)


def test_tokens_belong_to_the_word_that_they_were_cut_from() -> None:
    coder = learn(["a, b. (c) d"])
    assert [len(row) for row in coder.by_word("a,\tb.  (c)\u00a0d ")] == [2, 2, 4, 0]


def test_the_language_decides_what_a_token_is() -> None:
    french = WordCoder.learn(["l'homme"], size=9, least=1, lowercase=False, segmentation="moses", language="fr")
    assert french.pieces(french.encode("l'homme")) == ["\u2581l'", "homme"]
    assert learn(["l'homme"]).pieces(learn(["l'homme"]).encode("l'homme")) == ["\u2581l", "'homme"]


def test_only_the_most_frequent_words_have_a_unit() -> None:
    coder = learn(["a a a b b c c d"], size=7, segmentation="whitespace")
    assert coder.symbols.size == 7
    assert coder.pieces(range(4, 7)) == ["\u2581a", "\u2581b", "\u2581c"]
    assert coder.encode("d") == [UNK]


def test_words_that_are_too_rare_have_none() -> None:
    coder = WordCoder.learn(["a a b"], size=9, least=2, lowercase=False, segmentation="whitespace", language="en")
    assert coder.encode("a b") == [4, UNK]


@pytest.mark.parametrize("segmentation", ["joiner", "whitespace", "moses"])
def test_the_unknown_word_of_a_text_is_the_unknown_unit_and_reads_as_it_did(segmentation: Segmentation) -> None:
    coder = learn(["the <unk> of <unk> the </s>"], segmentation=segmentation)
    assert coder.encode("the <unk> of") == [coder.encode("the")[0], UNK, coder.encode("of")[0]]
    assert coder.decode(coder.encode("the <unk> of")) == "the <unk> of"


def test_a_mark_in_a_text_is_never_a_mark_of_the_vocabulary() -> None:
    assert learn(["a </s> <s> <pad>"], segmentation="whitespace").encode("</s> <s> <pad>") == [UNK] * 3


def test_pieces_show_which_words_stand_after_a_space() -> None:
    coder = learn(LINES)
    pieces = coder.pieces([*coder.encode(LINES[0]), EOS])
    assert pieces == ["▁Hello", ",", "▁world", "!", "▁It", "'s", '▁"', "fine", '"', ".", "</s>"]
    assert "".join(pieces[:-1]).replace("▁", " ").strip() == LINES[0]


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        ("Hello , world !", ["▁Hello", "▁,", "▁world", "▁!"]),
        ("Hello, world!", ["▁Hello", ",", "▁world", "!"]),
        ("  Hello,new  world", ["▁Hello", ",", "<unk>", "▁world"]),
        ("new\u00a0world", ["▁<unk>", "world"]),  # no-break, so one word
        ("", []),
    ],
)
def test_pieces_of_a_line_have_the_spaces_of_the_line(line: str, pieces: list[str]) -> None:
    assert learn(LINES).pieces_of(line) == pieces


@given(st.lists(st.sampled_from([*LINES[0].split(), "new", "(", "U.S.", "...", "l'homme", "3.5%"]), max_size=8))
def test_pieces_of_a_line_are_as_many_words_as_its_spaces_part(words: list[str]) -> None:
    coder = learn(LINES)
    line = " ".join(words)
    pieces = coder.pieces_of(line)
    assert sum(piece.startswith("▁") for piece in pieces) == len(words)
    assert len(pieces) == len(coder.encode(line))


def test_pieces_tell_a_space_from_the_character_that_stands_for_it() -> None:
    coder = learn(["a\u2581b \u2581"], segmentation="whitespace")
    ids = coder.encode("a\u2581b \u2581")
    assert coder.pieces(ids) == coder.pieces_of("a\u2581b \u2581") == ["\u2581a<U+2581>b", "\u2581<U+2581>"]
    assert coder.decode(ids) == "a\u2581b \u2581"


def test_unknown_words_are_filled_in_their_order() -> None:
    coder = learn(LINES)
    ids = [*coder.encode("Hello, Ann and Bob!"), EOS]
    assert coder.filled(ids, ["Ann", "and", "Bob"]) == "Hello, Ann and Bob!"
    assert coder.filled(coder.encode("Hello!"), []) == "Hello!"


def test_case_is_kept_unless_lower_case_is_asked_for() -> None:
    assert learn(["Hello hello"], segmentation="whitespace").encode("HELLO") == [UNK]
    assert learn(["Hello hello"], segmentation="whitespace", lowercase=True).encode("HELLO") == [4]


def test_what_is_serialised_comes_back() -> None:
    coder = learn(LINES)
    again = WordCoder.deserialise(coder.serialise(), lowercase=False, segmentation="moses")
    assert again.fingerprint == coder.fingerprint
    assert [again.encode(line) for line in LINES] == [coder.encode(line) for line in LINES]


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"[]",
        b'{"words": 3, "language": "en"}',
        b'{"words": ["a", "a"], "language": "en"}',
        b'{"words": ["<s>"], "language": "en"}',
        b'{"words": ["a"], "language": 1}',
    ],
)
def test_a_damaged_list_is_refused(damage: bytes) -> None:
    with pytest.raises(RunError, match="word vocabulary"):
        WordCoder.deserialise(damage, lowercase=False, segmentation="whitespace")


def test_a_text_without_words_is_refused_with_what_would_give_some() -> None:
    with pytest.raises(DataError, match=r"No word occurs 1 or more times"):
        learn(["", " "])
    with pytest.raises(DataError, match=r"No word occurs 3 or more times .*, or lower text\.min_count\.$"):
        WordCoder.learn(["a a b"], size=9, least=3, lowercase=False, segmentation="whitespace", language="en")


def test_a_size_without_places_for_words_is_refused() -> None:
    with pytest.raises(DataError, match=r"text\.size = 4 leaves no room for words beside marks"):
        learn(["a b"], size=4)


def test_a_unit_is_written_by_itself_whatever_its_neighbours() -> None:
    words = [",", "$", "'s", "a", "\u2581a"]
    assert written(WordCoder(words, lowercase=False, segmentation="moses", language="en")) == (*MARKS, *words)
