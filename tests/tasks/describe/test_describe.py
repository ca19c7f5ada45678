"""A describer trains, evaluates and predicts; its answers never depend on the batch."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anaphora

from ..conftest import Trained, set_all, shown, train, variant

SIZES = ("embedding.size=8", "encoder.size=12", "decoder.size=16", "decoder.readout_size=8")
SMALL = set_all(*SIZES, "training.batch_tokens=60", "decoder.dropout=0.1")
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


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    dots = write(tmp_path_factory.mktemp("describe") / "dots")
    learn = "training.optimizer.learning_rate=0.03", "training.metric=exact_match", "encoder.positions=false"
    settings = set_all(*learn, "training.epochs=7")
    return Trained(dots, train("describe", dots, dots.with_name("run"), *SMALL, *settings))


def test_a_describer_is_trained_without_a_recipe_evaluated_and_asked(trained: Trained, data: Path) -> None:
    assert "120 captions (features 2 x 2 x 6)" in trained.said and "Next: anaphora evaluate " in trained.said
    scores = shown("evaluate", "run", "--json").split
    assert scores["exact_match"] > 0.7 and scores["bleu"]["value"] > 70
    assert (scores["images"], scores["references"]) == (12, 24)
    lines = shown("predict", "run", data / "test.npz").lines
    assert [line.split()[0] for line in lines] == [str(n) for n in range(200, 212)]
    named = [line.split("\t")[1].split()[1] == WORDS[n % 3] for n, line in enumerate(lines, 200)]
    assert sum(named) / len(named) == scores["exact_match"]
    first = shown("predict", "run", data / "test.npz", "--json").objects[0]
    assert f"{first['image']}\t{first['text']}" == lines[0] and first["score"] < 0
    [found] = anaphora.load("run").predict([features(7)])
    assert found.weights is not None and found.weights.shape == (len(found.pieces), 2, 2)
    np.testing.assert_allclose(found.weights.sum((1, 2)), 1, rtol=1e-5)
    np.savez("two.npz", x=features(1), y=features(2))
    shown("predict", "run", "two.npz", "--pictures", "pictures")
    assert sorted(path.name for path in Path("pictures").iterdir()) == ["x.png", "y.png"]
    np.savez("named.npz", names=["/private/one.jpg", "a\\two.PNG", "three"], values=[features(n) for n in range(3)])
    printed = shown("predict", "run", "named.npz", "--pictures", "named").lines
    assert [line.split("\t")[0] for line in printed] == ["one.jpg", "two.PNG", "three"]
    assert sorted(path.name for path in Path("named").iterdir()) == ["one.png", "three.png", "two.png"]


def test_captions_of_a_file_or_a_folder_are_scored(data: Path) -> None:
    whole = shown("evaluate", "run", "--json", "--no-keep").split
    assert shown("evaluate", "run", "--data", data / "test.tsv", "--json", "--no-keep").split == whole
    assert shown("evaluate", "run", "--data", data, "--json", "--no-keep").split["images"] == 84
    (data / "test.tsv").write_text("another.jpg\ta red dot\n")
    assert "'another', which has no features" in shown("evaluate", "run", "--data", data / "test.tsv", code=2).err


@pytest.mark.parametrize(
    "settings",
    [
        (),
        ("attention.score=general", "attention.query=current", "attention.context=output", "encoder.layer=relu"),
        ("encoder.layer=none", "encoder.size=256", "decoder.cell=gru"),
    ],
    ids=["default", "luong", "features themselves"],
)
def test_a_description_never_depends_on_the_images_beside_it(trained: Trained, settings: Sequence[str]) -> None:
    model = variant(trained.run, "data.max_length=8", *settings)
    grids = [features(n) for n in range(70)]
    together = model.predict(grids)
    assert together[:8] == [model.predict([grid])[0] for grid in grids[:8]]
    assert together[::-1] == model.predict(grids[::-1])


def test_one_vector_is_described_without_attention(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = write(tmp_path / "vectors", vector=True)
    every_step = set_all("decoder.sentence_encoding=every-step")
    learn = set_all("training.optimizer.learning_rate=0.04", "training.epochs=5")
    train("describe", data, "run", *SMALL, *every_step, *learn)
    found = anaphora.load("run").predict([features(n, vector=True) for n in range(300, 306)])
    assert [one.text.split()[1] for one in found] == [WORDS[n % 3] for n in range(300, 306)]
    assert found[0].weights is None
    shown("predict", "run", data / "test.npz", "--pictures", "pictures", code=2)
    assert not Path("pictures").exists()


def test_faults_end_with_one_sentence(data: Path) -> None:
    def complaint(*settings: str) -> str:
        return train("describe", data, "new", *SMALL, *set_all(*settings), code=2)

    assert "encoder.width is 5, but the features have 6" in complaint("encoder.width=5")
    assert 'set encoder.layer = "linear"' in complaint("encoder.layer=none", "encoder.size=3")
    assert "leave start.run out" in complaint("start.run=other")
    assert "Every caption of train has more than 1 token: raise data.max_length" in complaint("data.max_length=1")
    broken = features(3)
    broken[1, 0, 2] = np.nan
    np.savez(data / "extra.npz", x=broken)
    assert "extra.npz, array 'x', has nan at [1, 0, 2]" in complaint()
    (data / "extra.npz").unlink()
    (data / "train.npz").unlink()
    assert "train.tsv:1 describes the image '0', which has no features" in complaint()


def test_faults_of_features_to_describe_end_with_one_sentence(data: Path) -> None:
    for name, array, message in (
        ("wide.npy", np.ones((2, 2, 7)), "wide.npy, image 'wide', has vectors of 7 numbers, but this describer has 6"),
        ("many.npy", np.ones((3, 3, 6)), "image 'many', has 9 vectors, but this describer has grids of 4"),
    ):
        np.save(name, array)
        assert message in shown("predict", "run", name, code=2).err
    missing = "An array file was expected, but missing.npz is no file"
    assert missing in shown("predict", "run", "missing.npz", code=2).err
    assert "name a file of them" in shown("predict", "run", code=2).err


def test_a_run_is_not_resumed_with_other_features(trained: Trained) -> None:
    kept = (trained.data / "val.npz").read_bytes()
    np.savez(trained.data / "val.npz", **{str(n): features(n + 1) for n in range(100, 112)})
    resume = ["train", "--resume", "--run", trained.run, *set_all("training.epochs=8")]
    assert "features has changed" in shown(*resume, code=2).err
    (trained.data / "val.npz").write_bytes(kept)
