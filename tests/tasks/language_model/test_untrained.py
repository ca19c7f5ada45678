"""A small untrained language model of characters: what it promises holds for any weights."""

import math
from pathlib import Path

import pytest
import torch

from anaphora.batch import Batch, Ids
from anaphora.errors import DataError
from anaphora.evaluation.perplexity import TextSize, size_of_line
from anaphora.tasks.language_model import LanguageModelPredictor
from anaphora.tasks.runs import load

from ..conftest import LANGUAGE_MODEL, saved, sentences


def test_the_same_seed_writes_the_same_text(untrained_language_model: LanguageModelPredictor) -> None:
    texts = [untrained_language_model.generate("the", seed=seed).text for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_a_text_is_predicted_in_one_pass_with_the_state_carried(
    untrained_language_model: LanguageModelPredictor,
) -> None:
    """The loss of a text is that of its units read one after another, windows or not."""
    lines = sentences(25, seed=7)
    model, tokenizer = untrained_language_model._model, untrained_language_model._tokenizer
    ids = [unit for line in lines for unit in [*tokenizer.encode(line), tokenizer.symbols.eos]]
    assert len(ids) > 1100
    stepper = model.stepper()
    nats, last = 0.0, tokenizer.symbols.eos
    start = Batch(Ids(torch.tensor([[last]]), torch.tensor([1])), None, torch.tensor([0]), torch.tensor([False]))
    memory, state, _ = stepper.start(start)
    for unit in ids:
        step = stepper.advance(memory, state, torch.tensor([last]))
        nats -= float(step.log_probs_NV[0, unit])
        state, last = step.state, unit
    found = untrained_language_model.evaluate(iter(lines))
    assert found.tokens == len(ids) and found.unknown == 0
    with pytest.raises(DataError, match="there is no line"):
        untrained_language_model.evaluate([])
    assert untrained_language_model.evaluate([""]).tokens == 1
    assert found.nats == pytest.approx(nats, rel=1e-5)
    assert found.size == sum(map(size_of_line, lines), start=TextSize(0, 0, 0))
    assert found.bits_per_character == pytest.approx(
        nats / math.log(2) / sum(len(line) + 1 for line in lines), rel=1e-5
    )


def test_the_score_of_a_line_is_what_predicting_it_costs(untrained_language_model: LanguageModelPredictor) -> None:
    found = next(
        f
        for seed in range(100)
        if (f := untrained_language_model.generate("the", seed=seed)).finished and "\n" not in f.text
    )
    assert untrained_language_model.evaluate([found.text]).nats == pytest.approx(-found.score, rel=1e-5)


def test_a_saved_language_model_writes_as_before(
    untrained_language_model: LanguageModelPredictor, tmp_path: Path
) -> None:
    experiment = {"task": "language-model", "text": {"tokenizer": "character"}, **LANGUAGE_MODEL}
    saved(tmp_path / "run", experiment, untrained_language_model._model, {"text": untrained_language_model._tokenizer})
    loaded = load(str(tmp_path / "run"))
    assert isinstance(loaded, LanguageModelPredictor) and loaded.path == bytes(tmp_path / "run")
    assert loaded.generate("the") == untrained_language_model.generate("the")
    assert loaded.evaluate(sentences(5)) == untrained_language_model.evaluate(sentences(5))
