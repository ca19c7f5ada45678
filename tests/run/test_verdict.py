"""The verdict on a training: what its curves show, whatever their scale."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.run.verdict import MIN_VALIDATIONS, verdict

COUNTS = st.integers(MIN_VALIDATIONS + 2, 40)
SCALES = st.floats(0.01, 100)


def log(validation: Sequence[float], training: Sequence[float], **others: Sequence[float]) -> list[dict[str, Any]]:
    """Lines of a log with one update and one validation after another, the least loss marked best."""
    lines: list[dict[str, Any]] = []
    for update, (loss, seen) in enumerate(zip(validation, training, strict=True), 1):
        figures = {"loss": loss, **{name: values[update - 1] for name, values in others.items()}}
        lines += [
            {"update": update, "epoch": 1, "loss": seen},
            {"update": update, "epoch": 1, "validation": figures, "best": loss < min([9e9, *validation[: update - 1]])},
        ]
    return lines


def trend(*curves: Sequence[float]) -> str:
    found = verdict(log(*curves), "loss")
    assert found is not None
    return found.trend


@given(COUNTS, SCALES)
def test_a_loss_that_falls_to_the_end_is_still_improving(count: int, scale: float) -> None:
    falling = [scale * 0.9**step for step in range(count)]
    assert trend(falling, falling) == "improving"


@given(COUNTS, SCALES, st.floats(0.1, 0.79) | st.floats(0.81, 10))
def test_a_loss_that_stays_is_flat_and_the_gap_says_what_may_help(count: int, scale: float, gap: float) -> None:
    found = verdict(log([scale] * count, [gap * scale] * count), "loss")
    assert found is not None and found.trend == "flat"
    assert ("more data" in found.text) == (gap < 0.8)


@given(COUNTS, st.floats(-3, 0), st.floats(-0.5, -0.21) | st.floats(-0.19, 0.1))
def test_a_loss_below_zero_changes_by_nats(count: int, end: float, gap: float) -> None:
    falling = [end + 0.5 * 0.5**step for step in range(count)]
    found = verdict(log([*falling, *([end] * 2 * count)], [end + gap] * 3 * count), "loss")
    assert found is not None and found.trend == "flat" and ("more data" in found.text) == (gap < -0.2)
    rising = verdict(log([end - step for step in range(count)], [end] * count), "loss")
    assert rising is not None and f"loss became {max(2, count // 3)} better" in rising.text


@given(COUNTS, SCALES)
def test_a_validation_loss_that_rises_while_training_loss_falls_overfits(count: int, scale: float) -> None:
    turned = count // 2
    validation = [scale * (1 + 0.05 * abs(step - turned)) for step in range(count)]
    training = [scale * 0.95**step for step in range(count)]
    assert trend(validation, training) == "overfitting"
    assert trend(validation, [scale] * count) == "flat"  # both are stuck, or the rate is too high


@given(st.integers(1, MIN_VALIDATIONS - 1))
def test_a_few_validations_are_no_trend(count: int) -> None:
    assert verdict(log([1.0] * count, [1.0] * count), "loss") is None


@pytest.mark.parametrize(("metric", "values"), [("accuracy", [0.5, 0.9, 1.0, 1.0, 1.0]), ("errors", [3, 1, 0, 0, 0])])
def test_nothing_is_left_to_improve_where_every_answer_is_right(metric: str, values: list[float]) -> None:
    losses = [1.0, 0.9, 0.8, 0.7, 0.6]
    found = verdict(log(losses, losses, **{metric: values}), metric)
    assert found is not None and found.text.startswith("Nothing is left to improve")
