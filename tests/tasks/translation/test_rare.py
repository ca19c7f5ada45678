"""Rare words annotated: from the aligner to the stored ids, and from a run back to text."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import anaphora
from anaphora.errors import ConfigError
from anaphora.events import Event, Note, silent
from anaphora.experiment.check import check
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.formats.lines import write_lines
from anaphora.run import Run
from anaphora.samples.english_french import corpus
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.training_job import TrainingContext
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.training import TranslationJob
from anaphora.text.rare_word_annotation import AnnotatedTokenizer, Rare
from anaphora.text.tokenizer import MARKS, UNK, Tokenizer

from ...conftest import NETWORK

TEXT = f"""
task = "translate"
[text]
tokenizer = "word"
segmentation = "whitespace"
size = 50
{NETWORK}[training]
batch_tokens = 400
epochs = 1
"""
KINDS: list[Rare] = ["copyable", "posall", "posunk"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rare")
    for name, pairs in zip(("train", "val", "test"), corpus(2, train=120, valid=8, test=20), strict=True):
        write_lines(folder / f"{name}.en", (" ".join(pair.source_words) for pair in pairs))
        write_lines(folder / f"{name}.fr", (" ".join(pair.target_words) for pair in pairs))
    return folder


def experiment(folder: Path, rare: str, *settings: str) -> ExperimentBase:
    return read_experiment(TEXT, "test.toml", [f"text.rare={rare}", *settings], data=[folder], target="fr")


def begun(of: ExperimentBase, tokenizers: Mapping[str, Tokenizer], path: Path) -> TrainingContext:
    run: Any = SimpleNamespace(path=path)
    return TrainingContext(run, of, torch.nn.Module(), tokenizers)


def test_outputs_that_ask_for_counts_are_told_those_of_annotated_targets(folder: Path, tmp_path: Path) -> None:
    job = TranslationJob(experiment(folder, "posall", "output=nce"), silent)  # type: ignore[arg-type]
    of_run = begun(experiment(folder, "posall"), job.learn_vocabulary(silent), tmp_path)
    counted = job.counts(of_run, silent)
    batches = job.batches(of_run, silent).epoch(1)
    expected = np.zeros(len(counted), np.int64)
    for batch in batches:
        inside_BT = np.arange(batch.target_ids.ids_BT.shape[1]) < batch.target_ids.lengths_B[:, None]
        expected += np.bincount(batch.target_ids.ids_BT[inside_BT], minlength=len(counted))
    assert counted.tolist() == expected.tolist()


@pytest.mark.parametrize("rare", KINDS)
def test_stored_targets_are_annotated_and_read_as_they_were(rare: Rare, folder: Path, tmp_path: Path) -> None:
    job = TranslationJob(experiment(folder, rare), silent)  # type: ignore[arg-type]
    tokenizers = job.learn_vocabulary(silent)
    source, target = tokenizers["source"], tokenizers["target"]
    assert isinstance(target, AnnotatedTokenizer) and len(target.dictionary) > 60
    lines = {target.decode(target.encode(line)) for line in (folder / "train.fr").read_text().splitlines()}
    pointed = unknown = 0
    for batch in job.batches(begun(experiment(folder, rare), tokenizers, tmp_path), silent).epoch(1):
        for row, (ids, length) in enumerate(zip(batch.target_ids.ids_BT, batch.target_ids.lengths_B, strict=True)):
            written = ids[: length - 1].tolist()
            read = batch.input_ids.ids_BT[row, : batch.input_ids.lengths_B[row] - 1].tolist()
            assert target.decode(written) in lines
            found = target.resolve(written, read)
            pointed += sum(place >= 0 for place in found.sources)
            unknown += len(found.sources)
    assert unknown > 100 and pointed > (0.3 if rare == "copyable" else 0.8) * unknown
    assert (UNK in target.encode("zebra")) and source.symbols.size == 50


def urge(path: Path, words: tuple[str, ...]) -> None:
    """Let the best weights of a run write these words of the target far more often than they learnt to."""
    run = Run.open(path)
    best, target = run.load("best"), run.tokenizers()["target"]
    assert isinstance(target, AnnotatedTokenizer) and isinstance(best.which, int)
    bias_V = best.model["output.bias"].copy()
    bias_V[[UNK if word == MARKS[UNK] else len(MARKS) + target.vocabulary.index(word) for word in words]] += 5
    run.fingerprints |= best.fingerprints
    run.save(best.which, {**best.model, "output.bias": bias_V}, {}, best.state)


@pytest.mark.parametrize(
    ("rare", "urged"), [("copyable", ("<unk:1>",)), ("posall", ("<unk>", "<at:0>")), ("posunk", ("<unk:0>",))]
)
def test_a_run_writes_words_in_the_place_of_annotations(
    rare: Rare, urged: tuple[str, ...], folder: Path, tmp_path: Path
) -> None:
    train(experiment(folder, rare), tmp_path / "run")
    urge(tmp_path / "run", urged)
    translator = anaphora.load(tmp_path / "run")
    assert isinstance(translator, TranslationPredictor)
    lines = (folder / "test.en").read_text().splitlines()
    translations = translator.translate(lines, beam=2, alternatives=1, attention=True)
    vocabulary = json.loads((tmp_path / "run" / "vocabulary" / "target").read_bytes())
    known = {"<unk>", *vocabulary["words"]}
    assert sum(word not in known for found in translations for word in found.text.split()) > 20
    for found, line in zip(translations, lines, strict=True):
        assert "<unk:" not in found.text and "<at:" not in found.text
        assert found.weights is not None and len(found.weights) == len(found.target_pieces)
        assert all(i < len(line.split()) for i, _ in found.links())
    assert "dictionary" in vocabulary
    with pytest.raises(ConfigError, match=f"text.rare = '{rare}'"):
        translator.score_pairs(["a"], ["b"])
    with pytest.raises(ConfigError, match=f"text.rare = '{rare}'"):
        translator.translate(["a"], known=True)


def test_annotations_are_the_same_in_blocks_and_are_linked_by_a_sample_of_very_many_pairs(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored, job = [], TranslationJob(experiment(folder, "posunk"), silent)  # type: ignore[arg-type]
    tokenizers = job.learn_vocabulary(silent)
    for block in 1000, 7:
        monkeypatch.setattr("anaphora.tasks.translation.word_links.BLOCK", block)
        job.batches(begun(experiment(folder, "posunk"), tokenizers, tmp_path / f"{block}"), silent)
        stored.append((tmp_path / f"{block}" / "encoded" / "train" / "target.ids").read_bytes())
    assert stored[0] == stored[1]
    monkeypatch.setattr("anaphora.tasks.translation.word_links._PAIRS", 50)
    events: list[Event] = []
    TranslationJob(experiment(folder, "posunk"), silent).learn_vocabulary(events.append)  # type: ignore[arg-type]
    [said] = [event.text for event in events if isinstance(event, Note) and "linked" in event.text]
    assert "what 50 of 120 pairs show" in said


def test_an_annotated_experiment_is_checked_with_a_trial(folder: Path) -> None:
    checked = check(experiment(folder, "posunk"), trial=0.5)
    assert checked.trainable and checked.estimates
