"""Lessons are worked out from the formulas they show, agree with the kernels, and keep their answers to themselves."""

import html
import re
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.errors import ConfigError
from anaphora.inspection.explain.formula import Formulas, plain, term_of, typeset
from anaphora.inspection.explain.lesson import LESSONS, lesson

SEEDS = st.none() | st.integers(0, 2**32)


def answers(name: str, **numbers: Any) -> dict[str, Any]:
    return {key: line.value for key, line in lesson(name, numbers).lines.items()}


@pytest.mark.parametrize("name", LESSONS)
@settings(max_examples=4)
@given(seed=SEEDS)
def test_every_answer_follows_from_the_printed_formula_and_agrees_with_the_kernels(name: str, seed: int | None) -> None:
    shown = lesson(name, seed=seed)
    assert shown.difference < (1e-7 if name == "kneser-ney" else 1e-12)  # n-gram models have single precision
    assert shown.sections[0].title == "Given" and any(section.kernels for section in shown.sections)
    known = set[str]()
    for line in shown.lines.values():
        if line.formula:
            assert np.allclose(by_numpy(plain(line.numbers)), column(line.value), rtol=1e-3, atol=1e-3), line.key
            assert all(read in known or read.partition("[")[0] in known for read in dict.fromkeys(line.reads)), line.key
        known |= {line.key, line.key.partition("[")[0]}


def by_numpy(text: str) -> Any:
    """Work out what a person reads: five digits, vectors as columns, "x" and the point-wise sign between numbers."""
    text = re.sub(r"\[\[.*?\]\]|\[[^\[\]]*\]", lambda found: f"column({found[0]})", text)
    text = re.sub("‖(.*?)‖", r"norm(\1)", text)
    for sign, read in ((") column", ") @ column"), (" x ", " * "), ("⊙", "*"), ("^", "**")):
        text = text.replace(sign, read)
    return eval(text, {**READ, "column": column})


def column(value: Any) -> Any:
    value = np.asarray(value, float)
    return value[:, None] if value.ndim == 1 else value


READ: dict[str, Any] = {
    **{name: getattr(np, name) for name in ("abs", "exp", "sqrt", "tanh")},
    "argmax": lambda p: np.argmax(p) + 1,
    "ln": np.log,
    "max": lambda *values: np.max(values),
    "min": lambda *values: np.min(values),
    "norm": np.linalg.norm,
    "sigm": lambda a: 1 / (1 + np.exp(-a)),
    "sort": lambda vector: -np.sort(-vector, axis=0),
    "softmax": lambda s: np.exp(s) / np.exp(s).sum(),
}


@pytest.mark.parametrize("name", LESSONS)
def test_a_worksheet_has_the_formulas_and_none_of_the_answers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # a page without a drawing
    shown = lesson(name, seed=3)
    text, sheet, full = shown.text(blank=True), shown.html(blank=True), shown.html()
    worked_out = [line for line in shown.lines.values() if line.formula]
    assert text.count("________") == sheet.count('<span class="blank">') == len(worked_out)
    assert "Numbers of seed 3" in text and "Numbers of seed 3" in sheet
    assert "same numbers within" in full and "same numbers within" not in sheet + text
    for line in worked_out:
        assert f"= {plain(line.formula)} = ________" in text
        assert line.text(blank=False) in shown.text() and line.text(blank=False) not in text
    for page in (sheet, full):
        assert page.startswith("<!doctype html>") and "<script" not in page and "src=" not in page
        for tag in ("math", "div", "mtable", "span"):
            assert page.count(f"<{tag}") == page.count(f"</{tag}>")


@pytest.mark.parametrize("name", LESSONS)
def test_a_drawing_shows_values_of_the_lesson_and_most_rows_light_it_up(name: str) -> None:
    shown = lesson(name)
    formulas = Formulas({key: line.value for key, line in shown.lines.items()})
    boxes = [key for row in shown.drawing for key in row if key]
    assert boxes and len(set(boxes)) == len(boxes)
    for key in boxes:
        name_of, _, places = key.rstrip("]").partition("[")
        quoted = ",".join(place if place.isdigit() else repr(place) for place in places.split(","))
        term_of(formulas.evaluate(f"{name_of}[{quoted}]" if places else name_of, {}))
    assert {one for arrow in shown.arrows for one in arrow} <= set(boxes)
    rows = [key for key, line in shown.lines.items() if line.formula]
    assert 2 * sum(bool(shown.box_of(key) or [*shown.read_boxes(key)]) for key in rows) > len(rows)
    if name == "attention":
        pytest.importorskip("matplotlib")
        for page in (shown.html(), shown.html(blank=True)):
            assert page.count("<svg") == 1 and 'id="box0"' in page and 'id="arrow0"' in page


def test_the_gradient_of_clipping_which_no_kernel_gives_is_that_of_finite_differences() -> None:
    value = answers("clipping")
    for place in np.ndindex(value["W"].shape):
        step = np.zeros(value["W"].shape)
        step[place] = 1e-6
        after, before = (answers("clipping", W=(value["W"] + way * step).tolist())["L"] for way in (1, -1))
        assert value["dW"][place] == pytest.approx(float(after - before) / 2e-6, rel=1e-6, abs=1e-7)


def test_truncation_lights_up_the_terms_that_are_kept() -> None:
    shown = lesson("truncation")
    kept = {name: {*shown.read_boxes(name)} for name in ("dW_hh", "dW_chunks", "dW_windows")}
    assert [len(boxes) for boxes in kept.values()] == [10, 6, 7]
    assert "T[3,2]" in kept["dW_windows"] - kept["dW_chunks"]


def test_the_printed_numbers_show_what_the_lessons_claim() -> None:
    v = answers("softmax")
    assert v["L[step]"] < v["L"] < v["L[slip]"] and v["m"] == pytest.approx(0)
    v = answers("sgd")
    assert v["L[+]"] < v["L"] and (v["E[dog,+]"] == v["E[dog]"]).all() and (v["E[man,+]"] != v["E[man]"]).all()
    v = answers("clipping")
    assert v["N"] > 100 and v["N[clipped]"] == pytest.approx(1)
    assert v["L[clipped]"] < v["L"] < 1e10 < v["L[plain]"]
    v = answers("powers")
    assert (v["lamda[1]"], v["lamda[2]"]) == pytest.approx((1.1, 0.5))
    assert v["sigma[16]"] < v["sigma[4]"] < 1 < v["sigma[1]"] < v["sigma[2]"] < v["sigma[1,2]"]
    v = answers("naive-lstm")
    assert v["p_F"] < 0.5 and v["dc_A[0]"] > 1 > v["dc_F[0]"]
    assert v["c_A[4]"] > v["c_F[4]"] and v["s_A[4]"] < v["s_F[4]"] / 2
    v = answers("peephole")
    assert v["f_na"] == pytest.approx(v["f_nb"], abs=0.01) and v["f_pa"] > 0.8 > 0.2 > v["f_pb"]
    assert v["s_p"] > 1000 * v["s_n"]
    v = answers("residual")
    assert v["dx_p"] < 0.05 < 1 < v["dx_r"]
    v = answers("kneser-ney")
    assert v["p[glasses]"] > v["p[Francisco]"] and v["p[San,Francisco]"] > 0.4
    v = answers("crf")
    assert v["S"] == pytest.approx(v["s[1,2,1]"]) and v["d[2,2]"] < 0 < v["d[3,1]"] and v["p[3,2]"] > v["p[3,1]"]
    v = answers("padding")
    assert v["R"] == v["R_s"] and v["W_s"] < v["W_m"] / 2


def test_the_beam_finds_the_man_walks_and_greedy_search_does_not() -> None:
    shown = lesson("beam")
    best = {name: (shown.lines[name].remark, shown.lines[name].value) for name in ("beam", "greedy", "exhaustive")}
    assert best["beam"] == best["exhaustive"] == ("The man walks", pytest.approx(-1.49611, abs=1e-5))
    assert best["greedy"] == ("A dog sleeps", pytest.approx(-2.12026, abs=1e-5))
    assert (shown.lines["S[dog]"].remark, shown.lines["S[The,man,walks,</s>]"].remark) == ("pruned", "finished")


def test_a_seed_draws_the_same_round_numbers_again_and_keeps_labels_and_sums() -> None:
    one, other = lesson("bptt", seed=1), lesson("bptt", seed=2)
    assert one.text() == lesson("bptt", seed=1).text() != other.text()
    tenths = [10 * np.asarray(line.value) for line in one.sections[0].lines]
    assert all(np.allclose(numbers, np.round(numbers)) for numbers in tenths)
    assert one.lines["y"].value.tolist() == other.lines["y"].value.tolist() == [1, 2, 1, 2]
    lines = lesson("beam", seed=5).lines
    assert sum(lines[f"p[A,{word}]"].value for word in ("dog", "man", "walks")) == pytest.approx(1)


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"W_x": 1.0}, "Did you mean 'W_xh'"),
        ({"x": [1.0, 2.0]}, r"x should be like \[1, -0.5, 0.25, 1\], but is \[1, 2\]"),
        ({"y": [1.5, 1.0, 1.0, 1.0]}, "y should be like"),
        ({"b": "two"}, "b should be like 0.1, but is two"),
        ({"y": [1, 2, 3, 1]}, "has no element 3: it has 2"),
        ({"y": [1, 2, 0, 1]}, "counts and places from 1"),
        ({"W_xh": 1e200, "x": [1e200, 1.0, 1.0, 1.0], "W_hh": -1e308}, "has no finite value with these numbers"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(numbers: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        lesson("bptt", numbers)


def test_a_formula_is_worked_out_and_written_with_symbols_and_with_numbers() -> None:
    formulas = Formulas({"a": 0.5, "b": -2.0, "x": np.array([3.0, 4.0]), "W": np.array([[1.0, 2.0], [3.0, 4.0]])})
    for text, shown, numbers, value in [
        ("(a - b*x[1]) / (1 - a**2)", "((a - b x_1) / (1 - a^2))", "((0.5 - (-2) x 3) / (1 - 0.5^2))", 26 / 3),
        ("a - (b - a)", "a - (b - a)", "0.5 - ((-2) - 0.5)", 3),
        ("x @ x", "x · x", "3 x 3 + 4 x 4", 25),
        ("a*(x @ x)", "a (x · x)", "0.5 x (3 x 3 + 4 x 4)", 12.5),
        ("W.T @ x", "W^T x", "[[1, 3], [2, 4]] [3, 4]", [15, 22]),
        ("outer(x, x)", "x x^T", "[3, 4] [[3, 4]]", [[9, 12], [12, 16]]),
        ("a*x + x*x", "a x + x ⊙ x", "0.5 x [3, 4] + [3, 4] ⊙ [3, 4]", [10.5, 18]),
        ("sum(a**(t - 1)*x[t] for t in steps(2, 1))", "a x_2 + x_1", "0.5 x 4 + 3", 5),
        ("-exp(b) + (a if b > 0 else 0)", "-exp(b)", "-exp(-2)", -np.exp(-2)),
        ("[a, b]", "[a, b]", "[0.5, (-2)]", [0.5, -2]),
    ]:
        term = term_of(formulas.evaluate(text, {}))
        assert (plain(term.mathml()), plain(term.mathml(numbers=True))) == (shown, numbers)
        assert np.allclose(term.value, value)
    with pytest.raises(ConfigError, match="unknown has no value"):
        formulas.evaluate("a*unknown", {})
    assert [plain(typeset(one)) for one in (0.1 + 0.2, 1 / 3, -1e-17, 0.5)] == ["0.3", "0.33333", "0", "0.5"]


@pytest.mark.slow
@pytest.mark.parametrize("name", LESSONS)
def test_a_page_fits_a_phone_and_lights_up_a_row_without_a_request(
    name: str, browser: Any, violations: Callable[[Any], list[str]], tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    shown = lesson(name)
    page, asked = browser.new_page(viewport={"width": 390, "height": 800}), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    for blank, scheme in product((True, False), ("light", "dark")):
        (tmp_path / "page.html").write_text(shown.html(blank), encoding="utf-8")
        page.emulate_media(color_scheme=scheme)
        page.goto((tmp_path / "page.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.locator("#row1").focus()
        assert name != "attention" or violations(page) == []
    assert all(url.startswith("file:") for url in asked) and html.unescape(page.title()) == shown.title
    number = next(n for n, key in enumerate(shown.lines) if shown.box_of(key) and shown.lines[key].formula)
    width = "[...document.querySelectorAll('[id^=box] path')].map(one => getComputedStyle(one).strokeWidth)"
    page.locator("#row1").blur()
    before = page.evaluate(width)
    page.locator(f"#row{number}").focus()
    assert set(before) == {before[0]} != set(page.evaluate(width))
    page.close()
