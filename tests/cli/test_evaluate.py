import json
import re
import tomllib
from pathlib import Path

import pytest

from anaphora.experiment.run_training import train
from anaphora.tasks.base import ExperimentBase

from ..conftest import Trained
from .conftest import Cli


@pytest.fixture
def run(trained_copy: Trained) -> Path:
    """A translator."""
    return trained_copy("translator", "training.epochs=1")


@pytest.fixture
def both(trained_copy: Trained) -> list[str]:
    """Two translators that get some words right, each others."""
    return [str(trained_copy("translator-of-words", f"training.seed={seed}")) for seed in (1, 2)]


def test_two_runs_are_compared_in_groups_and_sentence_by_sentence(both: list[str], tmp_path: Path, cli: Cli) -> None:
    sentences, options, alone = tmp_path / "sentences.jsonl", ["--beam", "1", "--details"], []
    for run in both:
        alone.append(cli("evaluate", run, *options, "--json").json)
    assert alone[0]["splits"] != alone[1]["splits"]
    answer = cli("evaluate", *both, *options, "--output", sentences, "--json").json
    compared = answer.pop("comparison")
    assert answer == alone[0] | {"second": alone[1]}
    for one, name in zip(compared["test"], ("bleu", "chrf"), strict=True):
        figures = [of["splits"]["test"]["raw"][name]["value"] for of in alone]
        assert [one["first"], one["second"]] == pytest.approx(figures) and 0 < figures[0] != figures[1] > 0
    assert answer["splits"]["test"]["groups"]["source 0-10 words"]["sentences"] == 3
    lines = [json.loads(line) for line in sentences.read_text().splitlines()]
    assert [line["run"] for line in lines] == [both[0]] * 3 + [both[1]] * 3
    assert [line["output"] for line in lines[:3]] != [line["output"] for line in lines[3:]]
    shown = cli("evaluate", *both, *options).out
    assert f"test: {both[0]} against {both[1]}" in shown and "words new to training" in shown
    assert "paired bootstrap" in shown


def test_figures_are_kept_and_shown_by_info_unless_they_are_not_wanted(run: Path, cli: Cli) -> None:
    cli("evaluate", run, "--no-keep")
    assert not (run / "evaluations.jsonl").exists()
    for _ in range(2):
        cli("evaluate", run)
    shown = cli("info", run).out
    assert shown.count(": BLEU ") == 1  # the newest alone
    assert "translate, format 2" in shown and "all whole" in shown and re.search(r"test \([0-9a-f]{8}\), step-", shown)
    assert cli("info", run, "--json").json["evaluations"][0]["metrics"][0]["name"] == "BLEU"


def test_info_says_what_a_run_was_begun_with_beyond_the_defaults_or_why_that_cannot_be_read(
    run: Path, cli: Cli
) -> None:
    written = run / "experiment.toml"
    text = written.read_text()
    size = tomllib.loads(text)["decoder"]["size"]
    shown = cli("info", run).out
    assert f"decoder.size={size}\n" in shown and "decoder.layers" not in shown and " data." not in shown
    written.write_text(text.replace("[decoder]\n", '[decoder]\ncolour = "red"\n'))
    assert f"{run}: decoder.colour" in cli("info", run).out


def test_data_that_has_moved_is_missed_by_the_run_and_another_text_is_asked_for(
    translator: ExperimentBase, toy_pairs: Path, tmp_path: Path, cli: Cli
) -> None:
    run = tmp_path / "run"
    train(translator, run)
    moved = toy_pairs.rename(tmp_path / "moved")
    said = cli("evaluate", run, code=2).err
    assert f"{run} was begun with the data in {toy_pairs}, but that is no longer there" in said
    assert "with --source and --reference" in said
    pair = [f"--source={moved / 'test.en'}", f"--reference={moved / 'test.fr'}"]
    cli("evaluate", run, *pair)


def test_what_a_translator_has_no_use_for_is_refused(run: Path, cli: Cli) -> None:
    for options, said in (
        (["--known-words"], "this translator has smaller tokens and leaves no word unknown: leave out --known-words."),
        (["--dynamic", "0.1"], "has no use for a neural cache"),
    ):
        assert said in cli.refuse("evaluate", run, *options)


def test_details_and_sentences_of_a_language_model_are_refused_before_any_work(
    trained: Trained, toy_book: Path, tmp_path: Path, cli: Cli
) -> None:
    run = trained("language-model")
    for options in (["--details"], ["--output", str(tmp_path / "sentences")]):
        assert "is a language model" in cli.refuse("evaluate", run, "--text", toy_book, *options)
    cli("evaluate", run, run, "--text", toy_book, code=2)


def test_data_and_text_are_the_same_to_evaluate(
    run: Path, trained: Trained, toy_book: Path, tmp_path: Path, cli: Cli
) -> None:
    sides = [tmp_path / "new.en", tmp_path / "new.de"]
    for side, lines in zip(sides, ("a man walks .\nit rains .\n", "ein mann geht .\nes regnet .\n"), strict=True):
        side.write_text(lines)
    pairs, end = tmp_path / "new.tsv", ["--json", "--no-keep"]
    pairs.write_text("a man walks .\tein mann geht .\nit rains .\tes regnet .\n")
    whole = cli("evaluate", run, "--source", sides[0], "--reference", sides[1], *end).split
    assert [cli("evaluate", run, option, pairs, *end).split for option in ("--data", "--text")] == [whole] * 2
    both = ["--source", sides[0], "--reference", sides[1], "--data", pairs]
    assert "both give a text" in cli.refuse("evaluate", run, *both)
    book = trained("language-model")
    assert cli("evaluate", book, "--data", toy_book, *end).out == cli("evaluate", book, "--text", toy_book, *end).out


def test_a_network_remembers_or_learns_from_the_text_where_that_is_asked_for(
    trained_copy: Trained, toy_book: Path, tmp_path: Path, cli: Cli
) -> None:
    run, text = trained_copy("language-model"), tmp_path / "text"
    text.write_text("".join(toy_book.read_text().splitlines(keepends=True)[:10]))
    command = ["evaluate", str(run), "--text", str(text)]
    weights = [path.read_bytes() for path in sorted(run.rglob("*.safetensors"))]
    found = {}
    for options in (
        [],
        ["--neural-cache", "tokens=50,theta=0.5,weight=0.1"],
        ["--dynamic", "0.1"],
        ["--dynamic", "rule=rms,learning_rate=0.05,epsilon=2"],
    ):
        figures = cli(*command, *options, "--json").split
        found[figures["adaptation"]] = figures
    plain = found.pop("")
    assert "neural cache of 50 tokens, theta 0.5, weight 0.1000" in found and len(found) == 3
    assert "dynamic evaluation by 20 predictions, rate 0.1" in found
    assert "dynamic evaluation by 20 predictions, rate 0.05, scaled by gradients in training, epsilon 2" in found
    assert all(one["perplexity"] < plain["perplexity"] for one in found.values())
    assert all(one["sentence_perplexity"] == plain["sentence_perplexity"] for one in found.values())
    assert [path.read_bytes() for path in sorted(run.rglob("*.safetensors"))] == weights
    assert "rate 0.1" in cli("info", run).out
    for options, said in (
        (["--dynamic", "0.1", "--neural-cache", "9"], "leave out --neural-cache, or --dynamic"),
        (["--dynamic", "learning_rat=0.1"], "Did you mean 'learning_rate'?"),
        (["--dynamic", "learning_rate=0.1,epsilon=2"], "leave it out, or set rule"),
        (["--neural-cache", "many"], "tokens should be a whole number, but is 'many'"),
    ):
        assert said in cli.refuse(*command, *options)
