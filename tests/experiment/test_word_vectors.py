"""Word vectors from files and language models in whole experiments: found, told, kept, and never needed again."""

from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from anaphora.errors import ConfigError, DataError
from anaphora.events import Event, Note
from anaphora.experiment.run_training import train
from anaphora.run import Run
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.registry import parse
from tests.resuming import assert_goes_on_without

STILL = {"optimizer": {"learning_rate": 1e-30}, "epochs": 1}
VECTOR = [0.5, -1.0, 2.0, 0.25, 1.5, 3.0, -0.125, 8.0]


def line(word: str, *, times: float = 1.0) -> str:
    return f"{word} {' '.join(str(times * number) for number in VECTOR)}\n"


@pytest.fixture
def vectors(tmp_path: Path) -> str:
    path = tmp_path / "letters.vec"
    path.write_text(f"3 8\n{line('a')}{line('b', times=2)}{line('q')}")
    return str(path)


def with_vectors(experiment: ExperimentBase, training: dict[str, object], **embedding: object) -> ExperimentBase:
    tables = experiment.tables()
    changed = {"embedding": tables["embedding"] | embedding, "training": tables["training"] | training}
    return parse(tables | changed, "changed.toml")


def weights(run: Path) -> dict[str, torch.Tensor]:
    return dict(Run.open(run).load("latest").model)


def rows(run: Path, side: str, units: str) -> list[int]:
    return Run.open(run).tokenizers()[side].encode(units)


def told(said: list[Event]) -> list[str]:
    return [event.text for event in said if isinstance(event, Note) and "vectors" in event.text]


def test_units_in_the_file_start_from_their_vectors_and_how_many_is_told(
    translator: ExperimentBase, vectors: str, tmp_path: Path
) -> None:
    said: list[Event] = []
    train(with_vectors(translator, STILL, source_vectors=vectors), tmp_path / "run", said.append)
    train(with_vectors(translator, STILL), tmp_path / "drawn")
    given, drawn = weights(tmp_path / "run"), weights(tmp_path / "drawn")
    a, b = rows(tmp_path / "run", "source", "ab")
    table = given["source_embedding.weight"]
    assert table[a].tolist() == VECTOR
    assert table[b].tolist() == [2 * number for number in VECTOR]
    others = [row for row in range(len(table)) if row not in (a, b)]
    assert torch.equal(table[others], drawn["source_embedding.weight"][others])
    assert torch.equal(given["target_embedding.weight"], drawn["target_embedding.weight"])
    assert told(said) == [f"Of {len(table) - 4} source tokens, 2 start from their vectors in {vectors}."]


def test_in_a_shared_table_the_target_gives_what_the_source_leaves(
    translator: ExperimentBase, vectors: str, tmp_path: Path
) -> None:
    (tmp_path / "more.vec").write_text(line("b", times=5) + line("d", times=7))
    tables = translator.tables() | {"text": {"tokenizer": "character", "joint": True}}
    both = {"source_vectors": vectors, "target_vectors": str(tmp_path / "more.vec"), "shared": True}
    said: list[Event] = []
    train(with_vectors(parse(tables, "joint.toml"), STILL, **both), tmp_path / "run", said.append)
    (table,) = (tensor for name, tensor in weights(tmp_path / "run").items() if name.endswith("embedding.weight"))
    times = [table[row, 0].item() / VECTOR[0] for row in rows(tmp_path / "run", "source", "dab")]
    assert times == [7, 1, 2]
    assert [text.partition("start")[0] for text in told(said)] == [
        f"Of {len(table) - 4} source tokens, 2 ",
        f"Of {len(table) - 6} target tokens, 1 ",
    ]


@pytest.mark.parametrize("kind", ["translator", "language_model"])
def test_a_run_goes_on_to_the_same_bits_when_the_file_is_gone_and_frozen_vectors_stay(
    kind: str, vectors: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    option = "vectors" if kind == "language_model" else "target_vectors"
    experiment = with_vectors(request.getfixturevalue(kind), {}, frozen=True, **{option: vectors})
    assert_goes_on_without(experiment, tmp_path, Path(vectors).unlink)
    whole = weights(tmp_path / "whole")
    side, name = ("text", "embedding") if kind == "language_model" else ("target", "target_embedding")
    (b,) = rows(tmp_path / "whole", side, "b")
    assert whole[f"{name}.held"][b]
    assert 0 < whole[f"{name}.held"].sum() < 4
    assert whole[f"{name}.weight"][b].tolist() == [2 * number for number in VECTOR]


@pytest.fixture
def letters(language_model: ExperimentBase, tmp_path: Path) -> Path:
    """The run of a language model of letters whose vectors are scaled when they are looked up."""
    train(with_vectors(language_model, {"epochs": 1}, scaled=True), tmp_path / "letters")
    return tmp_path / "letters"


def test_tokens_start_from_what_looking_them_up_in_a_language_model_gives(
    translator: ExperimentBase, letters: Path, tmp_path: Path
) -> None:
    said: list[Event] = []
    experiment = with_vectors(translator, STILL, source_vectors=str(letters))
    train(experiment, tmp_path / "run", said.append)
    train(with_vectors(translator, STILL), tmp_path / "drawn")
    known = Run.open(letters).load("best").model["embedding.weight"]
    table, drawn = (weights(tmp_path / run)["source_embedding.weight"] for run in ("run", "drawn"))
    own, theirs = rows(tmp_path / "run", "source", "be"), rows(letters, "text", "be")
    assert_close(table[own], 8**0.5 * known[theirs])
    assert torch.equal(table[:4], drawn[:4])
    [text] = told(said)
    assert text.endswith(f"start from their vectors in {letters}.")


def test_runs_that_have_no_such_vectors_are_refused(translator: ExperimentBase, letters: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"letters has vectors of 8 numbers, not 9: .* embedding\.size = 8"):
        train(with_vectors(translator, {}, source_vectors=str(letters), size=9), tmp_path / "run")
    train(with_vectors(translator, {"epochs": 1}), tmp_path / "other")
    with pytest.raises(ConfigError, match=r"embedding needs a recurrent language model, but .* has task = 'translate'"):
        train(with_vectors(translator, {}, source_vectors=str(tmp_path / "other")), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_that_starts_from_another_has_its_vectors_and_reads_no_file(
    translator: ExperimentBase, vectors: str, tmp_path: Path
) -> None:
    train(with_vectors(translator, {"epochs": 1}, source_vectors=vectors), tmp_path / "parent")
    Path(vectors).unlink()
    child = with_vectors(translator, STILL, source_vectors=vectors)
    start = {"start": {"run": str(tmp_path / "parent")}}
    train(parse(child.tables() | start, "child.toml"), tmp_path / "child")
    before, after = (weights(tmp_path / run)["source_embedding.weight"] for run in ("parent", "child"))
    assert torch.equal(before, after)
    for others in {"source_vectors": "other.vec"}, {"source_vectors": vectors, "frozen": True}:
        with pytest.raises(ConfigError, match=r"parent have been trained, .* leave its files and embedding\.frozen as"):
            train(parse(with_vectors(translator, STILL, **others).tables() | start, "child.toml"), tmp_path / "other")


def test_a_run_may_go_on_to_train_the_vectors_that_its_parent_kept(
    translator: ExperimentBase, vectors: str, tmp_path: Path
) -> None:
    train(with_vectors(translator, {"epochs": 1}, source_vectors=vectors, frozen=True), tmp_path / "parent")
    child = with_vectors(translator, {"epochs": 1}, source_vectors=vectors)
    train(parse(child.tables() | {"start": {"run": str(tmp_path / "parent")}}, "child.toml"), tmp_path / "child")
    (b,) = rows(tmp_path / "child", "source", "b")
    before, after = (weights(tmp_path / run)["source_embedding.weight"][b] for run in ("parent", "child"))
    assert before.tolist() == [2 * number for number in VECTOR]
    assert not torch.equal(before, after)


def test_words_are_looked_up_as_they_are_and_subwords_as_they_are_written(
    translator: ExperimentBase, tmp_path: Path
) -> None:
    (tmp_path / "words.vec").write_text(line("adf") + line("\u2581", times=2))
    for text, unit, times in (({"tokenizer": "word"}, "adf", 1), ({"tokenizer": "bpe", "size": 300}, "\u2581", 2)):
        run = tmp_path / str(text["tokenizer"])
        experiment = parse(translator.tables() | {"text": text}, "units.toml")
        train(with_vectors(experiment, STILL, source_vectors=str(tmp_path / "words.vec")), run)
        table = weights(run)["source_embedding.weight"]
        assert sorted(table[:, 7].tolist())[-1] == times * VECTOR[7], unit


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a 1 2 3\n", r"has vectors of 3 numbers, not 8: .* embedding\.size = 3"),
        (line("a") + "b 1 2\n", r":2 should be a word and 8 finite numbers"),
        (
            line("Zebra"),
            r"tokens of the source vocabulary, which are looked up as they are written \('.'\), but has none",
        ),
        ("", "but has none for any of"),
    ],
)
def test_a_file_that_is_of_no_use_is_refused_and_nothing_is_made(
    text: str, complaint: str, translator: ExperimentBase, tmp_path: Path
) -> None:
    (tmp_path / "bad.vec").write_text(text)
    with pytest.raises(DataError, match=complaint):
        train(with_vectors(translator, {}, source_vectors=str(tmp_path / "bad.vec")), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, r"^A file of text was expected, but there is no \S+letters\.vec: check the path\.$"),
        ("3 9\n", "letters.vec"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_before_the_data_is_read(
    content: str | None, complaint: str, translator: ExperimentBase, tmp_path: Path
) -> None:
    file = tmp_path / "letters.vec"
    if content is not None:
        file.write_text(content)
    said: list[Event] = []
    with pytest.raises(DataError, match=complaint):
        train(with_vectors(translator, {}, source_vectors=str(file)), tmp_path / "run", said.append)
    assert said == []


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"embedding": {"frozen": True}}, r"changed\.toml: embedding\.frozen keeps the vectors of a file, but none"),
        (
            {"embedding": {"frozen": True, "source_vectors": "file"}, "training": {"optimizer": {"weight_decay": 0.1}}},
            r"changed\.toml: training\.optimizer\.weight_decay = 0\.1 does not go with embedding\.frozen = true: ",
        ),
        (
            {"embedding": {"source_vectors": "file"}, "start": {"encoder": "run"}},
            r"changed\.toml: start\.encoder gives vectors of tokens, and so does a file",
        ),
        ({"embedding": {"vectors": "file"}}, r"\.vectors is not an option\. Did you mean '(source|target)_vectors'"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    changed: dict[str, object], complaint: str, translator: ExperimentBase
) -> None:
    with pytest.raises(ConfigError, match=complaint):
        parse(translator.tables() | changed, "changed.toml")
