"""The page in a browser: what a reader chooses, the numbers of formulas, and who can use it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from anaphora.inspection.microscope import page_of, write_microscope
from tests.inspection.test_microscope import RUN, inside_of, records, recurrent, rounded
from tests.networks import SENTENCES, untrained_translator

pytestmark = pytest.mark.slow

SPEED = """async (text) => {
  const {steps, seconds} = await microscope.answer(text, 5);
  return steps / seconds;
}"""
"""Tokens a second of a page that searches with a beam of 5."""

TREE = """async () => {
  document.querySelector(".tree").closest("details").querySelectorAll("details").forEach((one) => { one.open = true; });
  await new Promise((go) => setTimeout(go, 50));
  const {nodes} = microscope.result, tables = document.querySelectorAll("table.plain");
  return {
    shown: document.querySelectorAll(".tree g:not(.pruned) .score").length,
    kept: nodes.filter(({step, fate}) => step >= 0 && fate !== "pruned").length,
    rows: [...tables[tables.length - 1].tBodies[0].rows].map((row) => row.cells[3].textContent),
    nodes: nodes.filter(({step}) => step >= 0).map(({score}) => score.toFixed(3).replace("-", "\u2212")),
  };
}"""
"""Hypotheses of the drawn tree and of its table, and those of the search."""

SAMPLED = """async ([text, temperature, seed, more]) =>
  (await microscope.answer(text, 1, temperature && {temperature, seed}, more)).ids"""
"""Tokens of a page that samples, or of the most probable ones where the temperature is 0."""


def test_a_browser_shows_the_page_and_follows_what_a_reader_chooses(browser: Any, tmp_path: Path) -> None:
    stored = json.loads((RUN / "translations.json").read_text())[:3]
    shutil.copytree(RUN, tmp_path / "run")
    (tmp_path / "run" / "metrics.jsonl").write_text(records(3))
    write_microscope(tmp_path / "run", tmp_path / "page.html", [one["source"] for one in stored])
    messages: list[str] = []
    page = browser.new_page(viewport={"width": 380, "height": 800})
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: messages.append(request.url))
    page.goto((tmp_path / "page.html").as_uri())
    assert page.locator("#output").inner_text() == stored[0]["text"]
    for heading in ("probabilities", "Attention", "Reading", "Gates", "Search tree"):
        page.get_by_role("heading", name=heading).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    assert page.get_by_label("Example").is_visible()

    page.locator("#when").focus()
    assert page.locator("#when").get_attribute("aria-valuetext") == "Validation 3 of 3, after update 3"
    page.keyboard.press("ArrowLeft")
    assert page.locator("#training output").inner_text() == "Validation 2 of 3, after update 2"
    assert page.locator("#training td span").nth(3).inner_text() == "0.750"

    page.select_option("#examples", stored[1]["source"])
    page.wait_for_function("text => document.querySelector('#output').textContent === text", arg=stored[1]["text"])

    page.locator(".plain button").nth(1).click()  # the second most probable token comes first
    page.wait_for_function("() => document.querySelector('.tokens button').className === 'chosen'")
    chosen = page.locator(".tokens button").first.inner_text()
    assert page.locator(".plain button").nth(1).inner_text() == chosen

    page.locator("td.pick").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")  # the first output token attends to the second input token alone
    page.wait_for_function("() => document.querySelectorAll('td.pick')[1].textContent === '1.000'")
    focused = "() => document.activeElement === document.querySelectorAll('td.pick')[1]"
    page.wait_for_function(focused)  # a reader who moves by keyboard stays where they were

    page.get_by_role("button", name="Undo choices").click()
    page.wait_for_function("text => document.querySelector('#output').textContent === text", arg=stored[1]["text"])
    # the best of three, since other processes take their share
    speeds = [page.evaluate(SPEED, one["source"]) for one in stored]
    assert max(speeds) >= 30, speeds
    tree = page.evaluate(TREE)
    assert tree["shown"] == tree["kept"] and tree["rows"] == tree["nodes"]
    page.locator("summary", has_text="Reading").click()
    page.locator(".tokens button").nth(1).click()  # what a reader folded stays so
    assert page.locator("details.panel:not([open]) h2").all_inner_texts() == ["Reading"]
    page.fill("#text", "")
    page.wait_for_function("() => document.querySelector('#answer').childElementCount === 0")

    write_microscope(tmp_path / "run", tmp_path / "bare.html")
    page.goto((tmp_path / "bare.html").as_uri())
    page.fill("#text", stored[0]["source"])
    page.wait_for_function("text => document.querySelector('#output')?.textContent === text", arg=stored[0]["text"])
    assert not page.get_by_label("Example").is_visible()  # there is none to choose
    assert messages == [(tmp_path / name).as_uri() for name in ("page.html", "bare.html")]


def test_formulas_have_the_numbers_of_the_model_and_samples_come_again(browser: Any, tmp_path: Path) -> None:
    trained = recurrent(cell="lstm")
    (tmp_path / "page.html").write_text(page_of(trained, "A page", SENTENCES[:1]))
    model, ids = rounded(trained), trained.tokenizers["text"].encode(SENTENCES[0])
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    page.locator("#cell-formula").wait_for()
    forced = [page.evaluate("microscope.network.begin"), *ids]
    inside = inside_of(model, forced)
    for token, unit, letter, row in ((1, 0, "i", 3), (2, 1, "f", 7), (len(ids), 1, "g", 0)):
        page.locator(".tokens button").nth(token).click()
        page.select_option("#unit", str(unit))
        page.select_option("#signal", label=letter)
        page.locator(".small td.pick").nth(row).focus()
        page.keyboard.press("Enter")
        worked = page.locator("#cell-formula .line p").nth(1).inner_text().replace("\u2212", "-")
        shown = float(worked.split("=")[-1])
        assert shown == pytest.approx(float(inside[f"layer{unit}.{letter}"][token, 0, row]), abs=6e-4)
        assert f"[{row}]" in worked.replace("\n", "")
        coloured = page.locator(".coloured span").nth(token)
        coloured.focus()
        says = page.locator("#value").inner_text().replace("\u2212", "-")
        assert float(says.split("=")[1]) == pytest.approx(shown)

    def sampled(*asked: Any) -> Any:
        return page.evaluate(SAMPLED, [SENTENCES[0], *asked])

    first = sampled(1.0, 5, 40)
    assert first == sampled(1.0, 5, 40) != sampled(1.0, 6, 40)
    assert first[: len(ids) + 10] == sampled(1.0, 5, 10)  # so that a text continues as it would have
    assert sampled(0.01, 5, 10) == sampled(0, 0, 10)
    page.fill("#more", "10")
    page.wait_for_function(f"() => document.querySelectorAll('.tokens button').length === {len(ids) + 10}")
    page.get_by_role("button", name="Continue").click()
    page.wait_for_function(f"() => document.querySelectorAll('.tokens button').length === {len(ids) + 20}")


def test_axe_finds_nothing_in_a_page_and_it_fits_a_phone(browser: Any, violations: Any, tmp_path: Path) -> None:
    for name, trained in (("page", untrained_translator("bahdanau")), ("model", recurrent(cell="lstm"))):
        (tmp_path / f"{name}.html").write_text(page_of(trained, "A page", ["a"]))
        page = browser.new_page(viewport={"width": 390, "height": 800})
        page.goto((tmp_path / f"{name}.html").as_uri())
        page.locator("#output").wait_for()
        if page.locator("#more").is_visible():
            page.fill("#more", "5")
        page.fill("#beam", "1")  # a small page, since axe looks at every element
        page.wait_for_function("() => microscope.result.nodes.length < 40")
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            assert violations(page) == [], (name, scheme)
