"""A classifier trains, resumes, evaluates and predicts; its answers never depend on the batch."""

import json
from pathlib import Path

import pytest

import anaphora
from anaphora.cli.app import main

SMALL = ["--set", "embedding.size=8", "--set", "encoder.size=6", "--set", "training.batch_tokens=60"]


def _table(path: Path, count: int, start: int = 0) -> None:
    words = ("lovely", "fine"), ("awful", "dull")
    rows = [
        f"{('good', 'bad')[n % 2]}\tthe film {n // 4} was {words[n % 2][n // 2 % 2]} {'indeed ' * (n % 5)}"
        for n in range(start, start + count)
    ]
    path.write_text("label\ttext\n" + "\n".join(rows) + "\n")


@pytest.fixture
def films(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "films"
    folder.mkdir()
    _table(folder / "train.tsv", 80)
    _table(folder / "valid.tsv", 20, 200)
    _table(folder / "test.tsv", 20, 400)
    monkeypatch.chdir(tmp_path)
    return folder


def test_few_texts_are_learnt_without_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, count, start in (("train", 150, 0), ("valid", 40, 1000)):
        verdicts = ("superb", ""), ("", "awful"), ("superb", "awful")
        rows = ["label\ttext"]
        for n in range(start, start + count):
            first, second = verdicts[n % 3]
            rows.append(f"{n % 3}\tfilm {n * 7 % 5} {first} scene {n * 3 % 7} {second} story")
        (tmp_path / f"{name}.tsv").write_text("\n".join(rows) + "\n")
    run = str(tmp_path / "run")
    assert main(["train", "--data", str(tmp_path), "--task", "classify", "--run", run]) == 0
    capsys.readouterr()
    assert main(["evaluate", run, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["splits"]["validation"]["accuracy"] > 0.9


def test_a_classifier_is_trained_without_a_recipe_evaluated_and_asked(
    films: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    epochs = ["--set", "training.epochs=12", "--set", "training.optimizer.learning_rate=0.01"]
    assert main(["train", "--data", str(films), "--task", "classify", "--run", "run", *SMALL, *epochs]) == 0
    shown = capsys.readouterr().err
    assert "80 texts of 2 classes" in shown and "Next: echo 'Your text.' | anaphora predict run\n" in shown
    assert main(["evaluate", "run", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["splits"]["test"]
    assert scores["accuracy"] == 1.0 and scores["confusion"] == [[10, 0], [0, 10]]
    texts = films / "new.txt"
    texts.write_text("the film was lovely\nso dull\n\n")
    assert main(["predict", "run", str(texts)]) == 0
    assert capsys.readouterr().out.split()[:2] == ["good", "bad"]
    assert main(["predict", "run", str(texts), "--json"]) == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert first["label"] == "good" and sum(first["probabilities"].values()) == pytest.approx(1)
    assert main(["evaluate", "run", "--beam", "3"]) == 2
    assert main(["info", "run"]) == 0


@pytest.mark.parametrize("pooling", ["max", "mean", "attention", "last"])
def test_a_prediction_never_depends_on_the_texts_beside_it(films: Path, pooling: str) -> None:
    settings = ["--set", "training.epochs=1", "--set", f"classes.pooling={pooling}"]
    assert main(["train", "--data", str(films), "--task", "classify", "--run", "run", *SMALL, *settings]) == 0
    model = anaphora.load("run")
    texts = ["fine " * n for n in range(40)] + ["dull and lovely"]
    together = [one.probabilities for one in model.predict(texts)]
    assert together == [model.predict([text])[0].probabilities for text in texts]


def test_faults_of_the_data_end_with_one_sentence(films: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin = ["train", "--data", str(films), "--task", "classify", "--run", "run"]
    with (films / "test.tsv").open("a") as stream:
        stream.write("ugly\ta film\n")
    assert main(begin) == 2
    assert "test.tsv:22 has the label 'ugly', which training does not have (bad, good)" in capsys.readouterr().err
    (films / "train.tsv").write_text("label\ttext\ngood\ta\ngood\tb\n")
    assert main(begin) == 2
    assert "has the one class 'good'" in capsys.readouterr().err
    assert main(["train", "--data", str(films), "--task", "classifier", "--run", "run"]) == 2
    assert "classify" in capsys.readouterr().err
    assert main(["train", "trec", "--data", str(films), "--task", "classify", "--run", "run"]) == 2
    assert "keep one of them" in capsys.readouterr().err


def test_without_a_validation_split_a_tenth_is_held_out(films: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alone = films / "train.tsv"
    settings = [*SMALL, "--set", "training.epochs=1"]
    assert main(["train", "--data", str(alone), "--task", "classify", "--run", "run", *settings]) == 0
    assert "of 80 texts are held out" in capsys.readouterr().err
    assert main(["evaluate", "run"]) == 0
    assert "has no test split, so its validation split is scored" in capsys.readouterr().err


TOPICS = ("film", "music", "sport")


def _topics(path: Path, count: int, start: int = 0) -> None:
    rows = [
        {"labels": labels, "text": f"about {' and '.join(labels) or 'nothing'} {n}"}
        for n in range(start, start + count)
        for labels in [[topic for place, topic in enumerate(TOPICS) if n >> place & 1]]
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_texts_with_several_labels_are_recognized_learnt_and_scored_on_other_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _topics(tmp_path / "topics.jsonl", 120)
    _topics(tmp_path / "other.jsonl", 16, 500)
    settings = [*SMALL, "--set", "training.epochs=8", "--set", "training.optimizer.learning_rate=0.05"]
    settings += ["--set", "classes.dropout=0", "--set", "embedding.dropout=0", "--set", "classes.pooling=max"]
    assert main(["train", "--data", "topics.jsonl", "--task", "classify", "--run", "run", *settings]) == 0
    assert "texts of 3 labels, several a text" in capsys.readouterr().err
    assert main(["evaluate", "run", "--data", "other.jsonl", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["splits"]["other.jsonl"]
    assert scores["micro_f1"] > 0.9 and scores["macro_f1"] > 0.9 and scores["accuracy"] > 0.6
    model = anaphora.load("run")
    assert model.model.thresholds.tolist() != [0.5] * 3
    found = model.predict(["about film and sport", "about music"])
    for one in found:
        reached = zip(model.labels, one.probabilities.values(), model.model.thresholds, strict=True)
        assert one.labels == tuple(name for name, probability, least in reached if probability >= least)
        assert str(one) == "|".join(one.labels)
    (tmp_path / "other.jsonl").write_text('{"labels": ["film", "food"], "text": "a"}\n')
    assert main(["evaluate", "run", "--data", "other.jsonl"]) == 2
    assert "other.jsonl:1 has the label 'food', which training does not have" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("encoder", "pooling", "in_any_order"), [('"none"', "mean", True), ('{kind="cnn",size=8}', "max", False)]
)
def test_words_count_in_their_order_where_an_encoder_reads_them(
    films: Path, capsys: pytest.CaptureFixture[str], encoder: str, pooling: str, in_any_order: bool
) -> None:
    settings = ["--set", f"encoder={encoder}", "--set", f"classes.pooling={pooling}", "--set", "training.epochs=1"]
    train = ["train", "--data", str(films), "--task", "classify", "--run", "run", *SMALL[:2], *SMALL[4:], *settings]
    assert main(train) == 0
    model = anaphora.load("run")
    assert bool(list(model.model.encoder.parameters())) is not in_any_order
    one, other, third = model.predict(["the film was dull", "dull was film the", "fine"])
    assert (one.probabilities == pytest.approx(other.probabilities, abs=1e-6)) is in_any_order
    assert one.probabilities != pytest.approx(third.probabilities)
    if not in_any_order:
        assert main([*train, "--set", "encoder.widths=[2,2]"]) == 2
        assert "encoder.widths names a width twice; raise encoder.size for more filters" in capsys.readouterr().err
