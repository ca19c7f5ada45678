"""Characters as units."""

import pytest

from anaphora.errors import DataError, RunError
from anaphora.text.characters import CharacterCoder
from anaphora.text.coder import UNK


def test_the_alphabet_is_that_of_the_training_text_most_frequent_first() -> None:
    coder = CharacterCoder.learn(["abba", "b c"], lowercase=False, least=1)
    assert coder.pieces(range(coder.symbols.size))[4:] == ["b", "a", "\u2581", "c"]
    assert coder.encode("abz") == [5, 4, UNK]


def test_rare_characters_are_unknown() -> None:
    coder = CharacterCoder.learn(["aab"], lowercase=False, least=2)
    assert coder.encode("ab") == [4, UNK]


def test_spaces_are_kept_as_they_are() -> None:
    coder = CharacterCoder.learn(["a b"], lowercase=False, least=1)
    assert coder.decode(coder.encode("  a  b ")) == "  a  b "


def test_a_line_end_is_never_in_the_alphabet() -> None:
    coder = CharacterCoder.learn(["a\nb"], lowercase=False, least=1)
    assert coder.encode("\n") == [UNK]


def test_a_text_without_characters_is_refused() -> None:
    with pytest.raises(DataError, match="No character occurs 2 or more times"):
        CharacterCoder.learn(["abc"], lowercase=False, least=2)


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[]", b'{"characters": "abc"}', b'{"characters": ["ab"]}', b'{"characters": ["a", "a"]}']
)
def test_a_damaged_alphabet_is_refused(data: bytes) -> None:
    with pytest.raises(RunError, match="character vocabulary"):
        CharacterCoder.deserialise(data, lowercase=False)
