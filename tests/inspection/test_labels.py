from hypothesis import given
from hypothesis import strategies as st

from anaphora.inspection.labels import LONGEST, labels


def test_a_piece_inside_a_word_begins_with_a_dot() -> None:
    assert labels(["▁chan", "tons", ".", "</s>"]) == ["chan", "·tons", ".", "</s>"]


def test_words_and_characters_stay_as_they_are() -> None:
    assert labels(["Les", "chats", "."]) == ["Les", "chats", "."]


def test_what_would_be_invisible_is_shown() -> None:
    assert labels([" ", "\n", "\t", ""]) == ["␣", "⏎", "⇥", "∅"]
    assert labels(["▁", "a▁b"]) == ["␣", "·a␣b"]


@given(st.lists(st.text(st.characters(exclude_categories=())), max_size=5))
def test_every_label_is_one_short_visible_line(pieces: list[str]) -> None:
    shown = labels(pieces)
    assert len(shown) == len(pieces)
    for label in shown:
        assert 1 <= len(label) <= LONGEST
        assert not any(ord(character) < 32 for character in label)
        label.encode("utf-8")


def test_characters_are_no_subwords() -> None:
    assert labels(["</s>", "a", "▁", "b"]) == ["</s>", "a", "␣", "b"]
