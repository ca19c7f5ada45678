"""Sequences start from vectors that are given, in language models and encoders, in Python and on the command line."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import anaphora
from anaphora.batch import Batch, pad
from anaphora.cli.app import main
from anaphora.errors import AnaphoraError, ConfigError, ShapeError
from anaphora.models.language_model import LanguageModel, LanguageModelConfig
from anaphora.nn.encoders.recurrent import EncoderConfig, RecurrentEncoder
from anaphora.nn.stack import start_from
from anaphora.nn.weights import Uniform
from anaphora.tasks.runs import load_trained
from anaphora.text.tokenizer import symbols_of

LEARNED = {"initial_state": "learned"}


def language_model(initial_state: str = "zero") -> LanguageModel:
    table: dict[str, Any] = {"embedding": {"size": 4}, "recurrence": {"size": 3, "layers": 2}}
    table["recurrence"]["initial_state"] = initial_state
    model = LanguageModel(LanguageModelConfig.model_validate(table), symbols_of(9))
    model.initialise(1)
    return model.eval()


@pytest.mark.parametrize("initial_state", ["zero", "learned"])
def test_a_text_continues_from_the_state_that_another_ended_in(initial_state: str) -> None:
    model, ids = language_model(initial_state), [3, 4, 5, 6, 7, 8, 4]
    with torch.no_grad():
        whole, _ = model.target_log_probs(Batch.of_rows([0], pad([ids[:-1]]), pad([ids[1:]])))
        carry = model.carry_after(Batch.of_rows([0], pad([ids[:3]]), pad([ids[1:4]])))
        second = Batch.of_rows([0], pad([ids[3:-1]]), pad([ids[4:]]))
        loss, _ = model(replace(second, carry_mask_B=np.array([True])), carry)
        start_from(model, {name: rows[0].tolist() for name, rows in carry.items()})
        rest, _ = model.target_log_probs(Batch.of_rows([0, 1], pad([ids[3:-1]] * 2), pad([ids[4:]] * 2)))
    assert np.allclose(rest, whole[:, 3:], atol=1e-6)
    assert loss.sum.item() == pytest.approx(-whole[:, 3:].sum(), rel=1e-5)
    stepped = model.stepper().start(Batch.of_rows([0], pad([[4]]))).state
    assert all(torch.equal(stepped[name], carry[name]) for name in carry)


def test_an_encoder_starts_each_direction_from_its_own_vector() -> None:
    table = {"size": 3, "cell": "gru", "layers": 2}
    encoder, learned = (RecurrentEncoder(EncoderConfig.parse(table | more, "test"), 2) for more in ({}, LEARNED))
    encoder.initialise(Uniform(range=1.0), torch.Generator().manual_seed(1))
    learned.load_state_dict(encoder.state_dict(), strict=False)
    x_BSD, lengths_B = torch.randn(2, 4, 2), torch.tensor([4, 2])
    with torch.no_grad():
        learned.stack(0, "right_to_left").initial.tensors()["layer0.h"].fill_(1)
        start_from(encoder, {"0.right_to_left.h": [1, 1, 1]})
        assert torch.equal(encoder(x_BSD, lengths_B).annotations_BSM, learned(x_BSD, lengths_B).annotations_BSM)


@pytest.mark.parametrize(
    ("state", "error", "said"),
    [
        ({"layer0.x": [0.0]}, ConfigError, "has 'layer0.x', but the model has layer0.h, layer0.c, layer1.h, layer1.c"),
        ({"layer1.h": [0.0, 1.0]}, ShapeError, r"'layer1.h' should have the shape \(3,\), but has \(2,\)"),
        ({"layer1.h": "abc"}, ShapeError, "'layer1.h' should be numbers, but is 'abc'"),
        ({"layer1.h": [[0.0], [1.0, 2.0]]}, ShapeError, "'layer1.h' should be numbers"),
        ({"layer1.h": [0.0, np.nan, 1.0]}, ShapeError, "'layer1.h' has a number that is not finite"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(state: Any, error: type[AnaphoraError], said: str) -> None:
    with pytest.raises(error, match=said):
        start_from(language_model(), state)
    with pytest.raises(ConfigError, match="no recurrent layers"):
        start_from(torch.nn.Linear(2, 2), {"layer0.h": [1.0]})


def test_commands_start_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, file = str(Path(__file__).parents[1] / "runs" / "kinds-2" / "language-model"), tmp_path / "state.npz"
    size = len(load_trained(Path(run)).model.get_parameter("recurrence.weights.layer0.h").T)
    given = {"layer0.h": np.full(size, 3.0)}
    np.savez(file, **given)
    (tmp_path / "lines.txt").write_text("the man\n")
    scores = []
    for more in ([], ["--initial-state", str(file)]):
        capsys.readouterr()
        assert main(["score", run, str(tmp_path / "lines.txt"), "--json", *more]) == 0
        scores.append(json.loads(capsys.readouterr().out)["log10"])
        assert main(["generate", run, "--prompt", "the", "--greedy", "--length", "3", *more]) == 0
    assert scores[0] != scores[1]
    assert anaphora.load(run, initial_state=given).score_lines(["the man"])[0].log10 == pytest.approx(scores[1])
    assert anaphora.load(run, initial_state=file).score_lines(["the man"])[0].log10 == pytest.approx(scores[1])
    np.savez(file, **{"layer0.h": np.zeros(size + 1)})
    assert main(["score", run, str(tmp_path / "lines.txt"), "--initial-state", str(file)]) == 2
    assert "'layer0.h' should have the shape" in capsys.readouterr().err
