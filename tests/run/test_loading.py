from pathlib import Path
from typing import Any

import pytest
import torch

from anaphora.errors import RunError
from anaphora.run import Run
from anaphora.run.weights import tensors_of
from anaphora.tasks.registry import parse, task_of
from anaphora.tasks.runs import load_trained
from anaphora.text.characters import CharacterTokenizer

EXPERIMENT: dict[str, Any] = {
    "task": "language-model",
    "text": {"tokenizer": "character"},
    "embedding": {"size": 5},
    "recurrence": {"cell": "lstm", "size": 6, "layers": 1},
}


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Path, dict[str, torch.Tensor]]:
    """A small language model in a run folder, and its weights."""
    tokenizers = {"text": CharacterTokenizer.learn(["a man walks", "the dog runs"], lowercase=False, least=1)}
    run = Run.create(tmp_path / "run", EXPERIMENT, tokenizers)
    experiment = parse(run.experiment, "here")
    model = task_of(experiment).build(experiment, run.tokenizers(), "here")
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(1)))
    weights = {name: tensor.clone() for name, tensor in tensors_of(model).items()}
    run.save(3, weights, {}, {})
    run.save(5, {name: tensor + 1 for name, tensor in weights.items()}, {}, {})
    run.mark_best(3)
    return run.path, weights


def test_a_model_comes_back_with_its_best_weights_tokenizers_and_experiment(
    saved: tuple[Path, dict[str, torch.Tensor]],
) -> None:
    path, weights = saved
    _, experiment, model, tokenizers, _ = load_trained(path)
    assert not model.training
    assert {name: tensor.tolist() for name, tensor in tensors_of(model).items()} == {
        name: tensor.tolist() for name, tensor in weights.items()
    }
    assert tokenizers["text"].decode(tokenizers["text"].encode("the man")) == "the man"
    assert experiment == parse(EXPERIMENT, "here")


def test_another_task_than_the_vocabulary_serves_is_refused(saved: tuple[Path, dict[str, torch.Tensor]]) -> None:
    path, _ = saved
    toml = path / "experiment.toml"
    toml.write_text('format = 2\ntask = "translate"\n[text]\ntokenizer = "character"\n')
    with pytest.raises(RunError, match="'translate' needs a vocabulary 'source'"):
        load_trained(path)
