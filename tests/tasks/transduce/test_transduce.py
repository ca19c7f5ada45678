"""A transducer is a translator of symbols: it trains, evaluates and predicts; an input has several answers."""

import json
import random
import shutil
from pathlib import Path

import pytest

import anaphora
from anaphora.prediction.options import SearchOptions
from tests.experiment.runs import have_same_weights

from ..conftest import Trained, set_all, shown
from ..conftest import train as train_task

SIZES = ("embedding.size=16", "encoder.size=16", "decoder.size=16", "decoder.readout_size=16", "attention.size=8")
SMALL = set_all(*SIZES, "training.batch_tokens=150", "guided_alignment=none")
ONCE = set_all("training.epochs=1")
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


def train(data: Path, *settings: str, run: Path | str = "new", code: int = 0) -> str:
    return train_task("transduce", data, run, *SMALL, *settings, code=code)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    (dictionary := tmp_path_factory.mktemp("transduce") / "dictionary").mkdir()
    for name, count, seed in (("train", 120, 1), ("dev", 25, 2), ("test", 25, 3)):
        (dictionary / f"toy.{name}.tsv").write_text(spoken(count, seed))
    return Trained(dictionary, train(dictionary, *ONCE, run=dictionary.with_name("run")))


@pytest.mark.slow
def test_a_transducer_is_trained_without_a_recipe_evaluated_and_asked(data: Path) -> None:
    said = train(data, *set_all("training.epochs=25", "evaluation.without=AEY", "decoder.dropout=0"))
    assert "pairs of strings, a transducer with symbol vectors of 16" in said and "| anaphora predict new" in said
    assert "is read as columns: source in column 1, target in column 2" in said
    assert "characters in the source and separated by spaces in the target" in said
    transducer = anaphora.load("new")
    assert transducer.predict(["dcb"])[0].text == "D K B"
    [found] = transducer.predict(["ad"], beam=4, alternatives=1)
    assert {found.text, found.alternatives[0].text} == {"AA D", "EY D"}
    scores = shown("evaluate", "new", "--json").split
    inputs = {line.split("\t")[0] for line in spoken(25, 3).splitlines()}
    assert scores["inputs"] == len(inputs) and scores["accuracy"] > 0.7
    assert scores["word_error_rate"] == pytest.approx(1 - scores["accuracy"])
    assert scores["symbol_error_rate"] <= scores["word_error_rate"]
    assert scores["without"]["accuracy"] >= scores["accuracy"] and scores["without"]["characters"] == "AEY"
    evaluated = shown("evaluate", "new", "--text", data / "toy.test.tsv", "--beam", "2", "--output", "out.jsonl")
    assert "word error rate" in evaluated.out
    lines = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert sorted(line["source"] for line in lines) == sorted(inputs)
    assert all(line["right"] == (line["output"] in line["answers"]) for line in lines)


def test_strings_are_answered_alike_alone_together_and_by_the_command_line(trained: Trained, tmp_path: Path) -> None:
    transducer = anaphora.load(trained.run)
    (words := tmp_path / "words").write_text("ab\ndax\n\ncy\nxx\n")
    printed = shown("predict", trained.run, words)
    expected = transducer.predict(["ab", "dax", "", "cy", "xx"])
    assert printed.lines == [found.text for found in expected] and expected[2].text == ""
    assert "Input 2 ('dax') has symbols that training does not have, which are read as unknown: 'x'" in printed.err
    assert printed.err.count("read as unknown") == 1
    assert "In all, 3 inputs have symbols that training does not have." in printed.err
    assert shown("predict", trained.run, words, "--json").objects == [found.json() for found in expected]
    with pytest.raises(TypeError, match="Several texts"):
        transducer.predict("ab")
    draw = random.Random(1)
    strings = ["".join(draw.choices("abcdx", k=draw.randint(1, 24))) for _ in range(12)]
    together = transducer.predict(strings, beam=2)
    assert together == [transducer.predict([string], beam=2)[0] for string in strings]
    assert together == transducer.predict(strings[::-1], beam=2)[::-1]
    assert together == list(transducer.predict_stream(iter(strings), SearchOptions(beam=2)))


def test_an_output_is_as_sure_as_it_is_often_an_answer_on_held_out_strings(trained: Trained, tmp_path: Path) -> None:
    run = shutil.copytree(trained.run, tmp_path / "run")
    rows = [line.split("\t") for line in spoken(150, 4).splitlines()]
    for name, column in ("held.txt", 0), ("held.phones", 1):
        (tmp_path / name).write_text("".join(f"{row[column]}\n" for row in rows))
    held = ("--source", tmp_path / "held.txt", "--reference", tmp_path / "held.phones")
    measured = json.loads(shown("calibrate", run, *held, "--json").out)
    assert measured["fitted_on"] == measured["sentences"]["examples"] == len(rows)
    [found] = anaphora.load(run).predict(["bcd"], confidence=True)
    assert 0 < found.confidence < 1 and found.json()["confidence"] == found.confidence
    (tmp_path / "new.txt").write_text("bcd\n")
    asked = ("predict", run, tmp_path / "new.txt", "--confidence")
    assert shown(*asked).lines == [f"{found.confidence:.4f}\t{found.text}"]
    assert shown(*asked, "--json").objects == [found.json()]
    (tmp_path / "new.tsv").write_text("bcd\n")
    table = ("predict", run, tmp_path / "new.tsv", "--confidence")
    assert shown(*table, "--json").objects == [found.json()]
    assert "add --json" in shown(*table, code=2).err
    assert "no calibrated confidence" in shown("predict", trained.run, *asked[2:], code=2).err


def test_runs_are_scored_in_the_precision_of_a_bundle(data: Path) -> None:
    said = shown("evaluate", "run", "--text", data / "toy.test.tsv", "--precision", "int8").out
    assert "beam 1, int8)" in said and "beam 1, int8 |" in Path("run/card.md").read_text()


def test_json_lines_of_strings_are_trained_on_and_scored(tmp_path: Path) -> None:
    rows = [line.split("\t") for line in spoken(60, 4).splitlines()]
    data, run = tmp_path / "pairs.jsonl", tmp_path / "run"
    data.write_text("".join(json.dumps({"target": phones, "source": word}) + "\n" for word, phones in rows))
    said = train(data, *ONCE, run=run)
    assert f"{data} is read as columns: source in column source, target in column target." in said
    scores = shown("evaluate", run, "--data", data, "--json").split
    assert scores["inputs"] == len({word for word, _ in rows})
    assert "no use for --text" in shown("evaluate", run, "--data", data, "--text", data, code=2).err


def test_hallucinated_pairs_are_trained_on_beside_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train").write_text("".join(f"{stem}en\tge{stem}t\tV;PST\n" for stem in ("sag", "fass", "mach", "klag")))
    begin = ["train", "--task", "transduce", "--data", "train", *SMALL, *set_all("training.schedule=constant")]
    tokens, more = [], set_all("data.hallucinate=40")
    for run, options in (("few", ONCE), ("whole", [*more, *set_all("training.epochs=2")])):
        shown(*begin, "--run", run, *options)
        log = map(json.loads, (Path(run) / "metrics.jsonl").read_text().splitlines())
        tokens.append(sum(line.get("tokens", 0) for line in log))
    assert tokens[1] > 2 * 8 * tokens[0] > 0
    shown(*begin, "--run", "parts", *more, *ONCE)
    shown("train", "--resume", "--run", "parts", *set_all("training.epochs=2"))
    assert have_same_weights(Path("whole"), Path("parts"))


def test_faults_of_the_data_end_with_one_sentence(data: Path) -> None:
    file = data / "toy.train.tsv"
    whole = file.read_text()

    def refused(text: str, *settings: str) -> str:
        file.write_text(text)
        said = train(data, *set_all(*settings), code=2)
        assert not Path("new").exists()
        return said.splitlines()[-1]

    assert f"{file}:3 should have 2 columns, but has 3" in refused("a\tAA\nb\tB\nc\tK\tx\n" + whole)
    assert "data.columns) should be two or three" in refused(whole, "data.columns=[1]")
    assert "no pair of train has 3 characters in common" in refused(whole, "data.hallucinate=9")
    assert "guided_alignment" in refused(whole, 'guided_alignment={kind="file", file="x"}')


def test_an_unknown_character_is_copied_where_both_sides_share_their_characters(tmp_path: Path) -> None:
    (tmp_path / "my.tsv").write_text("".join(f"{stem}en\tge{stem}t\n" for stem in ("sag", "fass", "mach", "dach")))
    train(tmp_path / "my.tsv", *ONCE, run=tmp_path / "run")
    inflected, unknown = anaphora.load(tmp_path / "run"), "xagen"
    known = inflected.source.stand_ins(unknown)["x"]
    [expected, found] = inflected.predict([f"{known}agen", unknown])
    assert found.text == expected.text.replace(known, "x") and found.score == expected.score
    (tmp_path / "words").write_text(f"{unknown}\n")
    said = shown("predict", tmp_path / "run", tmp_path / "words").err
    assert "which are copied as others are: 'x'" in said


def test_columns_are_named_where_their_order_differs(tmp_path: Path) -> None:
    (tmp_path / "my.tsv").write_text("".join(f"x\tge{stem}t\tV\t{stem}en\n" for stem in ("sag", "fass", "mach")))
    begin, run = (tmp_path / "my.tsv", *ONCE), tmp_path / "run"
    said = train(*begin, "--columns", "4,2,3", run=run)
    assert "source in column 4, target in column 2, features in column 3" in said
    (tmp_path / "lemmas").write_text("sagen\tV\nsagen\nfassen\n")
    warned = shown("predict", tmp_path / "run", tmp_path / "lemmas").err
    assert warned.count("has no features, which the training data had") == 1 and "Input 2 ('sagen')" in warned
    for columns, message in (
        ("first", "data.columns) should be two or three"),
        ("lemma,form", "my.tsv:1 should have columns 'lemma' and 'form', but has 4 columns"),
    ):
        assert message in train(*begin, "--columns", columns, run=run, code=2)


def test_features_are_read_by_the_decoder_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    forms = {"V;PST": "st", "V": "en", "V;PST;PL": "ten"}
    stems = ("sag", "fass", "mach", "klag")
    Path("train").write_text("".join(f"{stem}en\t{stem}{forms[tags]}\t{tags}\n" for stem in stems for tags in forms))
    apart = set_all("text.features=decoder", "guided_alignment=learn", "training.schedule=constant")
    train(Path("train"), *apart, *set_all("training.epochs=2"), run="whole")
    train(Path("train"), *apart, *ONCE, run="run")
    shown("train", "--resume", "--run", "run", *set_all("training.epochs=2"))
    assert have_same_weights(Path("whole"), Path("run"))
    inflected, strings = anaphora.load("run"), ["sagen\tV;PST", "machen\tV;PST;PL", "klagen", "fassen\tV;X"]
    together = inflected.predict(strings)
    assert together == [inflected.predict([string])[0] for string in strings]
    [one, other] = inflected.translator.score_pairs([strings[0], "sagen\tV"], ["sagte"] * 2, attention=True)
    assert one.score != other.score and one.source_pieces == (*"sagen", "</s>", "V", "PST", "</s>")
    assert one.weights is not None and one.weights.shape[1] == 9 and not one.weights[:, 6:].any()
    found = shown("inspect", "run", "attribute", "--text", strings[0], "--json").json["attribution"]
    assert found["inputs"][:9] == list(one.source_pieces) and all(any(row[6:8]) for row in found["values"])
