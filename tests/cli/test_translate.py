"""Several runs translate together."""

from pathlib import Path

import pytest

import anaphora
from anaphora.formats.tsv import read_pairs

from ..conftest import Trained
from .conftest import Cli

MORE = "training.seed=7", "text.min_count=5"


@pytest.fixture
def runs(trained: Trained) -> tuple[str, str, str]:
    """Two translators of one vocabulary, and one of another."""
    same, other = (str(trained("translator", "training.epochs=3", more)) for more in MORE)
    return str(trained("translator", "training.epochs=3")), same, other


def test_several_runs_are_one_and_a_run_beside_itself_is_as_it_is_alone(
    runs: tuple[str, str, str], toy_pairs: Path, cli: Cli
) -> None:
    text, three = toy_pairs / "test.en", " + ".join([runs[0]] * 3)
    alone = cli("translate", runs[0], text).out
    for mean in ("arithmetic", "geometric"):
        assert cli("translate", runs[0], runs[0], text, "--mean", mean).out == alone
    both = anaphora.TranslationPredictor.ensemble([anaphora.load(run) for run in runs[:2]])
    assert cli("translate", *runs[:2], text).lines == [
        one.text for one in both.translate_text(text.read_text().split())
    ]
    scores = cli("evaluate", runs[0], "--json", "--no-keep").json
    together = ["evaluate", *[runs[0]] * 3, "--ensemble"]
    found = cli(*together, "--json", "--details").json
    assert found["run"] == f"arithmetic mean of {three}"
    assert cli(*together, "--mean", "geometric").lines[0] == f"geometric mean of {three}"
    assert scores["splits"]["test"].items() <= found["splits"]["test"].items()
    assert not (Path(runs[0]) / "evaluations.jsonl").exists()


def test_translations_are_pairs_to_train_on_in_either_order(
    runs: tuple[str, str, str], toy_pairs: Path, cli: Cli
) -> None:
    """Back-translation and distillation are two commands each."""
    text, taught, made = toy_pairs / "test.en", cli.folder / "taught.tsv", cli.folder / "made.tsv"
    translate = ["translate", runs[0], str(text), "--no-split"]
    rows = list(zip(text.read_text().split(), cli(*translate).lines, strict=True))
    cli(*translate, "--pairs", taught)
    assert cli(*translate, "--pairs", made, "--translation-first").out == ""
    assert [row[1:3] for row in read_pairs(taught)] == rows
    assert [row[1:3] for row in read_pairs(made)] == [(target, source) for source, target in rows]


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
    cli: Cli,
) -> None:
    text, models = toy_pairs / "test.en", [str(cli.folder / name) for name in ("counted", "network")]
    start = ["--from", runs[0], "--vocabulary", "only"]
    for experiment, model in zip((cli.write("counts.toml", count_model), tiny_language_model), models, strict=True):
        cli("train", experiment, *start, "--data", toy_pairs / "train.fr", "--run", model)
    weighted = ["--language-model", models[1], "--fusion-weight", "9"]
    found = {cli("translate", *runs[:2], text, *more).out for more in ([], ["--language-model", models[0]], weighted)}
    assert len(found) > 1
    fused = ["evaluate", runs[0], "--language-model", models[0], "--no-keep", "--json"]
    with_model = cli(*fused, "--fusion-weight", "1e-30").json
    alone = cli("evaluate", runs[0], "--json", "--no-keep").json
    assert with_model["splits"] == alone["splits"] and with_model["run"] == f"{runs[0]} + 1e-30 x {models[0]}"
    names = dict(zip("abcm", (*runs, models[0]), strict=True)) | {"text": str(text)}
    for command, said in {
        "evaluate a b --language-model m": "add --ensemble",
        "evaluate a --language-model b": "should be a language model, but is a translator",
        "translate a text --language-model m --fusion-weight 0": "a finite weight above 0",
        "translate a text --language-model a": "should be a language model",
        "translate c text --language-model m": "alone (start.vocabulary = 'only')",
    }.items():
        assert said in cli.refuse(*(names.get(word, word) for word in command.split()))
    pairs = ("train", tiny_translator, "--data", toy_pairs, "--target", "fr", "--run", cli.folder / "new")
    said = cli.refuse(*pairs, "--from", models[0], "--vocabulary", "only")
    assert "the vocabularies of both sides" in said  # pairs cannot be cut by the vocabulary of a text


def test_numbers_addresses_and_markup_that_a_translation_lacks_are_reported(
    runs: tuple[str, str, str], cli: Cli
) -> None:
    text = cli.write("text.en", "15 abc\n\nabc\n<b>%s</b> www.a.org\n" + "a 7\n" * 12)
    printed = cli("translate", runs[0], text, "--no-split", "--json", "--protect", "none")
    found, said = [line["differences"] for line in printed.objects], printed.err.splitlines()
    kinds = [[one["kind"] for one in differences] for differences in found]
    assert (len(kinds), kinds[:4]) == (16, [["numbers"], [], [], ["placeholders", "addresses"]])
    assert found[0][0] == {"kind": "numbers", "source": "1 5", "target": ""}
    assert said[0] == "warning: line 1 and its translation differ in numbers (1 5 | -)"
    assert said[1].startswith("warning: line 4 and its translation differ in placeholders (")
    assert said[-1].startswith("warning: 14 of 16 lines differ from their translations in ") and len(said) == 11
    printed = cli("translate", runs[0], text, "--no-split", "--json", "--protect", "all")
    assert not any(line["differences"] for line in printed.objects) and not printed.err
    assert "but one is 'digits'" in cli.refuse("translate", runs[0], text, "--protect", "tags,digits")
    cli("translate", runs[0], text, "--json", "--pairs", cli.folder / "made.tsv", code=2)


def test_a_term_without_a_place_is_reported_by_its_line_in_json_and_of_a_document(cli: Cli) -> None:
    run = Path(__file__).resolve().parents[1] / "runs" / "format-2"
    terms, text = cli.write("terms.tsv", "man\thomme\ncat\tchien\n"), cli.write("text", "cat\nman\n")
    told = cli("translate", run, text, "--terms", terms, "--json")
    assert [one.get("missing_terms") for one in told.objects] == [None, ["man"]]
    assert "line 2 lacks the term for 'man'" in told.err and "line 1 lacks" not in told.err
    page = cli.write("a.html", "<p>cat</p><p>man</p>")
    told = cli("translate", run, page, "--terms", terms, "--output", cli.folder / "b.html")
    assert "the translation of 'man' lacks the term for 'man'" in told.err and "of 'cat'" not in told.err
