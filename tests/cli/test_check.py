"""``anaphora check`` as a person meets it."""

import json
import re
from pathlib import Path

import pytest

from .conftest import Cli


@pytest.fixture
def pairs(toy_pairs: Path, tiny_translator: Path) -> list[object]:
    """A check of the toy corpus."""
    return ["check", tiny_translator, "--data", toy_pairs, "--target", "fr"]


def test_a_faulty_corpus_is_described_and_still_trainable(pairs: list[object], toy_pairs: Path, cli: Cli) -> None:
    with (toy_pairs / "train.en").open("a") as source, (toy_pairs / "train.fr").open("a") as target:
        source.write("word\n")
        target.write("\n")
    before = sorted(toy_pairs.parent.rglob("*"))
    out = cli(*pairs, "--trial", "0.01").out
    assert sorted(toy_pairs.parent.rglob("*")) == before
    assert "train     en      13" in out
    assert f"warning train, fr: 1 of 13 lines is empty [{toy_pairs / 'train.fr'}:13]." in out
    assert "What training takes" in out
    assert "This data can be trained on: " in out.splitlines()[-1]
    cli(*pairs, "--trial", "0", "--strict", code=2)


def test_exact_counts_are_those_of_every_line(pairs: list[object], cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anaphora.datacheck.splits.LARGE", 12)
    monkeypatch.setattr("anaphora.datacheck.splits.SAMPLED", 4)
    sampled, exact = (cli(*pairs, "--trial", "0", *more).out for more in ([], ["--exact"]))
    assert "of 12 lines were surveyed, drawn evenly. Pass --exact to survey all of them." in sampled
    assert "train     en      12" in exact and "surveyed" not in exact


def test_data_that_cannot_be_trained_on_gives_code_2(pairs: list[object], toy_pairs: Path, cli: Cli) -> None:
    (toy_pairs / "train.fr").write_text("one\n")
    out = cli(*pairs, code=2).out
    assert "train.fr has 1: find the line that was lost or added." in out
    assert out.splitlines()[-1] == "This data cannot be trained on: 1 error."
    assert cli(*pairs, "--json", code=2).json["trainable"] is False


@pytest.mark.parametrize(
    ("name", "heading", "row", "rest"),
    [
        ("a.csv", "time,level,message", "1,{},sees {}", ("--task", "classify", "--columns", "message,level")),
        ("a.tsv", "form\tlemma", "{0}{1}a\t{1}", ("--task", "transduce", "--columns", "lemma,form")),
        ("a.conll", "id\tword\tkind", "1\tsees\t{}\n2\t{}\tX\n", ("--task", "tag", "--columns", "word,kind")),
    ],
)
def test_named_columns_are_tried_as_they_are_trained_on(
    name: str, heading: str, row: str, rest: tuple[str, ...], cli: Cli
) -> None:
    rows = [row.format((number % 2 and "odd") or "even", f"w{number}") for number in range(80)]
    (cli.folder / name).write_text("\n".join([heading, *rows]) + "\n")
    found = cli("check", "--data", cli.folder / name, *rest, "--trial", "0.01").out
    assert "What training takes" in found and "as tokenised text has" not in found


def test_a_report_is_written_whole(pairs: list[object], toy_pairs: Path, cli: Cli) -> None:
    (toy_pairs / "train.en").write_text((toy_pairs / "train.en").read_text().replace("adf", "<b>&"))
    folder = cli.folder / "report"
    shown = cli(*pairs, "--trial", "0", "--json", "--output", folder)
    assert f"The report is {folder / 'check.html'}" in shown.err
    assert json.loads((folder / "check.json").read_text()) == shown.json
    page = (folder / "check.html").read_text()
    assert "<b>&" not in page and "&lt;b&gt;" in page
    assert "<svg" in page and "Line lengths" in page
    assert {path.name for path in folder.iterdir()} == {"check.html", "check.json", "histograms.png", "histograms.svg"}


def test_without_a_recipe_the_one_that_the_data_chooses_is_checked(toy_book: Path, cli: Cli) -> None:
    for named in (), ("auto",):
        shown = cli("check", *named, "--data", toy_book, "--trial", "0")
        assert "a character language model of 192 hidden units, 30 epochs" in shown.said
        cli("check", *named, code=2)


def test_a_table_that_is_wider_than_the_terminal_is_turned(
    cli: Cli, toy_book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = cli("check", "character-lm", "--data", toy_book, "--trial", "0", code=None).lines
    begin = next(place for place, line in enumerate(lines) if line.startswith("The corpus"))
    heads = [line.split()[0] for line in lines[begin + 1 : begin + 12] if line[2:3].strip(" ─")]
    assert {"split", "lines", "words"} <= set(heads)


def test_no_number_is_broken_in_a_table_of_several_languages(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = (f"w{n} {'a b ' * 60}\tu{n} {'c d ' * 60}\n" for n in range(2000))
    pairs = cli.write("pairs.tsv", "en\ttr\n" + "".join(lines))
    shown = cli("check", "--data", f"en-tr,tr-en={pairs}", "--trial", "0")
    assert len(re.findall(r"\b229,\d{3}\b", shown.out)) == 4  # words of the training split, on each side


def test_columns_of_one_language_are_tried_as_they_are_trained_on(tiny_translator: Path, cli: Cli) -> None:
    lines = (f"{number % 7}{number % 11}a\t{number % 11}{number % 7}b\n" for number in range(77))
    pairs = cli.write("pairs.tsv", "".join(lines))
    languages = ("--source", "en", "--target", "en")
    assert "What training takes" in cli("check", tiny_translator, "--data", pairs, *languages, "--trial", "0.01").out


def test_words_of_a_tagger_are_no_tokenised_text(cli: Cli) -> None:
    texts = (f"Cat {number}, sees." for number in range(80))
    lines = (json.dumps({"text": text, "spans": [{"start": 0, "end": 3, "label": "PET"}]}) for text in texts)
    data = cli.write("a.jsonl", "\n".join(lines) + "\n")
    shown = cli("check", "--data", data, "--task", "tag", "--trial", "0.01")
    assert "as tokenised text has" not in shown.out and "outside the vocabulary" not in shown.out
    assert "1 type, in " in shown.said and "PET: " in shown.said


def test_a_name_in_place_of_a_code_is_told_the_code(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("".join(f"a {number}\tb {number}\n" for number in range(40)))
    shown = cli("check", "--data", tmp_path / "pairs.tsv", "--source", "en", "--target", "German", "--trial", "0")
    assert "warning: Languages are named by their codes: write de for German." in shown.err
