"""Commands with results have --json, which prints them as JSON and nothing else on standard output."""

import shutil
from pathlib import Path

from anaphora import recipes
from anaphora.data.catalogue import CORPORA

from ..conftest import Trained
from .conftest import Cli


def test_recipes_and_corpora_are_listed_as_json(cli: Cli) -> None:
    assert list(cli("recipes", "--json").json) == ["auto", *recipes.names()]
    listed = cli("fetch", "--json").json
    assert {name: one["bytes"] for name, one in listed.items()} == {name: one.bytes for name, one in CORPORA.items()}
    [(name, one)] = cli("fetch", "multi30k", "--json").json.items()
    assert name == "multi30k" and all(len(file["sha256"]) == 64 for file in one["files"])
    assert "is TOML" in cli.refuse("recipes", "character-lm", "--json")


def test_a_training_and_an_average_print_their_figures_as_json(
    cli: Cli, tiny_language_model: Path, toy_book: Path
) -> None:
    run = cli.folder / "run"
    command = ("train", tiny_language_model, "--data", toy_book, "--run", run, "--set", "training.keep=2", "--json")
    trained = cli(*command, "--set", "training.validate_every=4").json
    assert trained["run"] == str(run) and trained["reason"] == "epochs"
    assert trained["metrics"] == cli("info", run, "--json").json["validation"]
    averaged = cli("average", run, "--last", "2", "--json").json
    assert len(averaged["updates"]) == 2 and averaged["metrics"].keys() == averaged["best_metrics"].keys()


def test_generated_texts_are_printed_as_json(cli: Cli, trained: Trained) -> None:
    run, prompts = trained("counts"), cli.folder / "prompts"
    prompts.write_text("line 3 of\nthe little\n")
    of_prompt = ("generate", run, "--prompt", "line 3 of", "--greedy")
    written = cli(*of_prompt, "--json").json
    assert written["text"] == cli(*of_prompt).out.rstrip("\n") and written["unknown"] == 0
    several = cli("generate", run, "--prompts", prompts, "--greedy", "--json").objects
    assert [one["text"] for one in several] == cli("generate", run, "--prompts", prompts, "--greedy").lines


def test_scores_of_alignments_are_printed_as_json_and_alignments_to_a_file_alone(cli: Cli) -> None:
    aligner = Path(__file__).resolve().parents[1] / "runs" / "kinds-2" / "aligner"
    run, pairs, gold = shutil.copytree(aligner, cli.folder / "run"), cli.folder / "pairs.tsv", cli.folder / "gold"
    pairs.write_text("a book\tun livre\n")
    gold.write_text("0-0 1-1\n")
    command = ("align", run, pairs, "--gold", gold, "--json")
    assert cli(*command).json == {"pairs": 1, "error_rate": 0.0, "precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert cli(*command, "--output", cli.folder / "links").json["pairs"] == 1
    assert (cli.folder / "links").read_text() == "0-0 1-1\n"
