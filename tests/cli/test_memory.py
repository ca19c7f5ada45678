"""``anaphora memory``, and ``anaphora translate --memory``."""

import json
import shutil
from pathlib import Path

import pytest

from anaphora.cli.app import main

STORED = Path(__file__).resolve().parents[1] / "runs" / "format-2"
PO = """msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"

msgid "A man is walking."
msgstr "{}"
"""


@pytest.fixture
def run(tmp_path: Path) -> str:
    return str(shutil.copytree(STORED, tmp_path / "run"))


@pytest.fixture
def tsv(tmp_path: Path) -> str:
    (tmp_path / "week.tsv").write_text("A man is walking.\tExactement ceci.\nTwo dogs run.\tDeux chiens.\n")
    return str(tmp_path / "week.tsv")


def test_what_is_added_is_listed_exported_and_removed(
    run: str, tsv: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["memory", run, "add", tsv]) == 0
    assert "2 new segments, 0 known or repeated" in capsys.readouterr().err
    assert main(["memory", run, "add", tsv]) == 0
    assert "0 new segments, 2 known or repeated" in capsys.readouterr().err
    assert main(["memory", run, "list", "--text", "A man is walking", "--json"]) == 0
    [line] = capsys.readouterr().out.splitlines()
    assert json.loads(line)["memory"] == "fuzzy 80%"
    for option in ("--text", "--origin"):
        assert main(["memory", run, "list", option, "unseen.po"]) == 0
        assert capsys.readouterr() == ("", "No segment was found.\n")
    assert main(["info", run, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["memory"] == 2
    for name in ("all.tmx", "all.tsv"):
        assert main(["memory", run, "export", str(tmp_path / name)]) == 0
    assert (tmp_path / "all.tsv").read_text() == Path(tsv).read_text()
    assert main(["memory", run, "remove", "1"]) == 0
    capsys.readouterr()
    assert main(["memory", run, "add", str(tmp_path / "all.tmx")]) == 0
    assert main(["memory", run, "remove", "--origin", "week.tsv"]) == 0
    capsys.readouterr()
    assert main(["memory", run, "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[1:4] for line in lines] == [
        ["A man is walking.", "Exactement ceci.", "all.tmx"],
        ["Two dogs run.", "Deux chiens.", "all.tmx"],
    ]


def test_translate_says_what_comes_from_the_memory(
    run: str, tsv: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text("A man is walking.\nA man is walking\nCats.\n")
    assert main(["memory", run, "add", tsv]) == 0
    capsys.readouterr()
    assert main(["translate", run, str(tmp_path / "text"), "--memory", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0]["text"] == "Exactement ceci."
    assert [(line["model"], line["memory"]) for line in lines] == [
        ("run", "exact"),
        ("run", "fuzzy 80%"),
        ("run", "none"),
    ]
    assert lines[1]["from"]["target"] == "Exactement ceci." and lines[2]["from"] is None


def test_a_document_is_filled_from_the_memory(
    run: str, tsv: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.po").write_text(PO.format(""))
    assert main(["memory", run, "add", tsv]) == 0
    capsys.readouterr()
    assert main(["translate", run, str(tmp_path / "a.po"), "--memory"]) == 0
    assert 'msgstr "Exactement ceci."' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["change"], "should be one of add, list, remove, export"),
        (["add"], "Name the files to add"),
        (["list"], "has no translation memory"),
        (["add", "missing.tmx"], "missing.tmx"),
        (["export", "a.tmx", "--origin", "b"], "--origin has no effect with export"),
    ],
)
def test_what_is_wrong_is_said(
    run: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["memory", run, *arguments]) == 2
    assert message in capsys.readouterr().err


def test_options_of_translate_that_need_a_memory(run: str, tsv: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", run, "--fuzzy", "80"]) == 2
    assert "--fuzzy belongs to --memory, which is missing" in capsys.readouterr().err
    assert main(["translate", run, "--memory", "--alignments", "a"]) == 2
    assert "no word alignments" in capsys.readouterr().err
    assert main(["translate", run, "--adapt"]) == 2
    assert "belongs to --memory, which is missing" in capsys.readouterr().err
    assert main(["memory", run, "add", tsv]) == 0
    assert main(["translate", run, "--memory", "--adapt", "--confidence"]) == 2
    assert "calibrated for the model alone" in capsys.readouterr().err


def test_a_translation_is_adapted_to_similar_segments_of_the_memory(
    run: str, tsv: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text("A man is walking\nCats.\n")
    assert main(["memory", run, "add", tsv]) == 0
    capsys.readouterr()
    found = []
    for options in ([], ["--adapt"]):
        assert main(["translate", run, str(tmp_path / "text"), "--memory", "--json", *options]) == 0
        found.append([json.loads(line) for line in capsys.readouterr().out.splitlines()])
    (plain, other), (adapted, left) = found
    assert adapted["score"] != plain["score"]
    assert left == other  # nothing is similar to it
