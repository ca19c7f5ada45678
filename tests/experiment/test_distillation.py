"""A student learns what its teachers write, and every step goes on where it was stopped."""

import json
import shutil
from itertools import count
from pathlib import Path

import pytest

from anaphora.cli.app import main
from anaphora.errors import ConfigError, RunError
from anaphora.events import silent
from anaphora.experiment.distillation import DistillationResult, distill
from anaphora.experiment.run_training import train
from anaphora.models.translator import Translator
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.tasks.registry import parse, task_of
from anaphora.tasks.runs import experiment_of, load
from anaphora.tasks.translation.config import TranslationExperiment
from anaphora.tasks.translation.predictor import load_together
from anaphora.text.tokenizer import symbols_of
from anaphora.training.loop import Stop, never
from tests.conftest import Trained

from .runs import QUICK, changed, have_same_weights

SETTINGS = ["training.epochs=2", "training.validate_every=0"]


@pytest.fixture
def teachers(trained: Trained) -> list[Path]:
    """Two translators of one vocabulary that get some words right."""
    return [trained("translator-of-words", f"training.seed={seed}", "training.epochs=5") for seed in (1, 2)]


def distilled(teachers: list[Path], run: Path, stop: Stop = never) -> DistillationResult:
    return distill(teachers, run, silent, beam=2, settings=SETTINGS, stop=stop)


def after(calls: int) -> Stop:
    """Stops at that call, and at every later one."""
    counted = count(1)
    return lambda: next(counted) >= calls


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_smaller_student_learns_what_its_teachers_write(teachers: list[Path], toy_data: Path, tmp_path: Path) -> None:
    found, pairs = distilled(teachers, tmp_path / "student"), tmp_path / "student-pairs"
    toy_sentences = toy_data / "sentences"
    sources = (toy_sentences / "train.en").read_text().splitlines()
    written = load_together(teachers).translate(sources, beam=2)
    assert (pairs / "train.en").read_text().splitlines() == sources
    assert (pairs / "train.fr").read_text().splitlines() == [one.text for one in written]
    for name in ("val.en", "val.fr", "test.en", "test.fr"):
        assert (pairs / name).read_text() == (toy_sentences / name).read_text()
    teacher, student = experiment_of(teachers[0]), experiment_of(tmp_path / "student")
    assert isinstance(teacher, TranslationExperiment) and isinstance(student, TranslationExperiment)
    assert student.decoder.size == teacher.decoder.size // 2 and student.evaluation.beam == 1
    assert contents(teachers[0] / "vocabulary") == contents(tmp_path / "student" / "vocabulary")
    assert [system.name for system in found.systems] == [
        "2 teachers together, beam 2",
        "2 teachers together, greedy",
        "student, greedy",
    ]
    outputs = load(tmp_path / "student").translate((toy_sentences / "test.en").read_text().splitlines(), beam=1)
    assert len(outputs) == 3 and found.split == "test"
    assert all(system.metrics["sentences per second"] > 0 for system in found.systems)


def test_what_was_stopped_at_any_point_ends_with_the_same_bits(teachers: list[Path], tmp_path: Path) -> None:
    distilled(teachers[:1], tmp_path / "whole")
    for calls in (3, 5, 2):  # while answers are written, again, and after an update
        assert distilled(teachers[:1], tmp_path / "parts", after(calls)).systems == ()
    part = tmp_path / "parts-pairs" / "train.fr.part"
    with part.open("ab") as file:
        file.write(b"half a li")  # of a killed process
    assert distilled(teachers[:1], tmp_path / "parts", after(4)).systems == ()
    assert distilled(teachers[:1], tmp_path / "parts").systems
    names = ("train.en", "train.fr", "val.fr", "test.fr")
    whole, parts = (contents(tmp_path / f"{run}-pairs") for run in ("whole", "parts"))
    assert [whole[name] for name in names] == [parts[name] for name in names]
    assert have_same_weights(tmp_path / "whole", tmp_path / "parts")


def test_answers_of_others_are_not_mixed(teachers: list[Path], tmp_path: Path) -> None:
    assert not distilled(teachers[:1], tmp_path / "student", after(3)).systems
    with pytest.raises(RunError, match="begun with other teachers and checkpoints"):
        distilled(teachers[1:], tmp_path / "student")
    with pytest.raises(RunError, match="begun with other beam"):
        distill(teachers[:1], tmp_path / "student", settings=SETTINGS, beam=3)


def test_what_cannot_teach_or_fit_is_refused_at_once(teachers: list[Path], trained: Trained, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is a language model"):
        distilled([trained("language-model", QUICK)], tmp_path / "student")
    with pytest.raises(ConfigError, match=r"decoder.sizes"):
        distill(teachers[:1], tmp_path / "student", settings=["decoder.sizes=3"])
    assert not (tmp_path / "student").exists() and not (tmp_path / "student-pairs").exists()


def test_test_splits_of_one_name_in_two_folders_are_copied(trained: Trained, toy_data: Path, tmp_path: Path) -> None:
    shutil.copytree(toy_data / "sentences", other := tmp_path / "other" / "more")
    own = experiment_of(trained("translator-of-words"))
    data = {**own.data.model_dump(), "files": [str(toy_data / "sentences"), str(other)]}
    train(changed(own, "training.epochs=1", data=data), tmp_path / "teacher")
    distilled([tmp_path / "teacher"], tmp_path / "student")
    assert {path.name for path in (tmp_path / "student-pairs").glob("*.fr")} >= {"test.fr", "test-more-test.fr"}


def test_the_command_prints_student_beside_teacher(
    teachers: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["distill", str(teachers[0]), "--run", str(tmp_path / "student"), "--beam", "2"]
    command += [f"--set={setting}" for setting in SETTINGS]
    assert main(command) == 0
    heads, teacher, greedy, student, _ = capsys.readouterr().out.splitlines()
    assert heads.split()[:3] == ["test", "BLEU", "chrF2"]
    assert teacher.startswith("teacher, beam 2") and student.startswith("student, greedy")
    assert main([*command, "--json"]) == 0  # nothing is left to do but to measure
    systems = json.loads(capsys.readouterr().out)["systems"]
    assert all(f"{one['BLEU']:,.2f}" in line for one, line in zip(systems, (teacher, greedy, student), strict=True))


@pytest.mark.parametrize(
    ("settings", "encoder", "decoder"),
    [
        (["decoder.layers=3", "decoder.residual=true"], 40, 20),
        (["attention.score=dot", "decoder.size=80"], 20, 40),
        (["decoder.initial_state=copy", "encoder.bidirectional=false", "attention.score=general"], 20, 20),
        (["output.tied=true", "embedding.size=40"], 40, 20),
    ],
)
def test_a_student_fits_together_whatever_its_teacher_is(
    settings: list[str], encoder: int, decoder: int, translator: Experiment
) -> None:
    teacher = changed(translator, "encoder.size=40", "decoder.size=40", *settings)
    teaching = task_of(teacher).distillation
    assert teaching is not None
    student = parse(teaching.student(teacher), "student")
    assert isinstance(student, TranslationExperiment)
    assert (student.encoder.size, student.decoder.size, student.decoder.layers) == (encoder, decoder, 1)
    symbols = symbols_of(9)
    Translator(student, symbols, symbols)  # which checks that all widths match
