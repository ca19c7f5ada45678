"""``anaphora memory``, and ``anaphora translate --memory``."""

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
def tsv(cli: Cli) -> str:
    return str(cli.write("week.tsv", "A man is walking.\tExactement ceci.\nTwo dogs run.\tDeux chiens.\n"))


def test_what_is_added_is_listed_exported_and_removed(run: str, tsv: str, cli: Cli) -> None:
    assert "2 new segments, 0 known or repeated" in cli("memory", run, "add", tsv).err
    again = cli("memory", run, "add", tsv, "--json")
    assert "0 new segments, 2 known or repeated" in again.err
    assert again.json == {"files": [{"file": tsv, "added": 0, "known": 2, "skipped": {}}], "segments": 2}
    assert cli("memory", run, "list", "--text", "A man is walking", "--json").json["memory"] == "fuzzy 80%"
    for option in ("--text", "--origin"):
        assert cli("memory", run, "list", option, "unseen.po") == ("", "No segment was found.\n")
    assert cli("info", run, "--json").json["memory"] == 2
    for name in ("all.tmx", "all.tsv"):
        cli("memory", run, "export", cli.folder / name)
    assert (cli.folder / "all.tsv").read_text() == Path(tsv).read_text()
    assert cli("memory", run, "remove", "1", "--json").json == {"removed": 1, "segments": 1}
    cli("memory", run, "add", cli.folder / "all.tmx")
    cli("memory", run, "remove", "--origin", "week.tsv")
    lines = cli("memory", run, "list").lines
    assert [line.split("\t")[1] for line in lines] == ["A man is walking.", "Two dogs run."]
    assert {line.split("\t")[3] for line in lines} == {"all.tmx"}


def test_translate_takes_what_the_memory_has_and_says_what_comes_from_it(run: str, tsv: str, cli: Cli) -> None:
    text, page = cli.write("text", "A man is walking.\nA man is walking\nCats.\n"), cli.write("a.po", PO.format(""))
    cli("memory", run, "add", tsv)
    exact, similar, other = cli("translate", run, text, "--memory", "--json").objects
    assert [one["memory"] for one in (exact, similar, other)] == ["exact", "fuzzy 80%", "none"]
    assert {one["model"] for one in (exact, similar, other)} == {"run"} and other["from"] is None
    assert exact["text"] == similar["from"]["target"] == "Exactement ceci."
    *_, adapted, left = cli("translate", run, text, "--memory", "--json", "--adapt").objects
    assert adapted["score"] != similar["score"] and left == other  # to which nothing is similar
    assert 'msgstr "Exactement ceci."' in cli("translate", run, page, "--memory").out


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("memory run remove 99", "Nothing was removed: the memory has no segment of these numbers; see list."),
        ("memory run remove --origin x.po", "no segment of x.po; its files are week.tsv."),
        ("memory run change", "The action 'change' is unknown. Known: add, export, list, remove."),
        ("memory run add", "Name the files to add"),
        ("memory run export a.tmx --origin b", "--origin has no effect with export"),
        ("translate m.anaphora week.tsv --memory", "has no translation memory: give the run folder"),
    ],
)
def test_what_is_wrong_is_said(run: str, tsv: str, command: str, message: str, cli: Cli) -> None:
    cli.enter()
    cli("memory", run, "add", tsv)
    if "anaphora" in command:
        cli("export", run, "--to", "bundle", "--output", "m.anaphora")
    assert message in cli.refuse(*command.split())
