"""A run that starts from another: what is kept, what grows, and what does not fit."""

import re
import shutil
from pathlib import Path

import pytest
import torch

from anaphora.errors import ConfigError, RunError
from anaphora.events import Event, Note
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.run import Run
from anaphora.tasks.base import ExperimentBase, StartConfig
from anaphora.tasks.registry import parse
from anaphora.tasks.runs import experiment_of
from tests.resuming import assert_goes_on_without, weights

EPOCHS = "training.epochs=1"
STILL = "training.optimizer.learning_rate=1e-30"
"""A rate that moves no weight."""


@pytest.fixture
def parent(translator: ExperimentBase, tmp_path: Path) -> Path:
    """A run of the toy corpus."""
    train(translator, tmp_path / "parent")
    return tmp_path / "parent"


@pytest.fixture
def new_pairs(tmp_path: Path) -> Path:
    """Pairs with letters that the toy corpus has not."""
    folder = tmp_path / "new"
    folder.mkdir()
    words = [a + b for a in "xyzabc" for b in "defgh"]
    for part, chosen in (("train", words[:20]), ("val", words[20:])):
        (folder / f"{part}.en").write_text("".join(f"{word}\n" for word in chosen))
        (folder / f"{part}.fr").write_text("".join(f"{word[::-1]}\n" for word in chosen))
    return folder


def child(parent: Path, data: list[Path], vocabulary: str, *settings: str) -> ExperimentBase:
    start = StartConfig.parse({"run": str(parent), "vocabulary": vocabulary}, "test")
    text = (parent / "experiment.toml").read_text()
    return read_experiment(text, "child", settings, data=data, source="en", target="fr", start=start)


def test_a_kept_vocabulary_leaves_every_weight_as_it_was(parent: Path, new_pairs: Path, tmp_path: Path) -> None:
    said: list[Event] = []
    train(child(parent, [new_pairs], "keep", EPOCHS, STILL), tmp_path / "child", said.append)
    before, after = weights(parent), weights(tmp_path / "child")
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    (told,) = [event.text for event in said if isinstance(event, Note) and event.text.startswith("Starting from")]
    assert f"{len(before)} of {len(before)} matrices and vectors kept." in told and "0 new" in told


def warnings(experiment: ExperimentBase, run: Path) -> list[str]:
    """Those of a run that begins."""
    said: list[Event] = []
    train(experiment, run, said.append)
    return [event.text for event in said if isinstance(event, Note) and event.warning]


def test_what_a_kept_vocabulary_does_not_know_is_counted_with_what_to_do(
    parent: Path, toy_pairs: Path, new_pairs: Path, tmp_path: Path
) -> None:
    source, target = warnings(child(parent, [new_pairs], "keep", EPOCHS), tmp_path / "kept")
    assert source == (
        f"15 of 40 tokens (37.5%) of the training split (en) are outside the vocabulary of {parent} and trained on as "
        "<unk>: extend it (--vocabulary extend), or exchange --source and --target if they are the wrong way round."
    )
    assert target == source.replace("(en)", "(fr)")
    assert not warnings(child(parent, [new_pairs], "extend", EPOCHS), tmp_path / "extended")
    assert not warnings(child(parent, [toy_pairs], "keep", EPOCHS), tmp_path / "same")
    source, _ = warnings(child(parent, [new_pairs], "only", EPOCHS), tmp_path / "only")
    assert source.endswith("as models that go together need; for fewer, train that run with a larger text.size.")


def test_words_that_a_kept_vocabulary_lacks_are_said_from_a_tenth_on(
    translator: ExperimentBase, toy_sentences: Path, tmp_path: Path
) -> None:
    words = parse(translator.tables() | {"text": {"tokenizer": "word", "segmentation": "whitespace"}}, "words")
    words = read_experiment(words.to_toml(), "words", data=[toy_sentences])
    train(words, tmp_path / "parent")
    lines = (toy_sentences / "train.en").read_text().splitlines()
    for strange, share in (3, ""), (9, "9 of 84 words (10.7%)"):
        changed = [line.replace("The", "Here") if number < strange else line for number, line in enumerate(lines)]
        (toy_sentences / "train.en").write_text("".join(f"{line}\n" for line in changed))
        said = warnings(child(tmp_path / "parent", [toy_sentences], "keep", EPOCHS), tmp_path / f"child-{strange}")
        assert len(said) == bool(share) and all(line.startswith(share) for line in said)


@pytest.mark.parametrize("vocabulary", ["keep", "extend", "only"])
def test_languages_that_are_swapped_are_said(parent: Path, toy_pairs: Path, vocabulary: str, tmp_path: Path) -> None:
    swapped = child(parent, [toy_pairs], vocabulary, EPOCHS, "data.source=fr", "data.target=en")
    (said,) = [line for line in warnings(swapped, tmp_path / "child") if "other language" in line]
    assert said.startswith(f"{parent} was trained from 'en' to 'fr', and what each of its sides has learnt")


def test_a_vocabulary_of_both_languages_alone_may_be_taken_either_way(
    translator: ExperimentBase, toy_pairs: Path, tmp_path: Path
) -> None:
    train(parse(translator.tables() | {"text": {"tokenizer": "bpe", "size": 300}}, "test"), tmp_path / "parent")
    swapped = child(tmp_path / "parent", [toy_pairs], "only", EPOCHS, "data.source=fr", "data.target=en")
    assert not warnings(swapped, tmp_path / "child")


def test_an_extended_vocabulary_keeps_the_rows_of_old_units_and_draws_new_ones(
    parent: Path, new_pairs: Path, tmp_path: Path
) -> None:
    said: list[Event] = []
    train(child(parent, [new_pairs], "extend", EPOCHS, STILL), tmp_path / "child", said.append)
    before, after = weights(parent), weights(tmp_path / "child")
    old, new = (Run.open(run).tokenizers()["source"] for run in (parent, tmp_path / "child"))
    assert new.symbols.size == old.symbols.size + 3  # x, y, z
    grown = [name for name in before if before[name].shape != after[name].shape]
    assert len(grown) >= 3  # both embeddings and the output
    for name, tensor in before.items():
        assert torch.equal(after[name][: len(tensor)], tensor)
    assert all(bool(after[name][-3:].any()) for name in grown if name.endswith("embedding.weight"))
    assert any(
        isinstance(event, Note) and "source vocabulary" in event.text and "3 new" in event.text for event in said
    )


def test_a_child_that_is_begun_goes_on_to_the_same_bits_without_its_parent(
    parent: Path, new_pairs: Path, tmp_path: Path
) -> None:
    experiment = child(parent, [new_pairs], "extend", EPOCHS)
    assert_goes_on_without(experiment, tmp_path, lambda: shutil.rmtree(parent))


def test_sizes_that_do_not_fit_are_listed_and_nothing_is_made(parent: Path, new_pairs: Path, tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"does not fit.*embedding.weight is \d+ x 8 there and \d+ x 12 here"
    ) as fault:
        train(child(parent, [new_pairs], "keep", "embedding.size=12"), tmp_path / "child")
    assert re.search(r" here; and \d+ more\. Give it", str(fault.value)) and str(fault.value).count(" there and ") == 4
    assert not (tmp_path / "child").exists()


def test_options_of_text_that_leave_the_vocabulary_alone_may_change(
    parent: Path, new_pairs: Path, tmp_path: Path
) -> None:
    train(child(parent, [new_pairs], "keep", EPOCHS, "text.sentences=whole"), tmp_path / "child")
    assert Run.open(tmp_path / "child").tokenizers()["source"].fingerprint == _fingerprint(parent)


@pytest.mark.parametrize(("units", "option"), [("bpe", "dropout"), ("unigram", "alpha")])
def test_how_subwords_are_drawn_may_change_and_a_language_model_takes_the_likeliest(
    units: str,
    option: str,
    translator: ExperimentBase,
    tiny_language_model: Path,
    toy_pairs: Path,
    toy_book: Path,
    tmp_path: Path,
) -> None:
    text = {"text": {"tokenizer": units, "size": 300, option: 0.5}}
    train(parse(translator.tables() | text, "test"), tmp_path / "parent")
    other = child(tmp_path / "parent", [toy_pairs], "keep", EPOCHS, f"text.{option}=0.1")
    assert train(other, tmp_path / "child").reason == "epochs"
    assert getattr(experiment_of(tmp_path / "child").text, option) == 0.1

    start = StartConfig.parse({"run": str(tmp_path / "parent"), "vocabulary": "only"}, "test")
    model = read_experiment(tiny_language_model.read_text(), "model", [EPOCHS], data=[toy_book], start=start)
    train(model, tmp_path / "model")
    assert getattr(experiment_of(tmp_path / "model").text, option) == 0
    longer = model.model_copy(update={"training": model.training.model_copy(update={"epochs": 2})})
    assert train(longer, tmp_path / "model", resume=True).reason == "epochs"


def test_a_lent_vocabulary_that_does_not_go_with_the_experiment_is_refused_and_nothing_is_made(
    parent: Path, new_pairs: Path, tmp_path: Path
) -> None:
    shared = child(parent, [new_pairs], "only", 'text={tokenizer="bpe"}', "embedding.shared=true")
    with pytest.raises(ConfigError, match=r"parent: embedding\.shared needs one vocabulary"):
        train(shared, tmp_path / "child")
    assert not (tmp_path / "child").exists()


def _fingerprint(run: Path) -> str:
    return Run.open(run).tokenizers()["source"].fingerprint


def test_words_that_are_annotated_are_lent_to_no_other_text(
    translator: ExperimentBase, language_model: ExperimentBase, toy_book: Path, tmp_path: Path
) -> None:
    rare = translator.tables() | {"text": {"tokenizer": "word", "segmentation": "whitespace", "rare": "posunk"}}
    train(parse(rare, "rare"), tmp_path / "parent")
    start = {"start": {"run": str(tmp_path / "parent"), "vocabulary": "only"}}
    with pytest.raises(ConfigError, match=r"annotates rare words \(text.rare = 'posunk'\)"):
        train(parse(language_model.tables() | start, "test"), tmp_path / "child")
    assert not (tmp_path / "child").exists()


def test_another_text_table_or_task_or_no_run_is_refused(
    parent: Path, new_pairs: Path, language_model: ExperimentBase, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"tokenize text otherwise: text.lowercase was False and is True\."):
        train(child(parent, [new_pairs], "keep", "text.lowercase=true"), tmp_path / "child")
    start = {"start": {"run": str(parent), "vocabulary": "keep"}}
    with pytest.raises(ConfigError, match="same task"):
        train(parse(language_model.tables() | start, "test"), tmp_path / "child")
    with pytest.raises(RunError, match="nothing is there"):
        train(child(parent, [new_pairs], "keep", f"start.run={tmp_path / 'missing'}"), tmp_path / "child")


def test_a_run_that_has_none_of_the_weights_is_refused_and_lends_its_vocabulary_alone(
    language_model: ExperimentBase, tmp_path: Path
) -> None:
    tables, counts = language_model.tables(), tmp_path / "counts"
    train(parse({name: tables[name] for name in ("task", "data", "text")} | {"model": "ngram"}, "test"), counts)
    start = {"run": str(counts), "vocabulary": "keep"}
    with pytest.raises(ConfigError, match=r"none of this network.s weights .*--vocabulary only"):
        train(parse(tables | {"start": start}, "test"), tmp_path / "child")
    assert not (tmp_path / "child").exists()
    train(parse(tables | {"start": start | {"vocabulary": "only"}}, "test"), tmp_path / "child")
