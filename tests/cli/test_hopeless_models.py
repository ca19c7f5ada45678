"""Models so bad that no float holds their perplexity: what is written as JSON is JSON all the same."""

import json
from pathlib import Path
from typing import Any

import pytest

from ..conftest import Trained
from .conftest import Cli

HOPELESS = 'initializer={kind="uniform",range=10000.0}', "training.optimizer.learning_rate=1e-6"


def objects(printed: str) -> list[dict[str, Any]]:
    """The objects in lines of JSON; what is no JSON fails."""
    return [json.loads(line, parse_constant=pytest.fail) for line in printed.splitlines()]


def test_a_perplexity_that_no_float_holds_is_null_in_json_and_not_finite_to_people(
    toy_book: Path, trained_copy: Trained, cli: Cli
) -> None:
    folder, book = trained_copy("language-model", *HOPELESS), str(toy_book)
    run = str(folder)
    assert {line["perplexity"] for line in objects(cli("score", run, book, "--json").out)} == {None}
    [answer] = objects(cli("evaluate", run, "--text", book, "--json").out)
    [figures] = answer["splits"].values()
    assert figures["perplexity"] is figures["word_perplexity"] is None and figures["nats"] > 0
    [kept] = objects((folder / "evaluations.jsonl").read_text())
    assert None in [figure["value"] for figure in kept["metrics"]]
    assert "| perplexity | not finite |" in (folder / "card.md").read_text()
    assert "perplexity not finite (one pass" in cli("info", run).out
    assert [found["evaluations"] for found in objects(cli("info", run, "--json").out)] == [[kept]]


def test_a_translation_that_a_model_finds_all_but_impossible_has_no_perplexity(
    trained: Trained, tmp_path: Path, cli: Cli
) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("adf\tfda\n")
    [line] = objects(cli("score", trained("translator", *HOPELESS), pairs, "--json").out)
    assert line["perplexity"] is None and line["log10"] < -308 * line["tokens"]
