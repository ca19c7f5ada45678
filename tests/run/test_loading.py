from pathlib import Path
from typing import Any

import pytest
import torch

from anaphora.errors import AnaphoraError, RunError
from anaphora.events import Event, Note
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


def test_a_damaged_best_model_gives_way_to_the_newest_with_a_warning(
    saved: tuple[Path, dict[str, torch.Tensor]],
) -> None:
    path, weights = saved
    (path / "checkpoints" / "step-3" / "model.safetensors").write_bytes(b"")
    events: list[Event] = []
    model = load_trained(path, report=events.append).model
    name, tensor = next(iter(tensors_of(model).items()))
    assert torch.equal(tensor, weights[name] + 1)
    assert [isinstance(event, Note) and event.warning for event in events] == [True]


def test_a_network_of_another_size_is_refused_by_the_first_tensor_that_differs(
    saved: tuple[Path, dict[str, torch.Tensor]],
) -> None:
    path, _ = saved
    toml = path / "experiment.toml"
    toml.write_text(toml.read_text().replace("size = 6", "size = 7"))
    with pytest.raises(RunError, match=r"model.safetensors: .* should be .* but is .* experiment.toml"):
        load_trained(path)


NAMED = {
    "experiment.toml": {
        "zero": r"experiment\.toml is damaged: ",
        "cut": r"experiment\.toml",  # half a file may be a whole one of fewer options: the weights contradict it
        "empty": r"experiment\.toml should name its format",
        "gone": r"has no experiment\.toml",
    },
    "vocabulary/vocabulary.json": {
        **dict.fromkeys(("zero", "cut", "empty"), r"/vocabulary\.json should list the vocabularies .* but is damaged"),
        "gone": r"but vocabulary\.json is not there",
    },
    "vocabulary/text": {
        **dict.fromkeys(("zero", "cut", "empty"), r"/vocabulary/text is not the one that was saved \(sha256\)"),
        "gone": r"/vocabulary/text is missing",
    },
}


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("damage", ["zero", "cut", "empty", "gone"])
def test_whatever_file_is_damaged_the_answer_is_a_sentence_that_names_it(
    saved: tuple[Path, dict[str, torch.Tensor]], name: str, damage: str
) -> None:
    path, _ = saved
    file = path / name
    content = file.read_bytes()
    file.write_bytes({"zero": bytes(len(content)), "cut": content[: len(content) // 2]}.get(damage, b""))
    if damage == "gone":
        file.unlink()
    with pytest.raises(AnaphoraError, match=NAMED[name][damage]):
        load_trained(path)


def test_another_task_than_the_vocabulary_serves_is_refused(saved: tuple[Path, dict[str, torch.Tensor]]) -> None:
    path, _ = saved
    toml = path / "experiment.toml"
    toml.write_text('format = 2\ntask = "translate"\n[text]\ntokenizer = "character"\n')
    with pytest.raises(RunError, match="'translate' needs a vocabulary 'source'"):
        load_trained(path)
