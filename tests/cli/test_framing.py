"""``anaphora translate --prefixes`` and ``--suffixes``: every line with its own, and one message for what cannot be."""

from pathlib import Path

import pytest

import anaphora

from .conftest import Cli
from .test_nbest import run

__all__ = ["run"]

TEXT = "dab\n\nabcd\ncab\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    text, prefixes, output = (tmp_path / name for name in ("text.en", "begun.fr", "found.fr"))
    text.write_text(TEXT)
    return text, prefixes, output


def test_every_line_begins_with_its_prefix(run: str, files: tuple[Path, Path, Path], cli: Cli) -> None:
    text, prefixes, output = files
    translator = anaphora.load(run)
    assert isinstance(translator, anaphora.TranslationPredictor)
    begun = ["dab", "", "", "da"]
    prefixes.write_text("\n".join(begun) + "\n")
    cli("translate", run, text, "--prefixes", prefixes, "--output", output, "--beam", "3")
    lines = TEXT.splitlines()
    found = output.read_text().splitlines()
    assert found == [one.text for one in translator.translate(lines, prefixes=begun, beam=3)]
    assert all(line.startswith(prefix) for line, prefix in zip(found, begun, strict=True)) and not found[1]
    listed = cli("translate", run, text, "--prefixes", prefixes, "--nbest", "2").lines
    assert all(line.split(" ||| ")[1].startswith(begun[int(line[0])]) for line in listed)


def test_every_line_ends_with_its_suffix(run: str, files: tuple[Path, Path, Path], cli: Cli) -> None:
    text, suffixes, output = files
    suffixes.write_text("dab\n\nda\n\n")
    given = ("--suffixes", str(suffixes), "--beam", "4")
    cli("translate", run, text, *given, "--output", output)
    found = output.read_text().splitlines()
    assert found[0].endswith("dab") and not found[1] and found[2].endswith("da")
    said = cli("translate", run, text, *given, "--no-repeat-ngram", "2", code=2).said
    assert "Suffixes are written by a beam of all words" in said


def test_lines_that_lack_a_prefix_are_refused_and_the_others_come_out(
    run: str, files: tuple[Path, Path, Path], cli: Cli
) -> None:
    text, prefixes, output = files
    prefixes.write_text("dab\n\n")
    command = ("translate", run, str(text), "--prefixes", str(prefixes), "--output", str(output))
    said = cli(*command, code=2).said
    assert "Line 3 has no prefix" in said and "2 lines were refused" in said
    first, *others = output.read_text().splitlines()
    assert first.startswith("dab") and others == ["", "", ""]


def test_prefixes_of_no_line_are_reported_once_all_lines_are_translated(
    run: str, files: tuple[Path, Path, Path], cli: Cli
) -> None:
    text, prefixes, output = files
    prefixes.write_text("dab\n" * 6)
    text.write_text("dab\ncab\n")
    command = ("translate", run, str(text), "--prefixes", str(prefixes), "--output", str(output))
    said = cli(*command, code=2).said
    assert "has more lines than the text, which has 2: give one for every line" in said
    assert [line[:3] for line in output.read_text().splitlines()] == ["dab", "dab"]


def test_what_has_no_prefix_is_refused_before_work(
    run: str, files: tuple[Path, Path, Path], tmp_path: Path, cli: Cli
) -> None:
    text, prefixes, _ = files
    prefixes.write_text("dab\n")
    (document := tmp_path / "text.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nabc\n")
    given = ("--prefixes", str(prefixes))
    said = cli("translate", run, text, "--memory", *given, code=2).said
    assert "leave out --prefixes, or --memory" in said
    said = cli("translate", run, document, *given, code=2).said
    assert "--prefixes is for lines of text" in said
    said = cli("translate", run, text, *given, "--output", prefixes, code=2).said
    assert "would be lost" in said
    cli("translate", run, text, "--prefixes", tmp_path / "none", code=2)
