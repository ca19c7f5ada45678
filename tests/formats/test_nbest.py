"""N-best lists: what is not the new score stays as it was, byte for byte."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import DataError
from anaphora.formats.nbest import FORMATS, parse_list

LETTERS = st.characters(codec="utf-8", exclude_characters="| \n\r\t\0", exclude_categories=["Z", "Cc"])
WORDS = st.lists(st.text(LETTERS, min_size=1), max_size=5)
MOSES, KALDI, SRILM = FORMATS["moses"], FORMATS["kaldi"], FORMATS["srilm"]


@given(st.integers(0, 999), WORDS, st.floats(-1e3, 0), st.sampled_from(["", " ||| 0-0 1-2", " ||| a ||| b"]))
def test_a_moses_line_gets_a_feature_and_keeps_the_rest(
    number: int, words: list[str], log10: float, behind: str
) -> None:
    text = " ".join(words)
    before, features, after = f"{number} ||| {text} ||| ", "lm: -36 -13 tm= -4.2", f" ||| -40.5{behind}"
    entry = MOSES.parse(before + features + after, "list:1")
    assert entry.text == text
    assert MOSES.scored(entry, log10, "LM1") == f"{before}{features} LM1= {log10 * math.log(10):.6f}{after}"


def test_an_empty_moses_hypothesis_without_features_has_its_place() -> None:
    entry = MOSES.parse("0 |||  |||  ||| -1", "list:1")
    assert entry.text == ""
    assert MOSES.scored(entry, -1.0, "LM") == "0 |||  ||| LM= -2.302585 ||| -1"
    assert MOSES.parse("0 ||| ||| a= 1 ||| -1", "list:1").text == ""


@given(WORDS, st.integers(1, 99), st.floats(-1e3, 0))
def test_a_kaldi_line_becomes_a_cost_to_base_e(words: list[str], rank: int, log10: float) -> None:
    entry = KALDI.parse(" ".join([f"a-b-c-{rank}", *words]), "list:1")
    assert entry.text == " ".join(words)
    name, cost = KALDI.scored(entry, log10, "unused").split(" ")
    assert name == f"a-b-c-{rank}" and float(cost) == pytest.approx(-log10 * math.log(10), abs=1e-6)


@given(WORDS, st.floats(-1e3, 0))
def test_an_srilm_line_has_its_language_score_replaced(words: list[str], log10: float) -> None:
    entry = SRILM.parse(" ".join(["-12.5", "-7", str(len(words)), *words]), "list:1")
    assert entry.text == " ".join(words)
    assert SRILM.scored(entry, log10, "unused") == " ".join(["-12.5", f"{log10:.6f}", str(len(words)), *words])


@pytest.mark.parametrize(
    ("name", "line"),
    [("moses", "the man walks"), ("moses", "0 ||| the man"), ("kaldi", "utterance the man"), ("kaldi", "-3 the"),
     ("srilm", "-1.0 the man"), ("srilm", ""), ("moses", "")],
)  # fmt: skip
def test_a_line_of_another_format_is_named(name: str, line: str) -> None:
    good = {"moses": "0 ||| a ||| f= 1 ||| 2", "kaldi": "u-1 a", "srilm": "-1 -2 1 a"}[name]
    with pytest.raises(DataError, match=r"list\.txt:2 should .*another format\?"):
        parse_list([good, line], FORMATS[name], "list.txt")
