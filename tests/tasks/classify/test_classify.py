"""A classifier trains, evaluates and predicts; its answers never depend on the batch."""

import json
import shutil
from pathlib import Path

import pytest

import anaphora

from ..conftest import set_all, shown, variant

SMALL = set_all("embedding.size=8", "encoder.size=6", "training.batch_tokens=60")
ONCE = set_all("training.epochs=1")


def _table(path: Path, count: int, start: int = 0) -> None:
    words = ("lovely", "fine"), ("awful", "dull")
    rows = [
        f"{('good', 'bad')[n % 2]}\tthe film {n // 4} was {words[n % 2][n // 2 % 2]} {'indeed ' * (n % 5)}"
        for n in range(start, start + count)
    ]
    path.write_text("label\ttext\n" + "\n".join(rows) + "\n")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with ``films`` and a ``run`` of them, and what its training reported."""
    folder = tmp_path_factory.mktemp("classify")
    (folder / "films").mkdir()
    _table(folder / "films" / "train.tsv", 80)
    _table(folder / "films" / "valid.tsv", 20, 200)
    _table(folder / "films" / "test.tsv", 20, 400)
    learn = set_all("training.epochs=12", "training.optimizer.learning_rate=0.01")
    begin = ["train", "--data", folder / "films", "--task", "classify", "--run", folder / "run"]
    return folder, shown(*begin, *SMALL, *learn).err


@pytest.fixture
def films(trained: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(trained[0] / "films", tmp_path / "films")


def test_few_texts_are_learnt_by_the_size_that_they_get(tmp_path: Path) -> None:
    for name, count, start in (("train", 60, 0), ("valid", 24, 1000)):
        verdicts = ("superb", ""), ("", "awful"), ("superb", "awful")
        rows = ["label\ttext"]
        for n in range(start, start + count):
            first, second = verdicts[n % 3]
            rows.append(f"{n % 3}\tfilm {n * 7 % 5} {first} scene {n * 3 % 7} {second} story")
        (tmp_path / f"{name}.tsv").write_text("\n".join(rows) + "\n")
    soon = set_all("training.epochs=15")  # of the 40 that they get
    shown("train", "--data", tmp_path, "--task", "classify", "--run", tmp_path / "run", *soon)
    assert shown("evaluate", tmp_path / "run", "--json").split["accuracy"] > 0.9


def test_a_classifier_is_trained_without_a_recipe_evaluated_and_asked(trained: tuple[Path, str], films: Path) -> None:
    folder, said = trained
    run = shutil.copytree(folder / "run", "run")
    assert "80 texts of 2 classes" in said and "Next: echo 'Your text.' | anaphora predict " in said
    scores = shown("evaluate", run, "--json").split
    assert scores["accuracy"] == 1.0 and scores["confusion"] == [[10, 0], [0, 10]]
    texts = films / "new.txt"
    texts.write_text("the film was lovely\nso dull\n\n")
    assert shown("predict", run, texts).lines == ["good", "bad", ""]
    first, _, blank = shown("predict", run, texts, "--json").objects
    assert blank == {"label": "", "probability": 0.0, "probabilities": {}}
    assert "The text is empty" in shown("inspect", run, "gates", "--text", " ", code=2).err
    assert first["label"] == "good" and sum(first["probabilities"].values()) == pytest.approx(1)


@pytest.mark.parametrize("pooling", ["max", "mean", "attention", "last"])
def test_a_prediction_never_depends_on_the_texts_beside_it(trained: tuple[Path, str], pooling: str) -> None:
    model = variant(trained[0] / "run", f"classes.pooling={pooling}")
    texts = ["fine " * n for n in range(40)] + ["dull and lovely"]
    together = [one.probabilities for one in model.predict(texts)]
    assert together == [model.predict([text])[0].probabilities for text in texts]


def test_faults_of_the_data_end_with_one_sentence(films: Path) -> None:
    begin = ["train", "--data", films, "--run", "run", "--task"]
    twice = set_all('encoder={kind="cnn",size=8,widths=[2,2]}', "classes.pooling=max")
    refused = "encoder.widths names a width twice; raise encoder.size for more filters"
    assert refused in shown(*begin, "classify", *twice, code=2).err
    with (films / "test.tsv").open("a") as stream:
        stream.write("ugly\ta film\n")
    unknown = "test.tsv:22 has the label 'ugly', which training does not have (bad, good)"
    assert unknown in shown(*begin, "classify", code=2).err
    (films / "train.tsv").write_text("label\ttext\ngood\ta\ngood\tb\n")
    assert "has the one class 'good'" in shown(*begin, "classify", code=2).err
    assert "classify" in shown(*begin, "classifier", code=2).err
    assert "keep one of them" in shown("train", "trec", *begin[1:], "classify", code=2).err


def test_without_a_validation_split_a_tenth_is_held_out(films: Path) -> None:
    begin = ["train", "--data", films / "train.tsv", "--task", "classify", "--run", "run"]
    assert "of 80 texts are held out" in shown(*begin, *SMALL, *ONCE).err
    assert "has no test split, so its validation split is scored" in shown("evaluate", "run").err


TOPICS = ("film", "music", "sport")


def _topics(path: Path, count: int, start: int = 0) -> None:
    rows = [
        {"labels": labels, "text": f"about {' and '.join(labels) or 'nothing'} {n}"}
        for n in range(start, start + count)
        for labels in [[topic for place, topic in enumerate(TOPICS) if n >> place & 1]]
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_texts_with_several_labels_are_recognized_learnt_and_scored_on_other_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _topics(tmp_path / "topics.jsonl", 120)
    _topics(tmp_path / "other.jsonl", 16, 500)
    learn = set_all("training.epochs=8", "training.optimizer.learning_rate=0.05", "classes.pooling=max")
    still = set_all("classes.dropout=0", "embedding.dropout=0")
    begin = ["train", "--data", "topics.jsonl", "--task", "classify", "--run", "run"]
    assert "texts of 3 labels, several a text" in shown(*begin, *SMALL, *learn, *still).err
    scores = shown("evaluate", "run", "--data", "other.jsonl", "--json").split
    assert scores["micro_f1"] > 0.9 and scores["macro_f1"] > 0.9 and scores["accuracy"] > 0.6
    model = anaphora.load("run")
    assert model.model.thresholds.tolist() != [0.5] * 3
    assert model.predict([" "])[0].labels == ()
    for one in model.predict(["about film and sport", "about music"]):
        reached = zip(model.labels, one.probabilities.values(), model.model.thresholds, strict=True)
        assert one.labels == tuple(name for name, probability, least in reached if probability >= least)
        assert str(one) == "|".join(one.labels)
    (tmp_path / "other.jsonl").write_text('{"labels": ["film", "food"], "text": "a"}\n')
    unknown = "other.jsonl:1 has the label 'food', which training does not have"
    assert unknown in shown("evaluate", "run", "--data", "other.jsonl", code=2).err


@pytest.mark.parametrize(
    ("encoder", "pooling", "in_any_order"), [('"none"', "mean", True), ('{kind="cnn",size=8}', "max", False)]
)
def test_words_count_in_their_order_where_an_encoder_reads_them(
    trained: tuple[Path, str], encoder: str, pooling: str, in_any_order: bool
) -> None:
    model = variant(trained[0] / "run", f"encoder={encoder}", f"classes.pooling={pooling}")
    one, other, third = model.predict(["the film was dull", "dull was film the", "fine"])
    assert (one.probabilities == pytest.approx(other.probabilities, abs=1e-6)) is in_any_order
    assert one.probabilities != pytest.approx(third.probabilities)
