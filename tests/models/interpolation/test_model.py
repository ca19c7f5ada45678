"""An interpolation: its probabilities sum to one, and are the same in windows, steps and batches of any shape."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.errors import ConfigError
from anaphora.models.interpolation.model import Interpolation
from anaphora.models.ngram.model import NgramModel
from anaphora.protocols import VocabularyInfo
from anaphora.search.scoring import score
from tests.networks import build
from tests.searches import beam

from ...batches import pair_batch, text_batch

SYMBOLS = VocabularyInfo(9, 0, 1, 2, 3)
END = SYMBOLS.eos
TEXT = [int(unit) for unit in np.random.default_rng(5).choice([3, 4, 5, 6, 7, 8], size=300)]
RECURRENT = {"model": "recurrent", "embedding": {"size": 4}, "recurrence": {"size": 6, "layers": 2}}
WINDOW = {"model": "feed-forward", "embedding": {"size": 4}, "network": {"kind": "feed-forward", "words": 2, "size": 8}}
NGRAM = {"model": "ngram", "ngram": {"order": 3}}
CACHE = {"kind": "counts", "order": 2, "tokens": 7, "half_life": 3.0}
TOKENS = st.lists(st.integers(3, 8), min_size=1, max_size=25)
MIXED = {
    "everything": ([RECURRENT, WINDOW, NGRAM], CACHE),
    "members alone": ([RECURRENT, NGRAM], "none"),
    "counts and cache": ([NGRAM], CACHE),
}


def make(members: list[dict[str, Any]], cache: Any) -> Interpolation:
    table = {"runs": [str(place) for place in range(len(members))], "members": members, "cache": cache}
    model = build("language-model", {"model": "interpolation", "interpolation": table}, {"text": SYMBOLS}, "test.toml")
    assert isinstance(model, Interpolation)
    for place, member in enumerate(model.members):
        if isinstance(member, NgramModel):
            member.fit(np.array([END, *TEXT]), lambda order: None)
        else:
            member.initialise(place)  # type: ignore[operator]
    model.weights.copy_(torch.arange(1, len(model.weights) + 1) / sum(range(len(model.weights) + 1)))
    return model.eval()


@pytest.fixture(scope="module", params=list(MIXED))
def interpolation(request: pytest.FixtureRequest) -> Interpolation:
    return make(*MIXED[request.param])


@settings(max_examples=10)
@given(read=TOKENS)
def test_probabilities_sum_to_one_behind_every_text(interpolation: Interpolation, read: list[int]) -> None:
    stepper = interpolation.stepper()
    _, state, _ = stepper.start(text_batch([[END, END]]))
    for unit in [END, *read]:
        step = stepper.advance(None, state, torch.tensor([unit]))
        state = step.state
        assert step.log_probs_NV.exp().sum().item() == pytest.approx(1, abs=1e-6)
    assert stepper.unconditional().log_probs_NV.exp().sum().item() == pytest.approx(1, abs=1e-6)


@settings(max_examples=10)
@given(ids=TOKENS, cut=st.integers(1, 24))
def test_carried_windows_equal_one_long_pass(interpolation: Interpolation, ids: list[int], cut: int) -> None:
    ids = [END, *ids, 5]
    cut = min(cut, len(ids) - 2)
    with torch.no_grad():
        whole, _ = interpolation.target_log_probs(text_batch([ids]))
        first, carry = interpolation.target_log_probs(text_batch([ids[: cut + 1]]))
        second, _ = interpolation.target_log_probs(text_batch([ids[cut:]], continues=True), carry)
        torch.testing.assert_close(torch.cat([first, second], dim=1), whole, rtol=1e-5, atol=1e-6)
        afresh, _ = interpolation.target_log_probs(text_batch([ids[cut:]]), carry)
        torch.testing.assert_close(afresh, interpolation.target_log_probs(text_batch([ids[cut:]]))[0], rtol=0, atol=0)
        loss, _ = interpolation(text_batch([ids]))
    assert loss.count == len(ids) - 1 and float(loss.sum) == pytest.approx(-float(whole.sum()), rel=1e-6)


@settings(max_examples=10)
@given(ids=TOKENS, continues=st.booleans())
def test_every_kind_of_model_carries_the_same_on_where_it_predicts_nothing(
    interpolation: Interpolation, ids: list[int], continues: bool
) -> None:
    read = text_batch([[END, *ids]], continues=continues)
    with torch.no_grad():
        before = interpolation.carry_after(text_batch([[END, *reversed(ids)]]))
        _, expected = interpolation.target_log_probs(read, before)
        found = interpolation.carry_after(read, before)
    assert found.keys() == expected.keys()
    for name, rows in expected.items():
        torch.testing.assert_close(found[name], rows, rtol=0, atol=0)


def test_padding_and_neighbours_change_nothing(interpolation: Interpolation) -> None:
    rows = [[3, 4, 5, 6, 7, 3], [3, 8, 3, 5, 0, 8]]
    with torch.no_grad():
        together, carry = interpolation.target_log_probs(text_batch(rows, lengths=[5, 2]))
        for row, length in enumerate([5, 2]):
            alone, its_carry = interpolation.target_log_probs(text_batch([rows[row][: length + 1]]))
            torch.testing.assert_close(together[row, :length], alone[0], rtol=1e-5, atol=1e-6)
            assert not together[row, length:].any()
            for name, rows_after in carry.items():
                torch.testing.assert_close(rows_after[row], its_carry[name][0])


def test_steps_say_what_windows_say_alone_and_in_any_batch(interpolation: Interpolation) -> None:
    rows = [[4, 5, 4, 4, 3], [6, 3], [8, 8, 8, 3]]
    batch = pair_batch([[END]] * 3, rows, multiple=1)
    together = [found.score for found in score(interpolation.stepper(), batch)]
    for place, row in enumerate(rows):
        with torch.no_grad():
            loss, _ = interpolation(text_batch([[END, *row]]))
        assert together[place] == pytest.approx(-float(loss.sum), rel=1e-5)
        [alone] = score(interpolation.stepper(), pair_batch([[END]], [row], multiple=1))
        assert alone.score == together[place]
    assert len(beam(interpolation.stepper(), batch, beam=3, max_length=6)) == 3


def test_a_model_mixed_with_itself_is_itself() -> None:
    twice, alone = make([NGRAM, NGRAM], "none"), make([NGRAM], CACHE)
    ids = text_batch([[END, *TEXT[:40]]])
    expected, _ = alone.members[0].target_log_probs(ids)  # type: ignore[operator]
    torch.testing.assert_close(twice.target_log_probs(ids)[0], expected, rtol=0, atol=1e-12)


def test_how_far_it_looks_back_is_how_far_its_members_do() -> None:
    assert make([NGRAM, WINDOW], "none").stepper().order == 3
    assert make([NGRAM], CACHE).stepper().order == make([NGRAM, RECURRENT], "none").stepper().order == 0


def test_one_run_without_a_cache_is_no_mixture() -> None:
    with pytest.raises(ConfigError, match=r"one run without a cache.* name another run, or add a cache"):
        make([NGRAM], "none")
