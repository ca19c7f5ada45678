"""A classifier trains, evaluates and predicts; its answers never depend on the batch."""

import json
from pathlib import Path

import pytest

import anaphora

from ..conftest import Trained, set_all, shown, train, variant

SMALL = set_all("embedding.size=8", "encoder.size=6", "training.batch_tokens=60")


def _table(path: Path, count: int, start: int = 0) -> None:
    words = ("lovely", "fine"), ("awful", "dull")
    rows = [
        f"{('good', 'bad')[n % 2]}\tthe film {n // 4} was {words[n % 2][n // 2 % 2]} {'indeed ' * (n % 5)}"
        for n in range(start, start + count)
    ]
    path.write_text("label\ttext\n" + "\n".join(rows) + "\n")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    folder = tmp_path_factory.mktemp("classify")
    (films := folder / "films").mkdir()
    for name, count, start in (("train", 80, 0), ("valid", 20, 200), ("test", 20, 400)):
        _table(films / f"{name}.tsv", count, start)
    learn = set_all("training.epochs=12", "training.optimizer.learning_rate=0.01")
    return Trained(films, train("classify", films, folder / "run", *SMALL, *learn))


def test_few_texts_are_learnt_by_the_size_that_they_get(tmp_path: Path) -> None:
    for name, count, start in (("train", 60, 0), ("valid", 24, 1000)):
        verdicts = ("superb", ""), ("", "awful"), ("superb", "awful")
        rows = ["label\ttext"]
        for n in range(start, start + count):
            first, second = verdicts[n % 3]
            rows.append(f"{n % 3}\tfilm {n * 7 % 5} {first} scene {n * 3 % 7} {second} story")
        (tmp_path / f"{name}.tsv").write_text("\n".join(rows) + "\n")
    soon = set_all("training.epochs=15")  # of the 40 that they get
    train("classify", tmp_path, tmp_path / "run", *soon)
    assert shown("evaluate", tmp_path / "run", "--json").split["accuracy"] > 0.9


def test_a_classifier_is_trained_without_a_recipe_evaluated_and_asked(trained: Trained, data: Path) -> None:
    assert "80 texts of 2 classes" in trained.said and "Next: echo 'Your text.' | anaphora predict " in trained.said
    scores = shown("evaluate", "run", "--json").split
    assert scores["accuracy"] == 1.0 and scores["confusion"] == [[10, 0], [0, 10]]
    (texts := data / "new.txt").write_text("the film was lovely\nso dull\n\n")
    assert shown("predict", "run", texts).lines == ["good", "bad", ""]
    first, _, blank = shown("predict", "run", texts, "--json").objects
    assert blank == {"label": "", "probability": 0.0, "probabilities": {}}
    assert "The text is empty" in shown("inspect", "run", "gates", "--text", " ", code=2).err
    assert "predicts no tokens one after another" in shown("inspect", "run", "attribute", "--text", "fine", code=2).err
    assert first["label"] == "good" and sum(first["probabilities"].values()) == pytest.approx(1)


@pytest.mark.parametrize("pooling", ["max", "mean", "attention", "last"])
def test_a_prediction_never_depends_on_the_texts_beside_it(trained: Trained, pooling: str) -> None:
    model = variant(trained.run, f"classes.pooling={pooling}")
    texts = ["fine " * n for n in range(40)] + ["dull and lovely"]
    together = [one.probabilities for one in model.predict(texts)]
    assert together == [model.predict([text])[0].probabilities for text in texts]


def test_faults_of_the_data_end_with_one_sentence(data: Path) -> None:
    def refused(*options: str, task: str = "classify") -> str:
        return train(task, data, "new", *options, code=2)

    twice = set_all('encoder={kind="cnn",size=8,widths=[2,2]}', "classes.pooling=max")
    assert "encoder.widths names a width twice; raise encoder.size for more filters" in refused(*twice)
    with (data / "test.tsv").open("a") as stream:
        stream.write("ugly\ta film\n")
    assert "test.tsv:22 has the label 'ugly', which training does not have (bad, good)" in refused()
    (data / "train.tsv").write_text("label\ttext\ngood\ta\ngood\tb\n")
    assert "has the one class 'good'" in refused()
    assert "classify" in refused(task="classifier")
    assert "keep one of them" in refused("trec")


TOPICS = ("film", "music", "sport")


def _topics(path: Path, count: int, start: int = 0) -> None:
    rows = [
        {"labels": labels, "text": f"about {' and '.join(labels) or 'nothing'} {n}"}
        for n in range(start, start + count)
        for labels in [[topic for place, topic in enumerate(TOPICS) if n >> place & 1]]
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_texts_with_several_labels_are_learnt_and_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _topics(tmp_path / "topics.jsonl", 120)
    _topics(tmp_path / "other.jsonl", 16, 500)
    learn = set_all("training.epochs=8", "training.optimizer.learning_rate=0.05", "classes.pooling=max")
    still = set_all("classes.dropout=0", "embedding.dropout=0")
    said = train("classify", "topics.jsonl", "run", *SMALL, *learn, *still)
    assert "texts of 3 labels, several a text" in said
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
def test_word_order_counts_for_an_encoder(trained: Trained, encoder: str, pooling: str, in_any_order: bool) -> None:
    model = variant(trained.run, f"encoder={encoder}", f"classes.pooling={pooling}")
    one, other, third = model.predict(["the film was dull", "dull was film the", "fine"])
    assert (one.probabilities == pytest.approx(other.probabilities, abs=1e-6)) is in_any_order
    assert one.probabilities != pytest.approx(third.probabilities)
