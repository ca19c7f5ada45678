"""The page in a real browser: type, read the words, swap, a narrow window, a key."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.inspection.neighbours import neighbours
from anaphora.inspection.subject import Subject
from anaphora.memory import Memory
from anaphora.serving.keys import new_key
from anaphora.serving.translators import ServedRun
from tests.inspection.conftest import TRANSLATOR
from tests.serving.conftest import RUN, server_process

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")]
TEXT = "A man is walking."


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    run = tmp_path_factory.mktemp("runs") / "run"
    shutil.copytree(RUN, run)
    with Memory(run, create=True):
        pass
    with server_process("--quiet", "--memory", "--learn", run=run) as (_, found):
        yield found


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """The page, opened; at the end nothing was asked of another host, and no error was shown in the console."""
    made = browser.new_page()
    errors: list[str] = []
    asked: list[str] = []
    made.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    made.on("pageerror", lambda error: errors.append(str(error)))
    made.on("request", lambda request: asked.append(request.url))
    made.goto(address)
    made.wait_for_selector("#to option[value=fr]", state="attached")
    yield made
    # but for a request that a test aborts, and one that is refused
    assert [error for error in errors if "net::ERR_FAILED" not in error and "(Bad Request)" not in error] == []
    assert all(url.startswith((address, "data:")) for url in asked)
    made.close()


@contextmanager
def opened(browser: Any, *options: str, key: str = "", run: Path = RUN) -> Iterator[Any]:
    """The page of another server, which asks for a key where there is one."""
    with server_process("--quiet", *options, run=run) as (_, address):
        made = browser.new_page()
        made.goto(address)
        if key:
            made.fill("#key", key)
            made.press("#key", "Enter")
        made.wait_for_selector("#to option[value=fr]", state="attached")
        yield made
        made.close()


def translated(page: Any, text: str) -> str:
    """What the page shows for a text that is typed."""
    page.fill("#source", text)
    page.wait_for_selector("#translation:not([aria-busy])", state="attached")
    return str(page.inner_text("#translation"))


def test_what_is_typed_is_translated_and_its_words_are_linked(page: Any, stored: ServedRun) -> None:
    [wanted] = stored.predictor.translate_text([TEXT])
    assert translated(page, TEXT) == wanted.text
    assert page.get_attribute("#translation", "lang") == "fr"
    assert page.locator("#target-words button").all_inner_texts() == wanted.text.split()
    page.locator("#target-words button").first.press("Enter")
    linked = [
        TEXT.split()[source]
        for source, target in sorted(stored.predictor.translate_text([TEXT], attention=True)[0].links())
        if target == 0
    ]
    assert page.locator("#source-words mark").all_inner_texts() == linked
    assert page.inner_text("#linked") == f"Comes from: {' '.join(linked)}"


def test_only_the_latest_text_is_shown_and_nothing_for_no_text(page: Any, stored: ServedRun) -> None:
    for length in range(1, 8):
        page.fill("#source", TEXT[:length])
    [wanted] = stored.predictor.translate_text(["Two dogs run."])
    assert translated(page, "Two dogs run.") == wanted.text
    assert translated(page, " ") == ""
    assert page.is_hidden("#details")


def test_markup_in_a_text_stays_text(page: Any) -> None:
    translated(page, "<img src=x onerror=alert(1)> <b>dogs</b>")
    assert page.locator("main img, main b").count() == 0


def test_an_error_is_said_and_a_text_that_could_not_be_sent_is_sent_again(page: Any, stored: ServedRun) -> None:
    assert translated(page, "A man.")
    page.route("**/translate", lambda route: route.abort())
    page.fill("#source", TEXT)
    page.wait_for_selector("#status.error")
    assert page.inner_text("#status") == "The server cannot be reached."
    assert page.inner_text("#translation") == "" and page.is_hidden("#details") and page.is_disabled("#copy")
    page.unroute("**/translate")
    [wanted] = stored.predictor.translate_text([TEXT])
    page.wait_for_function("text => document.getElementById('translation').textContent === text", arg=wanted.text)
    assert page.inner_text("#status") == "" and page.locator("#status.error").count() == 0


def test_a_page_that_met_no_server_asks_again(browser: Any, address: str) -> None:
    page = browser.new_page()
    page.route("**/languages", lambda route: route.abort())
    page.goto(address)
    page.wait_for_selector("#status.error")
    page.fill("#source", TEXT)
    page.unroute("**/languages")
    page.wait_for_selector("#translation:not(:empty)")
    page.close()


@pytest.mark.parametrize("character", ["a", "\U0001f600"])
def test_a_text_that_is_too_long_is_not_sent(page: Any, character: str) -> None:
    sent: list[str] = []
    assert translated(page, TEXT)
    page.on("request", lambda request: sent.append(request.url))
    page.fill("#source", character * 5001)
    page.wait_for_timeout(600)
    assert sent == [] and page.inner_text("#translation") == ""
    assert page.inner_text("#status").startswith(
        "The text has 5,001 characters, but at most 5,000 are translated at once"
    )
    assert page.inner_text("#count") == "5,001 of 5,000 characters"


def test_a_translation_from_right_to_left_is_shown_so(page: Any) -> None:
    words = ["\u05d4\u05d0\u05d9\u05e9", "\u05e8\u05d5\u05d0\u05d4."]
    answer = {"translatedText": " ".join(words), "alternatives": [words[0]], "alignment": [[0, 0]]}
    page.route("**/translate", lambda route: route.fulfill(json=answer))
    assert translated(page, TEXT) == " ".join(words)
    first, second = page.locator("#target-words button").all()
    assert first.bounding_box()["x"] > second.bounding_box()["x"]
    assert page.evaluate("getComputedStyle(document.querySelector('#alternatives')).direction") == "rtl"


def test_it_fits_a_telephone(page: Any) -> None:
    page.set_viewport_size({"width": 360, "height": 640})
    translated(page, TEXT)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    long = "https://example.org/" + "x" * 300
    answer = {"translatedText": long, "alternatives": [long], "alignment": [[0, 0]]}
    page.route("**/translate", lambda route: route.fulfill(json=answer))
    translated(page, long)
    page.locator("#target-words button").first.click()
    assert page.inner_text("#linked") == f"Comes from: {long}"
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_key_is_asked_for_and_used(browser: Any, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    key = new_key(keys, "page")
    with opened(browser, "--keys", str(keys), key=key) as page:
        assert translated(page, TEXT)


def confirm(page: Any, written: str) -> None:
    """Correct what is shown, and wait until that is confirmed."""
    page.click("#correct")
    page.fill("#correction", written)
    page.click("#correction-form button:not([type])")
    page.wait_for_selector("#translation:visible")


def test_a_confirmed_correction_is_shown_from_then_on_until_it_is_undone(page: Any) -> None:
    text = "Two cats sleep."
    before = translated(page, text)
    page.click("#copy")
    page.wait_for_selector("#status:not(:empty)")
    page.click("#correct")
    assert page.input_value("#correction") == before and page.inner_text("#status") == ""
    assert "adds this pair to the memory of run" in page.inner_text("#effect")
    page.press("#correction", "Escape")
    confirm(page, "Deux chats.")
    assert page.inner_text("#translation") == "Deux chats."
    assert page.inner_text("#words-hint") == "What comes from the memory has no word alignments."
    assert translated(page, "Two dogs run.") != "Deux chats."
    assert translated(page, text) == "Deux chats."
    assert page.inner_text("#match").startswith("From the memory (server, ")
    page.click("#undo")
    page.wait_for_function("text => document.getElementById('translation').textContent === text", arg=before)
    assert page.is_hidden("#undo") and page.is_hidden("#match")
    assert page.evaluate("document.activeElement.id") == "correct"


def test_what_is_confirmed_twice_can_be_undone(page: Any) -> None:
    before = translated(page, TEXT)
    page.click("#correct")
    page.fill("#correction", "Un homme.")
    page.dblclick("#correction-form button:not([type])")
    page.wait_for_selector("#translation:visible")
    assert page.inner_text("#status") == "Added to the memory."
    page.dblclick("#undo")
    page.wait_for_function("text => document.getElementById('translation').textContent === text", arg=before)
    assert page.is_hidden("#undo") and page.locator("#status.error").count() == 0


def test_no_late_answer_takes_the_place_of_a_correction(page: Any) -> None:
    sent: list[str] = []
    translated(page, TEXT)
    page.on("request", lambda request: sent.append(request.url))
    page.click("#correct")
    page.fill("#correction", "Mine")
    page.fill("#source", "Two dogs run.")
    page.wait_for_timeout(600)
    assert (sent, page.input_value("#correction")) == ([], "Mine")
    with page.expect_request("**/suggest") as asked:
        page.click("#correction-form button:not([type])")
    assert asked.value.post_data_json["q"] == TEXT
    page.wait_for_selector("#translation:not([aria-busy]):visible")
    page.click("#undo")
    page.wait_for_selector("#undo", state="hidden")


def test_a_server_that_does_not_learn_offers_no_correction(browser: Any) -> None:
    with opened(browser) as page:
        assert translated(page, TEXT)
        assert page.is_hidden("#correct")


def test_a_document_is_opened_and_its_translation_saved(page: Any, tmp_path: Path) -> None:
    document = tmp_path / "app.po"
    head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
    document.write_text(f'{head}msgid "Two dogs run."\nmsgstr ""\n')
    page.set_input_files("#document", document)
    page.wait_for_selector("#download:visible")
    assert page.inner_text("#download") == "Save the translated app.po"
    with page.expect_download() as saved:
        page.press("#download", "Enter")
    content = Path(saved.value.path()).read_text()
    assert saved.value.suggested_filename == "app.po"
    assert content.startswith(f"{head}#, fuzzy\n")
    page.set_input_files("#document", {"name": "a.txt", "mimeType": "text/plain", "buffer": TEXT.encode()})
    page.wait_for_function("text => document.getElementById('source').value === text", arg=TEXT)
    assert page.is_hidden("#download")
    page.set_input_files("#document", {"name": "b.txt", "mimeType": "text/plain", "buffer": b"Two dogs run.\n" * 1000})
    page.wait_for_selector("#download:visible")
    with page.expect_download() as saved:
        page.press("#download", "Enter")
    assert Path(saved.value.path()).read_text().count("\n") == 1000


def test_what_is_no_document_is_said(page: Any) -> None:
    with page.expect_response("**/translate_file"):
        page.set_input_files("#document", {"name": "a.docx", "mimeType": "", "buffer": b"PK\3\4word/"})
    page.wait_for_selector("#status.error")
    assert "a.docx is a Word document" in page.inner_text("#status")
    translated(page, TEXT)
    with page.expect_response("**/translate_file"):
        page.set_input_files("#document", {"name": "a.txt", "mimeType": "", "buffer": "\u00e9".encode("latin-1")})
    page.wait_for_selector("#status.error")
    assert "a.txt:1 should be UTF-8" in page.inner_text("#status") and page.input_value("#source") == TEXT


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(page: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page.emulate_media(color_scheme=scheme)
    translated(page, TEXT)
    found = [axe.run(page)]
    page.locator("#target-words button").first.click()
    found.append(axe.run(page))
    page.click("#correct")
    found.append(axe.run(page))
    page.click("#cancel")
    assert [one.generate_report() for one in found if one.violations_count] == []


def test_a_chosen_word_shows_the_training_pairs_where_it_was_learnt(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "pairs").mkdir()
    for part, words in (("train", "adf aeg bdh beg cdf"), ("val", "adg"), ("test", "cdg")):
        (tmp_path / "pairs" / f"{part}.en").write_text("".join(f"{word}\n" for word in words.split()))
        (tmp_path / "pairs" / f"{part}.fr").write_text("".join(f"{word[::-1]}\n" for word in words.split()))
    toy = read_experiment(
        TRANSLATOR.format(cell="gru"), "toy.toml", data=[tmp_path / "pairs"], source="en", target="fr"
    )
    train(toy, tmp_path / "run")
    with opened(browser, "--neighbours", run=tmp_path / "run") as page:
        shown = translated(page, "beg")
        [word] = neighbours(Subject.open(tmp_path / "run"), "beg", shown, nearest=3).by_word(3)
        page.locator("#target-words button").first.click()
        page.wait_for_selector("#learnt:visible")
        assert page.locator("#pairs li").all_inner_texts() == [f"{one.context}\n\n{one.source}" for one in word]
