"""Word vectors from files and language models in whole experiments: found, told, kept, and never needed again."""

from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from anaphora.errors import ConfigError, DataError
from anaphora.experiment.run_training import train
from anaphora.run import Run
from anaphora.run.weights import as_tensors
from anaphora.tasks.base import ExperimentBase as Experiment
from tests.conftest import Trained
from tests.resuming import assert_goes_on_without

from .runs import QUICK, changed, last_weights, texts

STILL = ("training.epochs=1", "training.optimizer.learning_rate=1e-30")
VECTOR = [0.5, -1.0, 2.0, 0.25, 1.5, 3.0, -0.125, 8.0]


def line(word: str, *, times: float = 1.0) -> str:
    return f"{word} {' '.join(str(times * number) for number in VECTOR)}\n"


@pytest.fixture
def vectors(tmp_path: Path) -> str:
    path = tmp_path / "letters.vec"
    path.write_text(f"3 8\n{line('a')}{line('b', times=2)}{line('q')}")
    return str(path)


def rows(run: Path, side: str, units: str) -> list[int]:
    return Run.open(run).tokenizers()[side].encode(units)


def source(vectors: object) -> str:
    return f'embedding.source_vectors="{vectors}"'


def start(run: Path) -> str:
    return f'start.run="{run}"'


def test_known_tokens_start_from_vectors(
    translator: Experiment, trained: Trained, vectors: str, tmp_path: Path
) -> None:
    said = texts(changed(translator, *STILL, source(vectors)), tmp_path / "run")
    given, drawn = last_weights(tmp_path / "run"), last_weights(trained("translator", *STILL))
    a, b = rows(tmp_path / "run", "source", "ab")
    table = given["source_embedding.weight"]
    assert table[a].tolist() == VECTOR
    assert table[b].tolist() == [2 * number for number in VECTOR]
    others = [row for row in range(len(table)) if row not in (a, b)]
    assert torch.equal(table[others], drawn["source_embedding.weight"][others])
    assert torch.equal(given["target_embedding.weight"], drawn["target_embedding.weight"])
    assert f"Of {len(table) - 4} source tokens, 2 start from their vectors in {vectors}." in said


def test_in_a_shared_table_the_target_gives_the_rest(translator: Experiment, vectors: str, tmp_path: Path) -> None:
    (more := tmp_path / "more.vec").write_text(line("b", times=5) + line("d", times=7))
    settings = ("text.joint=true", "embedding.shared=true", source(vectors), f'embedding.target_vectors="{more}"')
    said = "".join(texts(changed(translator, *STILL, *settings), tmp_path / "run"))
    weights = last_weights(tmp_path / "run")
    (table,) = (tensor for name, tensor in weights.items() if name.endswith("embedding.weight"))
    times = [table[row, 0].item() / VECTOR[0] for row in rows(tmp_path / "run", "source", "dab")]
    assert times == [7, 1, 2]
    assert f"Of {len(table) - 4} source tokens, 2 " in said and f"Of {len(table) - 6} target tokens, 1 " in said


@pytest.mark.parametrize("kind", ["translator", "language_model"])
def test_a_run_goes_on_to_the_same_bits_when_the_file_is_gone_and_frozen_vectors_stay_until_a_child_trains_them(
    kind: str, vectors: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    prefix, side = ("", "text") if kind == "language_model" else ("target_", "target")
    settings = (f'embedding.{prefix}vectors="{vectors}"', "embedding.frozen=true")
    assert_goes_on_without(changed(request.getfixturevalue(kind), *settings), tmp_path, Path(vectors).unlink)
    whole = last_weights(tmp_path / "whole")
    held, weight = (whole[f"{prefix}embedding.{name}"] for name in ("held", "weight"))
    (b,) = rows(tmp_path / "whole", side, "b")
    assert held[b] and 0 < held.sum() < 4
    assert weight[b].tolist() == [2 * number for number in VECTOR]
    free = changed(request.getfixturevalue(kind), settings[0], STILL[0], start(tmp_path / "whole"))
    train(free, tmp_path / "child")
    assert not torch.equal(last_weights(tmp_path / "child")[f"{prefix}embedding.weight"][b], weight[b])


@pytest.fixture
def letters(trained: Trained) -> Path:
    """The run of a language model of letters whose vectors are scaled when they are looked up."""
    return trained("language-model", QUICK, "training.epochs=1", "embedding.scaled=true")


def test_tokens_start_as_looked_up(translator: Experiment, trained: Trained, letters: Path, tmp_path: Path) -> None:
    said = texts(changed(translator, *STILL, source(letters)), tmp_path / "run")
    known, drawn = as_tensors(Run.open(letters).load("best").model)["embedding.weight"], trained("translator", *STILL)
    table, drawn = (last_weights(run)["source_embedding.weight"] for run in (tmp_path / "run", drawn))
    own, theirs = rows(tmp_path / "run", "source", "be"), rows(letters, "text", "be")
    assert_close(table[own], 8**0.5 * known[theirs])
    assert torch.equal(table[:4], drawn[:4])
    assert any(text.endswith(f"start from their vectors in {letters}.") for text in said)


def test_runs_of_no_use_are_refused(translator: Experiment, letters: Path, trained: Trained, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"run has vectors of 8 numbers, not 9: .* embedding\.size = 8"):
        train(changed(translator, source(letters), "embedding.size=9"), tmp_path / "run")
    with pytest.raises(ConfigError, match=r"embedding needs a recurrent language model, but .* has task = 'translate'"):
        train(changed(translator, source(trained("translator"))), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_child_takes_vectors_of_its_parent_alone(translator: Experiment, vectors: str, tmp_path: Path) -> None:
    parent = tmp_path / "parent"
    train(changed(translator, STILL[0], source(vectors)), parent)
    Path(vectors).unlink()
    train(changed(translator, *STILL, source(vectors), start(parent)), tmp_path / "child")
    before, after = (last_weights(run)["source_embedding.weight"] for run in (parent, tmp_path / "child"))
    assert torch.equal(before, after)
    for others in [source("other.vec")], [source(vectors), "embedding.frozen=true"]:
        with pytest.raises(ConfigError, match=r"parent have been trained, .* leave its files and embedding\.frozen as"):
            train(changed(translator, *others, start(parent)), tmp_path / "other")


@pytest.mark.parametrize(("text", "times"), [({"tokenizer": "word"}, 1), ({"tokenizer": "bpe", "size": 300}, 2)])
def test_words_are_looked_up_as_they_are_and_subwords_as_they_are_written(
    text: dict[str, object], times: int, translator: Experiment, tmp_path: Path
) -> None:
    (vectors := tmp_path / "words.vec").write_text(line("adf") + line("\u2581", times=2))
    train(changed(translator, *STILL, source(vectors), text=text), tmp_path / "run")
    assert last_weights(tmp_path / "run")["source_embedding.weight"][:, 7].max() == times * VECTOR[7]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, r"^A file of text was expected, but there is no \S+bad\.vec: check the path\.$"),
        ("a 1 2 3\n", r"has vectors of 3 numbers, not 8: .* embedding\.size = 3"),
        (line("a") + "b 1 2\n", r":2 should be a word and 8 finite numbers"),
        (line("Zebra"), r"of the source vocabulary, .* as they are written \('.'\), but has none"),
        ("", "but has none for any of"),
    ],
)
def test_a_file_of_no_use_is_refused(text: str | None, complaint: str, translator: Experiment, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "bad.vec").write_text(text)
    with pytest.raises(DataError, match=complaint):
        train(changed(translator, source(tmp_path / "bad.vec")), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        (["embedding.frozen=true"], r"embedding\.frozen keeps the vectors of a file, but none"),
        (
            ["embedding.frozen=true", source("file"), "training.optimizer.weight_decay=0.1"],
            r"training\.optimizer\.weight_decay = 0\.1 does not go with embedding\.frozen = true: ",
        ),
        ([source("file"), "start.encoder=run"], r"start\.encoder gives vectors of tokens, and so does a file"),
        (["embedding.vectors=file"], r"\.vectors is not an option\. Did you mean '(source|target)_vectors'"),
    ],
)
def test_conflicting_options_are_refused(settings: list[str], complaint: str, translator: Experiment) -> None:
    with pytest.raises(ConfigError, match=complaint):
        changed(translator, *settings)
