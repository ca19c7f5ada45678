"""``anaphora memory``, and ``anaphora translate --memory``."""

import json
import shutil
from pathlib import Path

import pytest

from .conftest import Cli

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


def test_what_is_added_is_listed_exported_and_removed(run: str, tsv: str, tmp_path: Path, cli: Cli) -> None:
    assert "2 new segments, 0 known or repeated" in cli("memory", run, "add", tsv).err
    again = cli("memory", run, "add", tsv, "--json")
    assert "0 new segments, 2 known or repeated" in again.err
    assert again.json == {"files": [{"file": tsv, "added": 0, "known": 2, "skipped": {}}], "segments": 2}
    [line] = cli("memory", run, "list", "--text", "A man is walking", "--json").lines
    assert json.loads(line)["memory"] == "fuzzy 80%"
    for option in ("--text", "--origin"):
        assert cli("memory", run, "list", option, "unseen.po") == ("", "No segment was found.\n")
    assert cli("info", run, "--json").json["memory"] == 2
    for name in ("all.tmx", "all.tsv"):
        cli("memory", run, "export", tmp_path / name)
    assert (tmp_path / "all.tsv").read_text() == Path(tsv).read_text()
    assert cli("memory", run, "remove", "1", "--json").json == {"removed": 1, "segments": 1}
    cli("memory", run, "add", tmp_path / "all.tmx")
    cli("memory", run, "remove", "--origin", "week.tsv")
    lines = cli("memory", run, "list").lines
    assert [line.split("\t")[1] for line in lines] == ["A man is walking.", "Two dogs run."]
    assert {line.split("\t")[3] for line in lines} == {"all.tmx"}


def test_translate_says_what_comes_from_the_memory(run: str, tsv: str, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "text").write_text("A man is walking.\nA man is walking\nCats.\n")
    cli("memory", run, "add", tsv)
    lines = cli("translate", run, tmp_path / "text", "--memory", "--json").objects
    assert lines[0]["text"] == "Exactement ceci."
    assert [line["memory"] for line in lines] == ["exact", "fuzzy 80%", "none"]
    assert {line["model"] for line in lines} == {"run"}
    assert lines[1]["from"]["target"] == "Exactement ceci." and lines[2]["from"] is None


def test_a_document_is_filled_from_the_memory(run: str, tsv: str, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "a.po").write_text(PO.format(""))
    cli("memory", run, "add", tsv)
    assert 'msgstr "Exactement ceci."' in cli("translate", run, tmp_path / "a.po", "--memory").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["change"], "The action 'change' is unknown. Known: add, export, list, remove."),
        (["add"], "Name the files to add"),
        (["export", "a.tmx", "--origin", "b"], "--origin has no effect with export"),
    ],
)
def test_what_is_wrong_is_said(run: str, arguments: list[str], message: str, cli: Cli) -> None:
    assert message in cli.refuse("memory", run, *arguments)


def test_options_of_translate_that_need_a_memory(run: str, tsv: str, cli: Cli) -> None:
    assert "--adapt belongs to --memory, which is missing" in cli.refuse("translate", run, "--adapt")
    cli("memory", run, "add", tsv)
    assert "calibrated for the model alone" in cli.refuse("translate", run, "--memory", "--adapt", "--confidence")


def test_a_translation_is_adapted_to_similar_segments_of_the_memory(
    run: str, tsv: str, tmp_path: Path, cli: Cli
) -> None:
    (tmp_path / "text").write_text("A man is walking\nCats.\n")
    cli("memory", run, "add", tsv)
    found = []
    for options in ([], ["--adapt"]):
        found.append(cli("translate", run, tmp_path / "text", "--memory", "--json", *options).objects)
    (plain, other), (adapted, left) = found
    assert adapted["score"] != plain["score"]
    assert left == other  # nothing is similar to it


def test_a_bundle_has_no_memory_and_is_not_told_to_get_one(run: str, tmp_path: Path, cli: Cli) -> None:
    cli("export", run, "--to", "bundle", "--output", tmp_path / "m.anaphora")
    (tmp_path / "a.txt").write_text("A man is walking.\n")
    refused = cli.refuse("translate", tmp_path / "m.anaphora", tmp_path / "a.txt", "--memory")
    assert "has no translation memory: give the run folder" in refused
