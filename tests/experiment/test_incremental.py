"""A translator that learns new pairs: old ones are in every batch, and both kinds are measured."""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from anaphora.cli.app import main
from anaphora.errors import ConfigError
from anaphora.evaluation.bleu import Score
from anaphora.events import Event, Note
from anaphora.experiment.parent_run import incremental_table
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.run import Run
from anaphora.run.checkpoint import AVERAGE
from anaphora.run.weights import as_tensors, tensors_of
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.tasks.base import StartConfig
from anaphora.tasks.runs import experiment_of
from anaphora.tasks.translation.incremental_training import HeldOutScores, IncrementalJob, old_runs
from tests.conftest import Trained
from tests.resuming import weights

from .runs import QUICK, assert_resumes, changed

TMX = """<tmx version="1.4"><header srclang="en" segtype="sentence" o-tmf="x" adminlang="en" datatype="plaintext"
creationtool="x" creationtoolversion="1"/><body>{}</body></tmx>"""


def unit(source: str, target: str, language: str = "fr") -> str:
    return f'<tu><tuv xml:lang="en"><seg>{source}</seg></tuv><tuv xml:lang="{language}"><seg>{target}</seg></tuv></tu>'


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory of new pairs."""
    words = [a + b + c for a in "fgh" for b in "abc" for c in "de"]
    path = tmp_path_factory.mktemp("week") / "week.tmx"
    path.write_text(TMX.format("".join(unit(word, word[::-1]) for word in words)))
    return path


@pytest.fixture(scope="module")
def old(trained: Trained) -> Path:
    """A run of the toy corpus."""
    return trained("translator")


def grow(old: Path, data: Path, run: Path, *options: str) -> int:
    short = ["--set", "training.epochs=2"]
    return main(["train", "--from", str(old), "--data", str(data), "--run", str(run), *short, *options])


def grown(old: Path, data: Path, *settings: str) -> Experiment:
    start = StartConfig.parse({"run": str(old), "replay": 0.5}, "test")
    return read_experiment(incremental_table(experiment_of(old)), "grown", settings, data=[data], start=start)


def test_updates_are_few_and_small_and_old_and_new_held_out_pairs_are_told(
    old: Path, week: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert grow(old, week, tmp_path / "new") == 0
    before, after = experiment_of(old), experiment_of(tmp_path / "new")
    assert after.start.replay == 0.5 and after.text == before.text
    rates = [one.training.optimizer.learning_rate for one in (before, after)]
    assert rates[1] == pytest.approx(rates[0] / 10) and after.training.metric == "loss"
    said = capsys.readouterr().err
    assert "Held out, before: old pairs BLEU" in said and "Held out, after: old pairs BLEU" in said
    assert "No validation split was given, so 1 of 18 pairs" in said
    found = [line["validation"] for line in Run.open(tmp_path / "new").metrics.lines() if "validation" in line]
    for metrics in found:
        assert metrics["loss"] == pytest.approx((metrics["old_loss"] + metrics["new_loss"]) / 2)
    old_weights, new_weights = weights(old), weights(tmp_path / "new")
    assert found and any(not torch.equal(old_weights[name], new_weights[name]) for name in old_weights)


def test_a_run_with_alignment_supervision_grows_without_it(
    trained: Trained, week: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = trained("translator", "guided_alignment.kind=learn")
    assert grow(old, week, tmp_path / "new") == 0
    before, after = (experiment_of(run).tables() for run in (old, tmp_path / "new"))
    assert (before["guided_alignment"]["kind"], after["guided_alignment"]["kind"]) == ("learn", "none")
    assert after["start"]["replay"] == 0.5
    assert "Old and new pairs are without its alignment supervision" in capsys.readouterr().err


def test_a_grown_run_grows_on_with_all_old_pairs_and_updates_of_one_size(old: Path, week: Path, tmp_path: Path) -> None:
    first, second, more = tmp_path / "first", tmp_path / "second", tmp_path / "more.tsv"
    more.write_text("".join(f"h{a}{b}\t{b}{a}h\n" for a in "abcdef" for b in "gh"))
    assert grow(old, week, first) == grow(first, more, second) == 0
    assert experiment_of(first).training == experiment_of(second).training
    encoded = second / "encoded"
    assert {"old-1", "old-2", "old-valid"} <= {path.name for path in encoded.iterdir()}
    own, theirs = (folder / "source.ids" for folder in (encoded / "old-2", old / "encoded" / "train"))
    assert own.read_bytes() == theirs.read_bytes()


def test_it_goes_on_bit_for_bit_where_it_was_stopped(old: Path, week: Path, tmp_path: Path) -> None:
    assert_resumes(grown(old, week, "training.epochs=2", "training.validate_every=0"), tmp_path, 1)


def test_synthetic_pairs_of_the_run_before_are_not_replayed(old: Path, week: Path, tmp_path: Path) -> None:
    (tmp_path / "made.tsv").write_text("".join(f"{word}\t{word[::-1]}\n" for word in ("adfg", "bdfh", "cegh")))
    own = experiment_of(old)
    synthetic = {**own.data.model_dump(), "synthetic": [str(tmp_path / "made.tsv")]}
    train(changed(own, data=synthetic), tmp_path / "before")
    (tmp_path / "made.tsv").unlink()
    assert [run.splits.train.count for run in old_runs(grown(tmp_path / "before", week))] == [12]
    train(grown(tmp_path / "before", week, "training.epochs=1"), tmp_path / "after")


def test_without_replay_the_run_before_says_how_training_goes(old: Path, week: Path, tmp_path: Path) -> None:
    assert grow(old, week, tmp_path / "new", "--replay", "0") == 0
    assert experiment_of(tmp_path / "new").training == experiment_of(old).training


def bleu(value: float) -> Score:
    return Score("BLEU", value, "", "raw")


def test_a_loss_of_old_pairs_is_a_warning_that_says_what_to_do() -> None:
    said: list[Event] = []
    before, after, worse = (HeldOutScores(bleu(old), bleu(new)) for old, new in ((30, 5), (29.71, 9), (29.6, 9)))
    after.report_to(said.append, "after", before)
    assert said == [Note("Held out, after: old pairs BLEU 29.71 (-0.29); new pairs BLEU 9.00 (+4.00).")]
    worse.report_to(said.append, "after", before)
    assert isinstance(said[-1], Note) and said[-1].warning and "lost 0.40 points" in said[-1].text


@pytest.fixture(scope="module")
def whole(old: Path, week: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``whole("keep")`` is a run of the new pairs before whose end old pairs lose nothing, trained once."""

    @cache
    def grow_once(vocabulary: str) -> Path:
        run = tmp_path_factory.mktemp("whole") / "run"
        assert grow(old, week, run, "--vocabulary", vocabulary) == 0
        assert Run.open(run).best() != AVERAGE
        return run

    return grow_once


Forget = Callable[[float, str], None]


@pytest.fixture
def forgetful(whole: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Forget:
    """Let old pairs lose as many points as are given, in proportion to how far the weights of ``whole`` are."""

    def forget(points: float, vocabulary: str) -> None:
        start, last = as_tensors(Run.open(whole(vocabulary)).load(0).model), weights(whole(vocabulary))

        def moved(now: dict[str, torch.Tensor]) -> float:
            return sum(float((tensor - start[name]).double().square().sum()) for name, tensor in now.items()) ** 0.5

        def score(_: object, translator: Any, *__: object) -> Score:
            return bleu(30 - points * moved(tensors_of(translator.stepper.__self__)) / moved(last))

        monkeypatch.setattr(IncrementalJob, "_score", score)

    return forget


@pytest.mark.parametrize(
    ("vocabulary", "points", "share"),
    [("keep", 0.2, 1.0), ("keep", 0.5, 0.5), ("keep", 2.3, 0.125), ("keep", 9.0, 0.0), ("extend", 0.5, 0.5)],
)
def test_as_much_of_the_change_is_kept_as_old_pairs_bear(
    old: Path,
    week: Path,
    whole: Callable[[str], Path],
    tmp_path: Path,
    forgetful: Forget,
    vocabulary: str,
    points: float,
    share: float,
    capsys: pytest.CaptureFixture[str],
) -> None:
    forgetful(points, vocabulary)
    assert grow(old, week, tmp_path / "new", "--vocabulary", vocabulary) == 0
    assert (Run.open(tmp_path / "new").best() == AVERAGE) == (share < 1)
    before, start, last = (
        weights(old),
        as_tensors(Run.open(whole(vocabulary)).load(0).model),
        weights(whole(vocabulary)),
    )
    assert all(torch.equal(start[name][: len(tensor)], tensor) for name, tensor in before.items())
    assert any(len(start[name]) > len(tensor) for name, tensor in before.items()) == (vocabulary == "extend")
    kept = weights(tmp_path / "new")
    assert all(torch.equal(kept[name], torch.lerp(start[name], last[name], share)) for name in kept)
    said = capsys.readouterr().err
    assert (f"{share:.1%} of the change of the weights is kept" in said) == (share < 1)
    assert f"Held out, after: old pairs BLEU {30 - points * share:.2f}" in said
    assert "Old pairs have lost" not in said


def test_the_weights_of_the_start_stay_and_those_between_go(old: Path, week: Path, tmp_path: Path) -> None:
    experiment = grown(old, week, "training.epochs=6", "training.save_every=1", "training.validate_every=0")
    asked = iter([False, False, False, True])
    train(experiment, tmp_path / "new", stop=lambda: next(asked))
    train(experiment, tmp_path / "new", resume=True)
    run = Run.open(tmp_path / "new")
    first, *others = run.checkpoints()
    assert first == 0 and 1 not in others and max(others) > 4


def test_a_run_that_kept_a_part_resumes_grows_on_and_translates(
    old: Path, week: Path, tmp_path: Path, forgetful: Forget, capsys: pytest.CaptureFixture[str]
) -> None:
    forgetful(1.0, "keep")
    new = tmp_path / "new"
    assert grow(old, week, new) == 0
    before = weights(new)
    assert main(["train", "--resume", "--run", str(new)]) == 0
    assert all(torch.equal(one, before[name]) for name, one in weights(new).items())
    assert grow(new, week, tmp_path / "next") == 0
    assert "Starting from average" in capsys.readouterr().err
    (tmp_path / "text").write_text("abc\n")
    assert main(["translate", str(new), str(tmp_path / "text")]) == 0


def test_what_cannot_be_replayed_is_refused_with_what_to_do(
    old: Path,
    week: Path,
    trained: Trained,
    translator: Experiment,
    toy_pairs: Path,
    toy_book: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def said(run: Path, data: Path, *options: str) -> str:
        assert grow(run, data, tmp_path / "new", *options) == 2
        assert not (tmp_path / "new").exists()
        return capsys.readouterr().err

    told = said(old, week, "--target", "de")
    assert "translates from 'en' to 'fr', but the new pairs are from 'en' to 'de'" in told
    (tmp_path / "other.tmx").write_text(TMX.format(unit("abc", "cba", "de")))
    assert "other.tmx" in said(old, tmp_path / "other.tmx")
    assert "replay should be less than 1" in said(old, week, "--replay", "1.5")
    told = said(trained("language-model", QUICK), toy_book, "--replay", "0.5")
    assert "start.replay (--replay) is for translators" in told
    train(translator, tmp_path / "moved")
    shutil.rmtree(toy_pairs)
    told = said(tmp_path / "moved", week)
    assert "cannot be drawn from while it learns new ones" in told and "--replay 0" in told
    assert main(["train", "--data", str(week), "--replay", "0.5", "--run", str(tmp_path / "new")]) == 2
    assert "--replay belongs to --from" in capsys.readouterr().err


def test_a_start_that_replays_needs_the_weights_of_a_run() -> None:
    for table in ({"replay": 0.5}, {"run": "x", "vocabulary": "only", "replay": 0.5}):
        with pytest.raises(ConfigError, match=r"replay = 0\.5"):
            read_experiment('task = "translate"', "test", data=[Path()], start=StartConfig.parse(table, "test"))
