import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.inspection.labels import LONGEST, labels


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["▁chan", "tons", ".", "</s>"], ["chan", "·tons", ".", "</s>"]),
        (["Les", "chats", "."], ["Les", "chats", "."]),
        ([" ", "\n", "\t", ""], ["␣", "⏎", "⇥", "∅"]),
        (["▁", "a▁b"], ["␣", "·a␣b"]),
        (["</s>", "a", "▁", "b"], ["</s>", "a", "␣", "b"]),
    ],
    ids=["subwords", "words", "invisible", "spaces", "characters"],
)
def test_pieces_are_shown(pieces: list[str], shown: list[str]) -> None:
    assert labels(pieces) == shown


@given(st.lists(st.text(st.characters(exclude_categories=())), max_size=5))
def test_every_label_is_one_short_visible_line(pieces: list[str]) -> None:
    shown = labels(pieces)
    assert len(shown) == len(pieces)
    for label in shown:
        assert 1 <= len(label) <= LONGEST
        assert not any(ord(character) < 32 for character in label)
        label.encode("utf-8")
