"""Models so bad that no float holds their perplexity: what is written as JSON is JSON all the same."""

import json
from pathlib import Path
from typing import Any

import pytest

from anaphora.cli.app import main

HOPELESS = ["--set", 'initialise={kind="uniform",range=10000.0}', "--set", "training.optimizer.learning_rate=1e-6"]


def objects(printed: str) -> list[dict[str, Any]]:
    """The objects in lines of JSON; what is no JSON fails."""
    return [json.loads(line, parse_constant=pytest.fail) for line in printed.splitlines()]


def test_a_perplexity_that_no_float_holds_is_null_in_json_and_not_finite_to_people(
    toy_book: Path, tiny_language_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, book = str(tmp_path / "run"), str(toy_book)
    assert main(["train", str(tiny_language_model), "--data", book, "--run", run, *HOPELESS]) == 0
    capsys.readouterr()
    assert main(["score", run, book, "--json"]) == 0
    assert {line["perplexity"] for line in objects(capsys.readouterr().out)} == {None}
    assert main(["evaluate", run, "--text", book, "--json"]) == 0
    [answer] = objects(capsys.readouterr().out)
    [figures] = answer["parts"].values()
    assert figures["perplexity"] is figures["word_perplexity"] is None and figures["nats"] > 0
    [kept] = objects((tmp_path / "run" / "evaluations.jsonl").read_text())
    assert None in [figure["value"] for figure in kept["figures"]]
    assert "| perplexity | not finite |" in (tmp_path / "run" / "card.md").read_text()
    assert main(["info", run]) == 0
    assert "perplexity not finite (one pass" in capsys.readouterr().out
    assert main(["info", run, "--json"]) == 0
    assert [found["evaluations"] for found in objects(capsys.readouterr().out)] == [[kept]]


def test_a_translation_that_a_model_finds_all_but_impossible_has_no_perplexity(
    toy_pairs: Path, tiny_translator: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, pairs = str(tmp_path / "run"), tmp_path / "pairs.tsv"
    data = ["--data", str(toy_pairs), "--target", "fr"]
    assert main(["train", str(tiny_translator), *data, "--run", run, *HOPELESS]) == 0
    pairs.write_text("adf\tfda\n")
    capsys.readouterr()
    assert main(["score", run, str(pairs), "--json"]) == 0
    [line] = objects(capsys.readouterr().out)
    assert line["perplexity"] is None and line["log10"] < -308 * line["tokens"]
