"""A describer trains, resumes, evaluates and predicts; its answers never depend on the batch."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import anaphora
from anaphora.cli.app import main
from anaphora.data.example_batches import Side, prediction_batches
from anaphora.data.features import GridShape
from anaphora.data.fields.grid import Grid
from anaphora.events import silent
from anaphora.run import Run
from anaphora.search.ensemble import Ensemble
from anaphora.tasks.describe.predictor import DescriberPredictor
from tests.searches import beam

SMALL = [
    *("--set", "embedding.size=8", "--set", "encoder.size=12", "--set", "decoder.size=16"),
    *("--set", "decoder.readout_size=8", "--set", "training.batch_tokens=60", "--set", "decoder.dropout=0.1"),
]
WORDS = ("red", "blue", "green")


def features(number: int, vector: bool = False) -> Any:
    """A grid of 2 x 2 vectors of 6 numbers, of which one shows a colour and its place."""
    found = np.random.default_rng(number).normal(scale=0.1, size=(2, 2, 6))
    place = number // 3 % 4
    found[place // 2, place % 2, number % 3] += 2
    return found.sum((0, 1)) if vector else found


def write(folder: Path, vector: bool = False) -> Path:
    folder.mkdir()
    for split, begin, count in (("train", 0, 60), ("val", 100, 12), ("test", 200, 12)):
        numbers = range(begin, begin + count)
        rows = [f"{n}.jpg\ta {WORDS[n % 3]} dot is here\n{n}.jpg\tone {WORDS[n % 3]} dot is here\n" for n in numbers]
        (folder / f"{split}.tsv").write_text("".join(rows))
        np.savez(folder / f"{split}.npz", **{str(n): features(n, vector) for n in numbers})
    return folder


@pytest.fixture
def dots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "dots")


def train(data: Path, run: str, *settings: str, epochs: int = 1) -> None:
    changes = [*SMALL, "--set", f"training.epochs={epochs}", *(part for one in settings for part in ("--set", one))]
    assert main(["train", "--data", str(data), "--task", "describe", "--run", run, *changes]) == 0


def test_a_describer_is_trained_without_a_recipe_evaluated_and_asked(
    dots: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = "training.optimizer.learning_rate=0.02", "training.metric=exact_match", "encoder.positions=false"
    train(dots, "run", *settings, epochs=10)
    shown = capsys.readouterr().err
    assert "120 captions (features 2 x 2 x 6)" in shown and "Next: anaphora evaluate run" in shown
    assert main(["evaluate", "run", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["splits"]["test"]
    assert scores["exact_match"] > 0.7 and scores["bleu"]["value"] > 70
    assert (scores["images"], scores["references"]) == (12, 24)
    assert main(["predict", "run", str(dots / "test.npz")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [str(n) for n in range(200, 212)]
    named = [line.split("\t")[1].split()[1] == WORDS[n % 3] for n, line in enumerate(lines, 200)]
    assert sum(named) / len(named) == scores["exact_match"]
    assert main(["predict", "run", str(dots / "test.npz"), "--json"]) == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert f"{first['image']}\t{first['text']}" == lines[0] and first["score"] < 0
    assert main(["info", "run"]) == 0
    model: DescriberPredictor = anaphora.load("run")
    [found] = model.predict([features(7)])
    assert found.weights is not None and found.weights.shape == (len(found.pieces), 2, 2)
    np.testing.assert_allclose(found.weights.sum((1, 2)), 1, rtol=1e-5)
    np.savez("two.npz", x=features(1), y=features(2))
    assert main(["predict", "run", "two.npz", "--pictures", "pictures"]) == 0
    assert sorted(path.name for path in Path("pictures").iterdir()) == ["x.png", "y.png"]


@pytest.mark.parametrize(
    "settings",
    [
        (),
        ("attention.score=general", "attention.query=current", "attention.context=output", "encoder.layer=relu"),
        ("encoder.layer=none", "encoder.size=256", "decoder.cell=gru"),
    ],
    ids=["default", "luong", "features themselves"],
)
def test_a_description_never_depends_on_the_images_beside_it(dots: Path, settings: Sequence[str]) -> None:
    train(dots, "run", *settings)
    model: DescriberPredictor = anaphora.load("run")
    grids = [features(n) for n in range(70)]
    together = model.predict(grids)
    assert together[:8] == [model.predict([grid])[0] for grid in grids[:8]]
    assert together[::-1] == model.predict(grids[::-1])


@pytest.mark.parametrize("settings", [(), ("decoder.sentence_encoding=every-step",)], ids=["first state", "every step"])
def test_one_vector_is_described_without_attention(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Sequence[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    data = write(tmp_path / "vectors", vector=True)
    train(data, "run", "training.optimizer.learning_rate=0.02", *settings, epochs=8)
    model: DescriberPredictor = anaphora.load("run")
    found = model.predict([features(n, vector=True) for n in range(300, 306)])
    assert [one.text.split()[1] for one in found] == [WORDS[n % 3] for n in range(300, 306)]
    assert found[0].weights is None
    assert main(["predict", "run", str(data / "test.npz"), "--pictures", "pictures"]) == 2
    assert not Path("pictures").exists()


def test_describers_are_searched_as_one_and_the_penalty_is_no_part_of_the_loss(dots: Path) -> None:
    train(dots, "one", "training.seed=1")
    train(dots, "two", "training.seed=2")
    models = [anaphora.load(name).model for name in ("one", "two")]
    grid = Grid("image", GridShape(2, 2, 6))
    rows = grid.encode([features(n).reshape(4, 6).astype(np.float32) for n in range(3)], str)
    [batch] = prediction_batches(Side.of(grid, [rows]), 64)
    alone = beam(models[0].stepper(), batch, beam=3, max_length=8)
    twice = beam(Ensemble([models[0].stepper()] * 2, "arithmetic"), batch, beam=3, max_length=8)
    assert [best.ids for best, *_ in twice] == [best.ids for best, *_ in alone]
    both = beam(Ensemble([model.stepper() for model in models], "arithmetic"), batch, beam=3, max_length=8)
    assert all(best.weights is not None and best.weights.shape[1] == 4 for best, *_ in both)


def test_faults_end_with_one_sentence(dots: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin = ["train", "--data", str(dots), "--task", "describe", "--run", "run", *SMALL]

    def complaint(*changes: str) -> str:
        assert main([*begin, *changes]) == 2
        return capsys.readouterr().err

    assert "encoder.width is 5, but the features have 6" in complaint("--set", "encoder.width=5")
    changed = ("--set", "encoder.layer=none", "--set", "encoder.size=3")
    assert 'set encoder.layer = "linear"' in complaint(*changed)
    assert "leave start.run out" in complaint("--set", "start.run=other")
    long = complaint("--set", "data.max_length=1")
    assert "Every caption of train has more than 1 token: raise data.max_length" in long
    broken = features(3)
    broken[1, 0, 2] = np.nan
    np.savez(dots / "extra.npz", x=broken)
    assert "extra.npz, array 'x', has nan at [1, 0, 2]" in complaint()
    (dots / "extra.npz").unlink()
    (dots / "train.npz").unlink()
    assert "train.tsv:1 describes the image '0', which has no features" in complaint()


def test_faults_of_features_to_describe_end_with_one_sentence(dots: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train(dots, "run")
    for name, array, message in (
        ("wide.npy", np.ones((2, 2, 7)), "wide.npy, image 'wide', has vectors of 7 numbers, but this describer has 6"),
        ("many.npy", np.ones((3, 3, 6)), "image 'many', has 9 vectors, but this describer has grids of 4"),
        ("nan.npy", np.full((2, 2, 6), np.nan), "nan.npy has nan at [0, 0, 0]"),
        ("objects.npy", np.array([{}]), "has Python objects, which are not loaded"),
    ):
        np.save(name, array)
        capsys.readouterr()
        assert main(["predict", "run", name]) == 2
        assert message in capsys.readouterr().err
    assert main(["predict", "run", "missing.npz"]) == 2
    assert "An array file was expected, but missing.npz is no file" in capsys.readouterr().err
    assert main(["predict", "run"]) == 2
    assert "name a file of them" in capsys.readouterr().err
    np.savez(dots / "val.npz", **{str(n): features(n + 1) for n in range(100, 112)})
    assert main(["train", "--resume", "--run", "run", "--set", "training.epochs=2"]) == 2
    assert "features has changed" in capsys.readouterr().err


def test_every_caption_is_in_one_batch_with_the_features_of_its_image(dots: Path) -> None:
    from anaphora.tasks.registry import task_of
    from anaphora.tasks.runs import experiment_of
    from anaphora.tasks.training_job import TrainingContext

    train(dots, "run")
    experiment = experiment_of(Path("run"))
    job: Any = task_of(experiment).job(experiment, silent)
    tokenizers = job.learn_vocabulary(silent)
    batches = job.batches(TrainingContext(Run.open(Path("run")), experiment, torch.nn.Module(), tokenizers), silent)
    rows = [batch for batch in batches.epoch(1)]
    assert sorted(torch.cat([batch.example_ids_B for batch in rows]).tolist()) == list(range(120))
    for batch in rows:
        for place, number in enumerate(batch.example_ids_B.tolist()):
            expected = torch.from_numpy(features(number // 2).astype(np.float32)).view(4, 6)
            assert batch.inputs.values_BSD[place].equal(expected)  # type: ignore[union-attr]
            ids = batch.target_ids.ids_BT[place, : batch.target_ids.lengths_B[place] - 1].tolist()
            assert tokenizers["text"].decode(ids) == job.splits.train.captions[number].text  # type: ignore[union-attr]
