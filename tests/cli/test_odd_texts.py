"""Texts that nobody expects, before every kind of language model: all of them have finite figures."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anaphora.cli.app import main

HEAD = """
task = "language-model"
{kind}
[text]
tokenizer = "word"
segmentation = "whitespace"
{tables}
"""

TRAINING = """
[data]
steps = 10
[training]
batch_tokens = 40
epochs = 1
"""

RECURRENCE = """
[recurrence]
size = 8
"""

VECTORS = """
[embedding]
size = 8
"""

WINDOW = """
[network]
kind = "feed-forward"
words = 2
size = 8
"""

SPELT = """
[embedding]
kind = "character-cnn"
character_size = 4
max_kernel = 2
filters = 4
"""

KINDS = {
    "counted": ('model = "ngram"', "[ngram]\norder = 3"),
    "window": ('model = "feed-forward"', VECTORS + WINDOW + TRAINING),
    "recurrent": ("", VECTORS + RECURRENCE + TRAINING),
    "spelt": ("", SPELT + RECURRENCE + TRAINING),
}

TEXTS = {
    "no end of the last line": "the man walks\nthe woman",
    "one word": "man",
    "another script": "ὁ ἄνθρωπος περιπατεῖ\nчеловек идёт\n人\n",
    "an endless word": f"the {'x' * 10_000} walks\n{'ж' * 10_000}\n",
    "blank lines": "\n \n\n",
}


@pytest.fixture(scope="module", params=KINDS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of every kind, trained on a text whose last line has no end."""
    folder, (kind, tables) = tmp_path_factory.mktemp("odd"), KINDS[request.param]
    (folder / "tiny.toml").write_text(HEAD.format(kind=kind, tables=tables))
    people = ("man", "woman", "dog", "cat")
    lines = [f"the {one} sees the {other} and walks" for one in people for other in people]
    (folder / "text.txt").write_text("\n".join(lines * 2))
    arguments = ["train", folder / "tiny.toml", "--data", folder / "text.txt", "--run", folder / "run"]
    assert main([str(part) for part in arguments]) == 0
    return folder / "run"


def figures_in(printed: str) -> Iterator[Any]:
    """Every value in lines of JSON that is no object; what is no JSON fails."""
    for line in printed.splitlines():
        waiting = [json.loads(line, parse_constant=pytest.fail)]
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict):
                waiting.extend(value.values())
            else:
                yield value


@pytest.mark.parametrize("text", TEXTS)
def test_every_text_has_finite_figures_under_every_kind_of_model(
    run: Path, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "odd.txt"
    file.write_bytes(TEXTS[text].encode())
    lines = TEXTS[text].splitlines()
    for command in (["evaluate", str(run), "--text", str(file)], ["score", str(run), str(file)]):
        capsys.readouterr()
        assert main([*command, "--json"]) == 0
        found = list(figures_in(capsys.readouterr().out))
        assert all(math.isfinite(value) for value in found if not isinstance(value, str))
        assert len(found) > len(lines)
