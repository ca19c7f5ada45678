"""Texts that nobody expects, before every kind of language model: all of them have finite figures."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ..conftest import Trained
from .conftest import Cli

WORDS = "text={tokenizer='word',segmentation='whitespace'}"
SPELT = "embedding={kind='character-cnn',character_size=4,max_kernel=2,filters=4}"
KINDS = {
    "counted": ("counts",),
    "window": ("feed-forward-language-model",),
    "recurrent": ("language-model", WORDS, "training.epochs=1"),
    "spelt": ("language-model", WORDS, "training.epochs=1", SPELT),
}

TEXTS = {
    "no end of the last line": "the man walks\nthe woman",
    "one word": "man",
    "another script": "ὁ ἄνθρωπος περιπατεῖ\nчеловек идёт\n人\n",
    "an endless word": f"the {'x' * 10_000} walks\n{'ж' * 10_000}\n",
    "blank lines": "\n \n\n",
}


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", TEXTS)
def test_every_text_has_finite_figures_under_every_kind_of_model(
    kind: str, text: str, trained: Trained, tmp_path: Path, cli: Cli
) -> None:
    run, file = trained(*KINDS[kind]), tmp_path / "odd.txt"
    file.write_bytes(TEXTS[text].encode())
    lines = TEXTS[text].splitlines()
    for command in (["evaluate", str(run), "--text", str(file), "--no-keep"], ["score", str(run), str(file)]):
        found = list(figures_in(cli(*command, "--json").out))
        assert all(math.isfinite(value) for value in found if not isinstance(value, str))
        assert len(found) > len(lines)
