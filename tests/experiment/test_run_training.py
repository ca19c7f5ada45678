from pathlib import Path

import pytest

import anaphora
from anaphora.data import sources
from anaphora.errors import AnaphoraError, MissingExtraError, RunError
from anaphora.events import Event, Skipped
from anaphora.experiment.run_training import train
from anaphora.run import Run
from anaphora.run.summary import about
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.runs import experiment_of
from tests.conftest import Trained

from .runs import assert_resumes, changed, texts


def assert_used(run: Path) -> None:
    model = anaphora.load(run)
    if isinstance(model, anaphora.TranslationPredictor):
        assert len(model.translate(["adf", ""], beam=2)) == 2
    else:
        assert model.generate("line", length=5).text.startswith("line")


TEXTS = (
    {"tokenizer": "bpe", "size": 300, "dropout": 0.5},
    {"tokenizer": "unigram", "size": 300, "alpha": 0.1, "joint": False},
    {"tokenizer": "word", "size": 12},
    {"tokenizer": "byte"},
)


@pytest.mark.parametrize("text", TEXTS)
def test_a_run_with_any_units_ends_where_one_left_alone_ends_and_is_used_with_raw_text(
    text: dict[str, object], translator: ExperimentBase, tmp_path: Path
) -> None:
    assert_used(assert_resumes(changed(translator, text=text), tmp_path))


def test_sampled_cuts_are_what_training_sees(translator: ExperimentBase, tmp_path: Path) -> None:
    for dropout in (0.0, 0.5):
        text = {"tokenizer": "bpe", "size": 300, "dropout": dropout}
        train(changed(translator, "training.epochs=1", text=text), tmp_path / str(dropout))
    plain, cut = (Run.open(tmp_path / name).metrics.lines() for name in ("0.0", "0.5"))
    assert sum(line.get("tokens", 0) for line in cut) > sum(line.get("tokens", 0) for line in plain)


def test_a_language_model_of_words_reads_the_unknown_word_of_its_text(
    language_model: ExperimentBase, toy_book: Path, tmp_path: Path
) -> None:
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
    heading: str, row: str, translator: ExperimentBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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


def test_validation_leaves_out_what_training_would(
    translator: ExperimentBase, trained: Trained, toy_pairs: Path, tmp_path: Path
) -> None:
    for side in ("en", "fr"):
        with (toy_pairs / f"val.{side}").open("a") as file:
            file.write("a" * 20_000 + "\n")
    events: list[Event] = []
    train(translator, tmp_path / "run", events.append)
    assert Skipped("pairs of more than 100 tokens on a side were left out of val", 1) in events
    short, long = (Run.open(path) for path in (trained("translator"), tmp_path / "run"))
    assert long.metrics.validation(long.best()) == short.metrics.validation(short.best())


@pytest.mark.parametrize("language", ["ja", "ko"])
def test_a_tokeniser_that_is_missing_is_told_before_anything_is_made(
    language: str, translator: ExperimentBase, toy_pairs: Path, tmp_path: Path
) -> None:
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
def test_options_that_do_not_go_together_leave_nothing_behind(
    setting: str, said: str, translator: ExperimentBase, tmp_path: Path
) -> None:
    experiment = changed(translator, "embedding.size=12", setting)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(AnaphoraError, match=said):
        train(experiment, tmp_path / "run")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("kind", ["translator", "language_model"])
def test_a_training_set_smaller_than_a_batch_is_one_batch(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    train(changed(request.getfixturevalue(kind), "training.batch_tokens=100000"), tmp_path / "run")
    assert len([line for line in Run.open(tmp_path / "run").metrics.lines() if "loss" in line]) == 2  # one an epoch


def test_a_text_shorter_than_a_window_is_learnt_too(
    language_model: ExperimentBase, toy_book: Path, tmp_path: Path
) -> None:
    toy_book.write_text("ab\ncd\n")
    train(changed(language_model, "data.steps=50"), tmp_path / "run")
    assert anaphora.load(tmp_path / "run")


def test_a_second_trainer_is_kept_out_from_the_first_update_on(translator: ExperimentBase, tmp_path: Path) -> None:
    refused = []

    def stop() -> bool:
        before = sorted((tmp_path / "run").rglob("*"))
        with pytest.raises(RunError, match=r"is in use by process \d+"):
            train(translator, tmp_path / "run", resume=True)
        refused.append(before == sorted((tmp_path / "run").rglob("*")))
        return len(refused) == 2

    assert train(translator, tmp_path / "run", stop=stop).reason == "stopped"
    assert refused == [True, True]
