"""Bytes as units: nothing is unknown, and everything comes back."""

from hypothesis import given
from hypothesis import strategies as st

from anaphora.text.bytes import ByteTokenizer
from anaphora.text.normalise import normalise
from anaphora.text.tokenization import Byte
from anaphora.text.tokenizer import MARKS, UNKNOWN
from anaphora.text.vocabulary_extension import extend_tokenizer

CODER = ByteTokenizer(lowercase=False)
ANY_LINE = st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"]))


@given(ANY_LINE)
def test_any_line_comes_back(text: str) -> None:
    ids = CODER.encode(text)
    assert CODER.decode(ids) == normalise(text)
    assert len(ids) == len(normalise(text).encode())


def test_every_byte_has_a_picture_of_its_own() -> None:
    shown = CODER.pieces(range(CODER.symbols.size))
    assert len(set(shown)) == len(shown) == len(MARKS) + 256
    assert CODER.pieces(CODER.encode("a b<é")) == ["a", "\u2581", "b", "<", "<0xC3>", "<0xA9>"]


def test_a_letter_that_was_cut_is_shown_as_unknown() -> None:
    assert CODER.decode(CODER.encode("clé")[:-1]) == f"cl{UNKNOWN}"


def test_there_is_nothing_to_extend() -> None:
    assert extend_tokenizer(Byte(), CODER, ByteTokenizer(lowercase=False)) is CODER
