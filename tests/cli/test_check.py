"""``anaphora check`` as a person meets it."""

import json
from pathlib import Path

import pytest

from anaphora.cli.app import main


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["check", *map(str, arguments)])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_a_faulty_corpus_is_described_and_still_trainable(
    toy_pairs: Path, tiny_translator: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (toy_pairs / "train.en").open("a") as source, (toy_pairs / "train.fr").open("a") as target:
        source.write("word\n")
        target.write("\n")
    arguments = (tiny_translator, "--data", toy_pairs, "--target", "fr", "--trial", "0.1")
    code, out, _ = run(capsys, *arguments)
    assert code == 0
    assert "train     en      13" in out
    assert f"warning train, fr: 1 of 13 lines is empty [{toy_pairs / 'train.fr'}:13]." in out
    assert "What training takes" in out
    assert "This data can be trained on: " in out.splitlines()[-1]
    assert run(capsys, *arguments, "--strict")[0] == 2


def test_exact_counts_are_those_of_every_line(
    toy_pairs: Path, tiny_translator: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anaphora.datacheck.splits.LARGE", 12)
    monkeypatch.setattr("anaphora.datacheck.splits.SAMPLED", 4)
    arguments = (tiny_translator, "--data", toy_pairs, "--target", "fr", "--trial", "0")
    _, out, _ = run(capsys, *arguments)
    assert "of 12 lines were surveyed, drawn evenly. Pass --exact to survey all of them." in out
    _, out, _ = run(capsys, *arguments, "--exact")
    assert "train     en      12" in out and "surveyed" not in out


def test_data_that_cannot_be_trained_on_gives_code_2(
    toy_pairs: Path, tiny_translator: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (toy_pairs / "train.fr").write_text("one\n")
    code, out, _ = run(capsys, tiny_translator, "--data", toy_pairs, "--target", "fr")
    assert code == 2
    assert "train.fr has 1: find the line that was lost or added." in out
    assert out.splitlines()[-1] == "This data cannot be trained on: 1 error."
    code, out, _ = run(capsys, tiny_translator, "--data", toy_pairs, "--target", "fr", "--json")
    assert code == 2
    assert json.loads(out)["trainable"] is False


def test_columns_of_one_language_are_tried_as_they_are_trained_on(
    tiny_translator: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{number % 7}{number % 11}a\t{number % 11}{number % 7}b\n" for number in range(77)))
    languages = ("--source", "en", "--target", "en")
    code, out, _ = run(capsys, tiny_translator, "--data", pairs, *languages, "--trial", "0.1")
    assert code == 0 and "What training takes" in out


def test_a_report_is_written_whole(
    toy_pairs: Path, tiny_translator: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (toy_pairs / "train.en").write_text((toy_pairs / "train.en").read_text().replace("adf", "<b>&"))
    folder = tmp_path / "report"
    code, out, err = run(
        capsys, tiny_translator, "--data", toy_pairs, "--target", "fr", "--trial", "0", "--json", "--output", folder
    )
    assert code == 0 and f"The report is {folder / 'check.html'}" in err
    assert json.loads((folder / "check.json").read_text()) == json.loads(out)
    page = (folder / "check.html").read_text()
    assert "<b>&" not in page and "&lt;b&gt;" in page
    assert "<svg" in page and "Line lengths" in page
    (folder / "check.html").write_text("an older one")
    assert (
        run(capsys, tiny_translator, "--data", toy_pairs, "--target", "fr", "--trial", "0", "--output", folder)[0] == 0
    )
    assert (folder / "check.html").read_text() == page
    assert sorted(path.name for path in folder.iterdir()) == [
        "check.html", "check.json", "histograms.png", "histograms.svg",
    ]  # fmt: skip


@pytest.mark.parametrize("named", [(), ("auto",)], ids=["unnamed", "auto"])
def test_without_a_recipe_the_one_that_the_data_chooses_is_checked(
    named: tuple[str, ...], toy_book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, *named, "--data", toy_book, "--trial", "0.1")
    assert code == 0 and "a character language model of 192 hidden units, 30 epochs" in err.replace("\n", " ")
    assert "What training takes" in out
    assert run(capsys, *named)[0] == 2


def test_nothing_is_left_behind(
    toy_pairs: Path, tiny_translator: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert run(capsys, tiny_translator, "--data", toy_pairs, "--target", "fr", "--trial", "0.1")[0] == 0
    assert sorted(tmp_path.rglob("*")) == before
