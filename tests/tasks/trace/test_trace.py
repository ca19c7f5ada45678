"""Models of real-valued sequences train, evaluate and draw; what they draw never depends on the batch."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import anaphora
from anaphora.data.finding import Names
from anaphora.formats.stroke_json import read_stroke_json
from anaphora.samples import handwriting
from anaphora.tasks.registry import find_tasks
from anaphora.tasks.task import GivenData
from tests.experiment.runs import last_weights

from ..conftest import Trained, set_all, shown

SMALL = set_all("training.batch_tokens=250", "training.epochs=2", "output.components=3")
SYNTHESIS = ["train", "strokes", *set_all("decoder.size=8"), *SMALL]
PREDICTION = 'task = "trace"\n[recurrence]\nsize = 8\n'


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Lines of handwriting, and beside them a run "synthesis" and one "prediction"."""
    folder = tmp_path_factory.mktemp("trace")
    lines = handwriting.write(folder / "lines", train=8, valid=3, test=4)
    (folder / "prediction.toml").write_text(PREDICTION)
    shown(*SYNTHESIS, "--data", lines, "--run", folder / "synthesis")
    trained = shown("train", folder / "prediction.toml", *SMALL, "--data", lines, "--run", folder / "prediction")
    return Trained(lines, trained.err)


def predict(data: Path | str, run: str, *settings: str) -> str:
    """Train a model that predicts vectors."""
    return shown("train", "prediction.toml", *SMALL, "--data", data, "--run", run, *settings).err


def test_a_text_is_written_evaluated_and_drawn(data: Path) -> None:
    scores = shown("evaluate", "synthesis", "--json").split
    assert scores["sequences"] == 4 and np.isfinite(scores["log_likelihood"]) and not scores["residual_variance"]
    assert shown("evaluate", "synthesis", "--data", data / "test.jsonl", "--json", "--no-keep").split == scores
    draw = ["draw", "synthesis", "--text", "coat", "--length", "12", "--bias", "1"]
    shown(*draw, "--output", "coat.svg")
    picture = ElementTree.parse("coat.svg").getroot()
    assert picture.findtext("{http://www.w3.org/2000/svg}title") == "coat"
    shown(*draw, "--output", "coat.jsonl", "--count", "3")
    again = list(read_stroke_json(Path("coat.jsonl")))
    assert [trace.text for trace in again] == ["coat"] * 3
    assert len({trace.values_TD.tobytes() for trace in again}) == 3
    shown(*draw, "--prime", "coat.jsonl", "--output", "primed.jsonl")
    [primed] = [json.loads(line) for line in Path("primed.jsonl").read_text().splitlines()]
    assert primed["text"] == "coatcoat"  # training texts have no space
    start = [point for stroke in primed["strokes"] for point in stroke][: primed["primed"]]
    assert np.allclose(start, again[0].values_TD, atol=0.01)
    sized = find_tasks("trace")[0].choose(GivenData([data], Names()))
    assert sized.table["training"]["batch_tokens"] == 400  # few strokes make small batches
    shown("check", "--task", "trace", "--data", data, "--trial", "0", *set_all("decoder.size=6"))


def test_a_prime_says_what_the_model_can_read(data: Path) -> None:
    for file in data.glob("*.jsonl"):
        texts = [json.loads(line) for line in file.read_text().splitlines()]
        joined = [one | {"text": one["text"].replace(" ", "")} for one in texts]
        file.write_text("".join(f"{json.dumps(one)}\n" for one in joined))
    shown(*SYNTHESIS, "--data", data, "--run", "words")
    draw = ["draw", "words", "--text", "to", "--length", "2", "--json", "--prime"]
    (primes := Path("primes.jsonl")).write_text(json.dumps(joined[0] | {"text": "tad"}))
    assert shown(*draw, primes).json["text"] == "tadto"  # no text has a space
    primes.write_text(json.dumps(joined[0] | {"text": "9!"}))
    assert "has '!', '9', which the training texts have not" in shown(*draw, primes, code=2).err


@pytest.mark.parametrize("kind", ["mixture", "squared-error"])
def test_strokes_are_predicted_without_a_text(kind: str, data: Path) -> None:
    run = "prediction"
    if kind == "squared-error":
        predict(data, run := kind, *set_all("output=squared-error", "training.epochs=1"))
    assert shown("evaluate", run, "--json").split["residual_variance"] == (kind == "squared-error")
    assert shown("draw", run, "--length", "9", "--prime", data / "test.jsonl").out.startswith("<svg")
    assert "writes no given text" in shown("draw", run, "--text", "no", code=2).err


@pytest.mark.parametrize("model", ["prediction", "synthesis"])
def test_what_is_drawn_never_depends_on_what_is_drawn_beside_it(model: str, trained: Trained) -> None:
    predictor = anaphora.load(trained.data.with_name(model))
    texts = ["a", "stardustfootprint", "lfrs", "tad", "iue"] if model == "synthesis" else [""] * 5
    together = list(predictor.generate_stream(texts, length=20, seed=3))
    shorter = list(predictor.generate_stream(texts[:2], length=20, seed=3))
    for one, other in zip(together, shorter, strict=False):
        assert np.array_equal(one.points_TD, other.points_TD)
    assert not np.array_equal(together[0].points_TD, predictor.generate(texts[0], length=20, seed=4).points_TD)


def test_offsets_and_positions_in_either_direction_of_y_are_the_same_data(data: Path) -> None:
    rows = [json.loads(line) for line in (data / "train.jsonl").read_text().splitlines()]
    forms: dict[str, list[str]] = {"as-is": [], "up": [], "offsets": []}
    for row in rows:
        forms["as-is"].append(json.dumps(row))
        up = [[[x, -y] for x, y in stroke] for stroke in row["strokes"]]
        forms["up"].append(json.dumps({"strokes": up}))
        points = np.array([point for stroke in row["strokes"] for point in stroke])
        ends = [int(n == len(stroke) - 1) for stroke in row["strokes"] for n in range(len(stroke))]
        moved = np.diff(points, axis=0, prepend=0)
        forms["offsets"].append(json.dumps(np.column_stack([moved, ends]).tolist()))
    weights = {}
    for name, content in forms.items():
        Path(name).mkdir()
        for split in ("train", "val"):
            (Path(name) / f"{split}.jsonl").write_text("\n".join(content) + "\n")
        predict(name, f"run-{name}", *set_all(f"data.y_axis={'up' if name == 'up' else 'down'}"))
        weights[name] = last_weights(Path(f"run-{name}"))
    for name in ("up", "offsets"):
        assert all(tensor.allclose(weights[name][key], atol=1e-5) for key, tensor in weights["as-is"].items())
    drawn = {name: anaphora.load(f"run-{name}").generate(length=15) for name in ("as-is", "up")}
    assert np.allclose(drawn["up"].points_TD, drawn["as-is"].points_TD * [1, -1], atol=1e-2)
    assert 'points = "offsets"' in Path("run-offsets/experiment.toml").read_text()


def test_signals_without_a_pen_are_predicted_and_continued(data: Path) -> None:
    steps = np.arange(20)
    waves = [np.column_stack([np.sin(steps / 3 + phase), np.cos(steps / 3 + phase), steps]) for phase in range(8)]
    (folder := Path("waves")).mkdir()
    for name, rows in (("train", waves[:6]), ("val", waves[6:7]), ("test", waves[7:])):
        np.savez(folder / f"{name}.npz", values=np.concatenate(rows), lengths=[20] * len(rows))
    assert "Next: anaphora evaluate run" in predict(folder, "run")
    assert shown("evaluate", "run", "--json").split["vectors"] == 20
    drawn = shown("draw", "run", "--json", "--length", "4", "--prime", "waves/test.npz").json
    assert np.allclose(drawn["values"][:20], waves[7], atol=1e-5) and 20 < len(drawn["values"]) <= 24
    assert "add --json" in shown("draw", "run", code=2).err
    forecasts(waves, folder / "test.npz")
    np.savez(folder / "test.npz", values=np.zeros((3, 2)), lengths=[3])
    assert "has vectors of 2 numbers, but others have 3" in shown("evaluate", "run", code=2).err


def forecasts(waves: list[np.ndarray], file: Path) -> None:
    """Check the forecasts of a run of ``waves``; ``file`` has the last of them."""
    model = anaphora.load("run")
    together = model.forecast(waves[5:], 3, samples=70, seed=2)
    [alone] = model.forecast(waves[7:], 3, samples=70, seed=2)
    assert np.array_equal(together[2].samples_STD, alone.samples_STD) and alone.samples_STD.shape == (70, 3, 3)
    assert len(np.unique(alone.samples_STD[:, 0, 0])) == 70
    assert np.allclose(alone.mean_TD, alone.samples_STD.mean(0))
    inside = (alone.lower_TD <= alone.samples_STD) & (alone.samples_STD <= alone.upper_TD)
    assert np.all(np.abs(inside.mean(0) - 0.9) < 0.03)
    given = ["predict", "run", file, "--steps", "3", "--seed", "2"]
    found = shown(*given, "--samples", "70", "--json").json
    assert found.pop("samples") == alone.samples_STD.tolist() and found == alone.json()
    rows = (",".join(map(str, (number, *row))) for number, wave in enumerate(waves[6:]) for row in wave.tolist())
    Path("waves.csv").write_text("id,sine,cosine,step\n" + "\n".join(rows) + "\n")
    of_table = shown("predict", "run", "waves.csv", *given[3:], "--samples", "70", "--json").objects
    assert len(of_table) == 2 and np.allclose(of_table[1]["mean"], alone.mean_TD, atol=1e-5)
    rows = (",".join(map(str, row)) for row in waves[7].tolist())
    Path("one.csv").write_text("sine,cosine,step\n" + "\n".join(rows) + "\n")
    [of_one] = shown("predict", "run", "one.csv", *given[3:], "--samples", "70", "--json").objects
    assert of_one == of_table[1]
    first, *rest = shown(*given, "--interval", "0.5").lines
    assert re.fullmatch(r"\S+ \[\S+, \S+\](\t\S+ \[\S+, \S+\]){2}", first) and len(rest) == 3
    assert "see anaphora draw, or forecast signals with --steps" in shown("predict", "run", file, code=2).err
    assert "draw with a prime" in shown("predict", "prediction", "lines/test.jsonl", "--steps", "3", code=2).err
    assert "name a file" in shown("predict", "run", "--steps", "3", code=2).err
    with pytest.raises(anaphora.AnaphoraError, match="Sequence 1 has vectors of 2 numbers, but others have 3"):
        model.forecast([[[1.0, 2.0]]], 1)
    predict(file.parent, "expected", *set_all("output=squared-error"))
    [expected] = anaphora.load("expected").forecast(waves[7:], 3)
    assert expected.lower_TD is None and np.array_equal(expected.mean_TD, expected.samples_STD[0])
    assert "[" not in shown("predict", "expected", file, "--steps", "3").out


def test_faults_of_the_data_end_with_one_sentence(data: Path) -> None:
    train = data / "train.jsonl"
    good = train.read_text()
    for added, said in (
        ('{"strokes": [[[0, 0], [1, 2]]]}', "train.jsonl:9 has no text, which is needed here"),
        ('{"text": "a", "strokes": [[[0, 0]]]}', "train.jsonl:9 has one point, but a sequence needs two or more"),
        ('{"text": "a", "strokes": [[]]}', "train.jsonl:9: stroke 1 has no points"),
    ):
        train.write_text(good + added + "\n")
        assert said in shown(*SYNTHESIS, "--data", data, "--run", "run", code=2).err
        assert not Path("run").exists()
    for text, said in (("", "it is empty"), ("A!", "has '!', 'A', which the training texts have not")):
        assert said in shown("draw", "synthesis", "--text", text, code=2).err
    wrong = shown("draw", "synthesis", "--text", "a", "--output", "a.png", code=2)
    assert "should end in .svg or .jsonl" in wrong.err
    assert "see anaphora draw" in shown("predict", "synthesis", train, code=2).err


def test_the_page_that_records_strokes_makes_no_request(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    shown("record", file)
    page = file.read_text()
    assert not re.search(r"https?:|//[a-z]|src=|@import|fetch\(|XMLHttpRequest", page)
    assert "default-src 'none'" in page
    # what it saves has the form that the reader takes
    assert "kept.push({ text: text.value.trim(), strokes })" in page
