"""N-best lists: what is not the new score stays as it was in its line, byte for byte."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import ConfigError, DataError
from anaphora.formats.nbest import FORMATS, check_name, check_new

LETTERS = st.characters(codec="utf-8", exclude_characters="| \n\r\t\0", exclude_categories=["Z", "Cc"])
WORDS = st.lists(st.text(LETTERS, min_size=1), max_size=5)
MOSES = FORMATS["moses"]


@pytest.mark.parametrize(
    ("name", "line", "scored", "factor"),
    [
        ("moses", "9 ||| {} ||| t: -3 -1 ||| -4 ||| a", "9 ||| {} ||| t: -3 -1 N= {:.6f} ||| -4 ||| a", math.log(10)),
        ("kaldi", "a-b-c-12 {}", "a-b-c-12 {1:.6f}", -math.log(10)),
        ("srilm", "-12.5 -7 3 {}", "-12.5 {1:.6f} 3 {0}", 1),
    ],
)
@given(words=WORDS, log10=st.floats(-1e3, 0))
def test_a_line_gets_a_score_and_keeps_the_rest(
    name: str, line: str, scored: str, factor: float, words: list[str], log10: float
) -> None:
    text = " ".join(words)
    entry = FORMATS[name].parse(line.format(text), "list:1")
    assert entry.text == text
    assert FORMATS[name].score(entry, log10, "N") == scored.format(text, log10 * factor)


@pytest.mark.parametrize(
    ("name", "line", "text", "after"),
    [
        ("moses", "0 |||  |||  ||| -1", "", "0 |||  ||| LM= -2.302585 ||| -1"),
        ("moses", "7 ||| ||| ||| -3", "", "7 ||| ||| LM= -2.302585 ||| -3"),
        ("moses", "7 ||| |||", "", "7 ||| ||| LM= -2.302585"),
        ("moses", "7\t|||\ta  b\t|||\tf= 1\t||| -3", "a  b", "7\t|||\ta  b\t|||\tf= 1 LM= -2.302585\t||| -3"),
        ("moses", "7 ||| a|||b ||| f= 1 ||| -3", "a|||b", "7 ||| a|||b ||| f= 1 LM= -2.302585 ||| -3"),
        ("kaldi", "u-1  the\tman ", "the\tman", "u-1  2.302585"),
        ("kaldi", "u-1", "", "u-1 2.302585"),
        ("srilm", "  -5   -6  2 the  man ", "the  man", "  -5   -1.000000  2 the  man "),
        ("srilm", "-5 -6 0", "", "-5 -1.000000 0"),
        *(
            ("srilm", f"-1 -6 4 {words}", "the man", f"-1 -1.000000 4 {words}")
            for words in ("the man", "<s> the man </s>", "the man </s>", "<s> the man")
        ),
        *(
            ("srilm", f"-1 -6 2{words}", "", f"-1 -1.000000 2{words}")
            for words in (" <s> </s>", "", " </s>", " <s>", " <s>  </s> ")
        ),
    ],
)
def test_white_space_and_ends_of_a_sentence_stay_and_are_no_words(name: str, line: str, text: str, after: str) -> None:
    entry = FORMATS[name].parse(line, "list:1")
    assert entry.text == text
    assert FORMATS[name].score(entry, -1.0, "LM") == after


@pytest.mark.parametrize(
    "between",
    [
        *("0-0 1-1", "0-0", "", "0.9,0.05,5e-2 0,1,0", "0-0 ||| WordScores= -0.1 -0.2", "WordScores= -0.1 -0.2"),
        "0-0  1-1\t||| WordScores=-0.1",
    ],
)
@pytest.mark.parametrize(
    ("features", "names"),
    [("F0= -1.2 F1= -3", "F0 F1"), ("F0=-1.2", "F0"), ("F0: -36 -1.5e-05 d:b= .5 x= -inf a=b= 1.", "F0 d:b x a=b")],
)
def test_word_links_and_scores_of_words_may_stand_between_a_hypothesis_and_its_features(
    between: str, features: str, names: str
) -> None:
    before, after = f"7 ||| a  b ||| {between} ||| {features}", "  ||| -1.2 ||| x"
    entry = MOSES.parse(before + after, "list:1")
    assert entry.text == "a  b"
    assert entry.features == {*names.split()}
    assert MOSES.score(entry, -1.0, "LM") == f"{before} LM= -2.302585{after}"


def test_a_feature_has_a_name_that_a_list_can_have_and_has_not() -> None:
    for name in "LM0", "a:b", "\u00fc":
        check_name(name)
    for name in "", "a b", "x ||| y", "|||", "a\tb", "a\u00a0b", "LM0=", "\udcff":
        with pytest.raises(ConfigError, match="name of a feature should be a word"):
            check_name(name)
    entry = MOSES.parse("0 ||| a ||| LM0= 1 g: 2 h=3 ||| 2", "list.txt:2")
    check_new("LM", entry, "list.txt:2")
    for name in "LM0", "g", "h":
        with pytest.raises(ConfigError, match=rf"list\.txt:2 should have no feature {name} yet.*another name"):
            check_new(name, entry, "list.txt:2")


OTHER, BORDER = r"another format\?", "have features after the hypothesis.* but has"


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("moses", "the man walks", OTHER),
        ("moses", "0 ||| the man", OTHER),
        ("moses", "", OTHER),
        ("moses", "0 ||| a ||| b ||| f= 1 ||| 2", f"{BORDER} 'b': does the hypothesis hold"),
        ("moses", "0 ||| a ||| 0-0", f"{BORDER} '0-0"),
        ("moses", "0 ||| a ||| 0-0 ||| -1.2", f"{BORDER} '0-0"),
        ("moses", "0 ||| a ||| 0-0 b ||| F0= 1 ||| 2", f"{BORDER} '0-0"),
        ("kaldi", "utterance the man", OTHER),
        ("kaldi", "-3 the", OTHER),
        ("kaldi", "u-\u00b2 the", OTHER),
        ("srilm", "-1.0 the man", OTHER),
        ("srilm", "", OTHER),
    ],
)
def test_a_line_of_another_format_is_named(name: str, line: str, said: str) -> None:
    with pytest.raises(DataError, match=rf"list\.txt:2 should .*{said}"):
        FORMATS[name].parse(line, "list.txt:2")
