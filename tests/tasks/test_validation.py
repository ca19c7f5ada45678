"""The figures by which training chooses its best checkpoint, against those of the finished run."""

from pathlib import Path
from typing import Any

import pytest
import torch

import anaphora
from anaphora.evaluation.bleu import bleu
from anaphora.events import silent
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.run import Run
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.registry import task_of
from anaphora.tasks.runs import experiment_of
from anaphora.tasks.training_job import TrainingContext
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.training import TranslationJob
from anaphora.tasks.translation.translation import Translation
from tests.experiment.runs import changed


def figures_of_best(path: Path) -> dict[str, float]:
    run = Run.open(path)
    best = run.best()
    assert best is not None
    return run.validation(best)


def test_validation_loss_is_the_loss_of_the_pairs(translator: ExperimentBase, toy_pairs: Path, tmp_path: Path) -> None:
    for side, lines in (("en", ["a", "bec", "adgaecbdf"]), ("fr", ["ab", "ceb", "f"])):  # mean of pairs is another
        (toy_pairs / f"val.{side}").write_text("".join(f"{line}\n" for line in lines))
    train(translator, tmp_path / "run")
    model = anaphora.load(tmp_path / "run", kind=TranslationPredictor)
    sides = ((toy_pairs / f"val.{side}").read_text().splitlines() for side in ("en", "fr"))
    scored = model.score_pairs(*sides, attention=True)
    cost = -sum(pair.score for pair in scored) / sum(len(pair.target_pieces) for pair in scored)
    assert figures_of_best(tmp_path / "run")["loss"] == pytest.approx(cost, rel=1e-5)


@pytest.mark.parametrize(
    "settings",
    [["training.batch_tokens=10"], ["reads=sentences", "data.steps=100"]],
    ids=["windows of ten", "sentences"],
)
def test_the_validation_figures_of_a_language_model_are_those_of_its_text(
    tiny_language_model: Path, toy_book: Path, tmp_path: Path, settings: list[str]
) -> None:
    folder = tmp_path / "text"
    folder.mkdir()
    toy_book.rename(folder / "train.txt")
    valid = folder / "valid.txt"
    valid.write_text("a little line\nof the book\n\nnumber 7\n")
    train(read_experiment(tiny_language_model.read_text(), "tiny.toml", settings, data=[folder]), tmp_path / "run")
    model = anaphora.load(tmp_path / "run", kind=anaphora.LanguageModelPredictor)
    found = model.evaluate(valid.read_text().splitlines())
    figures = figures_of_best(tmp_path / "run")
    assert figures["loss"] == pytest.approx(found.nats / found.tokens, rel=1e-5)
    assert figures["perplexity"] == pytest.approx(found.perplexity, rel=1e-5)
    assert figures["bits_per_character"] == pytest.approx(found.bits_per_character, rel=1e-5)


def test_validation_by_bleu_searches_as_it_is_told_to_and_compares_each_output_with_its_own_reference(
    translator: ExperimentBase, toy_pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = ["a" * 20_000, "a b c d e f", "a c e a c e", "b d f b d f"]  # the first is longer than training has them
    references = ["a", "a b c d e", "a c e a c e", "b d f b d"]
    for side, lines in (("en", sources), ("fr", references)):
        (toy_pairs / f"val.{side}").write_text("".join(f"{line}\n" for line in lines))
    experiment = changed(translator, "training.metric=bleu", "evaluation.validation_beam=3", "evaluation.beam=7")
    train(translator, tmp_path / "run")
    run, asked = Run.open(tmp_path / "run"), list[int]()

    def copied(self: Any, texts: tuple[str, ...], *, beam: int, protect: tuple[str, ...]) -> list[Translation]:
        asked.append(beam)
        assert protect == ()  # scores are those of the network alone
        return [Translation(text, 0.0, True, (), (), None) for text in texts]

    monkeypatch.setattr(TranslationPredictor, "translate", copied)
    tokenizers = run.tokenizers()
    model = task_of(experiment).build(experiment, tokenizers, "test").eval()
    context = TrainingContext(run, experiment, model, tokenizers)
    validate = TranslationJob(experiment, silent).validation(context, silent)
    with torch.no_grad():
        figures = validate(model)
    assert figures["bleu"] == pytest.approx(bleu(sources[1:], references[1:], language="fr").value)
    assert 0 < figures["bleu"] < 100 and {*asked} == {3}


def test_what_is_missing_around_a_checkpoint_is_put_in_order(count_model: str, toy_book: Path, tmp_path: Path) -> None:
    path = tmp_path / "run"
    train(read_experiment(count_model, "counts.toml", data=[toy_book]), path)
    for name in ("latest", "best"):
        (path / name).unlink()
    (path / "checkpoints" / ".unfinished-half").mkdir()
    train(experiment_of(path), path, resume=True)
    assert {(path / name).read_text() for name in ("latest", "best")} == {"step-1\n"}
    assert [entry.name for entry in (path / "checkpoints").iterdir()] == ["step-1"]
