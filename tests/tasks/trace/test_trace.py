"""Models of real-valued sequences train, resume, evaluate and draw; what they draw never depends on the batch."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import anaphora
from anaphora.cli.app import main
from anaphora.data.finding import Names
from anaphora.formats.stroke_json import read_stroke_json
from anaphora.samples import handwriting
from anaphora.tasks.registry import tasks_named
from anaphora.tasks.task import GivenData

SMALL = ["--set", "training.batch_tokens=250", "--set", "training.epochs=2", "--set", "output.components=3"]
SYNTHESIS = ["train", "strokes", "--set", "decoder.size=8", *SMALL]
PREDICTION = 'task = "trace"\n[recurrence]\nsize = 8\n'


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("prediction.toml").write_text(PREDICTION)
    return handwriting.write(tmp_path / "lines", train=8, valid=3, test=4)


def begin(model: str, data: Path, run: str, *settings: str) -> list[str]:
    first = SYNTHESIS if model == "synthesis" else ["train", "prediction.toml", *SMALL]
    return [*first, "--data", str(data), "--run", run, *settings]


def test_a_text_is_written_evaluated_and_drawn(lines: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(begin("synthesis", lines, "run")) == 0
    assert "Next: anaphora evaluate run" in capsys.readouterr().err
    assert main(["evaluate", "run", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["splits"]["test"]
    assert scores["sequences"] == 4 and np.isfinite(scores["log_likelihood"]) and not scores["residual_variance"]
    draw = ["draw", "run", "--text", "coat", "--length", "12", "--bias", "1"]
    assert main([*draw, "--output", "coat.svg"]) == 0
    picture = ElementTree.parse("coat.svg").getroot()
    assert picture.findtext("{http://www.w3.org/2000/svg}title") == "coat"
    assert main([*draw, "--output", "coat.jsonl", "--count", "3"]) == 0
    again = list(read_stroke_json(Path("coat.jsonl")))
    assert [trace.text for trace in again] == ["coat"] * 3
    assert len({trace.values_TD.tobytes() for trace in again}) == 3
    assert main([*draw, "--prime", "coat.jsonl", "--output", "primed.jsonl"]) == 0
    [primed] = [json.loads(line) for line in Path("primed.jsonl").read_text().splitlines()]
    assert primed["text"] == "coat coat"
    start = [point for stroke in primed["strokes"] for point in stroke][: primed["primed"]]
    assert np.allclose(start, again[0].values_TD, atol=0.01)
    assert main(["info", "run"]) == 0
    sized = tasks_named("trace")[0].choose(GivenData([lines], Names()))
    assert sized.table["training"]["batch_tokens"] == 400  # few strokes make small batches
    check = ["check", "--task", "trace", "--data", str(lines), "--trial", "0.1", "--set", "decoder.size=6"]
    assert main(check) == 0
    assert main(begin("synthesis", lines, "parts", "--set", "training.epochs=1")) == 0
    assert main(["train", "--resume", "--run", "parts", "--set", "training.epochs=2"]) == 0
    whole, parts = (anaphora.load(name, "latest").model.state_dict() for name in ("run", "parts"))
    assert all(tensor.equal(parts[name]) for name, tensor in whole.items())


@pytest.mark.parametrize("kind", ["mixture", "squared-error"])
def test_strokes_are_predicted_without_a_text(kind: str, lines: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = ["--set", "output=squared-error"] if kind == "squared-error" else []
    toml = Path("prediction.toml")
    toml.write_text(PREDICTION + "[training]\nepochs = 1\n")
    assert main(["train", str(toml), "--data", str(lines), "--run", "run", *settings]) == 0
    capsys.readouterr()
    assert main(["evaluate", "run", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["splits"]["test"]
    assert scores["residual_variance"] == (kind == "squared-error")
    assert main(["draw", "run", "--length", "9", "--prime", str(lines / "test.jsonl")]) == 0
    assert capsys.readouterr().out.startswith("<svg")
    assert main(["draw", "run", "--text", "no"]) == 2
    assert "writes no given text" in capsys.readouterr().err


@pytest.mark.parametrize("model", ["prediction", "synthesis"])
def test_what_is_drawn_never_depends_on_what_is_drawn_beside_it(model: str, lines: Path) -> None:
    assert main(begin(model, lines, "run")) == 0
    predictor = anaphora.load("run")
    texts = ["a", "stardustfootprint", "lfrs", "tad", "iue"] if model == "synthesis" else [""] * 5
    together = list(predictor.generate_stream(texts, length=20, seed=3))
    shorter = list(predictor.generate_stream(texts[:2], length=20, seed=3))
    for one, other in zip(together, shorter, strict=False):
        assert np.array_equal(one.points_TD, other.points_TD)
    assert not np.array_equal(together[0].points_TD, predictor.generate(texts[0], length=20, seed=4).points_TD)


def test_offsets_and_positions_in_either_direction_of_y_are_the_same_data(lines: Path) -> None:
    rows = [json.loads(line) for line in (lines / "train.jsonl").read_text().splitlines()]
    forms: dict[str, list[str]] = {"up": [], "offsets": []}
    for row in rows:
        up = [[[x, -y] for x, y in stroke] for stroke in row["strokes"]]
        forms["up"].append(json.dumps({"strokes": up}))
        points = np.array([point for stroke in row["strokes"] for point in stroke])
        ends = [int(n == len(stroke) - 1) for stroke in row["strokes"] for n in range(len(stroke))]
        moved = np.diff(points, axis=0, prepend=0)
        forms["offsets"].append(json.dumps(np.column_stack([moved, ends]).tolist()))
    for name, content in forms.items():
        Path(f"{name}.jsonl").write_text("\n".join(content) + "\n")
    weights = {}
    for name, settings in (("train", []), ("up", ["--set", "data.y_axis=up"]), ("offsets", [])):
        file = lines / "train.jsonl" if name == "train" else Path(f"{name}.jsonl")
        valid = Path(name)
        valid.mkdir()
        (valid / "train.jsonl").write_text(file.read_text())
        (valid / "val.jsonl").write_text(file.read_text())
        assert main(begin("prediction", valid, f"run-{name}", *settings)) == 0
        weights[name] = anaphora.load(f"run-{name}").model.state_dict()
    for name in ("up", "offsets"):
        assert all(tensor.allclose(weights[name][key], atol=1e-5) for key, tensor in weights["train"].items())
    drawn = {name: anaphora.load(f"run-{name}").generate(length=15) for name in ("train", "up")}
    assert np.allclose(drawn["up"].points_TD, drawn["train"].points_TD * [1, -1], atol=1e-2)
    assert 'points = "offsets"' in Path("run-offsets/experiment.toml").read_text()


def test_signals_without_a_pen_are_predicted_and_continued(lines: Path, capsys: pytest.CaptureFixture[str]) -> None:
    steps = np.arange(20)
    waves = [np.column_stack([np.sin(steps / 3 + phase), np.cos(steps / 3 + phase), steps]) for phase in range(8)]
    folder = Path("waves")
    folder.mkdir()
    for name, rows in (("train", waves[:6]), ("val", waves[6:7]), ("test", waves[7:])):
        np.savez(folder / f"{name}.npz", values=np.concatenate(rows), lengths=[20] * len(rows))
    assert main(begin("prediction", folder, "run")) == 0
    capsys.readouterr()
    assert main(["evaluate", "run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["splits"]["test"]["vectors"] == 20
    assert main(["draw", "run", "--json", "--length", "4", "--prime", "waves/test.npz"]) == 0
    drawn = json.loads(capsys.readouterr().out)
    assert np.allclose(drawn["values"][:20], waves[7], atol=1e-5) and 20 < len(drawn["values"]) <= 24
    assert main(["draw", "run"]) == 2
    assert "add --json" in capsys.readouterr().err
    assert main(["check", "prediction.toml", "--data", "waves", "--json", "--trial", "0.1"]) == 0
    np.savez(folder / "test.npz", values=np.zeros((3, 2)), lengths=[3])
    assert main(["evaluate", "run"]) == 2
    assert "has vectors of 2 numbers, but others have 3" in capsys.readouterr().err


def test_faults_of_the_data_end_with_one_sentence(lines: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train = lines / "train.jsonl"
    good = train.read_text()
    for added, said in (
        ('{"strokes": [[[0, 0], [1, 2]]]}', "train.jsonl:9 has no text, which is needed here"),
        ('{"text": "a", "strokes": [[[0, 0]]]}', "train.jsonl:9 has one point, but a sequence needs two or more"),
        ('{"text": "a", "strokes": [[]]}', "train.jsonl:9: stroke 1 has no points"),
    ):
        train.write_text(good + added + "\n")
        assert main(begin("synthesis", lines, "run")) == 2
        assert said in capsys.readouterr().err
        assert not Path("run").exists()
    train.write_text(good)
    assert main(begin("synthesis", lines, "run")) == 0
    for text, said in (("", "it is empty"), ("A!", "has '!', 'A', which the training texts have not")):
        assert main(["draw", "run", "--text", text]) == 2
        assert said in capsys.readouterr().err
    assert main(["draw", "run", "--text", "a", "--output", "a.png"]) == 2
    assert "should end in .svg or .jsonl" in capsys.readouterr().err
    assert main(["predict", "run", str(train)]) == 2
    assert "see anaphora draw" in capsys.readouterr().err


def test_the_page_that_records_strokes_makes_no_request(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    assert main(["record", str(file)]) == 0
    page = file.read_text()
    assert not re.search(r"https?:|//[a-z]|src=|@import|fetch\(|XMLHttpRequest", page)
    assert "default-src 'none'" in page
    # what it saves has the form that the reader takes
    assert "kept.push({ text: text.value.trim(), strokes })" in page
