"""Subwords by sentencepiece."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import ConfigError, DataError
from anaphora.text.subwords import SubwordTokenizer
from anaphora.text.tokenizer import UNK

LINES = [f"the {colour} dog sees the {other} cat" for colour in ("red", "blue") for other in ("green", "grey")]


def learn(lines: list[str], size: int = 300, byte_fallback: bool = True) -> SubwordTokenizer:
    return SubwordTokenizer.learn(lines, size=size, lowercase=False, byte_fallback=byte_fallback)


TOKENIZER = learn(LINES)


def test_the_same_text_gives_the_same_bytes() -> None:
    assert learn(LINES).serialise() == learn(LINES).serialise()


def test_training_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert learn(["ab" * 100_000], size=270).symbols.size > 263  # very long lines are learnt from, too
    assert capfd.readouterr() == ("", "")


def test_frequent_words_are_one_unit() -> None:
    assert learn(LINES).pieces(learn(LINES).encode("the dog")) == ["\u2581the", "\u2581dog"]


@given(st.lists(st.text(alphabet="the dogx\u00e9e\u0301"), max_size=9), st.integers(1, 3))
def test_lines_encoded_together_are_those_encoded_alone(lines: list[str], threads: int) -> None:
    assert TOKENIZER.encode_lines(lines, threads) == [TOKENIZER.encode(line) for line in lines]


def test_a_lone_surrogate_is_refused_among_other_lines() -> None:
    with pytest.raises(DataError, match="surrogate"):
        TOKENIZER.encode_lines(["the", "\ud800"], 1)


def test_a_size_below_the_characters_names_the_least_that_will_do() -> None:
    with pytest.raises(ConfigError, match=r"text\.size = 200 leaves no room for (\d+) marks") as caught:
        learn(LINES, size=200)
    needed = int(str(caught.value).split(" room for ")[1].split()[0])
    assert learn(LINES, size=needed).symbols.size == needed


@pytest.mark.parametrize("lines", [[], [""], ["  ", "\t"]])
def test_a_text_without_characters_is_refused(lines: list[str]) -> None:
    with pytest.raises(DataError, match="needs text, but every line"):
        learn(lines)


def test_without_bytes_what_was_never_seen_is_unknown() -> None:
    assert UNK in learn(LINES, size=60, byte_fallback=False).encode("Ж")
