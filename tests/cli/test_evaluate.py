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


def test_two_runs_are_compared_in_groups_and_sentence_by_sentence(trained_copy: Trained, cli: Cli) -> None:
    # each gets some words right that the other does not
    both = [str(trained_copy("translator-of-words", f"training.seed={seed}")) for seed in (1, 2)]
    sentences, options, alone = cli.folder / "sentences.jsonl", ["--beam", "1", "--details"], []
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


def test_info_shows_the_figures_that_are_kept_and_what_was_set_or_why_that_cannot_be_read(run: Path, cli: Cli) -> None:
    cli("evaluate", run, "--no-keep")
    assert not (run / "evaluations.jsonl").exists()
    for _ in range(2):
        cli("evaluate", run)
    shown, written = cli("info", run).out, run / "experiment.toml"
    assert shown.count(": BLEU ") == 1  # the newest alone
    assert "translate, format 2" in shown and "all whole" in shown and re.search(r"test \([0-9a-f]{8}\), step-", shown)
    assert cli("info", run, "--json").json["evaluations"][0]["metrics"][0]["name"] == "BLEU"
    text = written.read_text()
    assert f"decoder.size={tomllib.loads(text)['decoder']['size']}\n" in shown
    assert "decoder.layers" not in shown and " data." not in shown
    written.write_text(text.replace("[decoder]\n", '[decoder]\ncolour = "red"\n'))
    assert f"{run}: decoder.colour" in cli("info", run).out


def test_data_that_has_moved_is_missed_by_the_run_and_another_text_is_asked_for(
    translator: ExperimentBase, toy_pairs: Path, cli: Cli
) -> None:
    run = cli.folder / "run"
    train(translator, run)
    moved = toy_pairs.rename(cli.folder / "moved")
    said = cli("evaluate", run, code=2).err
    assert f"{run} was begun with the data in {toy_pairs}, but that is no longer there" in said
    assert "with --source and --reference" in said
    pair = [f"--source={moved / 'test.en'}", f"--reference={moved / 'test.fr'}"]
    cli("evaluate", run, *pair)


def test_what_a_model_has_no_use_for_is_refused_before_any_work(
    run: Path, trained: Trained, toy_book: Path, cli: Cli
) -> None:
    book, words = trained("language-model"), "this translator has smaller tokens and leaves no word unknown: leave out"
    for command, said in (
        ([run, "--known-words"], f"{words} --known-words."),
        ([run, "--dynamic", "0.1"], "has no use for a neural cache"),
        ([book, "--text", toy_book, "--details"], "is a language model"),
        ([book, "--text", toy_book, "--output", cli.folder / "sentences"], "is a language model"),
        ([book, book, "--text", toy_book], "are for one language model: evaluate it alone"),
    ):
        assert said in cli.refuse("evaluate", *command)


def test_data_and_text_are_the_same_to_evaluate(run: Path, trained: Trained, toy_book: Path, cli: Cli) -> None:
    lines, end = [("a man walks .", "ein mann geht ."), ("it rains .", "es regnet .")], ["--json", "--no-keep"]
    sides = [cli.write(f"new.{n}", "".join(f"{pair[n]}\n" for pair in lines)) for n in (0, 1)]
    pairs = cli.write("new.tsv", "".join("\t".join(pair) + "\n" for pair in lines))
    files = ["--source", sides[0], "--reference", sides[1]]
    whole = cli("evaluate", run, *files, *end).split
    assert [cli("evaluate", run, option, pairs, *end).split for option in ("--data", "--text")] == [whole] * 2
    assert "both give a text" in cli.refuse("evaluate", run, *files, "--data", pairs)
    book = trained("language-model")
    assert cli("evaluate", book, "--data", toy_book, *end).out == cli("evaluate", book, "--text", toy_book, *end).out


def test_a_network_remembers_or_learns_from_the_text_where_that_is_asked_for(
    trained_copy: Trained, toy_book: Path, cli: Cli
) -> None:
    run, text = trained_copy("language-model"), cli.write("text", "".join(toy_book.read_text().splitlines(True)[:10]))
    command, found = ["evaluate", str(run), "--text", str(text)], {}
    weights = [path.read_bytes() for path in sorted(run.rglob("*.safetensors"))]
    for options in "", "--neural-cache tokens=50,theta=0.5,weight=0.1", "--dynamic 0.1", "--dynamic rule=rms,epsilon=2":
        figures = cli(*command, *options.split(), "--json").split
        found[figures["adaptation"]] = figures
    plain = found.pop("")
    assert [*found][:2] == [
        "neural cache of 50 tokens, theta 0.5, weight 0.1000",
        "dynamic evaluation by 20 predictions, rate 0.1",
    ]
    assert [*found][2].endswith(", scaled by gradients in training, epsilon 2")
    assert all(one["perplexity"] < plain["perplexity"] for one in found.values())
    assert all(one["sentence_perplexity"] == plain["sentence_perplexity"] for one in found.values())
    assert [path.read_bytes() for path in sorted(run.rglob("*.safetensors"))] == weights
    assert "epsilon 2" in cli("info", run).out
    for options, said in {
        "--dynamic 0.1 --neural-cache 9": "leave out --neural-cache, or --dynamic",
        "--dynamic learning_rat=0.1": "Did you mean 'learning_rate'?",
        "--dynamic learning_rate=0.1,epsilon=2": "leave it out, or set rule",
        "--neural-cache many": "tokens should be a whole number, but is 'many'",
    }.items():
        assert said in cli.refuse(*command, *options.split())
