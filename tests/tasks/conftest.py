"""Small untrained networks, since what the pipeline promises holds for any weights; and runs by the command line."""

import json
import random
import re
import shutil
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from anaphora.cli.app import main
from anaphora.experiment.reading import read_experiment
from anaphora.models.language_model import LanguageModel
from anaphora.models.translator import Translator
from anaphora.run import Run
from anaphora.tasks.language_model.predictor import LanguageModelPredictor
from anaphora.tasks.registry import task_of
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.translation import Translation
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.subwords import SubwordTokenizer
from tests.cli.conftest import Shown
from tests.networks import made, untrained

NOUNS = ("man", "woman", "dog", "cat", "house", "tree")
WORDS = ("a", "the", *NOUNS, "walks", "sees", "takes", "big", "small", "red", "in")


TRANSLATOR = {
    "embedding": {"size": 16},
    "encoder": {"cell": {"kind": "lstm"}, "layers": 1, "size": 16, "bidirectional": True},
    "decoder": {"cell": {"kind": "lstm"}, "layers": 1, "size": 16},
}
LANGUAGE_MODEL = {"embedding": {"size": 6}, "recurrence": {"cell": {"kind": "lstm"}, "layers": 2, "size": 8}}


def sentences(count: int, most: int = 20, seed: int = 0) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(1, most))) for _ in range(count)]


@pytest.fixture(scope="module")
def predictor() -> TranslationPredictor:
    tokenizer = SubwordTokenizer.learn(sentences(300), size=330, lowercase=False, byte_fallback=True)
    model: Any = made(Translator, "translate", TRANSLATOR, tokenizer.symbols, factor=3.0)
    with torch.no_grad():
        # untrained, it would write marks and bytes that a trained one never does
        model.output.bias[: tokenizer.encode("a")[0]] = -30.0
        model.output.bias[tokenizer.symbols.eos] = 0.0
    return TranslationPredictor(model.stepper, tokenizer, tokenizer)


@pytest.fixture(scope="module")
def model() -> LanguageModelPredictor:
    tokenizer = CharacterTokenizer.learn(sentences(300), lowercase=False, least=1)
    model: Any = made(LanguageModel, "language-model", LANGUAGE_MODEL, tokenizer.symbols, seed=5)
    with torch.no_grad():
        model.output.bias[:4] = torch.tensor([-30.0, -30.0, -30.0, 0.0])
    return LanguageModelPredictor(model, tokenizer)


def with_data(run: Path, data: Path) -> Path:
    """The run of one of the tiny experiments, with its data in another folder."""
    path = run / "experiment.toml"
    path.write_text(re.sub(r'"[^"]*/toy\d*/\w+"', json.dumps(str(data)), path.read_text()))
    return run


def same(one: Translation, other: Translation) -> bool:
    """Equal to the last bit, attention and alternatives included."""
    assert one.weights is not None and other.weights is not None
    return one == other and np.array_equal(one.weights, other.weights)


def shown(*words: object, code: int = 0) -> Shown:
    """What a command prints that ends with this code, for fixtures that live longer than a test."""
    streams = [TextIOWrapper(BytesIO(), "utf-8", newline="") for _ in range(2)]
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        found = main([str(word) for word in words])
    for stream in streams:
        stream.seek(0)
    result = Shown(*(stream.read() for stream in streams))
    assert found == code, result.err
    return result


def set_all(*settings: str) -> list[str]:
    return [part for setting in settings for part in ("--set", setting)]


def train(task: str, data: Path | str, run: Path | str, *options: object, code: int = 0) -> str:
    """Train without a recipe; return what that reports."""
    return shown("train", "--data", data, "--task", task, "--run", run, *options, code=code).err


class Trained(NamedTuple):
    """Data with a ``run`` of it in the same folder, and what its training reported."""

    data: Path
    said: str

    @property
    def run(self) -> Path:
        return self.data.with_name("run")


@pytest.fixture
def data(trained: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the data that a module trained on, in the working folder, beside a copy of the run."""
    monkeypatch.chdir(shutil.copytree(trained.data.parent, tmp_path / "copy"))
    return Path(trained.data.name)


def variant(run: Path, *settings: str) -> Any:
    """A predictor by the experiment and tokenizers of a run with other settings, its weights drawn."""
    experiment = read_experiment((run / "experiment.toml").read_text(), "a test", settings)
    drawn = untrained(experiment.tables(), Run.open(run).tokenizers())
    return task_of(drawn.experiment).predictor(drawn)
