"""What is said of known corpora without fetching them."""

from pathlib import Path

import pytest

from anaphora.data.catalogue import CORPORA

from .conftest import Cli


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANAPHORA_DATA", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.mark.parametrize("name", ["multi30k", "ptb", "tatoeba-en-fr"])
def test_every_file_of_a_corpus_is_shown_with_what_is_needed_to_bring_it_and_nothing_is_fetched(
    name: str, home: Path, cli: Cli
) -> None:
    shown = cli("fetch", name, "--list")
    lines = {line.split("  ")[0]: line.split("  ")[1:] for line in shown.out.splitlines()}
    for file in CORPORA[name].files:
        size, digest, *address = lines.pop(file.name)
        assert (size, digest) == (f"{file.bytes:,} bytes", f"sha256 {file.sha256}")
        if file.packed_sha256:
            assert address == []
            size, digest, *address = lines.pop(f"{file.name}.gz")
            assert (size, digest) == (f"{file.packed_bytes:,} bytes", f"sha256 {file.packed_sha256}")
        origin = CORPORA[name].origin
        [said] = address
        assert said.endswith(origin.address if origin else file.address)
    assert lines == {} and str(home / name) in shown.err and "--from DIR" in shown.err
    assert not home.exists()


def test_the_list_of_corpora_says_where_they_go(home: Path, cli: Cli) -> None:
    for command in ["fetch"], ["fetch", "--list"]:
        shown = cli(*command)
        assert [line.split("  ")[0] for line in shown.out.splitlines()] == list(CORPORA)
        assert str(home) in shown.err and "ANAPHORA_DATA" in shown.err and not home.exists()
    listed = cli("fetch", "--json").json
    assert {name: one["bytes"] for name, one in listed.items()} == {name: one.bytes for name, one in CORPORA.items()}
    [(name, one)] = cli("fetch", "multi30k", "--json").json.items()
    assert name == "multi30k" and all(len(file["sha256"]) == 64 for file in one["files"])
    assert "Did you mean 'multi30k'?" in cli.refuse("fetch", "multi3k", "--list")
