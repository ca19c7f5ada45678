"""Runs of every task say what can be looked into; classifiers and taggers show their encoders."""

import json
import random
from pathlib import Path

import pytest

from anaphora.cli.app import main
from anaphora.inspection.gates import gates
from anaphora.inspection.gradients import gradients
from anaphora.inspection.subject import Subject
from anaphora.samples import handwriting

RUNS = Path(__file__).resolve().parents[1] / "runs"
STORED = sorted(path.parent for path in RUNS.glob("kinds-2/*/experiment.toml"))
SMALL = ["--set", "embedding.size=6", "--set", "encoder.size=4", "--set", "training.epochs=1"]


def train(folder: Path, *options: str) -> Path:
    assert main(["train", "--data", str(folder), "--run", str(folder / "run"), *SMALL, *options]) == 0
    return folder / "run"


def inspect(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    capsys.readouterr()
    assert main(["inspect", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def supported(capsys: pytest.CaptureFixture[str], run: object) -> list[str]:
    """Verbs that a run supports."""
    *lines, _ = inspect(capsys, run).splitlines()
    return [line.split()[0] for line in lines if " no: " not in line]


@pytest.mark.parametrize("run", [*STORED, RUNS / "format-2"], ids=lambda run: run.name)
def test_every_stored_run_says_what_it_supports(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = {*supported(capsys, run)}
    has_layers = run.name in ("language-model", "format-2")
    assert found >= {"curves"} | ({"gates", "gradients", "beam", "length", "embeddings"} if has_layers else set())
    assert has_layers or not {"gates", "gradients", "attention"} & found


def test_a_classifier_shows_its_encoder_for_a_class_of_ours_or_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for split, count in (("train", 40), ("valid", 8)):
        rows = [f"{('good', 'bad')[n % 2]}\tthe film {n} was {('fine', 'dull')[n % 2]}" for n in range(count)]
        (tmp_path / f"{split}.tsv").write_text("\n".join(["label\ttext", *rows]) + "\n")
    run = train(tmp_path, "--task", "classify")
    subject = Subject.open(run)
    found = gates(subject, "the film was fine")
    assert [unit.unit.split(".")[-1] for unit in found.units] == ["right_to_left layer0", "left_to_right layer0"]
    good, bad = (gradients(subject, "the film was fine", label) for label in ("good", "bad"))
    assert good.itemised[0].total != bad.itemised[0].total
    assert all(item.difference < 1e-12 for item in (*good.itemised, *bad.itemised))
    assert main(["inspect", str(run), "gradients", "--text", "fine", "--target-text", "goood"]) == 2
    assert "class 'goood' is unknown" in capsys.readouterr().err


def test_a_tagger_shows_its_encoder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draw = random.Random(1)
    for split, count in (("train", 30), ("valid", 6)):
        sentences = [[(draw.choice(("Ada", "Bo")), "N"), ("sees", "V"), (str(n), "C")] for n in range(count)]
        text = "\n".join("".join(f"{word} {tag}\n" for word, tag in sentence) for sentence in sentences)
        (tmp_path / f"{split}.txt").write_text(text)
    run = train(tmp_path, "--task", "tag", "--set", "data.format=columns")
    found = json.loads(inspect(capsys, run, "gradients", "--text", "Ada sees 3", "--json"))["gradients"]
    assert found["reach"][0]["steps"] == ["3", "sees", "Ada"]
    assert all(item["difference"] < 1e-12 for item in found["itemised"])


def test_a_transducer_is_looked_into_as_the_translator_that_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for split, words in (("train", "adf aeg bdh beg cdf ceh"), ("valid", "adg beh")):
        (tmp_path / f"{split}.tsv").write_text("".join(f"{word}\t{word[::-1]}\n" for word in words.split()))
    sizes = ["--set", "decoder.size=4", "--set", "decoder.readout_size=6", "--set", "attention.size=4"]
    run = train(tmp_path, "--task", "transduce", *sizes)
    assert "span" not in supported(capsys, run)
    [found] = json.loads(inspect(capsys, run, "attention", "--text", "adf", "--json"))["attention"]
    assert found["source_pieces"] == ["a", "d", "f", "</s>"]


def test_a_model_of_values_has_curves_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = handwriting.write(tmp_path / "lines", train=8, valid=3, test=1)
    (tmp_path / "values.toml").write_text('task = "trace"\n[recurrence]\nsize = 4\n[training]\nepochs = 1\n')
    assert main(["train", "values.toml", "--data", str(data), "--run", "run"]) == 0
    assert supported(capsys, "run") == ["curves", "report"]
