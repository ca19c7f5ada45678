"""The page in a real browser: text, errors, documents, a narrow window, a key."""

from pathlib import Path
from typing import Any

import pytest

from anaphora.serving.keys import new_key
from anaphora.serving.translators import ServedRun
from tests.serving.browsing import CATALOGUE, HEAD, NEEDS, TEXT, choose, opened, shown, translated

pytestmark = NEEDS


def test_only_the_latest_text_is_shown_and_nothing_for_no_text(page: Any, stored: ServedRun) -> None:
    for length in range(1, 8):
        page.fill("#source", TEXT[:length])
    [wanted] = stored.predictor.translate_text(["Two dogs run."])
    assert translated(page, "Two dogs run.") == wanted.text
    assert translated(page, " ") == ""
    assert page.is_hidden("#desk")
    translated(page, TEXT)
    page.click("#clear")
    assert page.is_hidden("#desk") and page.input_value("#source") == "" and page.inner_text("#count") == ""


def test_markup_in_a_text_stays_text(page: Any) -> None:
    hostile = "<img src=x onerror=alert(1)> <b>dogs</b>"
    translated(page, hostile)
    assert page.locator("main img, main b").count() == 0
    segment = {"source": f"{hostile} old", "target": hostile, "origin": hostile, "added": hostile}
    answer = {
        "translatedText": [hostile],
        "alternatives": [[f"{hostile} more"]],
        "memory": ["fuzzy 80%"],
        "from": [segment],
        "model": [hostile],
        "terms": [[{"source": hostile, "targets": [hostile], "forbidden": [hostile]}]],
    }
    page.route("**/translate", lambda route: route.fulfill(json=answer))
    page.route("**/translate_file", lambda route: route.fulfill(status=400, json={"error": hostile}))
    translated(page, TEXT)
    page.set_input_files("#document", {"name": f"{hostile}.po", "mimeType": "", "buffer": b"x"})
    page.wait_for_selector(".document .error")
    assert page.locator(".hit").count() == 2 and page.inner_text(".words") == hostile
    assert page.locator("main img, main b").count() == 0


def test_an_error_is_said_and_a_text_that_could_not_be_sent_is_sent_again(page: Any, stored: ServedRun) -> None:
    assert translated(page, "A man.")
    page.route("**/translate", lambda route: route.abort())
    page.fill("#source", TEXT)
    page.wait_for_selector("#status.error")
    assert page.inner_text("#status") == "The server cannot be reached."
    assert page.locator(".words.waiting").count() == 1 and page.is_disabled("#copy")
    page.unroute("**/translate")
    [wanted] = stored.predictor.translate_text([TEXT])
    page.wait_for_function("text => document.querySelector('.words').textContent === text", arg=wanted.text)
    assert page.inner_text("#status") == "" and page.locator("#status.error").count() == 0


def test_a_page_that_met_no_server_asks_again(browser: Any, address: str) -> None:
    page = browser.new_page()
    page.route("**/languages", lambda route: route.abort())
    page.goto(address)
    page.wait_for_selector("#status.error")
    page.fill("#source", TEXT)
    page.unroute("**/languages")
    page.wait_for_selector(".words [role=button]")
    page.close()


@pytest.mark.parametrize("character", ["a", "\U0001f600"])
def test_a_text_that_is_too_long_is_not_sent(page: Any, character: str) -> None:
    sent: list[str] = []
    assert translated(page, TEXT)
    page.on("request", lambda request: sent.append(request.url))
    page.fill("#source", character * 5001)
    page.wait_for_timeout(600)
    assert sent == [] and shown(page) == ""
    assert page.inner_text("#status").startswith(
        "The text has 5,001 characters, but at most 5,000 are translated at once"
    )
    assert page.inner_text("#count").split() == ["5,001", "of", "5,000", "characters"]


def test_a_translation_from_right_to_left_is_shown_so(page: Any) -> None:
    words = ["\u05d4\u05d0\u05d9\u05e9", "\u05e8\u05d5\u05d0\u05d4."]
    answer = {"translatedText": [" ".join(words)], "alternatives": [[words[0]]], "alignment": [[[0, 0]]]}
    page.route("**/translate", lambda route: route.fulfill(json=answer))
    assert translated(page, TEXT) == " ".join(words)
    first, second = page.locator(".words [role=button]").all()
    assert first.bounding_box()["x"] > second.bounding_box()["x"]
    assert page.evaluate("getComputedStyle(document.querySelector('.choice')).direction") == "rtl"
    first.focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator(".words [role=button]:focus").inner_text() == words[1]


def test_it_fits_a_telephone(page: Any) -> None:
    page.set_viewport_size({"width": 360, "height": 640})
    translated(page, TEXT)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    long = "https://example.org/" + "x" * 300
    answer = {"translatedText": [long], "alternatives": [[f"{long} {long}"]], "alignment": [[[0, 0]]]}
    page.route("**/translate", lambda route: route.fulfill(json=answer))
    translated(page, long)
    page.locator(".words [role=button]").first.click()
    assert page.inner_text(".linked-words") == f"Comes from: {long}"
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.click("#shortcuts summary")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_key_is_asked_for_and_used(browser: Any, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    key = new_key(keys, "page")
    with opened(browser, "--keys", str(keys), key=key) as page:
        assert translated(page, TEXT)


DROP = """([name, content]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([content], name));
  for (const type of ["dragenter", "dragover", "drop"]) {
    document.body.dispatchEvent(new DragEvent(type, { dataTransfer: carried, bubbles: true, cancelable: true }));
  }
}"""


def test_a_document_is_dropped_and_its_translation_saved(page: Any) -> None:
    with page.expect_download() as saved:
        page.evaluate(DROP, ["app.po", CATALOGUE])
    assert saved.value.suggested_filename == "app.po"
    assert Path(saved.value.path()).read_text().startswith(f"{HEAD}#, fuzzy\n")
    with page.expect_download():
        page.locator(".document a:focus").press("Enter")
    page.set_input_files("#document", {"name": "a.txt", "mimeType": "text/plain", "buffer": TEXT.encode()})
    page.wait_for_function("text => document.getElementById('source').value === text", arg=TEXT)
    assert page.locator(".document").count() == 1
    long = {"name": "b.txt", "mimeType": "text/plain", "buffer": b"Two dogs run.\n" * 1000}
    with page.expect_download() as saved:
        page.set_input_files("#document", long)
    assert Path(saved.value.path()).read_text().count("\n") == 1000
    assert page.inner_text(".outcome >> nth=0") == "1,000 filled, 0 left."


def test_what_is_no_document_is_said(page: Any) -> None:
    with page.expect_response("**/translate_file"):
        page.set_input_files("#document", {"name": "a.docx", "mimeType": "", "buffer": b"PK\3\4word/"})
    page.wait_for_selector(".document .error")
    assert "a.docx is a Word document" in page.inner_text(".document")
    translated(page, TEXT)
    with page.expect_response("**/translate_file"):
        page.set_input_files("#document", {"name": "a.txt", "mimeType": "", "buffer": "\u00e9".encode("latin-1")})
    page.wait_for_selector(".document >> nth=1")
    assert "a.txt:1 should be UTF-8" in page.inner_text(".document >> nth=0") and page.input_value("#source") == TEXT


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)])
def test_axe_finds_no_violation(page: Any, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    found = [axe.run(page)]
    translated(page, f"{TEXT} Two dogs run.")
    found.append(axe.run(page))
    choose(page, 0)
    found.append(axe.run(page))
    page.click(".tools :text('Edit')")
    page.click("#shortcuts summary")
    page.set_input_files("#document", {"name": "app.po", "mimeType": "", "buffer": CATALOGUE.encode()})
    page.wait_for_selector(".document a")
    found.append(axe.run(page))
    assert [one.generate_report() for one in found if one.violations_count] == []
