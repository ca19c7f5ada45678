"""Text given in Python is read like text in files: special tokens at the ends of lines are no part of it."""

from typing import Any

import pytest

from anaphora.tasks.language_model import LanguageModelPredictor
from anaphora.tasks.translation import TranslationPredictor
from anaphora.text.words import WordTokenizer
from tests.networks import build

LINES = ["the man walks", "a big dog sees the man"]
MARKED = [f"<s> {line} </s>" for line in LINES]
TOKENIZER = WordTokenizer.learn(LINES, size=50, least=1, lowercase=False, segmentation="whitespace", language="en")
SIZES = {"size": 8}


def network(task: str, **tables: Any) -> Any:
    sides = dict.fromkeys(("text", "source", "target"), TOKENIZER.symbols)
    model: Any = build(task, {"embedding": SIZES, **tables}, sides, "a test")
    model.initialise(3)
    return model


def test_a_translator_leaves_them_out() -> None:
    model = network("translate", encoder=SIZES, decoder=SIZES)
    translator = TranslationPredictor(model.stepper, TOKENIZER, TOKENIZER)
    for call in (translator.translate, translator.translate_text):
        assert [found.text for found in call(MARKED)] == [found.text for found in call(LINES)]
    assert translator.translate(["<s> </s>"])[0].text == ""
    scored, plain = (translator.score_pairs(lines, lines, attention=True) for lines in (MARKED, LINES))
    assert [(one.score, one.text, one.source_pieces) for one in scored] == [
        (one.score, one.text, one.source_pieces) for one in plain
    ]


@pytest.mark.parametrize("method", ["score_lines", "evaluate"])
def test_a_language_model_leaves_them_out(method: str) -> None:
    model = LanguageModelPredictor(network("language-model", recurrence=SIZES), TOKENIZER)
    assert getattr(model, method)(MARKED) == getattr(model, method)(LINES)
