"""A tagger trains, evaluates and predicts; its tags never depend on the batch, and nothing else changes."""

import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import anaphora

from ..conftest import Trained, set_all, shown, train, variant

SIZES = ("embedding.size=8", "encoder.size=6", "training.batch_tokens=60")
SMALL = set_all(*SIZES, "characters.filters=4", "characters.max_kernel=2")
LEARN = set_all("training.epochs=7", "training.optimizer.learning_rate=0.04")
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


def write(folder: Path, name: str, content: Callable[[list[list[tuple[str, str, str]]]], str]) -> Path:
    """A folder with the three splits of a corpus."""
    folder.mkdir()
    for split, count, seed in (("train", 80, 1), ("dev", 20, 2), ("test", 20, 3)):
        (folder / name.format(split)).write_text(content(rows(count, seed)))
    return folder


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    treebank = write(tmp_path_factory.mktemp("tag") / "treebank", "xx_yy-ud-{}.conllu", conllu)
    return Trained(treebank, train("tag", treebank, treebank.with_name("run"), *SMALL, *LEARN))


@pytest.fixture(scope="module")
def trained_on_columns(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    data = write(tmp_path_factory.mktemp("columns") / "data", "{}.conll", columns)
    return Trained(data, train("tag", data, data.with_name("run"), *SMALL, *LEARN))


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Let the standard input be this text."""
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.encode()), isatty=lambda: False))


def test_a_tagger_is_trained_without_a_recipe_evaluated_and_asked(trained: Trained, data: Path) -> None:
    assert "80 sentences (column UPOS)" in trained.said
    assert "Next: echo 'Your text.' | anaphora predict " in trained.said
    scores = shown("evaluate", "run", "--json").split
    assert scores["accuracy"] > 0.95 and scores["spans"] == "none" and scores["unknown"] > 0
    assert "accuracy of unknown words" in shown("evaluate", "run", "--text", data / "xx_yy-ud-dev.conllu").out
    Path("known.conllu").write_text(conllu([[("sees", "VERB", "O")]]))
    assert "unknown words" not in shown("evaluate", "run", "--text", "known.conllu").out
    tagger = anaphora.load("run")
    [found] = tagger.predict([["Ada", "sees", "77", "cats"]])
    assert found.tags == ("PROPN", "VERB", "NUM", "NOUN")
    [told] = tagger.predict([" Ada sees 77 cats"])
    assert (told.words, told.tags) == (found.words, found.tags)
    assert told.offsets == ((1, 4), (5, 9), (10, 12), (13, 17)) and not found.offsets
    assert told.json()["offsets"] == [[1, 4], [5, 9], [10, 12], [13, 17]] and "offsets" not in found.json()
    for wrong in ({"text": "Ada"}, 7, b"Ada"):
        with pytest.raises(TypeError, match="Sentence 2 should be a text or a list of words"):
            tagger.predict(["Ada", wrong])


@pytest.mark.slow
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_comes_back_with_nothing_but_its_tags_changed(data: Path, end: str) -> None:
    given = "\ufeff" + conllu(rows(30, 9)).replace("\n", end)
    Path("new.conllu").write_bytes(given.encode())
    printed = shown("predict", "run", "new.conllu").out
    shown("predict", "run", "new.conllu", "--output", "tagged.conllu")
    assert Path("tagged.conllu").read_bytes().decode() == printed
    tagger = anaphora.load("run")
    tags = iter(tag for one in rows(30, 9) for tag in tagger.predict([[word for word, _, _ in one]])[0].tags)
    expected = []
    for line in given.split(end):
        cells = line.split("\t")
        if cells[0].isdecimal():
            cells[3] = next(tags)
        expected.append("\t".join(cells))
    assert printed == end.join(expected)


@pytest.mark.parametrize("output", ["softmax", "crf"])
def test_tags_never_depend_on_the_sentences_beside_them(trained: Trained, output: str) -> None:
    tagger = variant(trained.run, f'output={{kind="{output}"}}')
    sentences = [[word for word, _, _ in one] * (1 + n % 3) for n, one in enumerate(rows(60, 5))]
    sentences += [["x" * 90], ["never", "seen"], []]
    together = [one.tags for one in tagger.predict(sentences)]
    assert len({tag for tags in together for tag in tags}) > 1
    assert together == [tagger.predict([sentence])[0].tags for sentence in sentences]
    assert together == [one.tags for one in tagger.predict(sentences[::-1])][::-1]


def test_several_labels_a_token_are_predicted_one_by_one(data: Path) -> None:
    train(
        "tag",
        data,
        "several",
        *SMALL,
        *LEARN,
        *set_all("data.column=FEATS", "output.kind=sigmoid", "training.reduction=mean_per_sequence"),
    )
    tagger = anaphora.load("several")
    assert sorted(tagger.tags) == ["Case=Nom", "Number=Plur", "Number=Sing"]
    [found] = tagger.predict([["Ada", "sees", "7", "cats"]])
    assert set(found.tags[0].split("|")) == {"Case=Nom", "Number=Sing"}
    assert found.tags[1:] == ("_", "_", "Number=Plur")
    assert shown("evaluate", "several", "--json").split["f1"] > 0.9


def check_spans(run: Path, encoding: str) -> None:
    assert anaphora.load(run).encoding == encoding
    scores = shown("evaluate", run, "--no-keep", "--json").split
    assert scores["f1"] > 0.9 and set(scores["by_tag"]) == {"PER", "LOC"}


def test_spans_are_found_in_columns(trained_on_columns: Trained) -> None:
    run, given = trained_on_columns.run, trained_on_columns.data / "test.conll"
    check_spans(run, "iob2")
    printed = shown("predict", run, given).lines
    assert [line.split()[:2] for line in printed] == [line.split()[:2] for line in given.read_text().splitlines()]
    spans = [span._asdict() for span in anaphora.load(run).predict([["Bo", "sees", "Rome"]])[0].spans]
    assert spans == [{"start": 0, "end": 1, "type": "PER"}, {"start": 2, "end": 3, "type": "LOC"}]


def test_spans_are_found_in_offsets(tmp_path: Path) -> None:
    data, run = write(tmp_path / "data", "{}.jsonl", offsets), tmp_path / "run"
    train("tag", data, run, *SMALL, *LEARN)
    check_spans(run, "bioes")
    given = (data / "test.jsonl").read_text().splitlines()
    pairs = list(zip(shown("predict", run, data / "test.jsonl").lines, given, strict=True))
    assert all(json.loads(new)["text"] == json.loads(old)["text"] for new, old in pairs)
    assert sum(new == old for new, old in pairs) > 15


def test_text_columns_and_files_are_read_as_what_they_are(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for given, printed in (
        ("Ada sees cats.\n\nBo.\n", ["Ada", "sees", "cats", ".", "", "Bo", ".", ""]),
        ("Ada\tx\nBo\tx\n\nCy\tx", ["Ada", "Bo", "", "Cy"]),
    ):
        typed(monkeypatch, given)
        assert [line.partition("\t")[0] for line in shown("predict", "run").lines] == printed
    found = shown("predict", "run", data / "xx_yy-ud-test.conllu", "--json").objects
    assert [one["words"] for one in found] == [[word for word, _, _ in one] for one in rows(20, 3)]
    np.savez("frames.npz", first=np.zeros((3, 2)))
    refused = shown("predict", "run", "frames.npz", code=2).err
    assert "frames.npz is an archive of NumPy arrays, but lines of text are expected: name a file of text" in refused


def test_a_line_that_may_be_text_or_columns_is_reported(
    trained_on_columns: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for given, noted in (("Ada sees cats\n", True), ("Ada sees cats .\n", False), ("Ada\n", False)):
        typed(monkeypatch, given)
        said = shown("predict", trained_on_columns.run).err
        assert ("standard input:1 is read as a word and 2 columns: --format text reads a sentence." in said) is noted
        assert ("standard input:1 is read as one word a line" in said) is (given == "Ada\n")
    sentences = tmp_path / "sentences"
    for given, words in (("Ada\nBo\n", ["Ada", "Bo"]), ("Ada\nBo sees cats\n", ["Ada", "", "Bo", "sees", "cats", ""])):
        sentences.write_text(given)
        printed = shown("predict", trained_on_columns.run, sentences)
        assert [line.partition("\t")[0] for line in printed.lines] == words
        assert ("is read as one word a line" in printed.err) is (words == ["Ada", "Bo"])


def test_without_a_validation_split_a_tenth_is_held_out(tmp_path: Path) -> None:
    (tmp_path / "my.conllu").write_text(conllu(rows(60, 1)))
    begin = ["train", "--data", tmp_path / "my.conllu", "--run", tmp_path / "run", *SMALL]
    said = shown(*begin, *set_all("training.epochs=1")).err  # files of CoNLL-U are for taggers, whatever the task
    assert "of 60 sentences are held out" in said and "column UPOS" in said


def test_faults_of_the_data_end_with_one_sentence(data: Path) -> None:
    file = data / "xx_yy-ud-train.conllu"
    whole = file.read_text()

    def refused(text: str, *more: str) -> str:
        file.write_text(text)
        said = train("tag", data, "new", *SMALL, *more, code=2)
        assert not Path("new").exists()
        [message] = [line for line in said.splitlines() if "No recipe" not in line]
        return message

    assert f"{file.name}:2 should have the 10 columns" in refused(whole.replace("\troot\t_", "\troot", 1))
    assert "data.column 'LEMMAS' is unknown" in refused(whole, *set_all("data.column=LEMMAS"))
    assert "a tagger takes the tokens of its files" in refused(whole, *set_all("text.segmentation=moses"))
    test = data / "xx_yy-ud-test.conllu"
    test.write_text(test.read_text().replace("\tVERB\t", "\tFROB\t", 1))
    message = shown("evaluate", "run", "--text", test, code=2).err
    assert "has the label 'FROB', which training does not have" in message and f"{test.name}:" in message
    assert "The format 'xml' is unknown" in shown("predict", "run", test, "--format", "xml", code=2).err


def test_columns_without_allowed_tags_are_refused(tmp_path: Path) -> None:
    (tmp_path / "valid.conll").write_text("a O\n\n")
    barred, crf = "a B-X\nb I-X\n\na O\nb I-X\n\n", set_all("spans=iob2", "output.kind=crf")
    for text, options, message in (
        ("", [], "train.conll should hold tagged sentences, but has none"),
        ("word,tag\nAda,PROPN\n", [], "its first row is 'word,tag': put spaces or tabs between its columns"),
        ("Ada\nsees\n", [], "its first row is 'Ada': add a column"),
        (barred, crf, "train.conll:5 has the tag 'I-X', which IOB2 does not allow there"),
    ):
        (tmp_path / "train.conll").write_text(text)
        assert message in train("tag", tmp_path, tmp_path / "run", *SMALL, *options, code=2)
