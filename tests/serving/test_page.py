"""The page in a real browser: segments, words, alternatives, confirming, documents, a narrow window, a key."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import anaphora
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.inspection.neighbours import neighbours
from anaphora.inspection.subject import Subject
from anaphora.memory import Memory, Segment
from anaphora.serving.keys import new_key
from anaphora.serving.translators import ServedRun
from tests.inspection.conftest import TRANSLATOR
from tests.serving.conftest import RUN, server_process

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")]
TEXT = "A man is walking."
HEAD = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
BRANCHES = "{n, plural, one {file} other {files}} of it"
CATALOGUE = f'{HEAD}msgid "Two dogs run."\nmsgstr ""\n\nmsgid "{BRANCHES}"\nmsgstr ""\n'


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
    page.wait_for_selector("#segments:not([aria-busy])", state="attached")
    return shown(page)


def shown(page: Any) -> str:
    """The translations of all segments."""
    return " ".join(page.locator(".words").all_inner_texts())


def choose(page: Any, place: int, segment: int = 0) -> None:
    """Click a word, and wait for what could stand in its place."""
    page.locator(".segment").nth(segment).locator(".words [role=button]").nth(place).click()
    page.wait_for_selector(".offers :is(.choice, .small:not(:text-is('Looking ...')))")


def test_what_is_typed_is_translated_and_its_words_are_linked(page: Any, stored: ServedRun) -> None:
    [wanted] = stored.predictor.translate_text([TEXT])
    assert translated(page, TEXT) == wanted.text
    assert page.get_attribute(".words", "lang") == "fr"
    assert page.locator(".words [role=button]").all_inner_texts() == wanted.text.split()
    page.locator(".words [role=button]").first.press("Enter")
    linked = [
        TEXT.split()[source]
        for source, target in sorted(stored.predictor.translate_text([TEXT], attention=True)[0].links())
        if target == 0
    ]
    assert page.locator(".source .linked").all_inner_texts() == linked
    assert page.inner_text(".linked-words") == f"Comes from: {' '.join(linked)}"


def test_sentences_stand_beside_their_translations(page: Any, stored: ServedRun) -> None:
    texts = [TEXT, "Two dogs run through the long green grass of a field.", "A dog."]
    wanted = [one.text for one in stored.predictor.translate_text(texts)]
    assert translated(page, f"{texts[0]} {texts[1]}\n\n{texts[2]}") == " ".join(wanted)
    assert page.locator(".source").all_inner_texts() == texts
    for width in (1200, 800):
        page.set_viewport_size({"width": width, "height": 800})
        for row in page.locator(".segment").all():
            source, target = (row.locator(side).bounding_box() for side in (".source", ".words"))
            assert abs(source["y"] - target["y"]) < 4 and source["x"] + source["width"] <= target["x"]


def test_a_chosen_word_is_replaced_by_an_alternative_that_shows_what_differs(browser: Any) -> None:
    with opened(browser, run=anaphora.trial_model()) as page:
        replace_words(page)


def replace_words(page: Any) -> None:
    before = translated(page, TEXT)
    choose(page, 1)
    texts = page.locator(".choice").all_inner_texts()
    assert texts and all(text.split()[0] == before.split()[0] for text in texts)
    assert all(text.split()[1:2] != before.split()[1:2] for text in texts)
    marks = page.locator(".choice").first.locator("mark, del").all_inner_texts()
    assert marks and all(set(mark.split()) <= {*texts[0].split(), *before.split()} for mark in marks)
    page.keyboard.press("1")
    assert shown(page) == texts[0] and page.inner_text(".state") == "Changed"
    page.keyboard.press("Control+z")
    assert shown(page) == before
    choose(page, 0)
    page.keyboard.press("ArrowDown")
    chosen = page.locator(".choice:focus")
    text = chosen.inner_text()
    page.keyboard.press("Enter")
    assert shown(page) == text
    choose(page, 0)
    page.fill(".own input", "Ici")
    page.press(".own input", "Enter")
    assert shown(page).split()[0] == "Ici" and shown(page).split()[1:] == text.split()[1:]


def test_confidence_is_a_line_with_words(page: Any) -> None:
    answer = {
        "translatedText": ["a b c"],
        "alternatives": [[]],
        "alignment": [[]],
        "confidence": [0.4],
        "wordConfidences": [[0.1, 0.3, 0.9]],
    }
    page.route("**/translate", lambda route: route.fulfill(json=answer))
    translated(page, TEXT)
    words = page.locator(".words [role=button]")
    assert [one.get_attribute("title") for one in words.all()] == [
        "Doubtful: 10% probably right",
        "Unsure: 30% probably right",
        None,
    ]
    styles = words.evaluate_all("words => words.map(word => getComputedStyle(word).textDecorationStyle)")
    assert styles == ["wavy", "dotted", "solid"]
    assert page.inner_text(".meta").split("\n") == ["Check", "Confidence 40%"]
    assert page.inner_text("#legend") == "Unsure is below 50% probable, doubtful below 25%."


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


def confirm(page: Any, written: str) -> None:
    """Write the translation of the current segment, and wait until that is confirmed."""
    page.click(".tools :text('Edit')")
    page.fill(".field:visible", written)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".state.done")


def test_a_confirmed_translation_is_shown_from_then_on_until_it_is_undone(page: Any, browser: Any) -> None:
    text = "Two cats sleep."
    before = translated(page, text)
    page.click("#copy")
    page.wait_for_selector("#status:not(:empty)")
    page.click(".tools :text('Edit')")
    assert page.input_value(".field") == before
    assert "Adds the pair to the memory of run" in page.get_attribute(".tools .main", "title")
    page.fill(".field", "Autre")
    page.press(".field", "Escape")
    assert shown(page) == before
    confirm(page, "Deux chats.")
    assert shown(page) == "Deux chats." and page.inner_text("#status") == "Added to the memory."
    other = browser.new_page()
    other.goto(page.url)
    other.wait_for_selector("#to option[value=fr]", state="attached")
    assert translated(other, text) == "Deux chats."
    assert other.inner_text(".hit").startswith("From the memory (server, ")
    other.close()
    assert translated(page, "Two dogs run.") != "Deux chats."
    assert translated(page, text) == "Deux chats."
    page.click(".undo")
    page.wait_for_function("document.querySelector('.state').textContent === 'Changed'")
    assert shown(page) == "Deux chats." and page.inner_text("#status") == "Taken back from the memory."
    page.keyboard.press("Control+z")
    assert shown(page) == before and page.locator(".undo, .state").count() == 0
    assert page.evaluate("document.activeElement.closest('.words') !== null")


def test_what_is_confirmed_twice_can_be_undone(page: Any) -> None:
    before = translated(page, TEXT)
    page.click(".tools :text('Edit')")
    page.fill(".field", "Un homme.")
    page.dblclick(".tools .main")
    page.wait_for_selector(".state.done")
    assert page.inner_text("#status") == "Added to the memory."
    page.dblclick(".undo")
    page.wait_for_selector(".state.done", state="detached")
    if page.locator(".undo").count():
        page.click(".undo")
    assert shown(page) == before and page.locator("#status.error").count() == 0


def test_a_segment_that_was_changed_comes_back_with_its_sentence(page: Any) -> None:
    translated(page, TEXT)
    page.click(".tools :text('Edit')")
    page.fill(".field", "Mine")
    other = translated(page, "Two dogs run.")
    assert other != "Mine"
    assert translated(page, f"Two dogs run. {TEXT}") == f"{other} Mine"
    with page.expect_request("**/suggest") as asked:
        page.locator(".words [role=button]").last.focus()
        page.keyboard.press("Control+s")
    assert (asked.value.post_data_json["q"], asked.value.post_data_json["s"]) == (TEXT, "Mine")
    page.wait_for_selector(".state.done")
    page.click(".undo")
    page.wait_for_selector(".state.done", state="detached")


def test_a_server_that_does_not_learn_gets_no_correction(browser: Any) -> None:
    with opened(browser) as page:
        sent: list[str] = []
        assert translated(page, TEXT)
        page.on("request", lambda request: sent.append(request.url))
        confirm(page, "Un homme.")
        assert sent == [] and page.inner_text(".state") == "\u2713 Done"
        page.click(".undo")
        assert page.inner_text(".state") == "Changed"


def test_hits_of_the_memory_and_the_glossary_are_taken_with_a_click(browser: Any, tmp_path: Path) -> None:
    run, terms = tmp_path / "run", tmp_path / "terms.tsv"
    shutil.copytree(RUN, run)
    with Memory(run, create=True) as memory:
        memory.add([Segment("A man is walking there.", "Un monsieur marche.")], "old.tmx")
    terms.write_text("man\thomme | monsieur\n")
    with opened(browser, "--memory", "--terms", str(terms), run=run) as page:
        text = translated(page, TEXT)
        assert "homme" in text or "monsieur" in text
        assert page.locator(".memory del").all_inner_texts() == ["walking there."]
        assert page.locator(".memory mark").all_inner_texts() == ["walking."]
        page.click(".memory button")
        assert shown(page) == "Un monsieur marche."
        assert page.locator(".term").all_inner_texts() == ["homme", "\u2713 monsieur"]
        page.locator(".words [role=button]").nth(1).click()
        page.click(".term >> nth=0")
        assert shown(page) == "Un homme marche."


class Actions:
    """A page as its user has it: counts clicks, chords, texts typed, and documents dropped."""

    def __init__(self, page: Any) -> None:
        self.page, self.count = page, 0

    def __getattr__(self, name: str) -> Any:
        self.count += 1
        return getattr(self.page, name)


def test_everyday_tasks_take_few_actions(page: Any) -> None:
    """The page before it had segments took 4, 9 and 2, and did not say what was left of a document."""
    user = Actions(page)
    user.fill("#source", "A woman sits on a bench.")  # translate a sentence and put right a word of it
    page.wait_for_selector("#segments:not([aria-busy]) .words [role=button]")
    user.click(".words [role=button]")
    page.wait_for_selector(".offers .choice")
    user.click(".choice", modifiers=["Control"])
    page.wait_for_selector(".state.done")
    assert user.count == 3
    user = Actions(page)
    user.fill("#source", "Three men talk. A girl jumps. The boy is eating.")  # confirm three sentences
    page.wait_for_selector("#segments:not([aria-busy]) .words [role=button]")
    for done in range(1, 4):
        user.keyboard.press("Control+Enter")
        page.wait_for_function("done => document.querySelectorAll('.state.done').length === done", arg=done)
    assert user.count == 4 and page.inner_text("#progress") == "3 of 3 confirmed"
    user = Actions(page)
    with page.expect_download() as saved:  # a document, with what was left
        user.set_input_files("#document", {"name": "app.po", "mimeType": "", "buffer": CATALOGUE.encode()})
    assert user.count == 1 and f'msgid "{BRANCHES}"\nmsgstr ""\n' in Path(saved.value.path()).read_text()
    assert page.inner_text(".outcome") == "1 filled, 1 left."
    assert "1 entry whose plural or select branches" in page.inner_text(".reasons")


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(page: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page.emulate_media(color_scheme=scheme)
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
        page.locator(".words [role=button]").first.click()
        page.wait_for_selector(".pairs")
        assert page.locator(".pairs li").all_inner_texts() == [f"{one.context}\n\n{one.source}" for one in word]
