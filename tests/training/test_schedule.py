import pytest

from anaphora.training.schedule import AnySchedule, Constant, Decay, Halving, InverseRoot, Linear, Plateau

EVERY: list[AnySchedule] = [Constant(), Decay(), Plateau(patience=3), Halving(), Linear(), InverseRoot()]


@pytest.mark.parametrize(
    ("config", "rates"),
    [
        (Decay(half_life=1.5), {0: 1, 1.5: 0.5, 4.5: 0.125}),
        (Halving(after=4, factor=0.5), {0: 1, 3: 1, 3.999: 1, 4: 0.5, 4.999: 0.5, 6: 0.125}),
        (Linear(epochs=4, final=0.2), {0: 1, 1: 0.8, 2: 0.6, 4: 0.2, 9: 0.2}),
        (Linear(final=0.0), {2: 0.8, 10: 0}),  # over the epochs of the training
    ],
)
def test_a_rate_falls_by_the_epochs_whatever_validation_says(config: AnySchedule, rates: dict[float, float]) -> None:
    schedule = config.build(0.5, 10)
    schedule.observe_validation(False)
    assert [schedule.rate(epochs, 1) for epochs in rates] == pytest.approx([0.5 * rate for rate in rates.values()])


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
