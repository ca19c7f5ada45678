"""Pictures: text stays text, what is shown is there, and nothing depends on colour alone."""

import re
from collections.abc import Callable
from html import escape
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from anaphora.inspection import drawing
from anaphora.inspection.attention import alignments
from anaphora.inspection.attribution import attribution, token_attribution
from anaphora.inspection.context import effective_context
from anaphora.inspection.curves import Curves
from anaphora.inspection.drawing import canvas
from anaphora.inspection.drawing.canvas import COLOURS, DASHES
from anaphora.inspection.embeddings import sentence_projection, word_neighbours
from anaphora.inspection.gates import followers, gates, saturation
from anaphora.inspection.gradients import gradients
from anaphora.inspection.length import by_lengths
from anaphora.inspection.neighbours import neighbours
from anaphora.inspection.remedies import Remedies, Remedy
from anaphora.inspection.span import QUICK, Spans, Trial
from anaphora.inspection.subject import Subject

PAIRS = ["adf", "beg", "cdh", "a d f b e g c d h a e h", "a d f b e g c d h a e h a d f b e g c d h a e h"]
BOOK = 'a "line" (of)\nbook ' * 9
LOSSES = (1, 4.0), (2, 2.0), (3, 3.0)
SHOWN: dict[str, Callable[[Subject, Subject], Any]] = {
    "attention": lambda t, m: alignments([t], ["adf"], ["fda"])[0],
    "attention of two": lambda t, m: alignments([t, t], ["adf"], ["fda"])[0],
    "gates": lambda t, m: gates(m, "line"),
    "gates of a translator": lambda t, m: gates(t, "adf"),
    "saturation": lambda t, m: saturation(m, ["line", "book"]),
    "cells": lambda t, m: followers(m, BOOK),
    "gradients": lambda t, m: gradients(m, "line of a book"),
    "gradients of a translator": lambda t, m: gradients(t, "adf"),
    "gradients of two": lambda t, m: [gradients(m, "line"), gradients(m, "book")],
    "attributed": lambda t, m: attribution(t, "adf"),
    "token": lambda t, m: token_attribution(m, "ab", token=1, instead="l", steps=1),
    "length": lambda t, m: by_lengths([t, t], PAIRS, PAIRS),
    "curves": lambda t, m: [Curves(name, {"loss": LOSSES, "rate": LOSSES[:1]}, {"loss": LOSSES}, 2) for name in "ab"],
    "words": lambda t, m: word_neighbours(t, ["a", "b"], nearest=3),
    "sentences": lambda t, m: sentence_projection(t, PAIRS),
    "neighbours": lambda t, m: neighbours(t, "adf", nearest=2),
    "context": lambda t, m: effective_context(m, BOOK, longest=16, positions=5),
    "spans": lambda t, m: Spans(QUICK, tuple(Trial(*key, 0.003, 4, True, 1.0, 9, 1.0) for key in QUICK.series())),
    "remedies": lambda t, m: Remedies(4, 3, (Remedy("unit", 0.2, 1e-5, 1e-2), Remedy("LSTM", 0.9, 1e-3, 2.0))),
}
"""Every picture but diagrams and trees."""
CODE = re.compile(r"_|\blayers?\d|[a-z]\.[a-z\d]|\bdh|->")


@pytest.mark.matrix
@pytest.mark.parametrize("name", SHOWN)
def test_every_picture_explains_itself(name: str, translator: Subject, language_model: Subject) -> None:
    pictures = drawing.pictures_of(SHOWN[name](translator, language_model))
    assert pictures
    for one in pictures.values():
        words = one.finding.replace(str(translator.trained.path), "").replace(str(language_model.trained.path), "")
        assert re.search(r"\d", words), words
        assert not CODE.search(words), words
        assert re.fullmatch("What you see: .+\\nWhat to look for: .+", one.caption)
        figures = list[Any]()
        svg = canvas.svg(lambda one=one, figures=figures: figures.append(one.figure()) or figures[0])  # type: ignore[misc]
        shown = "".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg))
        for line in (one.finding, *one.caption.splitlines()):
            assert escape(line, quote=False).replace(" ", "") in shown.replace(" ", "").replace("\n", "")
        assert "mathdefault" not in svg
        for axes in figures[0].axes:
            if axes.get_visible() and axes.axison and axes.get_label() != "<colorbar>":
                words = axes.get_xlabel() + axes.get_ylabel()
                assert words and not CODE.search(words), words
        assert overlaps(figures[0]) == []


def test_two_points_are_a_sentence_and_no_chart(translator: Subject, tmp_path: Path) -> None:
    found = by_lengths([translator], PAIRS[:4], PAIRS[:4])
    [picture] = drawing.pictures_of(found).values()
    assert picture.draw is None and "BLEU 0 for 0-10 words" in picture.finding
    assert drawing.save(tmp_path, "length", found) == ([], [])
    low, high = found[0].groups[0].loss_interval
    assert low <= found[0].groups[0].loss <= high


def test_a_narrow_page_has_the_panels_of_a_picture_one_by_one(translator: Subject, language_model: Subject) -> None:
    assert drawing.html_of(gates(language_model, "line")).count("<svg") == 2 * 6
    assert drawing.html_of(gradients(translator, "adf")).count("<svg") == 3 * 3


def overlaps(figure: Any) -> list[tuple[str, str]]:
    """Pairs of texts on top of each other, slanted ones left out, and the texts that are wider than the picture."""
    page = FigureCanvasAgg(figure)
    page.draw()
    renderer = page.get_renderer()
    visible = [axes for axes in figure.axes if axes.get_visible()]
    legends = [*figure.legends, *(axes.get_legend() for axes in visible if axes.get_legend())]
    texts = [*figure.texts, *(text for legend in legends for text in legend.get_texts())]
    for axes in visible:
        texts += [one for one in axes.get_children() if isinstance(one, Text)]
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high and axes.axison]
            texts += [axis.label, *(label for tick in ticks for label in (tick.label1, tick.label2))]
    drawn = [text for text in texts if text.get_visible() and text.get_text().strip() and not text.get_rotation() % 90]
    boxes = [text.get_window_extent(renderer).padded(-1) for text in drawn]
    pairs = combinations(zip(drawn, boxes, strict=True), 2)
    found = [(a.get_text(), b.get_text()) for (a, one), (b, other) in pairs if one.overlaps(other)]
    covered = Bbox.union([axes.get_tightbbox(renderer) for axes in visible])
    widest = max(box.width for text, box in zip(drawn, boxes, strict=True) if text in figure.texts)
    return [*found, ("wider than the picture", "")] if widest > max(covered.width, 4.6 * figure.dpi) else found


def test_lines_differ_in_their_dashes_too() -> None:
    assert len(set(COLOURS)) == len(COLOURS) == len(DASHES) == len(set(map(str, DASHES)))


@pytest.mark.parametrize(
    ("text", "font", "drawn"),
    [
        ("\U00010380", "Noto Sans Ugaritic", "\U00010380"),
        ("\U00010000", "Noto Sans Linear B", "\U00010000"),
        ("\U0001f469", "Noto Emoji", "\U0001f469"),
        ("\U0001fbb0", "Noto Sans Symbols 2", "\U0001fbb0"),
        ("a\tb\x07c\u2028d", "", "a b c d"),
    ],
)
def test_a_missing_font_is_named_and_a_control_character_drawn_as_a_space(
    tmp_path: Path, text: str, font: str, drawn: str
) -> None:
    paths = [tmp_path / "picture.png", tmp_path / "picture.svg"]
    notes = canvas.draw(paths, lambda: canvas.figure(1, 1).text(0, 0, text).get_figure())  # type: ignore[arg-type, return-value]
    assert notes == [f"The picture lacks letters that no installed font has: install {one}." for one in [font] if one]
    assert drawn in paths[1].read_text(encoding="utf-8")
