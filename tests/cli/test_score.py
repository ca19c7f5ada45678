"""``score``, ``rescore`` and ``generate``, and the figures of hopeless models and of texts that nobody expects."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from anaphora.tasks.runs import load

from ..conftest import Trained
from .conftest import Cli


@pytest.fixture
def counted(trained: Trained) -> Path:
    return trained("counts")


def test_a_count_model_is_made_scored_resumed_and_described(count_model: str, toy_book: Path, cli: Cli) -> None:
    counted, scores = cli.folder / "counted", cli.folder / "scores"
    shown = cli("train", cli.write("counted.toml", count_model), "--data", toy_book, "--run", counted)
    assert shown.out == f"{counted}\n"
    assert "discounts" in shown.err  # forty lines are too few for them
    text = cli.write("text", "line 3 of the little book\n\nline 3 of the zebra\n")
    shown = cli("score", counted, text, "--output", scores)
    assert shown.out == "" and "3 lines, log10 p" in shown.err and "1 unknown" in shown.err
    assert cli("score", counted, text).out == scores.read_text()
    objects = cli("score", counted, text, "--json").objects
    assert [f"{one['log10']:.6f}" for one in objects] == scores.read_text().splitlines()
    assert [one["tokens"] for one in objects] == [7, 1, 6] and objects[2]["unknown"] == 1
    weights = counted / "checkpoints" / "step-1" / "model.safetensors"
    before = weights.read_bytes()
    cli("train", "--resume", "--run", counted)
    assert weights.read_bytes() == before and "all whole" in cli("info", counted).out
    again = ("train", "--from", counted, "--data", toy_book, "--run", cli.folder / "second")
    assert "count the old text and the new one together" in cli.refuse(*again)


def test_a_text_from_standard_input_is_evaluated_as_one_from_a_file(counted: Path, toy_book: Path, cli: Cli) -> None:
    shown = []
    for text in str(toy_book), "-":
        cli.pipe(toy_book.read_bytes())
        shown.append(cli("evaluate", counted, "--text", text, "--no-keep", "--json").json["splits"])
    assert shown[1] == {"standard input": shown[0][toy_book.name]}


def test_lines_are_scored_as_running_text_where_a_network_remembers_or_learns_from_it(
    trained: Trained, toy_book: Path, cli: Cli
) -> None:
    run, text = trained("language-model"), cli.folder / "text"
    text.write_text("".join(toy_book.read_text().splitlines(keepends=True)[:6]) + "\n")
    for option in ["--neural-cache", "100"], ["--dynamic", "rule=rms,learning_rate=0.05"]:
        shown = cli("score", run, text, *option, "--json")
        lines = shown.objects
        figures = cli("evaluate", run, "--text", text, *option, "--no-keep", "--json").split
        assert sum(one["log10"] for one in lines) * math.log(10) == pytest.approx(-figures["nats"])
        assert sum(one["tokens"] for one in lines) == figures["tokens"] and len(lines) == 7
        assert f"; {figures['adaptation']}." in shown.err


def test_counts_cannot_adapt_whether_they_lie_in_a_run_or_in_a_file(counted: Path, toy_book: Path, cli: Cli) -> None:
    arpa = cli.folder / "counted.arpa"
    said = cli("export", counted, "--to", "arpa", "--output", arpa).err
    assert "text.segmentation" not in said  # its tokens stand between spaces
    for model in counted, arpa:
        assert "need one network" in cli.refuse("score", model, toy_book, "--neural-cache", "9")


def test_who_exports_words_is_told_how_they_were_cut(trained: Trained, cli: Cli) -> None:
    run = trained("counts", "text.segmentation=moses")
    said = cli("export", run, "--output", cli.folder / "words.arpa").err
    assert "Its words are segmented by text.segmentation = 'moses'" in said


def test_pairs_are_scored_by_a_translator(trained: Trained, cli: Cli) -> None:
    run, pairs = trained("translator"), cli.write("pairs.tsv", "adf\tfda\nbeg\tgeb\n")
    first, second = map(float, cli("score", run, pairs).out.split())
    assert first < 0 and second < 0 and not math.isclose(first, second)
    assert "are for language models" in cli.refuse("score", run, pairs, "--dynamic", "0.1")
    pairs.write_text("adf\tfda\nbeg\n")
    assert f"{pairs}:2 should be a source and its translation" in cli("score", run, pairs, code=2).err


def test_a_list_is_rescored_in_the_base_of_its_format_and_a_precision(cli: Cli) -> None:
    run = Path(__file__).parents[1] / "runs" / "kinds-2" / "language-model"
    for precision in "fp32", "int8":
        [score] = load(run, precision=precision).score_lines(["the man walks"])
        for kind, before, after, base in (
            ("moses", "0 ||| the man walks ||| tm= -1 ||| -1", f"LM0= {score.nats:.6f} ||| -1\n", "e"),
            ("srilm", "-5 -6 3 the man walks", f"-5 {score.log10:.6f} 3 the man walks\n", "10"),
        ):
            asked = ("--format", kind, "--precision", precision)
            shown = cli("rescore", run, cli.write("nbest", f"{before}\n"), *asked)
            assert shown.out.endswith(after) and f"base {base}." in shown.err


def test_unknown_units_of_a_list_or_of_a_prompt_are_told(counted: Path, cli: Cli) -> None:
    nbest = cli.write("nbest", "0 ||| line 3 zebra ||| tm= -1 ||| -1\n0 ||| zebra zebra ||| tm= -1 ||| -1\n")
    assert "2 hypotheses, 3 unknown tokens scored as <unk>; the new scores are" in cli("rescore", counted, nbest).err
    for prompt, said in ("line zebra 3 zebra", "Unknown tokens of the prompt, read as <unk>: 2.\n"), ("line 3", ""):
        assert cli("generate", counted, "--prompt", prompt, "--greedy").err == said


def test_a_format_or_a_name_that_a_list_cannot_have_is_refused(counted: Path, cli: Cli) -> None:
    (cli.folder / "nbest").write_text("0 ||| line ||| LM0= 1 ||| 1\n")
    for options, said in (
        ("--format moze", "Did you mean 'moses'?"),
        ("--format kaldi --name LM0", "the scores of kaldi have no names"),
    ):
        assert said in cli("rescore", counted, cli.folder / "nbest", *options.split(), code=2).err


def test_generated_texts_are_printed_as_json(cli: Cli, trained: Trained) -> None:
    run, prompts = trained("counts"), cli.folder / "prompts"
    prompts.write_text("line 3 of\nthe little\n")
    of_prompt = ("generate", run, "--prompt", "line 3 of", "--greedy")
    written = cli(*of_prompt, "--json").json
    assert written["text"] == cli(*of_prompt).out.rstrip("\n") and written["unknown"] == 0
    several = cli("generate", run, "--prompts", prompts, "--greedy", "--json").objects
    assert [one["text"] for one in several] == cli("generate", run, "--prompts", prompts, "--greedy").lines


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

TEXTS = ("man", "\n \n\n", f"the {'x' * 10_000} walks\n{'ж' * 10_000}\nὁ ἄνθρωπος\n人\nthe woman")


def figures_in(value: Any) -> list[Any]:
    """Every value in JSON that is no object."""
    return [inner for one in value.values() for inner in figures_in(one)] if isinstance(value, dict) else [value]


@pytest.mark.parametrize("kind", KINDS)
def test_every_text_has_finite_figures_under_every_kind_of_model(kind: str, trained: Trained, cli: Cli) -> None:
    run, file = trained(*KINDS[kind]), cli.folder / "odd.txt"
    for text in TEXTS:
        file.write_bytes(text.encode())
        for command in (["evaluate", str(run), "--text", str(file), "--no-keep"], ["score", str(run), str(file)]):
            found = [figure for line in cli(*command, "--json").objects for figure in figures_in(line)]
            assert all(math.isfinite(value) for value in found if not isinstance(value, str))
            assert len(found) > len(text.splitlines())
