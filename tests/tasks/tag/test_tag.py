"""A tagger trains, resumes, evaluates and predicts; its tags never depend on the batch, and nothing else changes."""

import io
import json
import random
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import anaphora
from anaphora.cli.app import main
from anaphora.tasks.tag.predictor import TaggerPredictor

SMALL = [
    *("--set", "embedding.size=8", "--set", "encoder.size=6", "--set", "training.batch_tokens=60"),
    *("--set", "characters.filters=4", "--set", "characters.max_kernel=2"),
]
LEARN = ["--set", "training.epochs=12", "--set", "training.optimizer.learning_rate=0.02"]
NAMES, PLACES = ("Ada", "Bo", "Cy", "Di"), ("Oslo", "Rome", "Lima")


def rows(count: int, seed: int) -> list[list[tuple[str, str, str]]]:
    """Sentences of words with their part of speech and IOB2 tag."""
    draw, sentences = random.Random(seed), []
    for number in range(count):
        name, place = draw.choice(NAMES), draw.choice(PLACES)
        sentence = [(name, "PROPN", "B-PER"), ("Smith", "PROPN", "I-PER")][: draw.randint(1, 2)]
        sentence += [("sees", "VERB", "O"), (str(number), "NUM", "O"), ("cats", "NOUN", "O"), ("in", "ADP", "O")]
        sentence += [(place, "PROPN", "B-LOC"), (".", "PUNCT", "O")]
        sentences.append(sentence[: draw.randint(3, 8)])
    return sentences


def conllu(sentences: list[list[tuple[str, str, str]]]) -> str:
    blocks = []
    for number, sentence in enumerate(sentences):
        lines = [f"# sent_id = {number}"]
        for place, (word, tag, _) in enumerate(sentence, 1):
            if place == 2:
                lines += [f"2-3\t{word}x\t_\t_\t_\t_\t_\t_\t_\t_"]
            features = "Case=Nom|Number=Sing" if tag == "PROPN" else "Number=Plur" if tag == "NOUN" else "_"
            lines.append(f"{place}\t{word}\t_\t{tag}\tX\t{features}\t0\troot\t_\t_")
        lines.append("8.1\te\t_\t_\t_\t_\t_\t_\t_\t_")
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)


def columns(sentences: list[list[tuple[str, str, str]]]) -> str:
    blocks = ["".join(f"{word} {tag} {span}\n" for word, tag, span in sentence) for sentence in sentences]
    return "-DOCSTART- -X- O\n\n" + "\n".join(blocks)


def offsets(sentences: list[list[tuple[str, str, str]]]) -> str:
    lines = []
    for sentence in sentences:
        text, labels = "", []
        for word, _, span in sentence:
            if span != "O" and not (span.startswith("I") and labels):
                labels.append([len(text), len(text) + len(word), span[2:]])
            elif span != "O":
                labels[-1][1] = len(text) + len(word)
            text += f"{word} "
        lines.append(json.dumps({"id": len(lines), "text": text.strip(), "label": labels}) + "\n")
    return "".join(lines)


@pytest.fixture
def treebank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "treebank"
    folder.mkdir()
    for name, count, seed in (("train", 60, 1), ("dev", 15, 2), ("test", 15, 3)):
        (folder / f"xx_yy-ud-{name}.conllu").write_text(conllu(rows(count, seed)))
    monkeypatch.chdir(tmp_path)
    return folder


def trained(data: Path, *settings: str, run: str = "run") -> TaggerPredictor:
    assert main(["train", "--data", str(data), "--task", "tag", "--run", run, *SMALL, *settings]) == 0
    found = anaphora.load(run)
    assert isinstance(found, TaggerPredictor)
    return found


def test_a_tagger_is_trained_without_a_recipe_evaluated_and_asked(
    treebank: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tagger = trained(treebank, *LEARN)
    shown = capsys.readouterr().err
    assert (
        "60 sentences (column UPOS)" in shown
        and "Next: echo 'Your text.' | anaphora predict run --format text" in shown
    )
    assert main(["evaluate", "run", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["splits"]["test"]
    assert scores["accuracy"] > 0.95 and scores["spans"] == "none" and scores["unknown"] > 0
    assert main(["evaluate", "run", "--text", str(treebank / "xx_yy-ud-dev.conllu")]) == 0
    assert "accuracy of unknown words" in capsys.readouterr().out
    Path("known.conllu").write_text(conllu([[("sees", "VERB", "O")]]))
    assert main(["evaluate", "run", "--text", "known.conllu"]) == 0
    assert "unknown words" not in capsys.readouterr().out
    assert main(["evaluate", "run", "--beam", "3"]) == 2
    assert main(["info", "run"]) == 0
    [found] = tagger.predict([["Ada", "sees", "77", "cats", "."]])
    assert found.tags == ("PROPN", "VERB", "NUM", "NOUN", "PUNCT")
    assert tagger.predict(["Ada sees 77 cats."])[0].words == found.words


@pytest.mark.slow
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_comes_back_with_nothing_but_its_tags_changed(
    treebank: Path, capsysbinary: pytest.CaptureFixture[bytes], end: str
) -> None:
    tagger = trained(treebank, "--set", "training.epochs=1")
    given = "\ufeff" + conllu(rows(30, 9)).replace("\n", end)
    Path("new.conllu").write_bytes(given.encode())
    capsysbinary.readouterr()
    assert main(["predict", "run", "new.conllu"]) == 0
    printed = capsysbinary.readouterr().out
    assert main(["predict", "run", "new.conllu", "--output", "tagged.conllu"]) == 0
    assert Path("tagged.conllu").read_bytes() == printed
    tags = iter(tag for one in rows(30, 9) for tag in tagger.predict([[word for word, _, _ in one]])[0].tags)
    expected = []
    for line in given.split(end):
        cells = line.split("\t")
        if cells[0].isdecimal():
            cells[3] = next(tags)
        expected.append("\t".join(cells))
    assert printed.decode() == end.join(expected)


@pytest.mark.parametrize("output", ["softmax", "crf"])
def test_tags_never_depend_on_the_sentences_beside_them(treebank: Path, output: str) -> None:
    tagger = trained(treebank, "--set", f"output.kind={output}", "--set", "training.epochs=1")
    sentences = [[word for word, _, _ in one] * (1 + n % 3) for n, one in enumerate(rows(60, 5))]
    sentences += [["x" * 90], ["never", "seen"], []]
    together = [one.tags for one in tagger.predict(sentences)]
    assert together == [tagger.predict([sentence])[0].tags for sentence in sentences]
    assert together == [one.tags for one in tagger.predict(sentences[::-1])][::-1]


def test_several_labels_a_token_are_predicted_one_by_one(treebank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tagger = trained(treebank, *LEARN, "--set", "data.column=FEATS", "--set", "output.kind=sigmoid")
    assert sorted(tagger.tags) == ["Case=Nom", "Number=Plur", "Number=Sing"]
    [found] = tagger.predict([["Ada", "sees", "7", "cats"]])
    assert set(found.tags[0].split("|")) == {"Case=Nom", "Number=Sing"}
    assert found.tags[1:] == ("_", "_", "Number=Plur")
    capsys.readouterr()
    assert main(["evaluate", "run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["splits"]["test"]["f1"] > 0.9


@pytest.mark.parametrize(("ending", "write"), [("conll", columns), ("jsonl", offsets)])
def test_spans_are_found_in_columns_and_offsets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ending: str, write: object
) -> None:
    assert callable(write)
    for name, count, seed in (("train", 80, 1), ("valid", 20, 2), ("test", 20, 3)):
        (tmp_path / f"{name}.{ending}").write_text(write(rows(count, seed)))
    monkeypatch.chdir(tmp_path)
    tagger = trained(tmp_path, *LEARN)
    assert tagger.encoding == ("iob2" if ending == "conll" else "bioes")
    capsys.readouterr()
    assert main(["evaluate", "run", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["splits"]["test"]
    assert scores["f1"] > 0.9 and set(scores["by_tag"]) == {"PER", "LOC"}
    assert main(["predict", "run", f"test.{ending}"]) == 0
    printed, given = capsys.readouterr().out, (tmp_path / f"test.{ending}").read_text()
    if ending == "conll":
        assert [line.split()[:2] for line in printed.splitlines()] == [line.split()[:2] for line in given.splitlines()]
        spans = [span._asdict() for span in tagger.predict([["Bo", "sees", "Rome"]])[0].spans]
        assert spans == [{"start": 0, "end": 1, "type": "PER"}, {"start": 2, "end": 3, "type": "LOC"}]
    else:
        pairs = list(zip(printed.splitlines(), given.splitlines(), strict=True))
        assert all(json.loads(new)["text"] == json.loads(old)["text"] for new, old in pairs)
        assert sum(new == old for new, old in pairs) > 15


def test_text_columns_and_files_are_read_as_what_they_are(
    treebank: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trained(treebank, "--set", "training.epochs=1")
    for given, printed in (
        ("Ada sees cats.\n\nBo.\n", ["Ada", "sees", "cats", ".", "", "Bo", ".", ""]),
        ("Ada\tx\nBo\tx\n\nCy\tx", ["Ada", "Bo", "", "Cy"]),
    ):
        capsys.readouterr()
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(given.encode()), isatty=lambda: False))
        assert main(["predict", "run"]) == 0
        assert [line.partition("\t")[0] for line in capsys.readouterr().out.splitlines()] == printed
    assert main(["predict", "run", str(treebank / "xx_yy-ud-test.conllu"), "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["words"] for one in found] == [[word for word, _, _ in one] for one in rows(15, 3)]
    np.savez("frames.npz", first=np.zeros((3, 2)))
    assert main(["predict", "run", "frames.npz"]) == 2
    refused = capsys.readouterr().err
    assert "frames.npz is an archive of NumPy arrays, but lines of text are expected: name a file of text" in refused


def test_a_line_that_may_be_text_or_columns_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.conll").write_text(columns(rows(60, 1)).replace("\t", " "))
    trained(Path("train.conll"), "--set", "training.epochs=1")
    for given, noted in (("Ada sees cats\n", True), ("Ada sees cats .\n", False), ("Ada\n", False)):
        capsys.readouterr()
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(given.encode()), isatty=lambda: False))
        assert main(["predict", "run"]) == 0
        shown = capsys.readouterr().err
        assert ("standard input:1 is read as a word and 2 columns: --format text reads a sentence." in shown) is noted


def test_without_a_validation_split_a_tenth_is_held_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "my.conllu").write_text(conllu(rows(60, 1)))
    begin = ["train", "--data", str(tmp_path / "my.conllu"), "--run", str(tmp_path / "run"), *SMALL]
    assert main([*begin, "--set", "training.epochs=1"]) == 0
    shown = capsys.readouterr().err
    assert "of 60 sentences are held out" in shown and "column UPOS" in shown
    assert main(["predict", str(tmp_path / "run"), str(tmp_path / "my.conllu"), "--output", str(tmp_path / "out")]) == 0


def test_faults_of_the_data_end_with_one_sentence(treebank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin, train = ["train", "--data", str(treebank), "--task", "tag", "--run", "run", *SMALL], "xx_yy-ud-train.conllu"
    whole = (treebank / train).read_text()

    def refused(text: str, *more: str) -> str:
        (treebank / train).write_text(text)
        assert main([*begin, *more]) == 2
        assert not Path("run").exists()
        [message] = [line for line in capsys.readouterr().err.splitlines() if "No recipe" not in line]
        return message

    assert f"{train}:" in refused(whole.replace("\n\n", "\n", 1)) and "blank line" in refused(
        whole.replace("\n\n", "\n", 1)
    )
    assert f"{train}:2 should have the 10 columns" in refused(whole.replace("\troot\t_", "\troot", 1))
    assert "data.column 'LEMMAS' is unknown" in refused(whole, "--set", "data.column=LEMMAS")
    assert "a tagger takes the tokens of its files" in refused(whole, "--set", "text.segmentation=moses")
    (treebank / train).write_text(whole)
    test = treebank / "xx_yy-ud-test.conllu"
    test.write_text(test.read_text().replace("\tVERB\t", "\tFROB\t", 1))
    assert main([*begin, "--set", "training.epochs=1"]) == 0
    capsys.readouterr()
    assert main(["evaluate", "run"]) == 2
    message = capsys.readouterr().err
    assert "has the tag 'FROB', which the training split has not" in message and f"{test.name}:" in message
    assert main(["predict", "run", str(test), "--format", "xml"]) == 2
    assert "The format 'xml' is unknown" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("", [], "train.conll should hold tagged sentences, but has none"),
        ("word,tag\nAda,PROPN\n", [], "its first row is 'word,tag': put spaces or tabs between its columns"),
        ("Ada\nsees\n", [], "its first row is 'Ada': add a column"),
        (
            "a B-X\nb I-X\n\na O\nb I-X\n\n",
            ["--set", "spans=iob2", "--set", "output.kind=crf"],
            "train.conll:5 has the tag 'I-X', which IOB2 does not allow there",
        ),
    ],
)
def test_columns_without_tags_or_with_barred_ones_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, settings: list[str], message: str
) -> None:
    (tmp_path / "train.conll").write_text(text)
    (tmp_path / "valid.conll").write_text("a O\n\n")
    assert main(["train", "--data", str(tmp_path), "--task", "tag", "--run", str(tmp_path / "run"), *settings]) == 2
    assert message in capsys.readouterr().err


def test_the_data_of_taggers_is_checked_with_its_lines(treebank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train = treebank / "xx_yy-ud-train.conllu"
    train.write_text(train.read_text().replace("\tcats\t", "\tca\u0007ts\t", 1))
    assert main(["check", "--data", str(treebank), "--task", "tag", "--trial", "0.1", "--json", *SMALL]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["trainable"] and found["estimate"]["updates"] > 0
    [control] = [finding for finding in found["findings"] if finding["kind"] == "control"]
    assert control["places"][0]["file"] == str(train) and control["places"][0]["line"] == 2  # that of its first word
