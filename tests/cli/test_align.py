"""``align``, and what comes out of an aligner: links, a dictionary, and words for what a translator does not know."""

import shutil
from pathlib import Path

import pytest

from anaphora.cli.app import main
from anaphora.evaluation.bleu import bleu
from anaphora.formats.lines import write_lines
from anaphora.samples.english_french import corpus

from ..conftest import EXPERIMENT_FILES
from .conftest import Cli


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of tokens between spaces, an aligner that learnt from it, and a translator of 26 words."""
    folder = tmp_path_factory.mktemp("align")
    for name, pairs in zip(("train", "val", "test"), corpus(2, train=250, valid=20, test=40), strict=True):
        write_lines(folder / f"{name}.en", (" ".join(pair.source_words) for pair in pairs))
        write_lines(folder / f"{name}.fr", (" ".join(pair.target_words) for pair in pairs))
        write_lines(folder / f"{name}.links", (" ".join(f"{i}-{j}" for i, j in pair.links) for pair in pairs))
    settings = ["text={tokenizer='word',segmentation='whitespace',size=30}", "decoder.dropout=0"]
    settings += ["training.batch_tokens=400", "training.epochs=1"]
    words = [str(EXPERIMENT_FILES / "translator.toml"), *(f"--set={one}" for one in settings)]
    for experiment, run in ((["aligner"], "links"), (words, "words")):
        assert main(["train", *experiment, "--data", str(folder), "--target", "fr", "--run", str(folder / run)]) == 0
    return folder


@pytest.fixture
def pairs(folder: Path) -> list[str]:
    return ["--source", str(folder / "test.en"), "--target", str(folder / "test.fr")]


def error_rate(said: str) -> float:
    return float(said.partition("alignment error rate ")[2].partition("%")[0])


def test_an_aligner_is_trained_and_its_links_are_measured(folder: Path, pairs: list[str], cli: Cli) -> None:
    gold, output = ["--gold", str(folder / "test.links")], cli.folder / "found.links"
    shown = cli("align", folder / "links", *pairs, *gold)
    assert shown.out.count("\n") == 40 and "40 pairs: alignment error rate" in shown.err
    assert error_rate(shown.err) < 20
    assert cli("align", folder / "links", *pairs, *gold, "--output", output).out == ""
    assert output.read_text() == shown.out
    output.unlink()
    for more in [], ["--output", output]:
        figures = cli("align", folder / "links", *pairs, *gold, "--json", *more).json
        assert figures.keys() == {"pairs", "error_rate", "precision", "recall", "f1"}
        assert figures["error_rate"] == pytest.approx(error_rate(shown.err) / 100, abs=1e-3)
    assert output.read_text() == shown.out
    assert error_rate(cli("align", folder / "links", *pairs, "--gold", output, "--possible", output).err) == 0
    fewer = cli("align", folder / "links", *pairs, *gold, "--symmetrise", "intersection").out
    assert fewer.count("-") < shown.out.count("-")


def test_unknown_words_are_replaced_by_copies_or_through_the_dictionary(folder: Path, cli: Cli) -> None:
    words, text = cli.folder / "words.tsv", str(folder / "test.en")
    cli("export", folder / "links", "--output", words)
    assert "gardens\tjardins\t" in words.read_text()
    given = ["--source", text, "--reference", str(folder / "test.fr"), "--beam", "1", "--no-keep", "--json"]
    references = (folder / "test.fr").read_text().splitlines()
    outputs = []
    for more in ([], ["--replace-unknown"], ["--replace-unknown", "--dictionary", str(words)]):
        outputs.append(cli("translate", folder / "words", text, "--no-split", "--beam", "1", *more).out)
        # what is evaluated is what is translated
        scored = cli("evaluate", folder / "words", *given, *more).split
        assert scored["unknown_words"] == outputs[0].count("<unk>") and scored["unknown_replaced"] == bool(more)
        expected = bleu(outputs[-1].splitlines(), references, language="fr", condition="raw")
        assert scored["raw"]["bleu"]["value"] == expected.value
    none, copied, translated = outputs
    options = ["--no-split", "--beam", "1", "--pairs", cli.folder / "made.tsv"]
    made = cli("translate", folder / "words", text, *options).said
    assert "have <unk> inside, which training takes for text: --replace-unknown puts" in made
    assert "<unk>" in none and "<unk>" not in copied + translated and copied != translated
    said = cli.refuse("evaluate", folder / "words", *given, "--known-words")
    assert "Every pair of the text has unknown words" in said


def test_a_translation_is_written_with_its_candidates_alone(folder: Path, cli: Cli) -> None:
    words, text, run = cli.folder / "words.tsv", str(folder / "test.en"), cli.folder / "run"
    words.write_text("he\til\t0.9\nhe\tje\t0.1\n")
    outputs = []
    for frequent in ("0", "26", "1000"):
        options = ["--candidates", str(words), f"--frequent={frequent}", "--each", "1", "--beam", "2"]
        printed = cli("translate", folder / "words", text, *options)
        outputs.append(printed.out)
        assert "--frequent-words" in printed.err and "--translations-per-word" in printed.err
    assert {*outputs[0].split()} <= {"<unk>", "il", *(folder / "test.en").read_text().split()}
    assert outputs[1] == outputs[2] and len({*outputs[1].split()}) > len({*outputs[0].split()})
    shutil.copytree(folder / "words", run)
    options = ["--candidates", str(words), "--frequent-words", "3", "--beam", "1", "--json"]
    scored = cli("evaluate", run, "--source", text, "--reference", str(folder / "test.fr"), *options).split
    assert scored["candidates"] == {"frequent": 3, "each": 10}
    assert "beam 1, among 3 frequent words and 10 translations of each source word" in (run / "card.md").read_text()


def test_an_aligner_is_checked_described_and_resumed_and_a_translator_gives_links_too(
    folder: Path, pairs: list[str], cli: Cli
) -> None:
    lines = zip(*((folder / f"test.{side}").read_text().splitlines() for side in ("en", "fr")), strict=True)
    one_file = cli.write("pairs.tsv", "".join(f"{source}\t{target}\n" for source, target in lines))
    for run in "links", "words":
        assert "-" in cli("align", folder / run, *pairs).out == cli("align", folder / run, one_file).out
    assert "align, format 2" in cli("info", folder / "links").out
    assert "can be trained on" in cli("check", "aligner", "--data", folder, "--target", "fr").out
    weights = folder / "links" / "checkpoints" / "step-1" / "model.safetensors"
    before = weights.stat()
    cli("train", "--resume", "--run", folder / "links")
    assert weights.stat().st_mtime_ns == before.st_mtime_ns


PAIRS = "--source test.en --target test.fr"
WRONG = {
    f"align links p.tsv {PAIRS}": "leave out FILE, or --source",
    f"align links {PAIRS} --gold val.links": "the word alignments of 40 pairs, a line each, but has 20 lines",
    f"align links {PAIRS} --symmetrise grow": "--symmetrise 'grow' is unknown.",
    "translate links test.en": "should be a translator, but is an aligner: see anaphora align.",
    "score links test.en": "is an aligner, which scores no text",
    "evaluate links": "its links are measured by anaphora align",
    "export words --to dictionary --output d.tsv": "--to dictionary is for",
    "translate words test.en --replace-unknown --dictionary test.en": "test.en:1 should read WORD, tab, TRANSLATION",
}


@pytest.mark.parametrize("command", WRONG)
def test_what_goes_wrong_is_said_in_one_sentence(command: str, folder: Path, cli: Cli) -> None:
    cli.enter(folder)
    assert WRONG[command] in cli.refuse(*command.split())
