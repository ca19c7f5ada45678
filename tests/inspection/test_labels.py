import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.inspection.labels import LONGEST, labels, layer_label, layer_name


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


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("encoder.layers.0.right_to_left layer0", "encoder layer 1, backward, h\u20d6"),
        ("encoder layer 1, left to right", "encoder layer 2, forward, h\u20d7"),
        ("decoder layer1", "decoder layer 2, s"),
        ("decoder ask", "decoder, first transition, s"),
        ("recurrence layer0", "layer 1, h"),
        ("language_model.recurrence layer0", "language model layer 1, h"),
        ("mine.rnn", "mine.rnn"),
    ],
)
def test_layers_have_the_names_and_symbols_of_papers(name: str, shown: str) -> None:
    assert layer_label(name) == shown and shown.startswith(layer_name(name))
