import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch

import anaphora
from anaphora.data import sources
from anaphora.errors import AnaphoraError, ConfigError, MissingExtraError, RunError
from anaphora.events import Event, Progress, Skipped
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.kernels.runtime import Runtime, running
from anaphora.protocols import Batches
from anaphora.run import Run
from anaphora.run.summary import about
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.tasks.runs import experiment_of
from tests.conftest import Trained
from tests.runtimes import threads

from .runs import QUICK, assert_resumes, assert_used, changed, have_same_weights, last_weights, texts


@pytest.mark.parametrize(
    "text",
    [
        {"tokenizer": "bpe", "size": 300, "dropout": 0.5},
        {"tokenizer": "unigram", "size": 300, "alpha": 0.1, "joint": False},
        {"tokenizer": "word", "size": 12},
        {"tokenizer": "byte"},
    ],
)
def test_a_run_of_any_tokenizer_resumes_alike(text: dict[str, object], translator: Experiment, tmp_path: Path) -> None:
    assert_used(assert_resumes(changed(translator, text=text), tmp_path))


def test_sampled_cuts_are_what_training_sees(translator: Experiment, tmp_path: Path) -> None:
    for dropout in (0.0, 0.5):
        text = {"tokenizer": "bpe", "size": 300, "dropout": dropout}
        train(changed(translator, "training.epochs=1", text=text), tmp_path / str(dropout))
    plain, cut = (Run.open(tmp_path / name).metrics.lines() for name in ("0.0", "0.5"))
    assert sum(line.get("tokens", 0) for line in cut) > sum(line.get("tokens", 0) for line in plain)


def test_a_model_of_words_reads_an_unknown_word(language_model: Experiment, toy_book: Path, tmp_path: Path) -> None:
    toy_book.write_text("the <unk> of the book\n" * 40)
    train(changed(language_model, text={"tokenizer": "word", "segmentation": "whitespace"}), tmp_path / "run")
    model = anaphora.load(tmp_path / "run")
    assert isinstance(model, anaphora.LanguageModelPredictor)
    found = model.evaluate(["the <unk> of war", "the book"])
    assert (found.tokens, found.unknown) == (8, 2)
    assert set(model.generate("the", length=5).text.split()) <= {"the", "<unk>", "of", "book"}


@pytest.mark.parametrize(
    ("heading", "row"),
    [("English\tFrench\n", "{}\t{}\n"), ("", "{}\t{}\t\n"), ("", "<s> {}\t{} </s>\n")],
    ids=["heading", "empty column", "special tokens"],
)
def test_data_that_an_older_version_read_otherwise_is_not_resumed(
    heading: str, row: str, translator: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = tmp_path / "pairs.tsv"
    words = [a + b + c + d for a in "abc" for b in "de" for c in "fgh" for d in "abc"]
    pairs.write_text(heading + "".join(row.format(word, word[::-1]) for word in words))
    experiment = changed(translator, f'data.files=["{pairs}"]')
    with monkeypatch.context() as older:
        digest = sources._digest
        older.setattr(sources, "_digest", lambda files, digests, read, *choices: digest(files, digests, [], *choices))
        train(experiment, tmp_path / "run")
    with pytest.raises(RunError, match=r"data/train has changed.* Older versions kept headings"):
        train(experiment, tmp_path / "run", resume=True)


def test_the_same_data_may_lie_elsewhere(trained_copy: Trained, toy_pairs: Path) -> None:
    run = trained_copy("translator")
    elsewhere = changed(experiment_of(run), f'data.files=["{toy_pairs}"]', "training.epochs=3")
    told = f"data.files is the same, and is read from {toy_pairs} this time."
    assert told in texts(elsewhere, run, resume=True)
    (toy_pairs / "train.en").write_text((toy_pairs / "train.en").read_text().replace("a", "b", 1))
    with pytest.raises(RunError, match=r"data/train has changed"):
        train(elsewhere, run, resume=True)


def test_what_others_leave_in_a_folder_is_no_part_of_the_run(trained_copy: Trained) -> None:
    run = trained_copy("translator")
    (run / "vocabulary" / ".DS_Store").write_bytes(b"a desktop was here")
    (run / "vocabulary" / "thumbnails").mkdir()
    assert not about(run).faults
    assert train(experiment_of(run), run, resume=True).reason == "epochs"


def test_a_damaged_log_is_named_and_nothing_of_the_rest_is_lost(trained_copy: Trained) -> None:
    run = trained_copy("translator")
    log = run / "metrics.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([lines[0], lines[1].replace(b'"', b"\0", 1), *lines[2:]]))
    [fault] = about(run).faults
    assert f"{log} is damaged in line 2" in fault
    assert fault in texts(changed(experiment_of(run), "training.epochs=3"), run, resume=True)
    assert log.read_bytes().splitlines(keepends=True)[2 : len(lines)] == lines[2:]


def test_validation_skips_long_pairs(translator: Experiment, trained: Trained, toy_pairs: Path, tmp_path: Path) -> None:
    for side in ("en", "fr"):
        with (toy_pairs / f"val.{side}").open("a") as file:
            file.write("a" * 20_000 + "\n")
    events: list[Event] = []
    train(translator, tmp_path / "run", events.append)
    assert Skipped("pairs of more than 100 tokens on a side were left out of val", 1) in events
    short, long = (Run.open(path) for path in (trained("translator"), tmp_path / "run"))
    assert long.metrics.validation(long.best()) == short.metrics.validation(short.best())


@pytest.mark.parametrize("language", ["ja", "ko"])
def test_a_missing_tokenizer_is_refused(language: str, translator: Experiment, toy_pairs: Path, tmp_path: Path) -> None:
    for file in toy_pairs.glob("*.fr"):
        file.rename(file.with_suffix(f".{language}"))
    with pytest.raises(MissingExtraError, match=f"'{language}'"):
        train(changed(translator, "training.metric=bleu", f"data.target={language}"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("output.tied=true", "output.tied"),
        ("attention.score=dot", "decoder.size"),
        ("data.max_length=1", "has more than 1 token on a side"),
    ],
)
def test_conflicts_leave_nothing_behind(setting: str, said: str, translator: Experiment, tmp_path: Path) -> None:
    experiment = changed(translator, "embedding.size=12", setting)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(AnaphoraError, match=said):
        train(experiment, tmp_path / "run")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("kind", ["translator", "language_model"])
def test_training_data_below_a_batch_is_one_batch(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    train(changed(request.getfixturevalue(kind), "training.batch_tokens=100000"), tmp_path / "run")
    assert len([line for line in Run.open(tmp_path / "run").metrics.lines() if "loss" in line]) == 2  # one an epoch


def test_a_text_shorter_than_a_window_is_learnt(language_model: Experiment, toy_book: Path, tmp_path: Path) -> None:
    toy_book.write_text("ab\ncd\n")
    train(changed(language_model, "data.steps=50"), tmp_path / "run")
    assert anaphora.load(tmp_path / "run")


def test_a_second_trainer_is_kept_out_from_the_first_update_on(translator: Experiment, tmp_path: Path) -> None:
    refused = []

    def stop() -> bool:
        before = sorted((tmp_path / "run").rglob("*"))
        with pytest.raises(RunError, match=r"is in use by process \d+"):
            train(translator, tmp_path / "run", resume=True)
        refused.append(before == sorted((tmp_path / "run").rglob("*")))
        return len(refused) == 2

    assert train(translator, tmp_path / "run", stop=stop).reason == "stopped"
    assert refused == [True, True]


# --- going on and being interrupted


BOUNDS = {"epochs": 3, "keep": 4, "minutes": 7.5, "patience": 3, "threads": 1}


def test_new_bounds_are_reported_and_those_of_the_run_from_then_on(translator: Experiment, tmp_path: Path) -> None:
    run, other = tmp_path / "run", changed(translator, *(f"training.{name}={value}" for name, value in BOUNDS.items()))
    with threads(1):  # so that every part of a training has the same
        train(translator, run)
        with pytest.raises(RunError, match=r": decoder\.size was 8 and is 16; training\.seed was 1 and is 2\. Resume"):
            train(changed(other, "training.seed=2", "decoder.size=16"), run, resume=True)
        assert experiment_of(run) == translator
        before = translator.training.model_dump()
        assert texts(other, run, resume=True) == [
            f"training.{name} is {value} from here on; it was {before[name]} before." for name, value in BOUNDS.items()
        ]
        assert experiment_of(run) == other != translator
        assert texts(experiment_of(run), run, resume=True) == []


def test_an_early_interruption_keeps_encoded_data(translator: Experiment, trained: Trained, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(translator, tmp_path / "run", stop=Mock(side_effect=KeyboardInterrupt))
    encoded = {file: file.stat().st_mtime_ns for file in (tmp_path / "run" / "encoded").rglob("*")}
    assert encoded
    train(translator, tmp_path / "run", resume=True)
    assert have_same_weights(tmp_path / "run", trained("translator"))
    assert {file: file.stat().st_mtime_ns for file in encoded} == encoded


@pytest.mark.parametrize("there", ["nothing", "a folder", "a link"])
@pytest.mark.parametrize("beside", [False, True])
def test_an_interrupted_start_alone_is_removed(
    translator: Experiment, tmp_path: Path, there: str, beside: bool
) -> None:
    run, notes = tmp_path / "run", tmp_path / "run" / "notes"

    def interrupted(event: Event) -> None:
        if isinstance(event, Progress) and event.task.startswith("encoding"):
            if beside:
                notes.write_text("mine\n")
            raise KeyboardInterrupt

    if there == "a link":
        (tmp_path / "disk").mkdir()
        run.symlink_to(tmp_path / "disk", target_is_directory=True)
    elif there == "a folder":
        run.mkdir()
    with pytest.raises(KeyboardInterrupt):
        train(translator, run, interrupted)
    assert run.exists() == (beside or there != "nothing") and run.is_symlink() == (there == "a link")
    assert list(run.glob("*")) == ([notes] if beside else [])


# --- run folders and their cards


def test_a_count_model_has_no_options_of_updates_and_resumes(count_model: str, toy_book: Path, tmp_path: Path) -> None:
    experiment = read_experiment(count_model, "counts.toml", data=[toy_book])
    train(experiment, tmp_path / "run")
    table = tomllib.loads((tmp_path / "run" / "experiment.toml").read_text())
    assert table["training"].keys() == {"seed", "threads"}
    assert "steps" not in table["data"]
    assert experiment_of(tmp_path / "run") == experiment
    assert train(experiment, tmp_path / "run", resume=True).reason == "fitted"


def test_a_card_names_files_without_their_folders(trained: Trained, toy_data: Path) -> None:
    card = (trained("language-model", QUICK) / "card.md").read_text()
    assert "book.txt" in card and str(toy_data) not in card


@pytest.mark.parametrize("unknown", [True, False])
def test_the_share_of_unknown_words_is_reported_before_the_first_validation(unknown: bool, tmp_path: Path) -> None:
    for name, text in ("train", "the cat\nthe dog\n"), ("val", "the bird.\n" if unknown else "the cat\n"):
        (tmp_path / f"{name}.txt").write_text(text * 20)
    words = """
    task = "language-model"
    data.steps = 5
    text = {tokenizer = "word", segmentation = "whitespace"}
    embedding.size = 4
    recurrence.size = 4
    training = {epochs = 1, batch_tokens = 20}
    """
    experiment = read_experiment(words, "words.toml", data=[tmp_path])
    told = [text for text in texts(experiment, tmp_path / "run") if "are unknown" in text]
    assert len(told) == unknown
    assert not unknown or told[0].startswith("32.79% of the tokens of the validation split are unknown (20 of 61)")


# --- lengths of translations


UNFOLDED = {
    "attention": "none",
    "encoder": {"kind": "ngram-convolution", "folds": 1, "max_kernel": 3},
    "decoder": {
        "cell": "elman",
        "size": 8,
        "initial_state": "zero",
        "sentence_encoding": "every-step",
        "input_feeding": False,
    },
}


def test_lengths_are_counted_kept_and_alike_in_batches(translator: Experiment, toy_pairs: Path, tmp_path: Path) -> None:
    sources, targets = ["ad", "ad", "c"] * 6, ["dag", "d", "cadf"] * 6
    for language, lines in ("en", sources), ("fr", targets):
        (toy_pairs / f"train.{language}").write_text("".join(f"{line}\n" for line in lines))
    run = assert_resumes(changed(translator, **UNFOLDED), tmp_path, 2)
    observed = last_weights(run)["encoder.lengths.observed"]
    assert observed[:, 2:4].tolist() == [[6, 12], [6 * 5, 6 * (4 + 2)]]
    assert observed.sum(1).tolist() == [18, 66]
    predictor = anaphora.load(run)
    assert isinstance(predictor, anaphora.TranslationPredictor)
    lines = ["adf", "", "a", "cehadf", "bdg"]
    together = predictor.translate(lines, beam=3)
    for line, expected in zip(lines, together, strict=True):
        assert predictor.translate([line], beam=3) == [expected]


# --- a caller's own loop


class OwnLoop:
    """Two epochs of gradient descent, with the perplexities that it was given."""

    def __init__(self) -> None:
        self.perplexities: list[float] = []

    def __call__(self, model: torch.nn.Module, batches: Batches, validate: Callable[[], Mapping[str, float]]) -> None:
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for epoch in 1, 2:
            carry = None
            for number, batch in enumerate(batches.epoch(epoch), 1):
                with running(Runtime(training=True, seed=1, update=number)):
                    loss, carry = model(batch, carry)
                    loss.sum.div(loss.count).backward()
                optimizer.step()
                optimizer.zero_grad()
            self.perplexities.append(validate()["perplexity"])
            assert model.training


@pytest.mark.parametrize("kind", ["language-model", "translator"])
def test_an_own_loop_leaves_its_last_weights_and_a_run_like_others(kind: str, trained: Trained, tmp_path: Path) -> None:
    experiment, loop = changed(experiment_of(trained(kind)), "training.seed=2"), OwnLoop()
    outcome = train(experiment, tmp_path / "own", loop=loop)
    assert outcome.metrics["perplexity"] == loop.perplexities[-1] < loop.perplexities[0]
    assert Run.open(tmp_path / "own").best() == 1
    model = anaphora.load(tmp_path / "own")
    assert model.translate(["adf"]) if kind == "translator" else model.generate("line", length=3)


def test_an_own_loop_goes_on_from_the_weights_of_another_run(trained: Trained, toy_pairs: Path, tmp_path: Path) -> None:
    parent, loop, seen = trained("translator"), OwnLoop(), list[bool]()
    start = {"run": str(parent), "vocabulary": "keep"}

    def stopped(model: torch.nn.Module, *others: Any) -> None:
        own = last_weights(parent)
        seen.append(all(torch.equal(weight, own[name]) for name, weight in model.state_dict().items() if name in own))
        raise KeyboardInterrupt

    experiment = changed(experiment_of(parent), start=start)
    for resume in (False, True):
        with pytest.raises(KeyboardInterrupt):
            train(experiment, tmp_path / "own", loop=stopped, resume=resume)
    assert seen == [True, True]
    train(experiment, tmp_path / "own", loop=loop, resume=True)
    assert len(loop.perplexities) == 2 and Run.open(tmp_path / "own").best() == 1


def test_a_model_without_updates_has_no_loop(trained: Trained, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no updates: leave the loop out"):
        train(experiment_of(trained("counts")), tmp_path / "own", loop=OwnLoop())
    assert not (tmp_path / "own").exists()
