"""Pages of a run and of a corpus: every verb once, real text, nothing from elsewhere."""

import re
from pathlib import Path
from typing import Any

import pytest

from anaphora.datacheck.findings import Finding, Place
from anaphora.datacheck.tables import Table
from anaphora.errors import DataError
from anaphora.inspection.corpus import write_report
from anaphora.inspection.drawing import save
from anaphora.inspection.report import Report, report
from anaphora.inspection.subject import Subject

PAIR = ["adf", "beg & </script>"], ["fda", "geb"]


@pytest.fixture(scope="module")
def found(make_translator: Any) -> Report:
    return report(make_translator("gru"), *PAIR)


@pytest.fixture(scope="module")
def page(found: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    [path], notes = save(tmp_path_factory.mktemp("report"), "report", found)
    assert notes == []
    return path


def test_a_report_has_what_each_verb_finds(found: Report) -> None:
    lacking = {one.title: one.lacks for one in found.sections if not one.results}
    assert lacking == {"Embeddings": "No word of the text is one token."}
    assert [one["title"] for one in found.json()["sections"]] == [one.title for one in found.sections]
    assert found.sections[0].results[0].output == "fda"
    assert found.output and str(found).startswith(f"{found.run}: adf -> {found.output}")


def test_what_a_model_lacks_and_what_does_not_fit_on_a_page_is_one_sentence(language_model: Subject) -> None:
    found = {one.title: one for one in report(language_model, ["3 " + "a" * 130]).sections}
    assert "it writes no text from a source" in found["Attention"].lacks
    assert "at most 120 are shown" in found["Gates"].lacks and found["Embeddings"].results
    with pytest.raises(DataError, match="takes a text"):
        report(language_model, [])


def test_a_page_has_real_text_and_loads_nothing(page: Path) -> None:
    text = page.read_text()
    assert text.index("<dt>Source</dt>") < text.index("<dt>Translation</dt>") < text.index("<nav")
    assert not re.search(r'(src|href)="(?!#|data:)', text) and "<script" not in text and "@import" not in text
    ids = re.findall(r'\bid="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:href="#|url\(#)([^")]*)', text)) <= set(ids)
    assert ">mass kept</text>" in text and '<section id="beam-search"' in text


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_shows_the_page_in_light_and_dark(page: Path, scheme: Any, browser: Any, violations: Any) -> None:
    messages = list[str]()
    shown = browser.new_page(viewport={"width": 380, "height": 800}, color_scheme=scheme, bypass_csp=True)
    shown.on("console", lambda message: messages.append(message.text))
    shown.on("request", lambda request: messages.append(request.url))
    shown.goto(page.as_uri())
    assert shown.locator("h2").all_inner_texts()[:2] == ["Attention", "Gradients"]
    assert shown.locator("svg").count() >= 6
    assert shown.evaluate("document.documentElement.scrollWidth") <= 380
    assert shown.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light dark"
    assert violations(shown) == []
    shown.locator("summary").first.focus()
    shown.keyboard.press("Enter")
    shown.locator("details[open] pre").first.wait_for()
    assert messages == [page.as_uri()]


def test_the_page_escapes_what_a_corpus_says(tmp_path: Path) -> None:
    finding = Finding("control", "warning", "train", "en", 1, 2, "hold", "Remove.", (Place(Path("a"), 1, "<script>"),))
    table = Table("T", ("name", "count"), (("<i>", "1"),))
    page = write_report(tmp_path / "new" / "folder", "data: <x>", [table], [finding], [], [], {}).read_text()
    assert "<script>" not in page and "<i>" not in page and "<x>" not in page
    assert "&lt;script&gt;" in page
