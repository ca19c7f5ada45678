"""Special tokens are neither written, whatever a model gives them, nor read at the ends of lines."""

from typing import Any

import pytest
import torch

from anaphora.tasks.language_model.predictor import LanguageModelPredictor
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.text.tokenizer import BOS, PAD
from anaphora.text.words import WordTokenizer
from tests.networks import build

LINES = ["the man walks", "a big dog sees the man", "the dog walks"]
MARKED = [f"<s> {line} </s>" for line in LINES]
CODER = WordTokenizer.learn(LINES, size=50, least=1, lowercase=False, segmentation="whitespace", language="en")
TABLES: dict[str, dict[str, Any]] = {
    "language-model": {"embedding": {"size": 8}, "recurrence": {"size": 8}},
    "feed-forward": {
        "model": "feed-forward",
        "embedding": {"size": 8},
        "network": {"kind": "feed-forward", "words": 2, "size": 8},
    },
    "translate": {"embedding": {"size": 8}, "encoder": {"size": 8}, "decoder": {"size": 8}},
}


def network(name: str, bias: float = 0.0) -> Any:
    """A network that adds a ``bias`` to what it gives to the marks."""
    sides = dict.fromkeys(("text", "source", "target"), CODER.symbols)
    model: Any = build("language-model" if name == "feed-forward" else name, TABLES[name], sides, "a test")
    model.initialise(3)
    with torch.no_grad():
        model.output.bias[[PAD, BOS]] += bias
    return model


@pytest.mark.parametrize("name", ["language-model", "feed-forward"])
@pytest.mark.parametrize("beam", [0, 1, 4])
def test_a_language_model_goes_on_with_units_of_the_text_alone(name: str, beam: int) -> None:
    model = LanguageModelPredictor(network(name, bias=20.0), CODER)
    for seed in range(3):
        written = model.generate("the man", length=6, lines=1, beam=beam, seed=seed)
        assert written.finished or len(written.text.split(" ")) == 2 + 6
    assert model.generate("", length=9, temperature=1e6).text.split() != []


@pytest.mark.parametrize("beam", [1, 4])
def test_a_translator_writes_words_and_scores_them_as_it_always_does(beam: int) -> None:
    translator = TranslationPredictor(network("translate", bias=20.0).stepper, CODER, CODER)
    for found in translator.translate(LINES, beam=beam, alternatives=3, attention=True):
        for one in (found, *found.alternatives):
            assert not {"<pad>", "<s>"} & set(one.target_pieces)
    [found] = translator.translate(LINES[:1], beam=beam, known=True)
    assert found.finished and "<unk>" not in found.text
    [scored] = translator.score_pairs(LINES[:1], [found.text])
    assert scored.score == found.score


def test_a_translator_leaves_them_out() -> None:
    model = network("translate")
    translator = TranslationPredictor(model.stepper, CODER, CODER)
    for call in (translator.translate, translator.translate_text):
        assert [found.text for found in call(MARKED)] == [found.text for found in call(LINES)]
    assert translator.translate(["<s> </s>"])[0].text == ""
    scored, plain = (translator.score_pairs(lines, lines, attention=True) for lines in (MARKED, LINES))
    for one, other in zip(scored, plain, strict=True):
        assert (one.score, one.text, one.source_pieces) == (other.score, other.text, other.source_pieces)


@pytest.mark.parametrize("method", ["score_lines", "evaluate"])
def test_a_language_model_leaves_them_out(method: str) -> None:
    model = LanguageModelPredictor(network("language-model"), CODER)
    assert getattr(model, method)(MARKED) == getattr(model, method)(LINES)
