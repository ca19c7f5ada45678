"""Nearest training pairs: exact, from an index that is made once, and only of the data a run was trained on."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import ConfigError, DataError
from anaphora.events import Event, Note, Progress
from anaphora.inspection import neighbours as module
from anaphora.inspection.neighbours import INDEX, Index, index_of, nearest_of, neighbours
from anaphora.inspection.subject import Subject
from tests.inspection.conftest import trained_translator, write_pairs


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    """A run of its own, since its data goes away."""
    folder = tmp_path_factory.mktemp("pairs")
    splits = {"train": "adf aeg bdh beg cdf", "val": "adg", "test": "cdg"}
    write_pairs(folder, **{split: [(word, word[::-1]) for word in words.split()] for split, words in splits.items()})
    return trained_translator(tmp_path_factory.mktemp("run"), folder)


def test_a_training_pair_is_nearest_to_itself_by_token_and_by_word(subject: Subject) -> None:
    found = neighbours(subject, "beg", "geb", nearest=3)
    assert found.outputs == ("g", "e", "b", "</s>")
    for place, own in enumerate(found.nearest):
        assert (own[0].pair, own[0].source, own[0].place) == (4, "beg", place)
        assert own[0].distance < 0.01 and len(own) == 3
        assert list(own) == sorted(own, key=lambda one: one.distance)
    assert found.nearest[1][0].context == "g [e] b </s>" and "<- beg" in str(found)
    [word] = found.by_word(10)  # each pair once
    assert word[0].pair == 4 and len({one.pair for one in word}) == len(word)
    assert word == sorted(word, key=lambda one: one.distance)
    assert {one.pair for one in word} == {one.pair for tokens in found.nearest[:3] for one in tokens}
    assert found.by_word(2) == [word[:2]]


def test_an_index_is_made_once_where_its_size_is_agreed_to(subject: Subject) -> None:
    folder, events, asked = subject.trained.path / INDEX, list[Event](), list[tuple[int, float]]()
    shutil.rmtree(folder, ignore_errors=True)
    with pytest.raises(ConfigError, match="which was not made"):
        index_of(subject, confirm=lambda *size: asked.append(size) or False)  # type: ignore[func-returns-value]
    assert not folder.exists()
    [(size, seconds)] = asked
    index_of(subject, events.append, confirm=lambda *size: True)
    assert any(isinstance(event, Progress) for event in events)
    assert size == (folder / "states").stat().st_size and 0 < seconds < 60
    events.clear()
    index = index_of(subject, events.append, confirm=lambda *size: False)  # nobody is asked for what is there
    [note] = [event for event in events if isinstance(event, Note | Progress)]
    assert note == Note(f"{folder}: 20 states of 5 numbers, 0.0 MB.")
    found = sorted(zip(index.rows[:].tolist(), index.places[:].tolist(), strict=True))
    assert found == [(row, place) for row in range(5) for place in range(4)]
    own = np.flatnonzero(index.rows[:] == 1)
    states = index.states[:].reshape(-1, index.width)[own[np.argsort(index.places[:][own])]]
    model: Any = subject.trained.model
    np.testing.assert_allclose(states, model.target_states(subject.example("aeg", "gea").batch)[:, 0], atol=2e-3)


@given(st.integers(1, 30), st.integers(1, 5), st.integers(1, 6), st.integers(0, 999))
def test_search_finds_the_nearest_of_all(states: int, queries: int, count: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    states_NW = torch.randn(states, 3, generator=generator).half()
    queries_TW = torch.randn(queries, 3, generator=generator)
    index = Index(states_NW.flatten().numpy(), np.zeros(states), np.zeros(states), 3, None)  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", 7)
        found_TK, places_TK = map(torch.from_numpy, nearest_of(queries_TW.numpy(), index, count))
    all_TN = torch.cdist(queries_TW.double(), states_NW.double())
    expected_TK = all_TN.sort(1).values[:, :count]
    torch.testing.assert_close(found_TK.double(), expected_TK, atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(all_TN.gather(1, places_TK), expected_TK, atol=1e-3, rtol=1e-3)


def test_a_run_whose_data_is_gone_or_has_changed_is_refused(subject: Subject) -> None:
    pairs = Path(*subject.trained.experiment.data.files)
    text = (pairs / "train.en").read_text()
    (pairs / "train.en").write_text(text.replace("adf", "bdf"))
    with pytest.raises(DataError, match=r"training data of .* has changed: restore it"):
        neighbours(subject, "beg")
    (pairs / "train.en").write_text(text)
    pairs.rename(pairs.with_name("elsewhere"))
    with pytest.raises(DataError, match=r"training data of .* is gone: "):
        neighbours(subject, "beg")
    pairs.with_name("elsewhere").rename(pairs)


@pytest.mark.parametrize("reads", [(), ("reads=sentences", "data.steps=100")])
def test_a_training_line_of_a_language_model_is_nearest_to_itself(
    make_language_model: Any, reads: tuple[str, ...]
) -> None:
    subject = make_language_model("gru", 1, *reads)
    found, index = neighbours(subject, "line 0", nearest=4), index_of(subject)
    assert found.outputs == (*"line▁0", "</s>") and "<-" not in str(found)
    places = list(zip(index.rows[:].tolist(), index.places[:].tolist(), strict=True))
    states_NW = index.states[:].astype(np.float32).reshape(-1, index.width)
    expected_TW = subject.trained.model.states_and_target_log_probs(subject.example("line 0").batch)[0][0]
    for place in range(6):  # the beginning of the text, read from the initial state
        np.testing.assert_allclose(states_NW[places.index((0, place))], expected_TW[place], atol=2e-3, rtol=2e-3)
        assert found.nearest[place][0].distance < 0.01
    rows = [index.split.row(row) for row in range(len(index.split.lengths))]
    assert rows[0][:2] == (1, "") and "".join(rows[0][2]) == 'line▁0▁of▁"the▁(little)▁book"</s>'
    assert len(rows) > 30 and all(line[:5] == tuple("line\u2581") and line[-1] == "</s>" for *_, line in rows)
    expected = [(row, place) for row, (*_, line) in enumerate(rows) for place in range(len(line))]
    assert len(set(places)) == len(places)
    assert sorted(places) == expected if reads else set(places) < set(expected)  # windows leave out what fills none


def test_a_model_of_another_kind_is_refused() -> None:
    counts = Subject.open(Path(__file__).parents[1] / "runs" / "kinds-2" / "counts")
    with pytest.raises(ConfigError, match="no training data to show: it is neither a translator nor a recurrent"):
        neighbours(counts, "line")
