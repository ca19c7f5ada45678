"""A tagger trains, resumes, evaluates and predicts; its answers never depend on the batch."""

import json
from pathlib import Path

import pytest

import anaphora
from anaphora.cli.app import main

SMALL = ["--set", "embedding.size=8", "--set", "encoder.size=6", "--set", "training.batch_tokens=60"]
WORDS = {"the": "DET", "a": "DET", "dog": "NOUN", "cat": "NOUN", "sees": "VERB", "hears": "VERB", "old": "ADJ"}
CRF = ["--set", "output.kind=crf"]


def sentences(count: int, start: int = 0) -> list[list[str]]:
    patterns = ["the dog sees a cat", "a cat hears the old dog", "the old cat sees", "a dog hears the cat"]
    return [patterns[(start + n) % 4].split()[: 2 + (start + n) // 4 % 5] for n in range(count)]


def conllu(words: list[str], number: int) -> str:
    rows = [f"{place}\t{word}\t{word}\t{WORDS[word]}" + "\t_" * 6 for place, word in enumerate(words, 1)]
    return f"# sent_id = {number}\n" + "".join(f"{row}\n" for row in rows) + "\n"


@pytest.fixture
def treebank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "treebank"
    folder.mkdir()
    for name, count, start in (("train", 80, 0), ("valid", 20, 1), ("test", 20, 2)):
        text = "".join(conllu(words, n) for n, words in enumerate(sentences(count, start)))
        (folder / f"{name}.conllu").write_text(text)
    monkeypatch.chdir(tmp_path)
    return folder


def test_a_tagger_is_trained_without_a_recipe_evaluated_and_asked(
    treebank: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    epochs = ["--set", "training.epochs=30", "--set", "training.optimizer.learning_rate=0.01"]
    assert main(["train", "--data", str(treebank), "--task", "tag", "--run", "run", *SMALL, *epochs]) == 0
    capsys.readouterr()
    assert main(["evaluate", "run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parts"]["test"]["accuracy"] == 1.0
    asked = treebank / "asked.conllu"
    asked.write_text(
        "# ids stay\n1-2\tthedog\t_" + "\t_" * 7 + "\n1\tthe\tx\t_" + "\t_" * 6 + "\n2\tdog\ty\t_" + "\t_" * 6 + "\n\n"
    )
    assert main(["predict", "run", str(asked)]) == 0
    expected = asked.read_text().replace("the\tx\t_", "the\tx\tDET").replace("dog\ty\t_", "dog\ty\tNOUN")
    assert capsys.readouterr().out == expected
    assert main(["info", "run"]) == 0


@pytest.mark.parametrize("output", ["full", "crf"])
def test_tags_never_depend_on_the_sentences_beside_them(treebank: Path, output: str) -> None:
    settings = ["--set", "training.epochs=1", *([] if output == "full" else CRF)]
    assert main(["train", "--data", str(treebank), "--task", "tag", "--run", "run", *SMALL, *settings]) == 0
    model = anaphora.load("run")
    texts = sentences(30)
    together = [one.tags for one in model.predict(texts)]
    assert together == [model.predict([text])[0].tags for text in texts]
    assert all(len(tags) == len(text) for tags, text in zip(together, texts, strict=True))


def test_resumed_training_takes_the_same_steps(treebank: Path) -> None:
    begin = ["train", "--data", str(treebank), "--task", "tag", *SMALL, *CRF]
    assert main([*begin, "--run", "whole", "--set", "training.epochs=4"]) == 0
    assert main([*begin, "--run", "parts", "--set", "training.epochs=2"]) == 0
    assert main(["train", "--resume", "--run", "parts", "--set", "training.epochs=4"]) == 0
    whole, parts = (anaphora.load(name, "latest").model.state_dict() for name in ("whole", "parts"))
    assert all(tensor.equal(parts[name]) for name, tensor in whole.items())


def test_faults_of_the_data_end_with_one_sentence(treebank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin = ["train", "--data", str(treebank), "--task", "tag", "--run", "run"]
    train = treebank / "train.conllu"
    good = train.read_text()
    for bad, said in (
        (good.replace("\t_\n", "\n", 1), "train.conllu:2"),
        (good.replace("\n\n", "\n", 1), "train.conllu:"),
    ):
        train.write_text(bad)
        assert main(begin) == 2
        assert said in capsys.readouterr().err
