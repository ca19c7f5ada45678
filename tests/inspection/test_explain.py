"""Worked examples have the published numbers, agree with the kernels, and hide their answers when asked to."""

from math import tanh
from typing import Any

import numpy as np
import pytest

from anaphora.inspection.explain import LESSONS
from anaphora.inspection.explain.bptt import kernel_gradients
from anaphora.inspection.explain.lesson import Formula, format_value


def answers(name: str) -> dict[str, Any]:
    return {line.symbol: line.value for section in LESSONS[name]().sections for line in section.lines}


@pytest.mark.parametrize("name", LESSONS)
def test_every_lesson_agrees_with_the_kernels_and_hides_its_answers_when_asked_to(name: str) -> None:
    lesson = LESSONS[name]()
    assert lesson.difference < 1e-12 and lesson.json()["sections"][0]["lines"]
    assert "The kernels of this package give the same numbers" in lesson.text()
    page = lesson.html()
    assert page.startswith("<!doctype html>") and "<script" not in page and "://" not in page
    assert page.count("<table>") == page.count("</table>") == page.count("<h2>")
    text, page = lesson.text(blank=True), lesson.html(blank=True)
    lines = [line for section in lesson.sections for line in section.lines]
    assert text.count("________") == page.count('class="blank"') == sum(bool(line.formula) for line in lines)
    for line in lines:
        assert (f"= {line.formula} = ________" if line.formula else f"= {format_value(line.value)}") in text


def test_lstm_has_the_numbers_of_gomez() -> None:
    value = answers("lstm")
    found = [format_value(value[name]) for name in ("c_1", "c_2", "h_1", "h_2")]
    assert found == ["0.78573", "1.51763", "0.53631", "0.77198"]


def test_scalar_has_the_closed_form_of_a_gradient() -> None:
    value = answers("scalar")
    a, h = value["a"], [value[f"h_{t}"] for t in range(5)]
    outer = 2 * (value["yhat_4"] - value["y"][3]) * value["d"]
    assert value["dL_4/da"] == pytest.approx(outer * (a**3 * h[0] + a**2 * h[1] + a * h[2] + h[3]))


def test_truncation_shows_each_term_and_the_sums_of_those_that_are_kept() -> None:
    terms: Any
    terms, sums = LESSONS["truncation"]().sections
    assert len(terms.lines) == 10 and all(line.value for line in terms.lines)
    theirs = {"full": kernel_gradients(), "chunk": kernel_gradients(chunk=2), "window": kernel_gradients(back=1)}
    for total, (name, (_, gradients)) in zip(sums.lines, theirs.items(), strict=False):
        kept = [line.value for line in terms.lines if name == "full" or f"{name} keeps it" in line.numbers]
        assert sum(kept) == pytest.approx(float(gradients["dW_hh"])) == pytest.approx(total.value)
    assert "chunk cuts it, window keeps it" in {line.symbol: line for line in terms.lines}["T(3, 2)"].numbers


def test_attention_weights_sum_to_one() -> None:
    value = answers("attention")
    assert value["a_1"] + value["a_2"] + value["a_3"] == pytest.approx(1) == pytest.approx(sum(value["p"]))
    assert value["word"] == "I"


def test_the_beam_finds_the_man_walks_and_greedy_search_does_not() -> None:
    value = answers("beam")
    assert value["beam, k = 2"] == value["exhaustive"] == "The man walks, (-1.49611)"
    assert value["greedy"] == "A dog sleeps, (-2.12026)"
    assert value["dog"].endswith("pruned") and value["The man walks </s>"].endswith("finished")


def test_bptt_has_every_gradient_at_every_step() -> None:
    value = answers("bptt")
    assert {f"{name}_{t}" for name in ("ds", "dh", "delta", "dx") for t in range(1, 5)} <= set(value)
    assert all(value[name] != 0 for name in ("dW_xh", "dW_hh", "db", "dW_hy", "dh_0"))


def test_a_formula_is_worked_out_with_its_numbers() -> None:
    values = {"a": 0.5, "b": -2.0, "x_1": 3.0, "x": np.array([3.0, 4.0]), "tanh(b)": 7.0}
    value, numbers = Formula("2 (a - b x_1) / (1 - a^2) - tanh(b) tanh(a)", values).result()
    assert numbers == "2 x (0.5 - (-2) x 3) / (1 - 0.5^2) - 7 x tanh(0.5)"
    assert value == pytest.approx(13 / 0.75 - 7 * tanh(0.5))
    assert Formula("x x", values).result() == (25, "3 x 3 + 4 x 4")
    assert Formula("a x + x", values).result()[0].tolist() == [4.5, 6]
    assert [format_value(one) for one in (0.1 + 0.2, 1 / 3, -1e-17, 0.5)] == ["0.3", "0.33333", "0", "0.5"]
    with pytest.raises(ValueError, match="unknown"):
        Formula("a unknown", values).result()
