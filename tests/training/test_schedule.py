import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.training.schedule import AnySchedule, Constant, Decay, Halving, InverseRoot, Linear, Plateau

EVERY: list[AnySchedule] = [Constant(), Decay(), Plateau(patience=3), Halving(), Linear(), InverseRoot()]


def test_a_decaying_rate_halves_every_half_life_whatever_validation_says() -> None:
    schedule = Decay(half_life=1.5).build(0.4, 10)
    schedule.observe_validation(False)
    assert [schedule.rate(epochs, 1) for epochs in (0, 1.5, 4.5)] == [0.4, 0.2, 0.05]


def test_halving_leaves_the_first_epochs_alone_and_lowers_every_later_one() -> None:
    schedule = Halving(after=4, factor=0.5).build(1.0, 10)
    assert [schedule.rate(epoch - 1, 1) for epoch in range(1, 8)] == [1, 1, 1, 1, 0.5, 0.25, 0.125]
    assert schedule.rate(3.999, 1) == 1 and schedule.rate(4.999, 1) == 0.5


def test_a_linear_rate_falls_in_a_straight_line_to_its_final_share_and_stays_there() -> None:
    schedule = Linear(epochs=4, final=0.2).build(0.5, 10)
    assert [schedule.rate(epochs, 1) for epochs in (0, 1, 2, 4, 9)] == pytest.approx([0.5, 0.4, 0.3, 0.1, 0.1])


def test_a_linear_rate_that_names_no_epochs_takes_those_of_the_training() -> None:
    assert Linear(final=0.0).build(1.0, 8).rate(2, 1) == 0.75
    assert Linear(final=0.0, epochs=4).build(1.0, 8).rate(2, 1) == 0.5


def test_the_inverse_root_is_highest_when_warming_up_is_over() -> None:
    schedule = InverseRoot(warmup=4).build(2.0, 10)
    assert [schedule.rate(0, update) for update in (1, 2, 4, 16, 64)] == [0.5, 1, 2, 1, 0.5]
    assert InverseRoot(warmup=0).build(2.0, 10).rate(0, 4) == 1


@pytest.mark.parametrize("config", EVERY, ids=lambda config: config.kind)
def test_every_schedule_can_be_warmed_up_in_equal_steps(config: AnySchedule) -> None:
    warmed = config.model_copy(update={"warmup": 10}).build(1.0, 10)
    assert [warmed.rate(0, update) for update in (1, 5, 10)] == pytest.approx([0.1, 0.5, 1.0])


def test_the_rate_falls_after_patience_validations_without_improvement() -> None:
    schedule = Plateau(factor=0.5, patience=2).build(1.0, 10)
    rates = []
    for improved in (True, False, False, False, True, False, False):
        schedule.observe_validation(improved)
        rates.append(schedule.rate(1, 1))
    assert rates == [1, 1, 0.5, 0.5, 0.5, 0.5, 0.25]


def test_the_rate_never_falls_below_its_minimum_nor_rises_to_it() -> None:
    falling = Plateau(factor=0.5, patience=1, min_learning_rate=0.4).build(1.0, 10)
    low = Plateau(factor=0.5, patience=1, min_learning_rate=0.4).build(0.1, 10)
    for _ in range(5):
        falling.observe_validation(False)
        low.observe_validation(False)
    assert (falling.rate(1, 1), low.rate(1, 1)) == (0.4, 0.1)


@settings(deadline=None)
@given(st.lists(st.booleans()), st.lists(st.booleans()), st.sampled_from(EVERY))
def test_a_restored_schedule_goes_on_as_if_never_saved(
    before: list[bool], after: list[bool], config: AnySchedule
) -> None:
    whole, restored = config.build(0.1, 10), config.build(0.1, 10)
    for improved in before:
        whole.observe_validation(improved)
    restored.restore(whole.state())
    for improved in after:
        whole.observe_validation(improved)
        restored.observe_validation(improved)
    assert whole.state() == restored.state() and whole.rate(7, 70) == restored.rate(7, 70)
