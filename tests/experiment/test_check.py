"""What is said of an experiment before it is trained."""

import re
from pathlib import Path
from typing import Any

import pytest

import anaphora
from anaphora.datacheck.findings import Finding
from anaphora.errors import DataError
from anaphora.experiment.check import CheckResult, check, subset_sizes
from anaphora.experiment.run_training import train
from anaphora.inspection.drawing import charts
from anaphora.run import Run
from anaphora.run.summary import about
from tests.conftest import Trained


def checked(file: Path, data: Path, *settings: str, trial: float = 0.0) -> CheckResult:
    target = "fr" if data.is_dir() else ""
    experiment = anaphora.read_experiment(file.read_text(), file.name, settings, data=[data], target=target)
    return check(experiment, trial=trial)


def only_error(found: CheckResult) -> Finding:
    assert not found.trainable
    [error] = [finding for finding in found.findings if finding.severity == "error"]
    return error


def test_a_trainable_corpus_has_tables_and_no_error(tiny_translator: Path, toy_pairs: Path) -> None:
    found = checked(tiny_translator, toy_pairs)
    assert found.trainable and found.estimates == []
    assert [table.title for table in found.tables()] == [
        "The corpus (lengths of lines in characters)",
        "Words that are not in the training split",
        "Line lengths (training split)",
        "Length ratios (training split)",
    ]


def test_what_training_would_refuse_is_an_error_with_the_same_sentence(tiny_translator: Path, toy_pairs: Path) -> None:
    found = checked(tiny_translator, toy_pairs, "data.max_length=1", trial=0.1)
    assert "more than 1 token on a side" in only_error(found).what
    assert found.survey.sides, "what was learnt before the error is kept"
    file = toy_pairs / "guide.links"
    file.write_text("0-0\n" * 11 + "0-9\n")
    settings = ["guided_alignment.kind=file", f"guided_alignment.file={file}"]
    assert str(file) in only_error(checked(tiny_translator, toy_pairs, *settings, trial=0.1)).what
    (toy_pairs / "train.en").write_bytes(b"a\nb\xff\n")
    assert f"{toy_pairs / 'train.en'}:2 should be UTF-8" in str(only_error(checked(tiny_translator, toy_pairs)))


def test_a_trial_says_what_training_takes(tiny_translator: Path, toy_pairs: Path, trained: Trained) -> None:
    before = sorted(toy_pairs.iterdir())
    found = checked(tiny_translator, toy_pairs, trial=0.5)
    [estimate] = found.estimates
    assert re.search(r"an epoch', '1 update\b", str(found.tables()[-1]))
    run = trained("translator")
    assert estimate.updates * estimate.epochs == Run.open(run).checkpoints()[-1]
    assert estimate.vocabulary == {"source": 11, "target": 11}
    assert estimate.tokens == 12 * 4
    assert estimate.parameters == about(run).total_parameters and estimate.seconds > 0
    assert sorted(toy_pairs.iterdir()) == before


def test_units_outside_the_vocabulary_are_named(tiny_translator: Path, toy_pairs: Path) -> None:
    (toy_pairs / "test.fr").write_text("heda\nψψψ\ngea\n")
    found = checked(tiny_translator, toy_pairs, trial=0.1)
    unknown_tokens = [finding for finding in found.findings if finding.kind == "unknown-tokens"]
    [unknown] = [finding for finding in unknown_tokens if (finding.split, finding.side) == ("test", "fr")]
    assert (unknown.count, unknown.total) == (3, 10)
    assert [place.line for place in unknown.places] == [2]


def test_counts_and_aligners_have_findings_but_no_estimate(count_model: str, toy_pairs: Path, tmp_path: Path) -> None:
    (toy_pairs / "test.fr").write_text("heda\nψψψ\ngea\n")
    tables = {"counts": count_model, "aligner": 'task = "align"\n'}
    for name, text in tables.items():
        (tmp_path / f"{name}.toml").write_text(text)
    (toy_pairs / "text.txt").write_text("a b c d\n" * 39 + "a b x y\n")
    for name, data, side in (("counts", toy_pairs / "text.txt", "text"), ("aligner", toy_pairs, "fr")):
        assert [one for one in checked(tmp_path / f"{name}.toml", data).findings if one.kind == "unknown-tokens"] == []
        found = checked(tmp_path / f"{name}.toml", data, trial=0.1)
        assert found.trainable and found.estimates == []
        assert side in {one.side for one in found.findings if one.kind == "unknown-tokens"}


def test_errors_hide_the_trial_folder(tiny_translator: Path, toy_pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(experiment: Any, *_: object) -> None:
        raise DataError(f"{experiment.data.files[0]}/train.en:3 is empty: fill it in.")

    monkeypatch.setattr("anaphora.experiment.estimate.train", refuse)
    error = only_error(checked(tiny_translator, toy_pairs, trial=0.1))
    assert error.what == "the trial's train.en:3 is empty: fill it in"


def test_a_long_trial_forecasts_scores(tiny_translator: Path, toy_pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anaphora.experiment.check.LEAST_SECONDS", 5.0)
    found = checked(tiny_translator, toy_pairs, trial=5.0)
    assert found.trainable and found.forecasts == []
    assert "12 pairs are too few" in str(next(one for one in found.findings if one.kind == "forecast"))
    monkeypatch.setattr("anaphora.experiment.check.LEAST_EXAMPLES", 3)
    monkeypatch.setattr("anaphora.experiment.check.LEAST_SECONDS", 0.01)
    found = checked(tiny_translator, toy_pairs, trial=0.01)
    assert "are too short, since a full training takes" in str(
        next(one for one in found.findings if one.kind == "forecast")
    )
    monkeypatch.setattr("anaphora.experiment.check.TRIAL_SECONDS", 0.1)
    read = dict[int, set[str]]()

    def reading(experiment: Any, path: Path, *others: Any) -> object:
        lines = (Path(experiment.data.files[0]) / "train.en").read_text().splitlines()
        read.setdefault(len(lines), set(lines))
        assert read[len(lines)] == set(lines)
        return train(experiment, path, *others)

    monkeypatch.setattr("anaphora.experiment.check.train", reading)
    for _ in range(2):
        found = checked(tiny_translator, toy_pairs, trial=5.0)
        [forecast] = found.forecasts
        assert [one.examples for one in forecast.trainings] == [3, 6, 12] and list(forecast.expected) == [12, 24]
    assert read[3] < read[6] < read[12]
    shown = found.json()["forecast"]
    assert [one["examples"] for one in shown["expected"]] == [12, 24] and "twice as many" in shown["sentence"]
    assert len(found.tables()[-1].rows) == 5
    axes = [one.get_ylabel() for one in charts.forecast_figure(forecast).axes]
    assert axes == ["BLEU", "chrF2"]


def several_directions(folder: Path) -> list[Path]:
    """Pairs of two directions, 64 and 8 of them."""
    for target, count in (("yy", 64), ("zz", 8)):
        words = [a + b + c for a in "abcd" for b in "efgh" for c in "ijkl"][:count]
        (folder / target).mkdir()
        for split, lines in (("train", words), ("val", words[:6])):
            (folder / target / f"{split}.xx").write_text("".join(f"{word}\n" for word in lines))
            (folder / target / f"{split}.{target}").write_text("".join(f"{target}{word}\n" for word in lines))
    return [Path(f"xx-{target}={folder / target}") for target in ("yy", "zz")]


def test_scores_of_each_direction_are_forecast(
    tiny_translator: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anaphora.experiment.check.LEAST_SECONDS", 5.0)
    monkeypatch.setattr("anaphora.experiment.check.LEAST_EXAMPLES", 3)
    data = several_directions(tmp_path)
    experiment = anaphora.read_experiment(tiny_translator.read_text(), "tiny.toml", data=data)
    found = check(experiment, trial=20.0)
    assert found.trainable and found.findings
    [forecast] = found.forecasts
    assert [one.examples for one in forecast.trainings] == [18, 36, 72]
    assert list(forecast.trainings[0].metrics) == ["xx-yy BLEU", "xx-yy chrF2", "xx-zz BLEU", "xx-zz chrF2"]


def test_an_epoch_draws_its_pairs_in_proportions(
    tiny_translator: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = several_directions(tmp_path)
    made = [a + b + c for a in "dcba" for b in "mnopqrs" for c in "ijklmnopqr"]
    (tmp_path / "made.tsv").write_text("".join(f"{word}\tyy{word}\n" for word in made))
    settings = ["data.temperature=4", f'data.synthetic=["xx-yy={tmp_path / "made.tsv"}"]', "training.epochs=1"]
    experiment = anaphora.read_experiment(tiny_translator.read_text(), "tiny.toml", settings, data=data)
    train(experiment, tmp_path / "run")
    real = Run.open(tmp_path / "run").checkpoints()[-1]
    for sampled in (50_000, 32):
        monkeypatch.setattr("anaphora.experiment.estimate.SAMPLED", sampled)
        [estimate] = check(experiment, trial=0.5).estimates
        assert 0.6 < estimate.updates / real < 1.6, (sampled, estimate, real)


@pytest.mark.parametrize("column", ["label", "tag"])
def test_a_sample_has_every_label(column: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anaphora.experiment.estimate.SAMPLED", 10)
    (tmp_path / "data").mkdir()
    for split, count in (("train", 40), ("valid", 2)):  # in the order of their labels
        rows = [
            (f"{label}{n}", label) for label in ("one", "rare", "two") for n in range(1 if label == "rare" else count)
        ]
        if column == "label":
            text = "label\ttext\n" + "".join(f"{label}\t{word} here\n" for word, label in rows)
        else:
            text = "".join(f"{word}\t{label}\nhere\tO\n\n" for word, label in rows)
        (tmp_path / "data" / f"{split}.{'tsv' if column == 'label' else 'conll'}").write_text(text)
    task = {"label": "classify", "tag": "tag"}[column]
    experiment = anaphora.read_experiment(f'task = "{task}"', "own.toml", ["encoder.size=8"], data=[tmp_path / "data"])
    found = check(experiment, trial=0.1)
    assert found.trainable, [str(one) for one in found.findings]


def test_columns_of_one_language_are_tried_out(tiny_translator: Path, tmp_path: Path) -> None:
    rows = "".join(f'{n}\t"a{n}"\tb{n}\n' for n in range(60))
    (tmp_path / "pairs.tsv").write_text(rows)
    settings = ["data.columns=[2,3]", "data.quoted=true"]
    experiment = anaphora.read_experiment(
        tiny_translator.read_text(), "tiny.toml", settings, data=[tmp_path / "pairs.tsv"], source="en", target="en"
    )
    found = check(experiment, trial=0.1)
    assert found.trainable and found.estimates


@pytest.mark.parametrize(
    ("count", "times", "sizes"),
    [
        (10_000, 3.0, [2500, 5000, 10_000]),
        (10_000, 0.7, [1000, 2000, 4000]),
        (1_000_000, 1.75, [12_500, 25_000, 50_000]),
    ],
)
def test_subsets_are_as_large_as_their_trainings_have_time(count: int, times: float, sizes: list[int]) -> None:
    assert subset_sizes(count, times) == sizes
