"""Words as units, with and without Moses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import DataError
from anaphora.text.segmentation import Segmentation
from anaphora.text.tokenizer import EOS, MARKS, UNK
from anaphora.text.whitespace import by_word
from anaphora.text.words import WordTokenizer, spellings

LINES = ['Hello, world! It\'s "fine".', "The world (all of it) costs 3.5 %.", "Hello, you."]


def learn(lines: list[str], size: int = 100, segmentation: Segmentation = "moses", least: int = 1) -> WordTokenizer:
    return WordTokenizer.learn(lines, size=size, least=least, lowercase=False, segmentation=segmentation, language="en")


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_known_words_comes_back_as_it_was_written(line: str) -> None:
    tokenizer = learn(LINES)
    assert UNK not in tokenizer.encode(line)
    assert tokenizer.decode(tokenizer.encode(line)) == line.replace(" %", "%")


@given(st.lists(st.text(st.characters(categories=("L", "N", "P")), min_size=1), min_size=1))
def test_tokens_between_spaces_come_back_as_they_were(tokens: list[str]) -> None:
    line = " ".join(tokens)
    tokenizer = WordTokenizer(sorted(set(line.split())), lowercase=False, segmentation="whitespace", language="en")
    again = tokenizer.decode(tokenizer.encode(line))
    assert tokenizer.encode(again) == tokenizer.encode(line)
    assert len(tokenizer.encode(line)) == len(line.split())


def test_tokens_belong_to_the_word_that_they_were_cut_from() -> None:
    tokenizer = learn(["a, b. (c) d"])
    assert [len(row) for row in by_word(tokenizer, "a,\tb.  (c)\u00a0d ")] == [2, 2, 4, 0]


def test_only_the_most_frequent_words_have_a_unit() -> None:
    tokenizer = learn(["a a a b b c c d"], size=7, segmentation="whitespace")
    assert tokenizer.symbols.size == 7
    assert tokenizer.pieces(range(4, 7)) == ["\u2581a", "\u2581b", "\u2581c"]
    assert tokenizer.encode("d") == [UNK]
    with pytest.raises(DataError, match=r"text\.size = 4 leaves no room for words beside marks"):
        learn(["a b"], size=4)


def test_words_that_are_too_rare_have_none() -> None:
    assert learn(["a a b"], least=2).encode("a b") == [4, UNK]
    with pytest.raises(DataError, match=r"No word occurs 3 or more times .*, or lower text\.min_count\.$"):
        learn(["a a b"], least=3)


@pytest.mark.parametrize("segmentation", ["joiner", "whitespace", "moses"])
def test_the_unknown_word_of_a_text_is_the_unknown_unit_and_reads_as_it_did(segmentation: Segmentation) -> None:
    tokenizer = learn(["the <unk> of <unk> the </s>"], segmentation=segmentation)
    assert tokenizer.encode("the <unk> of") == [tokenizer.encode("the")[0], UNK, tokenizer.encode("of")[0]]
    assert tokenizer.decode(tokenizer.encode("the <unk> of")) == "the <unk> of"


def test_a_mark_in_a_text_is_never_a_mark_of_the_vocabulary() -> None:
    assert learn(["a </s> <s> <pad>"], segmentation="whitespace").encode("</s> <s> <pad>") == [UNK] * 3


def test_pieces_show_which_words_stand_after_a_space() -> None:
    tokenizer = learn(LINES)
    pieces = tokenizer.pieces([*tokenizer.encode(LINES[0]), EOS])
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
    tokenizer = learn(LINES)
    line = " ".join(words)
    pieces = tokenizer.pieces_of(line)
    assert sum(piece.startswith("▁") for piece in pieces) == len(words)
    assert len(pieces) == len(tokenizer.encode(line))


def test_pieces_tell_a_space_from_the_character_that_stands_for_it() -> None:
    tokenizer = learn(["a\u2581b \u2581"], segmentation="whitespace")
    ids = tokenizer.encode("a\u2581b \u2581")
    assert tokenizer.pieces(ids) == tokenizer.pieces_of("a\u2581b \u2581") == ["\u2581a<U+2581>b", "\u2581<U+2581>"]
    assert tokenizer.decode(ids) == "a\u2581b \u2581"


def test_unknown_words_are_filled_in_their_order() -> None:
    tokenizer = learn(LINES)
    ids = [*tokenizer.encode("Hello, Ann and Bob!"), EOS]
    assert tokenizer.decode_with(ids, ["Ann", "and", "Bob"]) == "Hello, Ann and Bob!"
    assert tokenizer.decode_with(tokenizer.encode("Hello!"), []) == "Hello!"


def test_a_unit_is_written_by_itself_whatever_its_neighbours() -> None:
    words = [",", "$", "'s", "a", "\u2581a"]
    assert spellings(WordTokenizer(words, lowercase=False, segmentation="moses", language="en")) == (*MARKS, *words)
