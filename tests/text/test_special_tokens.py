"""Special tokens at the ends of lines are no text; anywhere else they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.text.special_tokens import without_special_tokens


@pytest.mark.parametrize(
    "line",
    [
        "<s> A man . </s>",
        "<BOS> A man . <EOS> <pad> <pad>",
        "<pad> <pad> <s>\tA man .",
        "[CLS] A man . [SEP] [PAD]",
        "A man . <|endoftext|> ",
        "<|endoftext|>A man .<|endoftext|>",
        "<|startoftext|>A man .",
    ],
)
def test_special_tokens_at_the_ends_are_left_out(line: str) -> None:
    assert without_special_tokens(line) == "A man ."
    assert without_special_tokens(line.replace("A man .", "")) == ""


@pytest.mark.parametrize(
    "line", ["<s>old</s> price", "<s>old price</s>", "a <s> b </s> c", "</s> a <s>", " a > ", "<unk> a <unk>", "x<eos>"]
)
def test_other_text_stays_as_it_is(line: str) -> None:
    assert without_special_tokens(line) == line


@given(st.text("ab <>/[]s \t"))
def test_only_the_ends_of_a_line_are_changed(line: str) -> None:
    assert without_special_tokens(line) in line


@given(st.lists(st.sampled_from(["<s>", "</s>", "<pad>", "a", "b", "[SEP]"])).map(" ".join))
def test_nothing_is_left_to_remove(line: str) -> None:
    found = without_special_tokens(line)
    assert without_special_tokens(found) == found
