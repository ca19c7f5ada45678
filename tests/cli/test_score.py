"""``score`` and ``rescore`` from the command line, over a count model and a translator."""

import io
import json
import math
import sys
from pathlib import Path

import pytest

from anaphora.tasks.runs import load

from ..conftest import Trained
from .conftest import Cli


@pytest.fixture
def counted(trained: Trained) -> Path:
    return trained("counts")


def test_a_count_model_is_made_scored_resumed_and_described(
    count_model: str, toy_book: Path, tmp_path: Path, cli: Cli
) -> None:
    counted, text, scores = tmp_path / "counted", tmp_path / "text", tmp_path / "scores"
    (tmp_path / "counted.toml").write_text(count_model)
    shown = cli("train", tmp_path / "counted.toml", "--data", toy_book, "--run", counted)
    assert shown.out == f"{counted}\n"
    assert "discounts" in shown.err  # forty lines are too few for them
    text.write_text("line 3 of the little book\n\nline 3 of the zebra\n")
    shown = cli("score", counted, text, "--output", scores)
    assert shown.out == "" and "3 lines, log10 p" in shown.err and "1 unknown" in shown.err
    assert cli("score", counted, text).out == scores.read_text()
    objects = cli("score", counted, text, "--json").objects
    assert [f"{one['log10']:.6f}" for one in objects] == scores.read_text().splitlines()
    assert [one["tokens"] for one in objects] == [7, 1, 6] and objects[2]["unknown"] == 1

    weights = (counted / "checkpoints" / "step-1" / "model.safetensors").read_bytes()
    cli("train", "--resume", "--run", counted)
    assert (counted / "checkpoints" / "step-1" / "model.safetensors").read_bytes() == weights
    assert "all whole" in cli("info", counted).out
    assert "count the old text and the new one together" in cli.refuse(
        "train", "--from", counted, "--data", toy_book, "--run", tmp_path / "second"
    )


def test_a_text_from_standard_input_is_evaluated_as_one_from_a_file(
    counted: Path, toy_book: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = []
    for text in str(toy_book), "-":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(toy_book.read_bytes())))
        shown.append(cli("evaluate", counted, "--text", text, "--no-keep", "--json").json["splits"])
    assert shown[1] == {"standard input": shown[0][toy_book.name]}


def test_lines_are_scored_as_running_text_where_a_network_remembers_or_learns_from_it(
    trained: Trained, toy_book: Path, tmp_path: Path, cli: Cli
) -> None:
    run, text = trained("language-model"), tmp_path / "text"
    text.write_text("".join(toy_book.read_text().splitlines(keepends=True)[:6]) + "\n")
    for option in ["--neural-cache", "100"], ["--dynamic", "rule=rms,learning_rate=0.05"]:
        shown = cli("score", run, text, *option, "--json")
        lines = [json.loads(line) for line in shown.out.splitlines()]
        figures = cli("evaluate", run, "--text", text, *option, "--no-keep", "--json").split
        assert sum(one["log10"] for one in lines) * math.log(10) == pytest.approx(-figures["nats"])
        assert sum(one["tokens"] for one in lines) == figures["tokens"] and len(lines) == 7
        assert f"; {figures['adaptation']}." in shown.err


def test_counts_cannot_adapt_whether_they_lie_in_a_run_or_in_a_file(
    counted: Path, toy_book: Path, tmp_path: Path, cli: Cli
) -> None:
    arpa = tmp_path / "counted.arpa"
    said = cli("export", counted, "--to", "arpa", "--output", arpa).err
    assert "text.segmentation" not in said  # its tokens stand between spaces
    for model in counted, arpa:
        assert "need one network" in cli.refuse("score", model, toy_book, "--neural-cache", "9")


def test_who_exports_words_is_told_how_they_were_cut(trained: Trained, tmp_path: Path, cli: Cli) -> None:
    run = trained("counts", "text.segmentation=moses")
    said = cli("export", run, "--output", tmp_path / "words.arpa").err
    assert "Its words are segmented by text.segmentation = 'moses'" in said


def test_pairs_are_scored_by_a_translator(trained: Trained, tmp_path: Path, cli: Cli) -> None:
    run, pairs = trained("translator"), tmp_path / "pairs.tsv"
    pairs.write_text("adf\tfda\nbeg\tgeb\n")
    first, second = map(float, cli("score", run, pairs).out.split())
    assert first < 0 and second < 0 and not math.isclose(first, second)
    assert "are for language models" in cli.refuse("score", run, pairs, "--dynamic", "0.1")
    pairs.write_text("adf\tfda\nbeg\n")
    assert f"{pairs}:2 should be a source and its translation" in cli("score", run, pairs, code=2).err


def test_unknown_words_of_a_translator_of_words_are_counted(trained: Trained, tmp_path: Path, cli: Cli) -> None:
    run, pairs = trained("translator-of-words", "training.epochs=1"), tmp_path / "pairs.tsv"
    pairs.write_text("The cat sees a bird\tLe zébu voit un oiseau\nThe cat\tLe chat\nThe cat\tzébu zébu\n")
    shown = cli("score", run, pairs, "--json")
    lines = [json.loads(line) for line in shown.out.splitlines()]
    assert [(line["tokens"], line["unknown"]) for line in lines] == [(6, 1), (3, 0), (3, 2)]
    assert "12 predictions, 3 unknown" in shown.err


def test_a_list_is_rescored_in_the_base_of_its_format(counted: Path, tmp_path: Path, cli: Cli) -> None:
    nbest, text = tmp_path / "nbest", tmp_path / "text"
    text.write_text("line 3\n")
    log10 = cli("score", counted, text, "--json").json["log10"]
    for kind, before, after, base in (
        ("moses", "0 ||| line 3 ||| tm= -1 ||| -1", f"LM0= {log10 * math.log(10):.6f} ||| -1\n", "e"),
        ("srilm", "-5 -6 2 line 3", f"-5 {log10:.6f} 2 line 3\n", "10"),
    ):
        nbest.write_text(f"{before}\n")
        shown = cli("rescore", counted, nbest, "--format", kind)
        assert shown.out.endswith(after) and f"base {base}." in shown.err


def test_unknown_units_of_a_list_or_of_a_prompt_are_told(counted: Path, tmp_path: Path, cli: Cli) -> None:
    nbest = tmp_path / "nbest"
    nbest.write_text("0 ||| line 3 zebra ||| tm= -1 ||| -1\n0 ||| zebra zebra ||| tm= -1 ||| -1\n")
    assert "2 hypotheses, 3 unknown tokens scored as <unk>; the new scores are" in cli("rescore", counted, nbest).err
    for prompt, said in ("line zebra 3 zebra", "Unknown tokens of the prompt, read as <unk>: 2.\n"), ("line 3", ""):
        assert cli("generate", counted, "--prompt", prompt, "--greedy").err == said


def test_a_format_or_a_name_that_a_list_cannot_have_is_refused(counted: Path, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "nbest").write_text("0 ||| line ||| LM0= 1 ||| 1\n")
    for options, said in (
        ("--format moze", "Did you mean 'moses'?"),
        ("--name |||", "name of a feature should be a word"),
        ("", "another name."),
        ("--format kaldi --name LM0", "the scores of kaldi have no names"),
    ):
        assert said in cli("rescore", counted, tmp_path / "nbest", *options.split(), code=2).err


def test_a_rescored_list_is_rescored_under_another_name(counted: Path, tmp_path: Path, cli: Cli) -> None:
    lists = [tmp_path / f"nbest{number}" for number in range(3)]
    lists[0].write_bytes(b"7 ||| ||| ||| -3\r\n")
    cli("rescore", counted, lists[0], "--output", lists[1])
    cli("rescore", counted, lists[1], "--output", lists[2], "--name", "LM1")
    fields = lists[2].read_bytes().decode().split("|||")
    assert fields[0] == "7 " and fields[1] == " " and fields[3] == " -3\n"
    assert fields[2].split()[::2] == ["LM0=", "LM1="]


def test_a_list_is_rescored_in_a_precision(tmp_path: Path, cli: Cli) -> None:
    run, nbest = Path(__file__).parents[1] / "runs" / "kinds-2" / "language-model", tmp_path / "nbest"
    texts = ["the man walks", "the man", "a dog walks"]
    nbest.write_text("".join(f"0 ||| {text} ||| tm= -1 ||| -1\n" for text in texts))
    shown = {}
    for precision in ("fp32", "int8"):
        shown[precision] = cli("rescore", run, nbest, "--precision", precision).lines
        scores = load(run, precision=precision).score_lines(texts)
        for line, score in zip(shown[precision], scores, strict=True):
            assert f"LM0= {score.nats:.6f} " in line
    assert shown["int8"] != shown["fp32"]
