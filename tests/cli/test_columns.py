"""``--columns`` selects source and target of a table by number or by name; what happens where nothing names them."""

from pathlib import Path

import pytest

from .conftest import Cli


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    words = [a + b + c for a in "abc" for b in "de" for c in "fgh"]
    path = tmp_path / "table.tsv"
    path.write_text("id\tFrench\tEnglish\n" + "".join(f"{n}\t{w[::-1]}\t{w}\n" for n, w in enumerate(words)))
    monkeypatch.chdir(tmp_path)
    return path


@pytest.mark.matrix
@pytest.mark.parametrize("columns", ["3,2", "English,French", "english, 2"])
def test_columns_by_number_or_name(columns: str, table: Path, tiny_translator: Path, cli: Cli) -> None:
    data = [str(tiny_translator), "--data", str(table), "--source", "en", "--target", "fr", "--columns", columns]
    cli("check", *data, "--trial", "0")
    cli("train", *data, "--run", "run", "--set", "training.epochs=1")
    cli("translate", "run", table)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("1", "data.columns should be two, that of the source and that of the target: numbers from 1, or names"),
        ("0,2", "data.columns should be two, that of the source and that of the target: numbers from 1, or names"),
        ("English,German", "table.tsv:1 should have columns 'English' and 'German', but has 3 columns (id, French"),
    ],
)
def test_other_columns_are_refused(columns: str, message: str, table: Path, tiny_translator: Path, cli: Cli) -> None:
    data = ["--data", str(table), "--source", "en", "--target", "fr", "--columns", columns]
    assert message in cli.refused("train", tiny_translator, *data, "--run", "run")


def test_a_memory_of_three_languages_is_refused_with_their_names(tmp_path: Path, cli: Cli) -> None:
    texts = "".join(f'<tuv xml:lang="{language}"><seg>a</seg></tuv>' for language in ("en-us", "DE-AT", "fr"))
    (tmp_path / "m.tmx").write_text(f'<tmx version="1.4"><header srclang="en-us"/><body><tu>{texts}</tu></body></tmx>')
    assert "m.tmx is in (it names en, de, fr), source first: name them with --source" in cli.refused(
        "check", "--data", tmp_path / "m.tmx"
    )
