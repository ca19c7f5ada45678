"""Worked examples have the published numbers, agree with the kernels, and hide their answers when asked to."""

from typing import Any

import pytest

from anaphora.inspection.explain import LESSONS
from anaphora.inspection.explain.bptt import kernel_gradients
from anaphora.inspection.explain.lesson import as_term, format_value


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
        assert (f"= {line.formula} = ________" if line.formula else f"= {line.answer}") in text


def test_lstm_has_the_numbers_of_gomez() -> None:
    lesson = LESSONS["lstm"]()
    found = [format_value(lesson.value(name)) for name in ("c_1", "c_2", "h_1", "h_2")]
    assert found == ["0.78573", "1.51763", "0.53631", "0.77198"]


def test_scalar_has_the_closed_forms_of_the_gradients() -> None:
    value: Any = LESSONS["scalar"]().value
    a, d, y = value("a"), value("d"), value("y")
    h = [value(f"h_{t}") for t in range(5)]

    def outer(t: int) -> float:
        return 2 * (value(f"yhat_{t}") - y[t - 1]) * d

    assert value("dL_1/da") == pytest.approx(outer(1) * h[0])
    assert value("dL_2/da") == pytest.approx(outer(2) * (h[1] + a * h[0]))
    assert value("dL_4/da") == pytest.approx(outer(4) * (a**3 * h[0] + a**2 * h[1] + a * h[2] + h[3]))


def test_truncation_shows_each_term_and_the_sums_of_those_that_are_kept() -> None:
    lesson = LESSONS["truncation"]()
    terms = {line.symbol: line for line in lesson.sections[0].lines}
    assert len(terms) == 10 and all(line.value for line in terms.values())
    for name, gradients in (
        ("full", kernel_gradients()[1]),
        ("chunk", kernel_gradients(chunk=2)[1]),
        ("window", kernel_gradients(back=1)[1]),
    ):
        kept = [line.value for line in terms.values() if name == "full" or f"{name} keeps it" in line.numbers]
        assert sum(kept) == pytest.approx(float(gradients["dW_hh"])) == pytest.approx(lesson.value(f"dW_hh, {name}"))
    assert "chunk cuts it, window keeps it" in terms["T(3, 2)"].numbers


def test_attention_weights_sum_to_one() -> None:
    value: Any = LESSONS["attention"]().value
    assert value("a_1") + value("a_2") + value("a_3") == pytest.approx(1) == pytest.approx(sum(value("p")))
    assert value("word") == "I"


def test_the_beam_finds_the_man_walks_and_greedy_search_does_not() -> None:
    value: Any = LESSONS["beam"]().value
    assert value("beam, k = 2") == value("exhaustive") == "The man walks, (-1.49611)"
    assert value("greedy") == "A dog sleeps, (-2.12026)"
    assert value("dog").endswith("pruned") and value("The man walks </s>").endswith("finished")


def test_bptt_has_every_gradient_at_every_step() -> None:
    value: Any = LESSONS["bptt"]().value
    for t in range(1, 5):
        assert all(value(f"{name}_{t}") is not None for name in ("ds", "dh", "delta", "dx"))
    assert all(value(name) != 0 for name in ("dW_xh", "dW_hh", "db", "dW_hy", "dh_0"))


def test_a_term_carries_its_equation_with_brackets_where_they_are_needed() -> None:
    a, b, x = as_term("a", 0.5), as_term("b", -2.0), as_term("x", [3.0, 4.0])
    term = 2 * (a - b * x[1]) / (1 - a**2)
    assert term.formula == "2 (a - b x_1) / (1 - a^2)"
    assert term.numbers == "2 x (0.5 - (-2) x 3) / (1 - 0.5^2)"
    assert term.value == pytest.approx(13 / 0.75)
    assert (x @ x).numbers == "3 x 3 + 4 x 4" and (x @ x).value == 25
