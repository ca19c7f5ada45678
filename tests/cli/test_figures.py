"""Figures of hopeless models and of texts that nobody expects: what is written as JSON is JSON all the same."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from ..conftest import Trained
from .conftest import Cli

HOPELESS = 'initializer={kind="uniform",range=10000.0}', "training.optimizer.learning_rate=1e-6"


def test_a_perplexity_that_no_float_holds_is_null_in_json_and_not_finite_to_people(
    toy_book: Path, trained_copy: Trained, cli: Cli
) -> None:
    run, book = trained_copy("language-model", *HOPELESS), toy_book
    assert {line["perplexity"] for line in cli("score", run, book, "--json").objects} == {None}
    figures = cli("evaluate", run, "--text", book, "--json").split
    assert figures["perplexity"] is figures["word_perplexity"] is None and figures["nats"] > 0
    kept = json.loads((run / "evaluations.jsonl").read_text(), parse_constant=pytest.fail)
    assert None in [figure["value"] for figure in kept["metrics"]]
    assert "| perplexity | not finite |" in (run / "card.md").read_text()
    assert "perplexity not finite (one pass" in cli("info", run).out
    assert cli("info", run, "--json").json["evaluations"] == [kept]


WORDS = "text={tokenizer='word',segmentation='whitespace'}"
SPELT = "embedding={kind='character-cnn',character_size=4,max_kernel=2,filters=4}"
KINDS = {
    "counted": ("counts",),
    "window": ("feed-forward-language-model",),
    "recurrent": ("language-model", WORDS, "training.epochs=1"),
    "spelt": ("language-model", WORDS, "training.epochs=1", SPELT),
}

TEXTS = {
    "one word": "man",
    "blank lines": "\n \n\n",
    "endless words, other scripts, no end": f"the {'x' * 10_000} walks\n{'ж' * 10_000}\nὁ ἄνθρωπος\n人\nthe woman",
}


def figures_in(value: Any) -> list[Any]:
    """Every value in JSON that is no object."""
    return [inner for one in value.values() for inner in figures_in(one)] if isinstance(value, dict) else [value]


@pytest.mark.parametrize("kind", KINDS)
def test_every_text_has_finite_figures_under_every_kind_of_model(kind: str, trained: Trained, cli: Cli) -> None:
    run, file = trained(*KINDS[kind]), cli.folder / "odd.txt"
    for text in TEXTS.values():
        file.write_bytes(text.encode())
        for command in (["evaluate", str(run), "--text", str(file), "--no-keep"], ["score", str(run), str(file)]):
            found = [figure for line in cli(*command, "--json").objects for figure in figures_in(line)]
            assert all(math.isfinite(value) for value in found if not isinstance(value, str))
            assert len(found) > len(text.splitlines())
