"""A run that starts from another: what is kept, what grows, and what does not fit."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from anaphora.errors import ConfigError, RunError
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.run import Run
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.tasks.base import StartConfig
from anaphora.tasks.runs import experiment_of
from tests.conftest import Trained
from tests.resuming import assert_goes_on_without, weights

from .runs import changed, notes, texts

EPOCHS = "training.epochs=1"
STILL = "training.optimizer.learning_rate=1e-30"
"""A rate that moves no weight."""
SWAPPED = ("data.source=fr", "data.target=en")


@pytest.fixture
def parent(trained: Trained) -> Path:
    """A run of the toy corpus."""
    return trained("translator")


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


def child(parent: Path, data: Path, vocabulary: str, *settings: str) -> Experiment:
    start = StartConfig.parse({"run": str(parent), "vocabulary": vocabulary}, "test")
    text = (parent / "experiment.toml").read_text()
    return read_experiment(text, "child", settings, data=[data], source="en", target="fr", start=start)


def warnings(experiment: Experiment, run: Path) -> list[str]:
    """Those of a run that begins."""
    return [note.text for note in notes(experiment, run) if note.warning]


def refuses(experiment: Experiment, run: Path, sentence: str) -> str:
    """Demand that nothing is made for an experiment that does not fit; returns all that is said."""
    with pytest.raises(ConfigError, match=sentence) as fault:
        train(experiment, run)
    assert not run.exists()
    return str(fault.value)


def test_a_kept_vocabulary_keeps_weights_however_lines_are_split(parent: Path, new_pairs: Path, tmp_path: Path) -> None:
    said = texts(child(parent, new_pairs, "keep", EPOCHS, STILL, "text.sentences=whole"), tmp_path / "child")
    before, after = weights(parent), weights(tmp_path / "child")
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    (told,) = [text for text in said if text.startswith("Starting from")]
    assert f"{len(before)} of {len(before)} matrices and vectors kept." in told and "0 new" in told
    own, theirs = (Run.open(run).tokenizers()["source"].fingerprint for run in (tmp_path / "child", parent))
    assert own == theirs


def test_tokens_outside_a_vocabulary_are_counted(
    parent: Path, toy_pairs: Path, new_pairs: Path, tmp_path: Path
) -> None:
    source, target = warnings(child(parent, new_pairs, "keep", EPOCHS), tmp_path / "kept")
    assert source == (
        f"15 of 40 tokens (37.5%) of the training split (en) are outside the vocabulary of {parent} and trained on as "
        "<unk>: extend it (--vocabulary extend), or exchange --source and --target if they are the wrong way round."
    )
    assert target == source.replace("(en)", "(fr)")
    assert not warnings(child(parent, toy_pairs, "keep", EPOCHS), tmp_path / "same")
    source, _ = warnings(child(parent, new_pairs, "only", EPOCHS), tmp_path / "only")
    assert source.endswith("as models that go together need; for fewer, train that run with a larger text.size.")


def test_unknown_words_are_reported_from_a_tenth_on(trained: Trained, toy_sentences: Path, tmp_path: Path) -> None:
    parent = trained("translator-of-words", "training.seed=1", "training.epochs=5")
    lines = (toy_sentences / "train.en").read_text().splitlines()
    for strange, share in (3, ""), (9, "9 of 84 words (10.7%)"):
        other = [line.replace("The", "Here") if number < strange else line for number, line in enumerate(lines)]
        (toy_sentences / "train.en").write_text("".join(f"{line}\n" for line in other))
        said = warnings(child(parent, toy_sentences, "keep", EPOCHS), tmp_path / f"child-{strange}")
        assert len(said) == bool(share) and all(line.startswith(share) for line in said)


@pytest.mark.parametrize("vocabulary", ["keep", "extend", "only"])
def test_swapped_languages_are_reported(parent: Path, toy_pairs: Path, vocabulary: str, tmp_path: Path) -> None:
    swapped = child(parent, toy_pairs, vocabulary, EPOCHS, *SWAPPED)
    (said,) = [line for line in warnings(swapped, tmp_path / "child") if "other language" in line]
    assert said.startswith(f"{parent} was trained from 'en' to 'fr', and what each of its sides has learnt")


def test_extending_a_vocabulary_keeps_old_rows_and_draws_new(parent: Path, new_pairs: Path, tmp_path: Path) -> None:
    said = notes(child(parent, new_pairs, "extend", EPOCHS, STILL), tmp_path / "child")
    before, after = weights(parent), weights(tmp_path / "child")
    old, new = (Run.open(run).tokenizers()["source"] for run in (parent, tmp_path / "child"))
    assert new.symbols.size == old.symbols.size + 3  # x, y, z
    grown = [name for name in before if before[name].shape != after[name].shape]
    assert len(grown) >= 3  # both embeddings and the output
    for name, tensor in before.items():
        assert torch.equal(after[name][: len(tensor)], tensor)
    assert all(bool(after[name][-3:].any()) for name in grown if name.endswith("embedding.weight"))
    assert any("source vocabulary" in note.text and "3 new" in note.text for note in said)
    assert not any(note.warning for note in said)


def test_a_begun_child_goes_on_without_its_parent(trained_copy: Trained, new_pairs: Path, tmp_path: Path) -> None:
    parent = trained_copy("translator")
    assert_goes_on_without(child(parent, new_pairs, "extend", EPOCHS), tmp_path, lambda: shutil.rmtree(parent))


@pytest.mark.parametrize("gives", ["a run", "vectors"])
def test_a_child_that_was_killed_before_it_saved_its_first_weights_does_not_resume(
    gives: str, parent: Path, new_pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "vectors.txt").write_text("a 0.5 -0.5\nb 1 0\n")
    files = ["embedding.size=2", f"embedding.source_vectors={tmp_path / 'vectors.txt'}"]
    experiment = child(parent, new_pairs, *(["keep"] if gives == "a run" else ["only", *files]), EPOCHS)

    def keep_as_killed(run: Run, *given: Any, **options: Any) -> Path:
        if not (tmp_path / "killed").exists():
            shutil.copytree(run.path, tmp_path / "killed")
        return save(run, *given, **options)

    save = Run.save
    monkeypatch.setattr(Run, "save", keep_as_killed)
    train(experiment, tmp_path / "child")
    with pytest.raises(RunError, match=r"was stopped before its first checkpoint, .*: remove the folder, and begin"):
        train(experiment_of(tmp_path / "killed"), tmp_path / "killed", resume=True)


@pytest.mark.parametrize(("units", "option"), [("bpe", "dropout"), ("unigram", "alpha")])
def test_how_subwords_are_drawn_may_change_and_others_take_the_likeliest_and_either_side(
    units: str, option: str, trained: Trained, language_model: Experiment, toy_pairs: Path, tmp_path: Path
) -> None:
    parent = trained("translator", EPOCHS, f'text={{tokenizer="{units}",size=300,{option}=0.5}}')
    train(child(parent, toy_pairs, "keep", f"text.{option}=0.1"), tmp_path / "child")
    assert getattr(experiment_of(tmp_path / "child").text, option) == 0.1
    assert not warnings(child(parent, toy_pairs, "only", *SWAPPED), tmp_path / "swapped")

    model = changed(language_model, EPOCHS, start={"run": str(parent), "vocabulary": "only"})
    train(model, tmp_path / "model")
    assert getattr(experiment_of(tmp_path / "model").text, option) == 0
    assert train(changed(model, "training.epochs=2"), tmp_path / "model", resume=True).reason == "epochs"


def test_a_vocabulary_that_does_not_go_with_the_experiment_is_not_taken_over(
    parent: Path, new_pairs: Path, trained: Trained, language_model: Experiment, tmp_path: Path
) -> None:
    shared = child(parent, new_pairs, "only", 'text={tokenizer="bpe"}', "embedding.shared=true")
    refuses(shared, tmp_path / "child", r"embedding\.shared needs one vocabulary")
    rare = trained("translator", EPOCHS, 'text={tokenizer="word",segmentation="whitespace",rare="posunk"}')
    lent = changed(language_model, start={"run": str(rare), "vocabulary": "only"})
    refuses(lent, tmp_path / "child", r"annotates rare words \(text.rare = 'posunk'\)")


def test_unlike_parents_are_refused(parent: Path, new_pairs: Path, language_model: Experiment, tmp_path: Path) -> None:
    wider = child(parent, new_pairs, "keep", "embedding.size=12")
    said = refuses(wider, tmp_path / "child", r"does not fit.*embedding.weight is \d+ x 8 there and \d+ x 12 here")
    assert re.search(r" here; and \d+ more\. Give it", said) and said.count(" there and ") == 4
    lowercased = child(parent, new_pairs, "keep", "text.lowercase=true")
    refuses(lowercased, tmp_path / "child", r"tokenize text otherwise: text.lowercase was False and is True\.")
    refuses(changed(language_model, f'start.run="{parent}"'), tmp_path / "child", "same task")
    with pytest.raises(RunError, match="nothing is there"):
        train(child(parent, new_pairs, "keep", f"start.run={tmp_path / 'missing'}"), tmp_path / "child")


def test_without_weights_a_run_lends_a_vocabulary(trained: Trained, language_model: Experiment, tmp_path: Path) -> None:
    counts = trained("counts", 'text={tokenizer="character"}')
    kept = changed(language_model, f'start.run="{counts}"')
    refuses(kept, tmp_path / "child", r"none of this network.s weights .*--vocabulary only")
    train(changed(kept, "start.vocabulary=only"), tmp_path / "child")
