import json
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.errors import DataError, MissingExtraError
from anaphora.evaluation.bleu import Condition, bleu, chrf, sentence_scores

OUTPUT = ["A man is walking.", "Two dogs, one cat.", "It's the \u201cbig\u201d house."]
REFERENCE = ["A man is walking.", "Two dogs and one cat.", "It's a \u201cbig\u201d house."]


def test_scores_are_what_sacrebleu_itself_prints(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("\n".join(OUTPUT) + "\n", encoding="utf-8")
    (tmp_path / "ref").write_text("\n".join(REFERENCE) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "sacrebleu", str(tmp_path / "ref"), "-i", str(tmp_path / "out"), "-w", "6"]
    printed = subprocess.run([*command, "-m", "bleu", "chrf"], capture_output=True, check=True).stdout
    for said, metric in zip(json.loads(printed), (bleu, chrf), strict=True):
        score = metric(OUTPUT, REFERENCE, language="en")
        shown = json.loads(json.dumps(score.json() | {"value": round(score.value, 6)}))
        own = {"name": said["name"], "value": said["score"], "signature": said["signature"]}
        assert shown == own | {"condition": "raw"}
        assert str(score).startswith(f"{score.name} = {score.value:.2f} (raw; nrefs:1")


@pytest.mark.parametrize("condition", ["raw", "moses-lowercase"])
def test_equal_text_scores_the_same_however_its_marks_are_written(condition: Condition) -> None:
    outputs = ["Tôi uống nước mỗi buổi sáng.", "Der Käfer läuft über die Straße."]
    apart = [unicodedata.normalize("NFD", text) for text in outputs]
    for metric in (bleu, chrf):
        assert metric(outputs, apart, language="vi", condition=condition).value == pytest.approx(100)


@settings(max_examples=25)
@given(st.lists(st.text("abc .", min_size=1, max_size=60), min_size=1, max_size=4))
def test_nothing_scores_more_than_100(texts: list[str]) -> None:
    for metric in (bleu, chrf):
        assert 0 <= metric(texts, texts, language="en").value <= 100
    for figures in sentence_scores(texts, texts, language="en", condition="raw"):
        assert all(0 <= value <= 100 for value in figures.values())


def test_raw_counts_case_and_moses_lowercase_does_not() -> None:
    shouted = [text.upper() for text in REFERENCE]
    raw = bleu(shouted, REFERENCE, language="en")
    moses = bleu(shouted, REFERENCE, language="en", condition="moses-lowercase")
    assert raw.value < 50 and moses.value == pytest.approx(100)
    assert "case:mixed" in raw.signature and "tok:13a" in raw.signature
    assert "case:lc" in moses.signature and "tok:none" in moses.signature and moses.condition == "moses-lowercase"
    straight, curly = ['it is a "big" house .'], ["It is a \u201cbig\u201d house."]
    for outputs, references in ((straight, curly), (curly, straight)):
        found = bleu(outputs, references, language="en", condition="moses-lowercase")
        assert found.value == pytest.approx(100)  # both sides are tokenised and normalised


@pytest.mark.parametrize(("language", "tokenizer"), [("zh-CN", "zh"), ("th", "char"), ("km-KH", "char")])
def test_a_script_without_spaces_has_its_own_tokens(language: str, tokenizer: str) -> None:
    score = bleu(["สวัสดีชาวโลก"], ["สวัสดีชาวไทย"], language=language)
    assert f"tok:{tokenizer}" in score.signature and (tokenizer == "zh" or 0 < score.value < 100)
    assert bleu(["我爱你们大家"], ["我爱你们大家"], language=language).value == pytest.approx(100)


@pytest.mark.parametrize("language", ["ja", "ko"])
def test_a_missing_tokeniser_is_named_with_what_installs_it(language: str) -> None:
    try:
        score = bleu(["私 は"], ["私 は"], language=language)
    except MissingExtraError as error:
        assert f"anaphora[{language}]" in str(error)
    else:
        assert f"tok:{language}-mecab" in score.signature


@pytest.mark.parametrize("outputs", [OUTPUT[:-1], [*OUTPUT, "more"], []])
def test_unequal_counts_are_refused(outputs: list[str]) -> None:
    for metric in (bleu, chrf):
        with pytest.raises(DataError, match=f"{len(outputs)} outputs and 3 references"):
            metric(outputs, REFERENCE, language="en")
    with pytest.raises(DataError, match="at least one"):
        bleu([], [], language="en")
