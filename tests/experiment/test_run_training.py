import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import anaphora
from anaphora.data import sources
from anaphora.errors import AnaphoraError, DataError, MissingExtraError, RunError
from anaphora.events import Event, Note, Skipped, Update, Validated
from anaphora.experiment.run_training import train
from anaphora.run import Run
from anaphora.run.summary import about
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.registry import parse
from anaphora.tasks.runs import experiment_of, weights_of_runs


def changed(experiment: ExperimentBase, table: str, **options: object) -> ExperimentBase:
    tables = experiment.tables()
    return parse(tables | {table: tables[table] | options}, "changed.toml")


def weights(run: Path) -> dict[str, bytes]:
    return {str(file.relative_to(run)): file.read_bytes() for file in sorted(run.rglob("*.safetensors"))}


@pytest.mark.parametrize("kind", ["translator", "language_model"])
def test_an_experiment_becomes_a_run_that_can_be_used_with_the_same_bits_again(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    experiment, run, events = request.getfixturevalue(kind), tmp_path / "run", list[Event]()
    outcome = train(experiment, run, events.append)
    assert outcome.reason == "epochs"
    assert experiment_of(run) == experiment
    assert {type(event) for event in events} >= {Update, Validated}
    assert_used(run)
    train(experiment, tmp_path / "again")
    assert weights(run) == weights(tmp_path / "again")


def assert_used(run: Path) -> None:
    model = anaphora.load(run)
    if isinstance(model, anaphora.TranslationPredictor):
        assert len(model.translate(["adf", ""], beam=2)) == 2
    else:
        assert model.generate("line", length=5).text.startswith("line")


def with_tokenizer(experiment: ExperimentBase, **options: object) -> ExperimentBase:
    return parse(experiment.tables() | {"text": options}, "text.toml")


TEXTS: list[tuple[str, dict[str, object]]] = [
    ("language_model", {"tokenizer": "character"}),
    ("translator", {"tokenizer": "character"}),
    ("translator", {"tokenizer": "bpe", "size": 300, "dropout": 0.5}),
    ("translator", {"tokenizer": "unigram", "size": 300, "alpha": 0.1, "joint": False}),
    ("translator", {"tokenizer": "word", "size": 12}),
    ("translator", {"tokenizer": "byte"}),
]


@pytest.mark.parametrize(("kind", "options"), TEXTS)
def test_a_run_with_any_units_ends_where_one_left_alone_ends_and_is_used_with_raw_text(
    kind: str, options: dict[str, object], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    experiment, said = with_tokenizer(request.getfixturevalue(kind), **options), list[Event]()
    train(experiment, tmp_path / "whole")
    train(changed(experiment, "training", epochs=1), tmp_path / "parts")
    train(experiment, tmp_path / "parts", said.append, resume=True)
    whole, parts = (Run.open(tmp_path / name).load("latest").path for name in ("whole", "parts"))
    assert (whole / "model.safetensors").read_bytes() == (parts / "model.safetensors").read_bytes()
    assert Note("training.epochs is 2 from here on; it was 1 before.") in said
    assert_used(tmp_path / "whole")


def test_sampled_cuts_are_what_training_sees(translator: ExperimentBase, tmp_path: Path) -> None:
    for dropout in (0.0, 0.5):
        train(with_tokenizer(translator, tokenizer="bpe", size=300, dropout=dropout), tmp_path / str(dropout))
    plain, cut = (Run.open(tmp_path / name).metrics.lines() for name in ("0.0", "0.5"))
    assert sum(line.get("tokens", 0) for line in cut) > sum(line.get("tokens", 0) for line in plain)


def test_a_language_model_of_words_reads_the_unknown_word_of_its_text(
    language_model: ExperimentBase, toy_book: Path, tmp_path: Path
) -> None:
    toy_book.write_text("the <unk> of the book\n" * 40)
    train(with_tokenizer(language_model, tokenizer="word", segmentation="whitespace"), tmp_path / "run")
    model = anaphora.load(tmp_path / "run")
    assert isinstance(model, anaphora.LanguageModelPredictor)
    found = model.evaluate(["the <unk> of war", "the book"])
    assert (found.tokens, found.unknown) == (8, 2)
    assert set(model.generate("the", length=5).text.split()) <= {"the", "<unk>", "of", "book"}


def test_a_changed_experiment_is_not_resumed_and_every_difference_is_listed(
    translator: ExperimentBase, tmp_path: Path
) -> None:
    train(translator, tmp_path / "run")
    other = changed(changed(translator, "training", batch_tokens=70, seed=2), "decoder", size=16)
    with pytest.raises(RunError) as caught:
        train(other, tmp_path / "run", resume=True)
    for difference in (
        "decoder.size was 8 and is 16",
        "training.batch_tokens was 60 and is 70",
        "training.seed was 1 and is 2",
    ):
        assert difference in str(caught.value)


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
    experiment = changed(translator, "data", files=(str(pairs),))
    with monkeypatch.context() as older:
        digest = sources._digest
        older.setattr(sources, "_digest", lambda files, digests, read, *choices: digest(files, digests, [], *choices))
        train(experiment, tmp_path / "run")
    with pytest.raises(RunError, match=r"data/train has changed.* Older versions kept headings"):
        train(experiment, tmp_path / "run", resume=True)


def test_the_same_data_may_lie_elsewhere(translator: ExperimentBase, toy_pairs: Path, tmp_path: Path) -> None:
    train(translator, tmp_path / "run")
    moved = toy_pairs.rename(tmp_path / "moved")
    elsewhere = changed(
        changed(translator, "data", files=(str(moved),)), "training", epochs=translator.training.epochs + 1
    )
    said: list[Event] = []
    assert train(elsewhere, tmp_path / "run", said.append, resume=True).reason == "epochs"
    assert any("data.files is the same, and is read from" in str(event) and str(moved) in str(event) for event in said)
    (moved / "train.en").write_text((moved / "train.en").read_text().replace("a", "b", 1))
    with pytest.raises(RunError, match=r"data/train has changed"):
        train(elsewhere, tmp_path / "run", resume=True)


def test_what_others_leave_in_a_folder_is_no_part_of_the_run(translator: ExperimentBase, tmp_path: Path) -> None:
    train(translator, tmp_path / "run")
    (tmp_path / "run" / "vocabulary" / ".DS_Store").write_bytes(b"a desktop was here")
    (tmp_path / "run" / "vocabulary" / "thumbnails").mkdir()
    assert not about(tmp_path / "run", weights_of_runs).faults
    assert train(translator, tmp_path / "run", resume=True).reason == "epochs"


def test_a_damaged_log_is_named_and_nothing_of_the_rest_is_lost(translator: ExperimentBase, tmp_path: Path) -> None:
    train(translator, tmp_path / "run")
    log = tmp_path / "run" / "metrics.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([lines[0], lines[1].replace(b'"', b"\0", 1), *lines[2:]]))
    [fault] = about(tmp_path / "run", weights_of_runs).faults
    assert f"{log} is damaged in line 2" in fault
    said: list[Event] = []
    train(
        changed(translator, "training", epochs=translator.training.epochs + 1),
        tmp_path / "run",
        said.append,
        resume=True,
    )
    assert any(f"{log} is damaged in line 2" in str(event) for event in said)
    assert log.read_bytes().splitlines(keepends=True)[2 : len(lines)] == lines[2:]


def test_validation_leaves_out_what_training_would(translator: ExperimentBase, toy_pairs: Path, tmp_path: Path) -> None:
    train(translator, tmp_path / "short")
    for side in ("en", "fr"):
        with (toy_pairs / f"val.{side}").open("a") as file:
            file.write("a" * 20_000 + "\n")
    said: list[Event] = []
    train(translator, tmp_path / "long", said.append)
    assert Skipped("pairs of more than 100 tokens on a side were left out of val", 1) in said
    figures = [
        Run.open(tmp_path / name).metrics.validation(Run.open(tmp_path / name).best()) for name in ("short", "long")
    ]
    assert figures[0] == figures[1]


@pytest.mark.parametrize("language", ["ja", "ko"])
def test_a_tokeniser_that_is_missing_is_told_before_anything_is_made(
    language: str, translator: ExperimentBase, toy_pairs: Path, tmp_path: Path
) -> None:
    for file in toy_pairs.glob("*.fr"):
        file.rename(file.with_suffix(f".{language}"))
    measured = changed(changed(translator, "training", metric="bleu"), "data", target=language)
    with pytest.raises(MissingExtraError, match=f"'{language}'"):
        train(measured, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda pairs: (pairs / "val.en").write_text("one\n" * 4), r"val\.en.* has 4 .*val\.fr.* has 3"),
        (lambda pairs: (pairs / "test.fr").write_bytes(b"\xff\n" * 3), r"test\.fr.* UTF-8"),
        (lambda pairs: (pairs / "train.fr").unlink(), r"train\.fr"),
        (shutil.rmtree, r"pairs"),
    ],
)
def test_bad_data_leaves_nothing_behind(
    spoil: Callable[[Path], object], said: str, translator: ExperimentBase, toy_pairs: Path, tmp_path: Path
) -> None:
    spoil(toy_pairs)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(DataError, match=said):
        train(translator, tmp_path / "run")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        ("output", {"tied": True}, "output.tied"),
        ("attention", {"score": "dot"}, "decoder.size"),
        ("data", {"max_length": 1}, "has more than 1 token on a side"),
    ],
)
def test_options_that_do_not_go_together_leave_nothing_behind(
    table: str, options: dict[str, object], said: str, translator: ExperimentBase, tmp_path: Path
) -> None:
    experiment = changed(changed(translator, "embedding", size=12), table, **options)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(AnaphoraError, match=said):
        train(experiment, tmp_path / "run")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("kind", ["translator", "language_model"])
def test_a_training_set_smaller_than_a_batch_is_one_batch(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    experiment = changed(request.getfixturevalue(kind), "training", batch_tokens=100_000)
    assert train(experiment, tmp_path / "run").reason == "epochs"
    assert anaphora.load(tmp_path / "run")
    lines = [line for line in Run.open(tmp_path / "run").metrics.lines() if "loss" in line]
    assert len(lines) == 2  # one an epoch


def test_a_text_shorter_than_a_window_is_learnt_too(
    language_model: ExperimentBase, toy_book: Path, tmp_path: Path
) -> None:
    toy_book.write_text("ab\ncd\n")
    train(changed(language_model, "data", steps=50), tmp_path / "run")
    assert anaphora.load(tmp_path / "run")


@pytest.mark.parametrize("kind", ["translator", "language_model"])
def test_too_little_to_hold_anything_out_is_said_in_a_sentence(
    kind: str, request: pytest.FixtureRequest, toy_pairs: Path, toy_book: Path, tmp_path: Path
) -> None:
    for file in toy_pairs.iterdir():
        file.unlink() if not file.name.startswith("train") else file.write_text("abc\n")
    toy_book.write_text("one line\n")
    with pytest.raises(DataError, match="held out"):
        train(request.getfixturevalue(kind), tmp_path / "run")
    assert not (tmp_path / "run").exists()


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
