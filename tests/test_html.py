"""HTML for notebooks: translations with alignment, runs, and what inspection finds."""

import re
import sys
from html.parser import HTMLParser
from typing import Any

import pytest

import anaphora
from anaphora.inspection.drawing import html_of
from anaphora.inspection.gradients import gradients
from anaphora.inspection.subject import Subject
from anaphora.tasks.translation.translation import Translation

from .conftest import Trained


class Balanced(HTMLParser):
    """Refuses elements that are not closed in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open += [tag] if tag not in ("br", "meta", "image") else []

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.cells += [data] if self.open and self.open[-1] in ("td", "th") and data.strip() else []


def parsed(html: str) -> Balanced:
    found = Balanced()
    found.feed(html)
    found.close()
    assert found.open == []
    return found


def test_a_translation_with_attention_is_a_grid_whose_shades_are_its_weights(trained: Trained) -> None:
    translator = anaphora.load(trained("translator-of-words"), kind=anaphora.TranslationPredictor)
    [found] = translator.translate(["The cat sees a very small bird"], attention=True)
    html = found._repr_html_()
    links = found.soft_links()
    assert parsed(html).cells == [*links.source, *links.target]
    shades = [float(shade) for shade in re.findall(r"rgb\(69 112 171 / ([\d.]+)\)", html)]
    assert shades == pytest.approx(links.weights_TS.ravel().tolist(), abs=0.005)


def test_a_translation_without_attention_is_its_text_and_texts_are_escaped() -> None:
    html = Translation("<b>&", 0.0, True)._repr_html_()
    assert "&lt;b&gt;&amp;" in html and not parsed(html).cells


def test_a_run_is_a_table_of_what_info_prints(trained: Trained) -> None:
    found = anaphora.about(trained("counts"))
    cells = parsed(found._repr_html_()).cells
    lines = [line for lines in found.sections().values() for line in lines]
    assert {line.strip() for line in lines} <= {cell.strip() for cell in cells} and str(trained("counts")) in cells


def test_gradients_are_pictures_with_ids_of_their_own_for_light_and_dark_pages(trained: Trained) -> None:
    pytest.importorskip("matplotlib")
    subject = Subject.open(trained("language-model"))
    results = [gradients(subject, text) for text in ("a line", "the book")]
    pages = [one._repr_html_() for one in results]
    ids = [set(re.findall(r' id="([^"]+)"', page)) for page in pages]
    assert all("<svg" in page and "prefers-color-scheme: dark" in page for page in pages)
    assert ids[0] and not ids[0] & ids[1]
    assert results[0]._repr_html_() == pages[0]


def test_without_matplotlib_a_result_is_its_numbers(trained: Trained, monkeypatch: pytest.MonkeyPatch) -> None:
    found = gradients(Subject.open(trained("language-model")), "a line")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert html_of(found).startswith("<pre>")
