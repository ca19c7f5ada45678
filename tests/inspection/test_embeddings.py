"""Neighbours are tokens that training saw on their side, with how often it did."""

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from anaphora.errors import DataError
from anaphora.inspection.embeddings import Embeddings, word_neighbours
from anaphora.inspection.subject import Subject

from .conftest import trained_translator, write_pairs

SOURCES = [a + b + "m" for a in "abc" for b in "def"]
TARGETS = [a + "m" + b for a in "uvw" for b in "xyz"]
HELD_OUT = "agh"  # g and h are no tokens of training


@pytest.fixture(scope="module", params=[False, True], ids=["table a side", "shared table"])
def run(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A translator between languages that have one letter in common, and one vocabulary."""
    folder = tmp_path_factory.mktemp("joint")
    write_pairs(folder, train=list(zip(SOURCES, TARGETS, strict=True)), val=[(HELD_OUT, "uvm")])
    settings = ["text.joint=true", f"embedding.shared={str(request.param).lower()}"]
    return trained_translator(tmp_path_factory.mktemp("run"), folder, *settings).trained.path


def of_sides(found: Embeddings) -> dict[tuple[str, str], dict[str, int]]:
    """How often each neighbour occurred, by word and side; -1 where that is not known."""
    pairs = ((one, [word for word, _ in one.nearest]) for one in found.neighbours)
    counted = ((one, words, one.occurrences[1:] or [-1] * len(words)) for one, words in pairs)
    return {(one.word, one.side): dict(zip(words, counts, strict=True)) for one, words, counts in counted}


def test_neighbours_occurred_in_training_on_their_side_and_say_how_often(run: Path) -> None:
    found = word_neighbours(Subject.open(run), ["a", "m", "z"], nearest=99)
    sides = {"source": Counter("".join(SOURCES)), "target": Counter("".join(TARGETS))}
    assert of_sides(found) == {
        (letter, side): {other: n for other, n in count.items() if other != letter} if count[letter] else {}
        for letter in "amz"
        for side, count in sides.items()
    }
    own = {(one.word, one.side): one.occurrences[0] for one in found.neighbours}
    assert own == {(letter, side): count[letter] for letter in "amz" for side, count in sides.items()}
    text = str(found)
    assert "a (target): not in training" in text and "m (source 9x): " in text
    assert found.projection.names.count("a") == 2  # asked for, and beside m
    for word in "g", "am":  # never seen in training, and more than one token
        with pytest.raises(DataError, match="not one token"):
            word_neighbours(Subject.open(run), [word])


def test_without_the_encoded_split_neighbours_are_what_training_moved(run: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(run, tmp_path / "run")
    (copy / "encoded" / "train" / "source.ids").write_bytes(b"damaged")
    damaged = of_sides(word_neighbours(Subject.open(copy), ["a"], nearest=99))
    shutil.rmtree(copy / "encoded")
    subject = Subject.open(copy)
    found = word_neighbours(subject, ["a"], nearest=99)
    moved = set("bcdefm") | (set("uvwxyz") if subject.trained.experiment.embedding.shared else set())  # type: ignore[attr-defined]
    assert set(of_sides(found)["a", "source"]) == set(damaged["a", "source"]) == moved
    assert damaged["a", "target"] == {} and not any(one.occurrences for one in found.neighbours)
    assert "occurrences are not known" in str(found)
