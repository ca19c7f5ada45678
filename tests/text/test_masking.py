"""Sentences taken apart into what is translated and what is kept."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.text.masking import MaskedText, Placeholder, mask, split_around
from anaphora.text.placeholders import KINDS, USUAL, spans
from anaphora.text.sentences import Splitter

STAND_INS = (Placeholder("York", 7), Placeholder("Boston", 8))
SIGNS = st.text("ab {}<>/%sd$1=\"'@.:x[]X! ", max_size=40)


def apart(sentence: str) -> MaskedText:
    return mask(sentence, spans(sentence, USUAL), STAND_INS)


def test_stand_ins_take_the_places_of_placeholders_and_tags_are_taken_out() -> None:
    found = apart("Hi {name}, read <b>%d new</b> mails.")
    assert found.text == "Hi York, read Boston new mails."
    assert [(one.text, found.text[one.start : one.end]) for one in found.units] == [
        ("{name}", "York"),
        ("%d", "Boston"),
    ]
    assert [(tag.text, found.text[tag.place :]) for tag in found.tags] == [
        ("<b>", "Boston new mails."),
        ("</b>", " mails."),
    ]
    assert [tag.partner for tag in found.tags] == [1, 0]


def test_a_word_of_the_sentence_stands_for_nothing_else() -> None:
    assert apart("{a} sees York and {b}").text == "Boston sees York and Boston"
    assert apart("{a} sees YORKers").text == "Boston sees YORKers"


@pytest.mark.parametrize(
    ("sentence", "before", "text", "after"),
    [
        ("<p>Hello <i>big</i> world.</p>", "<p>", "Hello big world.", "</p>"),
        ("<br>hello<hr/>", "<br>", "hello", "<hr/>"),
        ("<b>Note:</b> read this", "", "Note: read this", ""),
        ("<b>one</b> <b>two</b>", "", "one two", ""),
        ("</b>one", "</b>", "one", ""),
    ],
)
def test_tags_around_all_of_a_sentence_stay_around_it(sentence: str, before: str, text: str, after: str) -> None:
    found = apart(sentence)
    assert (found.before, found.text, found.after) == (before, text, after)


@pytest.mark.parametrize("sentence", ["{a}: %d", "<b>{name}</b>", "https://a.org", "12 {a}", "<br/>"])
def test_what_has_no_word_to_translate_is_kept_whole(sentence: str) -> None:
    assert apart(sentence) == MaskedText(sentence, sentence, "", "")


def test_words_around_a_single_tag_stay_apart_and_those_around_a_pair_stay_together() -> None:
    assert apart("one<br/>two").text == "one two"
    assert apart("one <br/> two").text == "one two"
    assert apart("to<b>get</b>her").text == "together"


def test_tags_pair_well_nested() -> None:
    found = apart("x <b>y <i>z</b> w</i> <u>v <u>t</u></u> s")
    names = {(found.tags[tag.partner].text, tag.text) for tag in found.tags if tag.partner >= 0 and "/" in tag.text}
    assert names == {("<b>", "</b>"), ("<u>", "</u>")}
    assert [tag.text for tag in found.tags if tag.partner < 0] == ["<i>", "</i>"]


@given(SIGNS)
def test_nothing_is_lost(sentence: str) -> None:
    found = mask(sentence, spans(sentence, KINDS), STAND_INS)
    kept = [one.text for one in (*found.units, *found.tags)]
    assert found.before + found.text + found.after == sentence or kept
    assert found.sentence == sentence
    assert sentence.startswith(found.before) and sentence.endswith(found.after)
    inner, place = sentence[len(found.before) : len(sentence) - len(found.after)], 0
    for text in kept if not found.tags else []:
        place = inner.index(text, place) + len(text)
    assert all(found.text[one.start : one.end] == one.stand_in.word for one in found.units)


@given(st.integers(0, 10_000), SIGNS)
def test_sentences_with_their_gaps_are_the_text_and_none_ends_within_what_is_kept(seed: int, signs: str) -> None:
    draw = random.Random(seed)
    words = ("Hello.", "{a. B}", "<a b='x. Y'>", "You", "http://a.org/b.C", "See it.", signs, "%s!", "</b>")
    text = " ".join(draw.choices(words, k=draw.randint(1, 8)))
    passage = split_around(Splitter("en", "de"), text, USUAL)
    assert passage.with_sentences(passage.sentences, passage.gaps) == text
    for kept in ("<a b='x. Y'>", "http://a.org/b.C"):
        assert signs.strip() or text.count(kept) == sum(one.count(kept) for one in passage.sentences)
