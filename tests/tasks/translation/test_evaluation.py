import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.bleu import bleu
from anaphora.evaluation.perplexity import Prediction
from anaphora.events import Event, Note
from anaphora.kernels.backends import InferencePrecision
from anaphora.kernels.runtime import Runtime, running
from anaphora.prediction.candidates import Candidates
from anaphora.prediction.options import SearchOptions
from anaphora.prediction.runtime import runtime_for
from anaphora.run import Run
from anaphora.tasks.evaluation import Request
from anaphora.tasks.runs import load, task_at
from anaphora.tasks.translation.evaluation import TranslationScores
from anaphora.tasks.translation.translation import Translation
from tests.scoring import assess, compare

from ...conftest import Trained
from ..conftest import with_data


@pytest.fixture
def sentence_run(trained: Trained) -> Path:
    """A translator of sentences that gets some words right, so that BLEU is neither 0 nor 100."""
    return trained("translator-of-words")


def test_a_translator_is_scored_on_its_own_test_part_or_on_given_files(sentence_run: Path, toy_data: Path) -> None:
    run, files = sentence_run, [toy_data / "sentences" / f"test.{side}" for side in ("en", "fr")]
    own, given = assess(run), assess(run, pairs=(files[0], files[1]))
    assert own.keys() == {"test"}
    assert given.keys() == {"test.en"}
    assert own["test"] == given["test.en"]
    assert isinstance(own["test"], TranslationScores)
    assert 0 < own["test"].scores["raw"][0].value < 100
    assert own["test"].json()["raw"]["bleu"]["signature"] in str(own["test"])
    with pytest.raises(ConfigError, match="is a translator"):
        assess(run, text=files[0])
    rounded = assess(run, precision="int8")["test"]
    assert (own["test"].json()["precision"], rounded.json()["precision"]) == ("fp32", "int8")
    assert "few sentences (3) say little of a translator: score 10 or more" in str(own["test"])
    assert str(rounded).endswith(", int8") and "fp32" not in str(own["test"])
    assert all(figure.conditions.endswith(", int8") for figure in rounded.metrics())
    with pytest.raises(ConfigError, match="is for the CPU"):
        runtime_for("cuda", "int8")


@pytest.mark.parametrize("precision", ["int8", "bf16"])
def test_batches_and_threads_change_nothing(sentence_run: Path, toy_data: Path, precision: InferencePrecision) -> None:
    translator = load(sentence_run, precision=precision)
    texts = (toy_data / "sentences" / "test.en").read_text().split("\n")

    def found(texts: list[str], threads: int) -> list[tuple[str, float]]:
        with running(Runtime(threads=threads)):
            return [(one.text, one.score) for one in translator.translate(texts, beam=4)]

    together = found(texts, 1)
    assert found(texts, 2) == together
    assert [alone for text in texts for alone in found([text], 1)] == together


def test_the_conditions_that_an_experiment_names_come_first_and_are_those_of_groups(trained: Trained) -> None:
    lowercase = trained("translator-of-words", "text.lowercase=true", "evaluation.conditions=moses-lowercase")
    [scores] = assess(lowercase, search=SearchOptions(beam=1)).values()
    assert isinstance(scores, TranslationScores)
    assert list(scores.scores) == ["moses-lowercase", "raw"]
    assert "raw scores count the capitals" in str(scores)
    assert scores.scores["moses-lowercase"][0].value > scores.scores["raw"][0].value > 0  # "Le" against "le"
    assert replace(scores, groups={"all": [0, 1, 2]}).of_groups()["all"] == (3, scores.scores["moses-lowercase"])


def test_kinds_that_a_run_keeps_are_kept_where_it_is_scored_unless_others_are_asked_for(trained: Trained) -> None:
    run = trained("translator-of-words", 'evaluation.protect=["names"]')
    for asked, kept in (None, ("names",)), ((), ()), (("urls",), ("urls",)):
        [scores] = assess(run, search=SearchOptions(beam=1, protect=asked)).values()
        assert isinstance(scores, TranslationScores) and scores.search.protect == kept


def test_unequal_files_are_refused_with_both_counts(trained: Trained, toy_pairs: Path) -> None:
    (toy_pairs / "longer.fr").write_text((toy_pairs / "test.fr").read_text() + "more\n")
    with pytest.raises(DataError, match=r"has 3 and .* has 4"):
        assess(trained("translator"), pairs=(toy_pairs / "test.en", toy_pairs / "longer.fr"))


def test_a_language_model_is_scored_on_given_text(trained: Trained, toy_data: Path) -> None:
    run, book = trained("language-model"), toy_data / "book.txt"
    [figures] = assess(run, text=book).values()
    assert isinstance(figures, Prediction)
    assert figures.tokens == len(book.read_text())
    with pytest.raises(ConfigError, match="is a language model"):
        assess(run, pairs=(book, book))
    for search in SearchOptions(beam=2), SearchOptions(candidates=Candidates({})):
        with pytest.raises(ConfigError, match="a beam, a length penalty, candidates, known words"):
            assess(run, text=book, search=search)


def test_without_a_test_split_validation_is_scored_and_reported(trained_copy: Trained, toy_pairs: Path) -> None:
    for file in toy_pairs.glob("test.*"):
        file.unlink()
    without = with_data(trained_copy("translator"), toy_pairs)
    for path, options in (trained_copy("language-model"), "--text"), (without, "--source and"):
        events: list[Event] = []
        answer = task_at(path).evaluate([path], Request(), events.append)
        assert list(answer.scored[0].results) == ["validation"]
        [note] = [event.text for event in events if isinstance(event, Note) and "no test split" in event.text]
        assert "validation split is scored" in note and options in note


def test_figures_are_kept_in_the_run_folder_even_while_it_is_trained_on(trained_copy: Trained, tmp_path: Path) -> None:
    run = trained_copy("translator")
    trained = {path: path.read_bytes() for path in run.rglob("*") if path.is_file() and path.name != "card.md"}
    with Run.open(run).lock():
        assess(run, keep=True)
    assert {path: path.read_bytes() for path in trained} == trained
    [kept] = Run.open(run).evaluations.lines()
    assert kept.split == "test" and kept.checkpoint == (run / "best").read_text().strip()
    assert kept.metrics[0].name == "BLEU" and "nrefs:1" in kept.metrics[0].conditions
    card = (run / "card.md").read_text()
    row = f"| test ({kept.digest[:8]}) | BLEU |"
    assert row in card and "| validation loss |" in card and "data/train" in card
    assess(run)
    assert len(Run.open(run).evaluations.lines()) == 1
    assess(run, keep=True)
    assert len(Run.open(run).evaluations.lines()) == 2
    assert (run / "card.md").read_text().count(row) == card.count(row)  # not told twice
    other = [tmp_path / name for name in ("test", "reference")]
    for path in other:
        path.write_text("another text\n")
    assess(run, pairs=(other[0], other[1]), keep=True)
    assert Run.open(run).evaluations.lines()[-1].split == "test"
    assert (run / "card.md").read_text().count("| BLEU |") == 2 * card.count("| BLEU |")  # of two texts of one name


def test_the_card_says_what_figures_of_a_text_are_of(trained_copy: Trained, toy_book: Path, tmp_path: Path) -> None:
    run, text = trained_copy("language-model"), tmp_path / "text"
    text.write_text(toy_book.read_text() + "\N{SNOWMAN}\n")
    figures = assess(run, text=text, keep=True)["text"]
    assert isinstance(figures, Prediction) and figures.unknown == 1
    card = (run / "card.md").read_text()
    assert f"| one pass, {figures.tokens:,} predictions, 1 unknown |" in card
    assert f"| {figures.known.perplexity:.4f} | one pass, {figures.tokens - 1:,} predictions |" in card
    of_words = f"one pass, {figures.tokens:,} predictions, 1 unknown, {figures.size.words:,} words and line ends"
    assert f"| perplexity per word | {figures.word_perplexity:.4f} | {of_words} |" in card


def test_runs_share_the_test_data_of_the_first(sentence_run: Path, trained_copy: Trained, toy_sentences: Path) -> None:
    for side in ("en", "fr"):
        shutil.copy(toy_sentences / f"val.{side}", toy_sentences / f"test.{side}")
    settings = "text.lowercase=true", "evaluation.conditions=moses-lowercase"
    first, second = sentence_run, with_data(trained_copy("translator-of-words", *settings), toy_sentences)
    (results, others), compared = compare(first, second, search=SearchOptions(beam=1))
    results, others = results.results, others.results
    assert results.keys() == others.keys() == compared.keys() == {"test"}
    one, other = results["test"], others["test"]
    assert isinstance(one, TranslationScores) and isinstance(other, TranslationScores)
    assert one == assess(first, search=SearchOptions(beam=1))["test"]
    assert list(other.outputs) == load(second).translate(one.sources, beam=1) != list(one.outputs)
    assert list(other.scores) == list(one.scores) == ["raw"]
    texts = [output.text for output in other.outputs]
    assert other.scores["raw"][0] == bleu(texts, one.references, language="fr")
    assert 0 < other.scores["raw"][0].value != one.scores["raw"][0].value > 0
    assert [(found.name, found.condition) for found in compared["test"]] == [("BLEU", "raw"), ("chrF2", "raw")]
    for found, *figures in zip(compared["test"], one.scores["raw"], other.scores["raw"], strict=True):
        assert (found.first, found.second) == pytest.approx(tuple(figure.value for figure in figures))
    with pytest.raises(ConfigError, match="--known-words is for one"):
        compare(first, second, search=SearchOptions(known=True))


def test_what_translates_otherwise_is_not_compared(trained: Trained, trained_copy: Trained) -> None:
    run = trained("translator")
    path = (back := trained_copy("translator")) / "experiment.toml"
    turned = {'"en"': '"fr"', '"fr"': '"en"'}
    path.write_text(re.sub('"(en|fr)"', lambda found: turned[found[0]], path.read_text()))
    with pytest.raises(ConfigError, match=r"run translates en to fr and .*translator fr to en: evaluate each alone"):
        compare(run, back)
    with pytest.raises(ConfigError, match="run is not one"):
        compare(run, trained("language-model"))


def test_groups_tell_sentences_with_unknown_words_apart(
    trained: Trained, trained_copy: Trained, toy_pairs: Path
) -> None:
    scores = assess(trained("translator"), search=SearchOptions(beam=1), details=True)["test"]
    assert isinstance(scores, TranslationScores)
    assert scores.groups == {"source 0-10 words": [0, 1, 2], "words new to training": [0, 1, 2]}
    assert scores.of_groups()["words new to training"] == (3, scores.scores["raw"])
    lines = [json.loads(line) for line in scores.sentence_lines(split="test")]
    assert [line["number"] for line in lines] == [1, 2, 3]
    assert {"split", "source", "reference", "output", "log_probability", "BLEU", "chrF2"} <= lines[0].keys()
    (toy_pairs / "train.en").write_text((toy_pairs / "train.en").read_text().replace("a", "b"))
    changed, events = with_data(trained_copy("translator"), toy_pairs), list[Event]()
    scores = assess(changed, events.append, search=SearchOptions(beam=1), details=True)["test"]
    assert [*scores.groups] == ["source 0-10 words"]
    assert "no longer the text" in str(events[-1])


@pytest.mark.parametrize(
    ("text", "unknown", "replacement", "left", "said"),
    [
        ("A <unk> and <unk>", 2, None, 2, "2 unknown words left"),
        ("A cat and <unk>", 2, None, 1, "2 unknown words of which 1 left"),
        ("A cat and dog", 2, None, 0, "2 unknown words replaced"),
        ("A cat and dog", 2, {}, 0, "2 unknown words replaced"),
        ("a \N{REPLACEMENT CHARACTER}", 1, None, 1, "1 unknown words left"),
    ],
)
def test_words_that_were_filled_in_are_not_said_to_be_left(
    text: str, unknown: int, replacement: dict[str, str] | None, left: int, said: str
) -> None:
    search = SearchOptions(beam=1, length_penalty=0.0, replace_unknown=replacement)
    output = Translation(text, -1.0, True, unknown=unknown)
    scores = TranslationScores(search, "en", ["raw"], ["x"], ["A cat"], [output])
    assert (scores.unknown, scores.left) == (unknown, left) and said in str(scores)
    assert scores.json()["unknown_words"] == unknown and scores.json()["unknown_replaced"] == (left < unknown)
