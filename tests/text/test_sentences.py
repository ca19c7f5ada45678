"""Running text is split where its writer ended a sentence, and put together as it stood."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.text.sentences import BEFORE_NAMES, Passage, Splitter, is_blank

SPLIT = Path(__file__).with_name("sentences.tsv").read_text(encoding="utf-8").splitlines()
"""Texts by language, with a bar where a sentence begins."""


@pytest.mark.parametrize("row", SPLIT)
def test_sentences_end_where_people_end_them(row: str) -> None:
    language, marked = row.split("\t")
    text = marked.replace("|", "")
    found = Splitter(language, "en").split(text)
    assert list(found.sentences) == [sentence.strip() for sentence in marked.split("|")]


GAPS = st.text(" \n\t\u00a0\u3000\u2028\r", max_size=4)
WORDS = st.sampled_from(
    ["He left.", "z.B. 3.", "Why?", "你好。", "(a. B)", "«Oui !»", "word", ".", "…", "A.", "「あ。」", "\ufeff"]
)


@given(
    st.lists(st.tuples(GAPS, WORDS), max_size=8).map(lambda parts: "".join(gap + word for gap, word in parts)),
    GAPS,
    st.sampled_from(["en", "de", "fr", "el", "zh", "xx"]),
)
def test_a_text_put_together_again_is_the_text(body: str, end: str, language: str) -> None:
    text = body + end
    splitter = Splitter(language, language)
    passage = splitter.split(text)
    assert passage.with_sentences(passage.sentences, splitter.gaps(passage)) == text
    assert all(map(is_blank, passage.gaps))
    assert all(sentence == sentence.strip() and not is_blank(sentence) for sentence in passage.sentences)
    assert len(passage.gaps) == len(passage.sentences) + 1


def test_line_ends_and_white_space_stay_outside_of_sentences() -> None:
    passage = Splitter("en", "fr").split("  A line\n\n\tand another. Third.  \r\n")
    assert passage == Passage(("A line", "and another.", "Third."), ("  ", "\n\n\t", " ", "  \r\n"))
    assert passage.with_sentences(["1", "2", "3"], passage.gaps) == "  1\n\n\t2 3  \r\n"
    for blank in "", "\n \n":
        passage = Splitter("zh", "en").split(blank)
        assert passage == Passage((), (blank,)) and Splitter("zh", "en").gaps(passage) == (blank,)


def test_sentences_are_spaced_as_the_language_they_are_put_into() -> None:
    chinese, english = Splitter("zh", "en"), Splitter("en-GB", "zh_Hans")
    assert chinese.gaps(chinese.split(" 你好。再见。\n好 ")) == (" ", " ", "\n", " ")
    assert english.gaps(english.split(" Hello. Bye.\nGood. ")) == (" ", "", "\n", " ")


@pytest.mark.parametrize("language", ["bo", "km", "lo", "my", "th"])
def test_languages_without_spaces_between_words_keep_those_between_sentences(language: str) -> None:
    passage = Splitter("en", language).split("Hello. Bye.")
    assert Splitter("en", language).gaps(passage) == passage.gaps


@pytest.mark.parametrize("signs", ["(", "“。” 。", "A.", " ", ". ", ".", '?"', "。", "x"])
def test_a_line_of_any_signs_is_split_in_linear_time(signs: str) -> None:
    started = time.process_time()
    Splitter("en", "en").split(signs * 20_000)
    assert time.process_time() - started < 5.0


@pytest.mark.parametrize("body", ["word " * 3000, "x" * 9000, "a. b " * 3000])
def test_what_is_longer_than_any_sentence_is_cut_at_spaces_and_comes_back(body: str) -> None:
    passage = Splitter("en", "en").split(body)
    assert passage.with_sentences(passage.sentences, passage.gaps) == body
    assert max(map(len, passage.sentences)) <= 2000 and len(passage.sentences) <= len(body) // 1000
    if " " in body:
        assert {word for sentence in passage.sentences for word in sentence.split()} == set(body.split())


def test_abbreviations_can_be_met() -> None:
    for language, words in BEFORE_NAMES.items():
        for word in words:
            assert word == word.lower() and not word.endswith(".")
            split = Splitter(language, "en").split(f"Aa {word}. Bb cc.")
            assert len(split.sentences) == 1, (language, word)
