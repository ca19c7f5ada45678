"""Characters as units."""

import pytest

from anaphora.errors import DataError
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.tokenizer import UNK


def test_the_alphabet_is_that_of_the_training_text_most_frequent_first() -> None:
    tokenizer = CharacterTokenizer.learn(["abba", "b c"], lowercase=False, least=1)
    assert tokenizer.pieces(range(tokenizer.symbols.size))[4:] == ["b", "a", "\u2581", "c"]
    assert tokenizer.encode("abz") == [5, 4, UNK]


def test_rare_characters_are_unknown() -> None:
    tokenizer = CharacterTokenizer.learn(["aab"], lowercase=False, least=2)
    assert tokenizer.encode("ab") == [4, UNK]


def test_spaces_are_kept_as_they_are() -> None:
    tokenizer = CharacterTokenizer.learn(["a b"], lowercase=False, least=1)
    assert tokenizer.decode(tokenizer.encode("  a  b ")) == "  a  b "


def test_a_line_end_is_never_in_the_alphabet() -> None:
    tokenizer = CharacterTokenizer.learn(["a\nb"], lowercase=False, least=1)
    assert tokenizer.encode("\n") == [UNK]


def test_a_text_without_characters_is_refused() -> None:
    with pytest.raises(DataError, match="No character occurs 2 or more times"):
        CharacterTokenizer.learn(["abc"], lowercase=False, least=2)
