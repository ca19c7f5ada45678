from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.training.schedule import Constant, Decay, Plateau


def test_a_constant_rate_never_changes() -> None:
    schedule = Constant().build(0.5)
    for improved in (False, False, True, False):
        schedule.validated(improved)
    assert schedule.rate(1000) == 0.5


def test_a_decaying_rate_halves_every_half_life_whatever_validation_says() -> None:
    schedule = Decay(half_life=1.5).build(0.4)
    schedule.validated(False)
    assert [schedule.rate(epochs) for epochs in (0, 1.5, 4.5)] == [0.4, 0.2, 0.05]


def test_the_rate_falls_after_patience_validations_without_improvement() -> None:
    schedule = Plateau(factor=0.5, patience=2).build(1.0)
    rates = []
    for improved in (True, False, False, False, True, False, False):
        schedule.validated(improved)
        rates.append(schedule.rate(1))
    assert rates == [1, 1, 0.5, 0.5, 0.5, 0.5, 0.25]


def test_the_rate_never_falls_below_its_minimum_nor_rises_to_it() -> None:
    falling = Plateau(factor=0.5, patience=1, minimum=0.4).build(1.0)
    low = Plateau(factor=0.5, patience=1, minimum=0.4).build(0.1)
    for _ in range(5):
        falling.validated(False)
        low.validated(False)
    assert (falling.rate(1), low.rate(1)) == (0.4, 0.1)


@settings(deadline=None)
@given(st.lists(st.booleans()), st.lists(st.booleans()), st.sampled_from([Constant(), Decay(), Plateau(patience=3)]))
def test_a_restored_schedule_goes_on_as_if_never_saved(
    before: list[bool], after: list[bool], config: Constant | Decay | Plateau
) -> None:
    whole, restored = config.build(0.1), config.build(0.1)
    for improved in before:
        whole.validated(improved)
    restored.restore(whole.state())
    for improved in after:
        whole.validated(improved)
        restored.validated(improved)
    assert whole.state() == restored.state() and whole.rate(7) == restored.rate(7)
