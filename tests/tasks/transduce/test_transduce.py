"""A transducer is a translator of symbols: it trains, resumes, evaluates and predicts; an input has several answers."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anaphora
from anaphora.batch import Batch
from anaphora.cli.app import main
from anaphora.data.finding import Names
from anaphora.data.sources import string_splits
from anaphora.models.encoder_decoder import DecodingStepper
from anaphora.models.translator import Translator
from anaphora.prediction.options import SearchOptions
from anaphora.protocols import SearchStart
from anaphora.tasks.registry import tasks_named
from anaphora.tasks.transduce.predictor import TransducerPredictor

SMALL = [
    *("--set", "embedding.size=16", "--set", "encoder.size=16", "--set", "decoder.size=16"),
    *("--set", "decoder.readout_size=16", "--set", "attention.size=8", "--set", "training.batch_tokens=150"),
    *("--set", "guided_alignment=none"),
]
PHONES = {"a": "AA", "b": "B", "c": "K", "d": "D"}


def spoken(count: int, seed: int) -> str:
    """Words and their phones; an "a" that comes first is spoken in two ways."""
    draw, lines = random.Random(seed), []
    for _ in range(count):
        word = "".join(draw.choices("abcd", k=draw.randint(2, 4)))
        phones = [PHONES[letter] for letter in word]
        lines.append(f"{word}\t{' '.join(phones)}\n")
        if word[0] == "a":
            lines.append(f"{word}\t{' '.join(['EY', *phones[1:]])}\n")
    return "".join(lines)


@pytest.fixture
def dictionary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "dictionary"
    folder.mkdir()
    for name, count, seed in (("train", 120, 1), ("dev", 25, 2), ("test", 25, 3)):
        (folder / f"toy.{name}.tsv").write_text(spoken(count, seed))
    monkeypatch.chdir(tmp_path)
    return folder


def trained(data: Path, *given: str, run: str = "run") -> TransducerPredictor:
    assert main(["train", "--data", str(data), "--task", "transduce", "--run", run, *SMALL, *given]) == 0
    found = anaphora.load(run)
    assert isinstance(found, TransducerPredictor)
    return found


@pytest.mark.slow
def test_a_transducer_is_trained_without_a_recipe_evaluated_and_asked(
    dictionary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    transducer = trained(
        dictionary, "--set", "training.epochs=25", "--set", "evaluation.without=AEY", "--set", "decoder.dropout=0"
    )
    shown = capsys.readouterr().err
    assert "pairs of strings, a transducer with symbol vectors of 16" in shown and "| anaphora predict run" in shown
    assert "is read as columns: source in column 1, target in column 2" in shown
    assert "characters in the source and separated by spaces in the target" in shown
    assert transducer.predict(["dcb"])[0].text == "D K B"
    [found] = transducer.predict(["ad"], beam=4, alternatives=1)
    assert {found.text, found.alternatives[0].text} == {"AA D", "EY D"}
    assert main(["evaluate", "run", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["splits"]["test"]
    inputs = {line.split("\t")[0] for line in spoken(25, 3).splitlines()}
    assert scores["inputs"] == len(inputs) and scores["accuracy"] > 0.7
    assert scores["word_error_rate"] == pytest.approx(1 - scores["accuracy"])
    assert scores["symbol_error_rate"] <= scores["word_error_rate"]
    assert scores["without"]["accuracy"] >= scores["accuracy"] and scores["without"]["characters"] == "AEY"
    test = str(dictionary / "toy.test.tsv")
    assert main(["evaluate", "run", "--text", test, "--beam", "2", "--output", "out.jsonl"]) == 0
    assert "word error rate" in capsys.readouterr().out
    lines = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert sorted(line["source"] for line in lines) == sorted(inputs)
    assert all(line["right"] == (line["output"] in line["answers"]) for line in lines)
    assert main(["info", "run"]) == 0


def test_strings_are_answered_alike_alone_side_by_side_and_by_the_command_line(
    dictionary: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    transducer = trained(dictionary, "--set", "training.epochs=1")
    Path("words").write_text("ab\ndax\n\ncy\n")
    capsys.readouterr()
    assert main(["predict", "run", "words"]) == 0
    printed = capsys.readouterr()
    expected = transducer.predict(["ab", "dax", "", "cy"])
    assert printed.out.splitlines() == [found.text for found in expected] and expected[2].text == ""
    assert "Input 2 ('dax') has symbols that training does not have, which are read as unknown: 'x'" in printed.err
    assert printed.err.count("read as unknown") == 1
    assert main(["predict", "run", "words", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows == [found.json() for found in expected]
    with pytest.raises(TypeError, match="Several texts"):
        transducer.predict("ab")
    draw = random.Random(1)
    strings = ["".join(draw.choices("abcdx", k=draw.randint(1, 24))) for _ in range(12)]
    together = transducer.predict(strings, beam=2)
    assert together == [transducer.predict([string], beam=2)[0] for string in strings]
    assert together == transducer.predict(strings[::-1], beam=2)[::-1]
    assert together == list(transducer.predict_stream(iter(strings), SearchOptions(beam=2)))
    [alone] = transducer.predict(["abc"])
    searched, start = list[int](), DecodingStepper.start

    def noted(stepper: DecodingStepper, batch: Batch) -> SearchStart:
        searched.append(len(batch.example_ids_B))
        return start(stepper, batch)

    monkeypatch.setattr(DecodingStepper, "start", noted)
    assert transducer.predict(["abc"] * 500) == [alone] * 500
    assert searched == [500]


def test_json_lines_of_strings_are_trained_on_and_scored(dictionary: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [line.split("\t") for line in spoken(60, 4).splitlines()]
    data = dictionary.with_name("pairs.jsonl")
    data.write_text("".join(json.dumps({"target": phones, "source": word}) + "\n" for word, phones in rows))
    trained(data, "--set", "training.epochs=1")
    assert f"{data} is read as columns: source in column 1, target in column 2." in capsys.readouterr().err
    assert main(["evaluate", "run", "--data", str(data), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["splits"]["pairs.jsonl"]["inputs"] == len({word for word, _ in rows})
    assert main(["evaluate", "run", "--data", str(data), "--text", str(data)]) == 2
    assert "no use for --text" in capsys.readouterr().err


def test_hallucinated_pairs_are_trained_on_beside_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train").write_text(
        "".join(f"{stem}en\tge{stem}t\tV;PST\n" for stem in ("sag", "fass", "mach", "klag"))
    )
    begin = ["train", "--task", "transduce", "--data", str(tmp_path / "train"), *SMALL, "--set", "training.epochs=1"]
    begin += ["--set", "training.schedule=constant"]
    tokens = []
    for count in (0, 40):
        assert main([*begin, "--run", str(tmp_path / f"{count}"), "--set", f"data.hallucinate={count}"]) == 0
        log = (tmp_path / f"{count}" / "metrics.jsonl").read_text().splitlines()
        tokens.append(sum(json.loads(line).get("tokens", 0) for line in log))
    assert tokens[1] > 8 * tokens[0] > 0
    assert main([*begin, "--run", "whole", "--set", "data.hallucinate=40", "--set", "training.epochs=2"]) == 0
    assert main(["train", "--resume", "--run", str(tmp_path / "40"), "--set", "training.epochs=2"]) == 0
    models = [anaphora.load(run, "latest").translator.stepper()._model for run in ("whole", tmp_path / "40")]
    weights, others = (model.state_dict() for model in models)
    assert all(tensor.equal(others[name]) for name, tensor in weights.items())


def test_a_transducer_is_the_network_of_a_translator() -> None:
    # whose gradients are compared with the reference in tests/models
    task = tasks_named("transduce")[0]
    assert task.network.home == Translator.__module__ and task.network.name == Translator.__name__


@settings(max_examples=20)
@given(rows=st.lists(st.tuples(st.text("abAB", min_size=1, max_size=3), st.text("xy", min_size=1)), min_size=12))
def test_answers_of_one_input_are_never_in_two_splits(rows: list[tuple[str, str]], tmp_path_factory) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path_factory.mktemp("data") / "my.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in [*rows, ("other", "x"), ("another", "y")]))
    parts = string_splits([path], Names("train", "val", "test"))
    train, valid = ({source.casefold() for source in part.sources()} for part in (parts.train, parts.valid))
    assert train and valid and not train & valid
    assert parts.train.count + parts.valid.count == len(rows) + 2


def test_faults_of_the_data_end_with_one_sentence(dictionary: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin, train = ["train", "--task", "transduce", "--run", "run", *SMALL], dictionary / "toy.train.tsv"
    whole = train.read_text()

    def refused(text: str, *more: str) -> str:
        train.write_text(text)
        assert main([*begin, "--data", str(dictionary), *more]) == 2
        assert not Path("run").exists()
        return capsys.readouterr().err.splitlines()[-1]

    assert f"{train}:3 should have 2 columns, but has 3" in refused("a\tAA\nb\tB\nc\tK\tx\n" + whole)
    assert f"{train}:1 has an empty target" in refused("a\t\n" + whole)
    assert f"{train}:1 has an empty source" in refused("\tAA\n" + whole)
    assert f"{train} is in no format that is known" in refused("abc\nabd\n")
    assert "data.columns should be two or three" in refused(whole, "--set", "data.columns=[1]")
    assert "no pair of train has 3 characters in common" in refused(whole, "--set", "data.hallucinate=9")
    assert "guided_alignment" in refused(whole, "--set", 'guided_alignment={kind="file", file="x"}')


def test_an_unknown_character_is_copied_where_both_sides_share_their_characters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my.tsv").write_text("".join(f"{stem}en\tge{stem}t\n" for stem in ("sag", "fass", "mach", "dach")))
    inflected = trained(tmp_path / "my.tsv", "--set", "training.epochs=2", run=str(tmp_path / "run"))
    known, unknown = inflected.source.stand_ins("xagen")["x"], "xagen"
    [expected, found] = inflected.predict([f"{known}agen", unknown])
    assert found.text == expected.text.replace(known, "x") and found.score == expected.score
    capsys.readouterr()
    (tmp_path / "words").write_text(f"{unknown}\n")
    assert main(["predict", str(tmp_path / "run"), str(tmp_path / "words")]) == 0
    assert "which are copied as others are: 'x'" in capsys.readouterr().err


def test_columns_are_named_where_their_order_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "my.tsv").write_text("".join(f"x\tge{stem}t\tV\t{stem}en\n" for stem in ("sag", "fass", "mach")))
    begin = ["train", "--task", "transduce", "--data", str(tmp_path / "my.tsv"), "--run", str(tmp_path / "run")]
    assert main([*begin, *SMALL, "--set", "training.epochs=1", "--columns", "4,2,3"]) == 0
    assert "source in column 4, target in column 2, features in column 3" in capsys.readouterr().err
    assert main([*begin, "--columns", "first"]) == 2
    assert "data.columns should be two or three" in capsys.readouterr().err
    assert main([*begin, "--columns", "lemma,form"]) == 2
    assert "my.tsv:1 should have columns 'lemma' and 'form', but has 4 columns" in capsys.readouterr().err


def test_the_data_of_transducers_is_checked_with_its_lines(
    dictionary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train = dictionary / "toy.train.tsv"
    train.write_text("ab\u0007\tAA B\n" + train.read_text())
    assert main(["check", "--data", str(dictionary), "--task", "transduce", "--trial", "0.1", "--json", *SMALL]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["trainable"] and found["estimate"]["updates"] > 0
    [control] = [finding for finding in found["findings"] if finding["kind"] == "control"]
    assert control["places"][0] == {"file": str(train), "line": 1} | control["places"][0]
