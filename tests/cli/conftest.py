"""One way to run a command line, for the tests of all verbs."""

import io
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from anaphora.cli.app import main


class Shown(NamedTuple):
    """Standard output and standard error of a command."""

    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def said(self) -> str:
        """Standard error on one line."""
        return " ".join(self.err.split())

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def objects(self) -> list[Any]:
        """Lines of JSON; what is no JSON fails."""
        return [json.loads(line, parse_constant=pytest.fail) for line in self.lines]

    @property
    def split(self) -> dict[str, Any]:
        """The figures of the only split of an evaluation."""
        [figures] = self.json["splits"].values()
        return dict(figures)


class Cli:
    """``cli("translate", run, code=2)`` runs a command line in this process; ``folder`` is for its files."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self._capsys, self._monkeypatch, self.folder = capsys, monkeypatch, folder

    def enter(self, folder: Path | None = None) -> None:
        """Stay in a folder until the test ends, in its own if none is named."""
        self._monkeypatch.chdir(folder or self.folder)

    def pipe(self, content: bytes) -> None:
        """Put this into standard input."""
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))

    def write(self, name: str, text: str) -> Path:
        """Return a file of the folder that has a text, with its line ends as they are."""
        path = self.folder / name
        path.write_bytes(text.encode())
        return path

    def __call__(self, *words: object, code: int | None = 0) -> Shown:
        """Return what it printed; ``code`` is its exit code, None for any."""
        self._capsys.readouterr()
        found = main([str(word) for word in words])
        shown = Shown(*self._capsys.readouterr())
        assert code in (found, None), shown.err
        return shown

    def refuse(self, *words: object) -> str:
        """The one line that a refused command says, which prints nothing."""
        shown = self(*words, code=2)
        complaint = shown.err.splitlines()[-1]
        assert not shown.out and "Traceback" not in shown.err and complaint.startswith("anaphora: ")
        return complaint


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    return Cli(capsys, monkeypatch, tmp_path)
