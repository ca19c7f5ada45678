"""Segments of the page: words, alternatives, confidence, hits, confirming, undoing, and actions of everyday tasks."""

import shutil
from pathlib import Path
from typing import Any

import anaphora
from anaphora.inspection.neighbours import neighbours
from anaphora.inspection.subject import Subject
from anaphora.memory import Memory, Segment
from anaphora.serving.translators import ServedRun
from tests.conftest import Trained
from tests.serving.browsing import BRANCHES, CATALOGUE, HEAD, NEEDS, TEXT, choose, confirm, opened, shown, translated
from tests.serving.conftest import RUN

pytestmark = NEEDS


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


def test_a_confirmed_translation_is_shown_from_then_on_until_it_is_undone(page: Any, browser: Any) -> None:
    text = "Two cats sleep."
    before = translated(page, text)
    page.click("#copy")
    page.wait_for_selector("#status:not(:empty)")
    page.click(".tools :text('Edit')")
    assert page.input_value(".field") == before
    assert "adds this pair to the memory of run" in page.inner_text("#effect")
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
    page.wait_for_function("text => document.querySelector('.state').textContent === text", arg="Changed")
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
    run, terms = shutil.copytree(RUN, tmp_path / "run"), tmp_path / "terms.tsv"
    with Memory(run, create=True) as memory:
        memory.add([Segment("A man is walking there.", "Un monsieur marche.")], "old.tmx")
    terms.write_text("man\thomme | monsieur\n")
    catalogue = {"name": "app.po", "mimeType": "", "buffer": f'{HEAD}msgid "A man."\nmsgstr ""\n'.encode()}
    with opened(browser, "--memory", "--terms", str(terms), run=run) as page:
        translated(page, "A man.")
        assert page.inner_text(".meta").split("\n") == ["Check", "Missing term: man"]
        page.click(".term >> nth=0")
        page.press(".field", "Enter")
        assert page.inner_text(".meta").split("\n") == ["Changed", "Glossary 1"]
        with page.expect_download():
            page.set_input_files("#document", catalogue)
        assert page.inner_text(".reasons") == "Missing term: man (A man.)"
        assert translated(page, TEXT)
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


def test_a_chosen_word_shows_the_training_pairs_where_it_was_learnt(browser: Any, trained_copy: Trained) -> None:
    run, text = trained_copy("translator-of-words", "training.epochs=5"), "The cat sees a very small bird"
    with opened(browser, "--neighbours", run=run) as page:
        shown = translated(page, text)
        word, *_ = neighbours(Subject.open(run), text, shown, nearest=3).by_word(3)
        page.locator(".words [role=button]").first.click()
        page.wait_for_selector(".pairs")
        assert page.locator(".pairs li").all_inner_texts() == [f"{one.context}\n\n{one.source}" for one in word]
