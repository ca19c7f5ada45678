"""Several runs translate together."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import anaphora
from anaphora.formats.tsv import read_pairs
from anaphora.tasks.translation.translation import Translation

from ..conftest import Trained
from .conftest import Cli

SETTINGS = ["--target", "fr", "--set", "training.epochs=1"]
MORE = "training.seed=7", "text.min_count=5"


@pytest.fixture
def runs(trained: Trained) -> tuple[str, str, str]:
    """Two translators of one vocabulary, and one of another."""
    same, other = (str(trained("translator", "training.epochs=3", more)) for more in MORE)
    return str(trained("translator", "training.epochs=3")), same, other


def test_several_runs_translate_as_one_and_a_run_beside_itself_as_it_does_alone(
    runs: tuple[str, str, str], toy_pairs: Path, cli: Cli
) -> None:
    text = str(toy_pairs / "test.en")

    def translated(*given: str) -> str:
        return cli("translate", *given).out

    alone = translated(runs[0], text)
    for mean in ("arithmetic", "geometric"):
        assert translated(runs[0], runs[0], text, "--mean", mean) == alone
    both = anaphora.TranslationPredictor.ensemble([anaphora.load(run) for run in runs[:2]])
    sources = (toy_pairs / "test.en").read_text().splitlines()
    assert translated(runs[0], runs[1], text).splitlines() == [found.text for found in both.translate_text(sources)]


def test_several_runs_are_evaluated_as_one(runs: tuple[str, str, str], cli: Cli) -> None:
    alone = cli("evaluate", runs[0], "--json", "--no-keep").json
    together = ["evaluate", runs[0], runs[0], runs[0], "--ensemble"]
    found = cli(*together, "--json", "--details").json
    three = " + ".join([runs[0]] * 3)
    assert found["run"] == f"arithmetic mean of {three}"
    assert cli(*together, "--mean", "geometric").lines[0] == f"geometric mean of {three}"
    assert alone["splits"]["test"].items() <= found["splits"]["test"].items()
    assert not (Path(runs[0]) / "evaluations.jsonl").exists()


def test_links_that_a_translator_has_none_of_are_refused_before_it_translates(
    trained: Trained, toy_pairs: Path, tmp_path: Path, cli: Cli
) -> None:
    attending, other = (str(trained("translator", "training.epochs=3", *more)) for more in ([], ["attention=none"]))
    text, links = str(toy_pairs / "test.en"), tmp_path / "links"
    for command in (
        ["translate", attending, other, text, "--alignments", str(links)],
        ["align", other, "--source", text, "--target", str(toy_pairs / "test.fr")],
    ):
        shown = cli(*command, code=2)
        assert shown.out == "" and "this translator has none" in shown.err and not links.exists()


def test_translations_are_pairs_to_train_on_in_either_order(
    runs: tuple[str, str, str], tiny_translator: Path, toy_pairs: Path, tmp_path: Path, cli: Cli
) -> None:
    """Back-translation and distillation are two commands each."""
    text, taught, made = str(toy_pairs / "test.en"), str(toy_pairs / "taught.tsv"), str(tmp_path / "made.tsv")
    translate = ["translate", runs[0], text, "--no-split"]
    written = cli(*translate).lines
    cli(*translate, "--pairs", taught)
    assert cli(*translate, "--pairs", made, "--translation-first").out == ""
    rows = list(zip(Path(text).read_text().splitlines(), written, strict=True))
    assert [row[1:3] for row in read_pairs(Path(taught))] == rows
    assert [row[1:3] for row in read_pairs(Path(made))] == [(target, source) for source, target in rows]
    train = ["train", str(tiny_translator), "--data", str(toy_pairs), *SETTINGS]
    cli(*train, "--data", made, "--run", tmp_path / "more")


REFUSED = {
    "translate a c": "another source vocabulary (8 tokens) than number 1 (11)",
    "translate a b --mean harmonic": "--mean 'harmonic' is unknown. Known: arithmetic, geometric.",
    "translate a --mean geometric": "--mean is for several runs, but one run was given",
    "translate a text b": "Run folders come first and then one text",
    "evaluate a --ensemble": "--ensemble takes two runs or more",
    "evaluate a b b": "Two runs can be compared, but 3 were given",
    "evaluate a c --ensemble": "An ensemble needs translators of the same vocabularies",
}


def test_what_does_not_go_together_is_refused_in_a_sentence(runs: tuple[str, str, str], cli: Cli) -> None:
    names = dict(zip("abc", runs, strict=True))
    for command, said in REFUSED.items():
        assert said in cli.refuse(*(names.get(word, word) for word in command.split()))


def test_a_language_model_of_the_translator_s_vocabulary_has_its_say(
    runs: tuple[str, str, str],
    count_model: str,
    tiny_language_model: Path,
    tiny_translator: Path,
    toy_pairs: Path,
    tmp_path: Path,
    cli: Cli,
) -> None:
    counts = tmp_path / "counts.toml"
    counts.write_text(count_model)
    text, models = str(toy_pairs / "train.fr"), [str(tmp_path / "counted"), str(tmp_path / "network")]
    for experiment, model in zip((counts, tiny_language_model), models, strict=True):
        command = ["train", str(experiment), "--from", runs[0], "--vocabulary", "only", "--data", text, "--run", model]
        cli(*command)
        [of_model, of_target] = [
            next(path for path in (Path(run) / "vocabulary").iterdir() if path.name in names).read_bytes()
            for run, names in ((model, ("text",)), (runs[0], ("target", "joint")))
        ]
        assert of_model == of_target
    found = {}
    for options in ([], ["--language-model", models[0]], ["--language-model", models[1], "--fusion-weight", "9"]):
        found[str(options)] = cli("translate", *runs[:2], toy_pairs / "test.en", *options).out
    assert len(set(found.values())) > 1
    fused = ["evaluate", runs[0], "--language-model", models[0], "--no-keep", "--json"]
    with_model = cli(*fused, "--fusion-weight", "1e-30").json
    alone = cli("evaluate", runs[0], "--json", "--no-keep").json
    assert with_model["splits"] == alone["splits"] and with_model["run"] == f"{runs[0]} + 1e-30 x {models[0]}"
    assert "add --ensemble" in cli.refuse(*fused, runs[1])
    other = cli.refuse("evaluate", runs[0], "--language-model", runs[1])
    assert "should be a language model, but is a translator" in other
    for refused, said in (
        (["--language-model", models[0], "--fusion-weight", "0"], "a finite weight above 0"),
        (["--language-model", runs[0]], "should be a language model"),
    ):
        assert said in cli.refuse("translate", runs[0], toy_pairs / "test.en", *refused)
    assert "train it from the translator's alone (start.vocabulary = 'only')" in cli.refuse(
        "translate", runs[2], toy_pairs / "test.en", "--language-model", models[0]
    )
    # and pairs cannot be cut by the vocabulary of a text
    pairs = [str(tiny_translator), "--data", str(toy_pairs), *SETTINGS, "--run", str(tmp_path / "new")]
    assert "the vocabularies of both sides" in cli.refuse("train", *pairs, "--from", models[0], "--vocabulary", "only")


def test_pairs_to_train_on_that_hold_the_unknown_mark_are_counted(
    runs: tuple[str, str, str], tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, made = tmp_path / "text.en", str(tmp_path / "made.tsv")
    text.write_text("abc\nabd\n")
    translate = anaphora.TranslationPredictor.stream

    def marked(self: anaphora.TranslationPredictor, *given: Any, **options: Any) -> list[Translation]:
        first, second = translate(self, *given, **options)
        return [replace(first, text="a <unk>."), replace(second, text="a")]

    monkeypatch.setattr(anaphora.TranslationPredictor, "stream", marked)
    assert "1 of 2 translations has <unk> inside" in cli("translate", runs[0], text, "--pairs", made).said
    assert "<unk>" not in cli("translate", runs[0], text).err


def test_numbers_addresses_and_markup_that_a_translation_lacks_are_reported(
    runs: tuple[str, str, str], tmp_path: Path, cli: Cli
) -> None:
    text = tmp_path / "text.en"
    text.write_text("15 abc\n\nabc\n<b>%s</b> www.a.org\n" + "a 7\n" * 12)
    printed = cli("translate", runs[0], text, "--no-split", "--json", "--protect", "none")
    found = [json.loads(line) for line in printed.out.splitlines()]
    kinds = [[one["kind"] for one in line["differences"]] for line in found]
    assert len(found) == 16 and kinds[1] == [] and kinds[2] == []
    assert kinds[0] == ["numbers"] and kinds[3] == ["placeholders", "addresses"]
    assert found[0]["differences"][0] == {"kind": "numbers", "source": "1 5", "target": ""}
    said = printed.err.splitlines()
    assert said[0] == "warning: line 1 and its translation differ in numbers (1 5 | -)"
    assert said[1].startswith("warning: line 4 and its translation differ in placeholders (")
    assert said[-1].startswith("warning: 14 of 16 lines differ from their translations in ")
    assert len(said) == 11
    printed = cli("translate", runs[0], text, "--no-split", "--json", "--protect", "all")
    assert not any(json.loads(line)["differences"] for line in printed.out.splitlines()) and not printed.err
    assert "but one is 'digits'" in cli.refuse("translate", runs[0], text, "--protect", "tags,digits")
    cli("translate", runs[0], text, "--json", "--pairs", tmp_path / "made.tsv", code=2)


def test_a_term_without_a_place_is_reported_by_its_line_in_json_and_of_a_document(cli: Cli, tmp_path: Path) -> None:
    run = Path(__file__).resolve().parents[1] / "runs" / "format-2"
    files = {"terms.tsv": "man\thomme\ncat\tchien\n", "text": "cat\nman\n", "a.html": "<p>cat</p><p>man</p>"}
    terms, text, page = (tmp_path / name for name in files)
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    told = cli("translate", run, text, "--terms", terms, "--json")
    assert [one.get("missing_terms") for one in told.objects] == [None, ["man"]]
    assert "line 2 lacks the term for 'man'" in told.err and "line 1 lacks" not in told.err
    told = cli("translate", run, page, "--terms", terms, "--output", tmp_path / "b.html")
    assert "the translation of 'man' lacks the term for 'man'" in told.err and "of 'cat'" not in told.err
